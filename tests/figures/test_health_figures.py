"""Figures of a round: what a heat map and a graph hold, and whom they join."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apps.figures import health as figures
from measurement.health.layout import LONGEST, SHORTEST
from measurement.health.model import Pair
from measurement.health.record import RoundRecord
from measurement.instances import Instance
from tests.apps.test_health_pages import DEAD, a_round
from tests.studies.documents import a_round as a_fired_round


def test_a_map_is_ordered_by_zone_and_holds_the_scores() -> None:
    record = a_round()
    names = figures.by_zone(record)
    assert names == ["c1", "a1", "a2", "b1", "b2"]
    drawn = figures.heat_map(record)
    cells = drawn.data[0]
    assert (list(cells.x), list(cells.y)) == (names, names)
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            known = record.scores.get(Pair(one, other))
            assert cells.z[row][column] == (None if known is None else known.total)
    assert cells.z[0][1] is None, "nobody knows"
    assert cells.hovertext[1][0].startswith("a1 > c1: 0.000, timed out")
    assert len(drawn.layout.shapes) == 4, "two lines each way between three zones"
    assert tuple(drawn.layout.xaxis.range) == (-0.5, 4.5)


def _crossed(record: RoundRecord) -> set[tuple[str, str]]:
    cells = figures.heat_map(record).data[0]
    rows = zip(cells.y, cells.text, strict=True)
    return {
        (one, other) for one, row in rows for other, text in zip(cells.x, row, strict=True) if "✕" in text
    }


def test_what_timed_out_and_where_a_marker_fired_has_a_cross() -> None:
    assert _crossed(a_round()) == {tuple(DEAD)}
    assert _crossed(a_fired_round()) == {("a1", "b1"), ("c1", "a1")}


def test_of_many_instances_crosses_are_drawn_on_the_cells() -> None:
    record = a_round()
    more = tuple(Instance(f"z{number}", "10.0.0.1") for number in range(figures.NUMBERED))
    cells, crosses, _ = figures.heat_map(replace(record, instances=(*record.instances, *more))).data
    assert cells.text is None
    assert [*zip(crosses.y, crosses.x, strict=True)] == [tuple(DEAD)]
    assert list(crosses.marker.line.color) == [figures.LIGHT], "on a dark cell"


def test_a_pair_that_is_asked_for_has_a_frame() -> None:
    record = a_round()
    framed = figures.heat_map(record, DEAD).layout.shapes[-1]
    assert (framed.x0, framed.x1, framed.y0, framed.y1) == (-0.5, 0.5, 0.5, 1.5)
    assert len(figures.heat_map(record, Pair("a1", "nobody")).layout.shapes) == 4


@pytest.mark.parametrize(("count", "named"), [(40, True), (41, False)])
def test_of_many_instances_the_axes_name_zones(count: int, named: bool) -> None:
    instances = tuple(
        Instance(f"{number}", "10.0.0.1", zone="even" if number % 2 == 0 else "odd")
        for number in range(count)
    )
    record = replace(
        a_round(), instances=instances, planned=(), found={}, scores={}, fired={}, failures=(), verified={}
    )
    drawn = figures.heat_map(record)
    cells = drawn.data[0]
    assert [*cells.x] == [*cells.y] == figures.by_zone(record)
    zones = drawn.layout.xaxis2 if named else drawn.layout.xaxis
    assert [*zones.ticktext] == ["even", "odd"]
    if named:
        # No list of ticks: a narrow window leaves names out instead of drawing them over each other.
        assert drawn.layout.xaxis.tickvals is drawn.layout.yaxis.tickvals is None
        assert [*zones.tickvals] == [9.5, 29.5]
        assert tuple(zones.range) == tuple(drawn.layout.xaxis.range)


def test_a_graph_towards_a_place_has_its_edges_alone() -> None:
    record = a_round()
    edges = figures.graph(record, place="a1")[0].data[0]
    assert sum(one is None for one in edges.x) == 4
    assert sum(one is None for one in figures.graph(record)[0].data[0].x) == 10


def test_who_is_chosen_is_a_diamond() -> None:
    drawn, stress = figures.graph(a_round(), chosen=("a2", "b1"))
    shapes = {
        name: shape
        for trace in drawn.data[1:]
        for name, shape in zip(trace.text, trace.marker.symbol, strict=True)
    }
    assert {name for name, shape in shapes.items() if shape == "diamond"} == {"a2", "b1"}
    assert 0 <= stress < LONGEST


@pytest.mark.parametrize("count", [2, 3, 16, 40])
def test_everybody_is_joined_to_somebody(count: int) -> None:
    names = [f"i{number}" for number in range(count)]
    wanted = {
        (one, other): SHORTEST + abs(place - after) / count
        for place, one in enumerate(names)
        for after, other in enumerate(names)
        if place < after
    }
    joined = figures.joined(names, wanted)
    assert {name for both in joined for name in both} == set(names)
    assert len(joined) <= max(len(wanted) if count <= figures.ALL else 0, figures.EACH * count)
