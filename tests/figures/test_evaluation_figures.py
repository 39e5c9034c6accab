"""Figures of a run: bars as table V stands, a map to its scale."""

from __future__ import annotations

import math

import pytest

from adon.evaluations.builtins import reference
from apps.figures import evaluation as figures
from measurement.evaluation.comparison import Change, Comparison, Verdict
from measurement.evaluation.intervals import Interval
from measurement.evaluation.layout import drawn as drawn_of
from measurement.evaluation.results import Measured, Path
from measurement.evaluation.wording import name


def test_paths_that_vary_stand_out() -> None:
    results = reference("nectar").results()
    (bars,) = figures.variation(results, 0.1).data
    known = {path: cov for path, cov in results.covs().items() if cov is not None}
    assert list(bars.y) == [name(path) for path in known]
    assert list(bars.x) == list(known.values())
    varied = [cov >= 0.1 for cov in known.values()]
    assert [colour == figures.VARIED for colour in bars.marker.color] == varied
    assert {*varied} == {False, True}


def test_a_map_has_a_line_per_path_and_circles_in_the_ratio_of_diameters() -> None:
    results = reference("nectar").results()
    drawn, stress = figures.distance_map(results, 1.0)
    lines = [trace for trace in drawn.data if trace.mode == "lines"]
    assert len(lines) == len(results.distances(1.0, clients=True))
    assert 0 < stress < 1
    diameters = results.diameters(1.0)
    wide = {node: shape.x1 - shape.x0 for node, shape in zip(diameters, drawn.layout.shapes, strict=True)}
    one = next(iter(diameters))
    for node, its in diameters.items():
        assert wide[node] / wide[one] == pytest.approx(its / diameters[one])


def test_distances_are_drawn_by_their_magnitude() -> None:
    results = reference("nectar").results()
    wanted = figures.scaled(results, 2.0)
    for path, its in results.distances(clients=True).items():
        assert wanted[path] == pytest.approx(2 * (1 + math.log10(its)) if its > 1 else 2 * its)


LESS = Change(
    Path("a", "b"), Measured(8e6, 1e6, 9), Measured(4e6, 2e6, 9), Verdict.LOWER, 0.5, Interval(-5e6, -2e6)
)  # fmt: skip
DEAD = Change(
    Path("a", "c"), Measured(0, 0, 9), Measured(1e6, 0, 9), Verdict.HIGHER, None, Interval(1e6, 1e6)
)
SAME = Change(Path("b", "c"), Measured(2e6, 0, 1), Measured(2e6, 0, 1), Verdict.NOT_TESTED, 1.0)
COMPARED = Comparison((SAME, LESS, DEAD), (), {})


def test_changes_are_drawn_with_their_intervals_in_the_order_of_the_paths() -> None:
    drawn = figures.changes(COMPARED)
    assert [trace.name for trace in drawn.data] == ["lower", "not tested"], "what has no ratio is not drawn"
    lower, same = drawn.data
    assert (tuple(lower.x), tuple(lower.y)) == ((0.5,), ("a - b",))
    assert tuple(lower.error_x.array) == (0.25,)  # from 0.5 to 6 / 8
    assert tuple(lower.error_x.arrayminus) == (0.125,)  # and to 3 / 8
    assert tuple(same.error_x.array) == (0.0,)
    assert tuple(drawn.layout.yaxis.categoryarray) == ("b - c", "a - b", "a - c")


def test_means_of_both_runs_are_in_the_unit_for_people() -> None:
    drawn = figures.means(COMPARED, "monday", "tuesday", "bit/s")
    monday, tuesday = drawn.data
    assert (monday.name, tuple(monday.x), tuple(monday.error_x.array)) == ("monday", (2, 8, 0), (0, 1, 0))
    assert (tuesday.name, tuple(tuesday.x), tuple(tuesday.error_x.array)) == ("tuesday", (2, 4, 1), (0, 2, 0))
    assert drawn.layout.xaxis.title.text == "Mbit/s"
    assert tuple(drawn.layout.yaxis.categoryarray) == tuple(monday.y) == ("b - c", "a - b", "a - c")


def test_lines_that_are_far_off_are_dotted_and_circles_do_not_touch() -> None:
    results = reference("nectar").results()
    wanted = figures.scaled(results, 1.0)
    drawing = drawn_of((*results.nodes, *results.clients), wanted)
    chart, _ = figures.distance_map(results, 1.0)
    lines = [trace for trace in chart.data if trace.mode == "lines"]
    off = [abs(drawing.apart(path) - its) > 0.2 * its for path, its in wanted.items()]
    assert [line.line.dash == "dot" for line in lines] == off
    assert {*off} == {False, True}
    shortest = min(drawing.apart(path) for path in wanted)
    assert max(shape.x1 - shape.x0 for shape in chart.layout.shapes) == pytest.approx(0.55 * shortest)
