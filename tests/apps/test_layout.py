"""Where switches stand in the picture, and that nothing in it lies on anything else."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dashboard.network.layout import layout
from apps.rest.network_models import CircuitView, LinkEnd, LinkView, NetworkView, SiteView, SwitchDetail
from apps.rest.page.shapes import Area, Curve
from apps.rest.page.topology import LINE, Picture, picture
from tests.flowvisor.graphs import random_regular, ring_of_rings


def network(edges, sites, down=(), circuits=(), names=None):
    """Switches ``s0 ...``, the given links ``l0 ...``, and a site at each of some switches."""
    numbers = sorted({end for edge in edges for end in edge} | set(sites))
    called = names or {number: f"s{number}" for number in numbers}
    switches = [
        SwitchDetail(name=called[one], dpid=f"{one + 1:016x}", connected=True, rules=one) for one in numbers
    ]
    links = [
        LinkView(
            name=f"l{number}",
            state="down" if number in down else "live",
            reason="",
            ends=[LinkEnd(switch=called[end], port="p") for end in edge],
        )
        for number, edge in enumerate(edges)
    ]
    return NetworkView(
        at=0.0,
        network="n",
        sites=[SiteView(name=f"site{one}", edge=called[one], hosts=[]) for one in sites],
        switches=switches,
        links=links,
        circuits=list(circuits),
        reconcile={},
    )


def circuit(name, switches, links=(), flows=(), overlay=None):
    ends = {"source": "a", "destination": "b", "vlan": 100, "capacity_bps": 1e9}
    state = {"usable": True, "reason": "", "layer": "l2"}
    return CircuitView(
        name=name,
        overlay=overlay,
        links=list(links),
        switches=list(switches),
        flows=list(flows),
        **ends,
        **state,
    )


def drawn(*arguments, shown=None, **more) -> Picture:
    found = picture(network(*arguments, **more), shown)
    assert found is not None
    return found


def assert_readable(found: Picture) -> None:
    """No two boxes or labels overlap, no label lies on a box, and everything is inside."""
    labels = [line.label for line in found.lines if line.label is not None]
    areas = [Area.about((label.x, label.y), label.width, LINE) for label in labels]
    areas += [box.around for box in found.boxes]
    for one, other in combinations(areas, 2):
        assert not one.meets(other)
    whole = Area(found.left, found.top, found.left + found.width, found.top + found.height)
    for area in areas:
        assert whole.holds((area.left, area.top))
        assert whole.holds((area.right, area.bottom))


@st.composite
def networks(draw):
    number = draw(st.integers(1, 14))
    ends = st.integers(0, number - 1)
    edges = (
        draw(st.lists(st.tuples(ends, ends).filter(lambda e: e[0] != e[1]), max_size=24))
        if number > 1
        else []
    )
    sites = draw(st.lists(ends, unique=True, max_size=5))
    return [*edges], sites, number


@settings(max_examples=60, deadline=None)
@given(networks())
def test_nothing_lies_on_anything_else(case) -> None:
    edges, sites, _ = case
    if not edges and not sites:
        return
    found = drawn(edges, sites)
    assert_readable(found)
    assert len(found.lines) == len(edges)
    assert all(line.curve is not None for line in found.lines)


@pytest.mark.parametrize(
    ("edges", "sites"),
    [
        (ring_of_rings(), [3, 23, 43, 63, 83]),
        (random_regular(100), [0, 20, 40, 60, 80]),
        (random_regular(25, 4), [0, 5, 10, 15, 20]),
    ],
    ids=["five rings of twenty", "random hundred", "five sites, twenty between"],
)
def test_large_networks_are_readable_and_what_is_wrong_is_labelled(edges, sites) -> None:
    found = drawn(edges, sites, down=(7,))
    assert_readable(found)
    assert len(found.boxes) == len({end for edge in edges for end in edge})
    assert [line.name for line in found.lines if line.label is not None] == ["l7"]
    assert found.width < 1600


@settings(max_examples=30, deadline=None)
@given(networks(), st.randoms())
def test_every_switch_has_a_cell_of_its_own_and_edges_are_around(case, chance) -> None:
    edges, sites, number = case
    inner = tuple(f"s{one}" for one in range(number) if one not in sites)
    outer = tuple(f"s{one}" for one in sites) or (inner[0],)
    inner = tuple(name for name in inner if name not in outer)
    links = tuple((f"s{one}", f"s{other}") for one, other in edges)
    found = layout(outer, inner, links)
    assert len(set(found.cells.values())) == len(found.cells) == number
    for name in outer:
        column, row = found.cells[name]
        assert column in (0, found.columns - 1) or row in (0, found.rows - 1) or len(outer) <= 2
    layout.cache_clear()
    assert layout(outer, inner, links) == found


def test_two_sites_face_each_other() -> None:
    found = layout(("a", "b"), ("x", "y"), (("a", "x"), ("x", "b"), ("a", "y"), ("y", "b"), ("x", "y")))
    (left, row), (right, same) = found.cells["a"], found.cells["b"]
    assert (left, right, row) == (0, found.columns - 1, same)
    assert found.cells["x"][1] != found.cells["y"][1]  # beside one another their links would hide


def test_a_line_goes_around_boxes_that_are_not_its_own() -> None:
    found = drawn([(0, 1), (1, 2), (0, 2)], [0, 2])
    at = {box.name: box for box in found.boxes}
    (over,) = (line for line in found.lines if set(line.ends) == {"s0", "s2"})
    assert over.curve is not None
    assert not any(at["s1"].around.holds(point) for point in over.curve.points)


def test_parallel_links_are_drawn_apart() -> None:
    found = drawn([(0, 1)] * 3, [0, 1])
    middles = sorted(line.curve.at(0.5)[1] for line in found.lines if line.curve is not None)
    assert min(after - before for before, after in pairwise(middles)) > LINE
    assert all(line.label is not None for line in found.lines)


def test_a_path_through_other_networks_is_a_line_of_its_own() -> None:
    paths = [circuit("al2s", ("s0", "s1"), flows=("f-1", "f-2")), circuit("internet", ("s0", "s1"))]
    found = drawn([], [0, 1], circuits=paths)
    assert [(line.state, line.words, line.path) for line in found.lines] == [
        ("transit", "al2s · L2 · 2 flows", "al2s"),
        ("transit", "internet · L2", "internet"),
    ]


def test_a_circuit_is_marked_by_its_links_and_switches() -> None:
    way = circuit("core.1", ("s0", "s1", "s2"), ("l0", "l1"), ("f-7",), overlay="core")
    found = drawn([(0, 1), (1, 2), (0, 3), (3, 2)], [0, 2], circuits=[way], shown="core.1")
    assert [line.name for line in found.lines if line.marked] == ["l0", "l1"]
    assert [box.name for box in found.boxes if "marked" in box.kind] == ["s0", "s1", "s2"]
    assert [line.words for line in found.lines][:3] == ["l0 · f-7", "l1 · f-7", "l2"]


def test_what_is_not_ours_is_left_to_the_table() -> None:
    whole = network([(0, 1)], [0])
    foreign = LinkView(name=None, state="foreign", reason="", ends=[LinkEnd(switch="s0", port="x")])
    strange = LinkView(
        name=None,
        state="live",
        reason="",
        ends=[LinkEnd(switch="s0", port="x"), LinkEnd(switch=None, port=None, dpid="0" * 16)],
    )
    found = picture(whole.model_copy(update={"links": [*whole.links, foreign, strange]}))
    assert found is not None
    assert [line.name for line in found.lines] == ["l0"]
    assert (
        picture(NetworkView(at=0, network="", sites=[], switches=[], links=[], circuits=[], reconcile={}))
        is None
    )


def test_long_names_are_cut_in_the_box_and_whole_in_the_title() -> None:
    name = "a-switch-with-a-very-long-name"
    (box,) = drawn([], [0], names={0: name}).boxes
    assert box.text == "a-switch-with-a…"
    assert name in box.title


def test_a_curve_is_in_its_middle_as_far_off_as_is_asked() -> None:
    curve = Curve.bent((0, 0), (100, 0), 30)
    assert curve.at(0.5) == pytest.approx((50, 30))
    assert Curve.bent((0, 0), (0, 100), 0).at(0.5) == pytest.approx((0, 50))
    assert math.dist(curve.at(0), (0, 0)) == 0
    near, far = Area.about((50, 30), 4, 4), Area.about((50, 10), 4, 4)
    assert [curve.hits([near, far], spare) for spare in (0, 30)] == [1, 2]
    assert curve.hits([far], 0) == 0
    assert replace(curve, end=(0, 0)).d.startswith("M0.0 0.0Q")
