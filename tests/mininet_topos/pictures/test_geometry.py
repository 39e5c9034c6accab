"""What arrangements are made of: boxes, places, lanes, tiers, ranks."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mininet_topos import networks
from mininet_topos.pictures import plane
from mininet_topos.pictures.arrangement import _kept_apart, arranged
from mininet_topos.pictures.boxes import Box, Surroundings, around, pushed_apart, settled_near
from mininet_topos.pictures.campus import ranked
from mininet_topos.pictures.labels import placed
from mininet_topos.pictures.sketch import Kind, Line, Node, Sketch
from mininet_topos.pictures.sketching import sketched

numbers = st.floats(-100, 100).map(lambda value: round(value, 2))
boxes = st.builds(Box, numbers, numbers, st.floats(1, 40), st.floats(1, 40))


def sketch(nodes: dict[str, str | None], *lines: tuple[str, str], **kinds: Kind) -> Sketch:
    """:param nodes: per node its campus."""
    sites = tuple(dict.fromkeys(site for site in nodes.values() if site is not None))
    named = tuple(Node(name, kinds.get(name, Kind.TRANSIT), site) for name, site in nodes.items())
    return Sketch("", "", sites, named, tuple(Line("-".join(ends), ends) for ends in lines), ())


@given(boxes, numbers, numbers, numbers, numbers)
def test_a_line_crosses_a_box_where_one_of_its_points_is_in_it(
    box: Box, x: float, y: float, far_x: float, far_y: float
) -> None:
    points = [(x + (far_x - x) * part / 200, y + (far_y - y) * part / 200) for part in range(201)]
    inside = any(box.left <= one <= box.right and box.top <= other <= box.bottom for one, other in points)
    crossed = box.crossed(((x, y), (far_x, far_y)))
    if inside:
        assert crossed
    if crossed:
        assert box.grown(2).crossed(((x, y), (far_x, far_y)))
        near = box.grown(3)
        assert any(
            near.left <= one <= near.right and near.top <= other <= near.bottom for one, other in points
        )


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=2), boxes, max_size=6))
def test_boxes_are_pushed_apart(found: dict[str, Box]) -> None:
    moved = pushed_apart(found)
    assert [(box.half_width, box.half_height) for box in moved.values()] == [
        (box.half_width, box.half_height) for box in found.values()
    ]
    assert all(one.common(other) < 1e-3 for one, other in combinations(moved.values(), 2))
    if all(one.common(other) == 0 for one, other in combinations(found.values(), 2)):
        assert moved == found


@given(st.lists(boxes, min_size=1))
def test_what_is_around_boxes_holds_them(found: list[Box]) -> None:
    whole = around(found)
    assert min(box.left for box in found) == pytest.approx(whole.left)
    assert max(box.bottom for box in found) == pytest.approx(whole.bottom)


def test_a_campus_settles_beside_what_is_taken_and_crosses_no_other() -> None:
    taken = [Box(0, 0, 30, 30)]
    place = settled_near(Box(0, 0, 50, 20), [(0.0, 0.0)], Surroundings(taken, (), ()))
    assert place.common(taken[0]) == 0
    second = settled_near(Box(0, 0, 50, 20), [(0.0, 0.0)], Surroundings(taken, [place], ()))
    assert second.common(place) == 0
    assert not place.crossed(((second.x, second.y), (0.0, 0.0)))


@given(st.lists(st.floats(-500, 500), max_size=8), st.floats(0, 200))
def test_lanes_keep_their_order_and_their_distance(wanted: list[float], least: float) -> None:
    found = _kept_apart(wanted, least)
    assert all(other - one >= least - 1e-6 for one, other in pairwise(found))
    if all(other - one >= least for one, other in pairwise(wanted)):
        assert found == pytest.approx(wanted)
    if wanted:
        assert sum(found) == pytest.approx(sum(wanted), abs=1e-6)


def test_a_network_across_the_pacific_stays_in_one_piece() -> None:
    points = plane.on_earth({"tokyo": (35.7, 139.7), "seattle": (47.6, -122.3), "honolulu": (21.3, -157.9)})
    assert points["tokyo"][0] < points["honolulu"][0] < points["seattle"][0]
    assert points["seattle"][0] - points["tokyo"][0] < 100
    assert points["seattle"][1] < points["tokyo"][1] < points["honolulu"][1]


def test_the_nodes_between_two_campuses_stand_in_the_order_of_their_steps() -> None:
    points = plane.in_lanes(sketched(networks.named("two_campuses")))
    assert points["east"][0] < points["al1"][0] < points["al2"][0] < points["west"][0]
    lanes = {name: points[name][1] for name in ("al1", "al2", "re1", "re2", "core", "nren")}
    assert lanes["al1"] == lanes["al2"]
    assert len(set(lanes.values())) == 4


def test_the_tree_has_its_tiers() -> None:
    tree = sketched(networks.named("choreo_tree"))
    assert plane.tiers(tree) == [["a1", "a2", "a3", "a4", "gw"], ["c1", "c2"]]
    points = arranged(tree).points
    assert points["c1"][1] == points["c2"][1] < points["a1"][1] == points["a4"][1] < points["r1-tor"][1]
    assert points["a1"][0] < points["a2"][0] < points["a3"][0] < points["a4"][0]
    assert plane.tiers(sketched(networks.named("mu_osu"))) is None


def test_without_places_distances_are_steps() -> None:
    """A chain of provider's switches between three campuses becomes a chain."""
    nodes = {"a": "x", "s": None, "t": None, "u": None, "b": "y", "c": "z"}
    points = plane.by_steps(
        sketch(nodes, ("a", "s"), ("s", "t"), ("t", "u"), ("u", "b"), ("t", "c"), ("s", "u"))
    )
    assert abs(points["x"][0] - points["y"][0]) > abs(points["s"][0] - points["u"][0])
    assert set(points) == {"x", "y", "z", "s", "t", "u"}


def test_ranks_and_slots_of_a_campus() -> None:
    nodes = {"edge": "x", "rtr": "x", "core": "x", "d1": "x", "d2": "x", "t": None}
    found = ranked(
        sketch(
            nodes, ("edge", "t"), ("rtr", "t"), ("edge", "rtr"), ("edge", "core"), ("core", "d1"),
            ("core", "d2"), edge=Kind.EDGE, rtr=Kind.ROUTER,
        ),
        "x",
    )  # fmt: skip
    assert found.rank == {"edge": 0, "rtr": 0, "core": 1, "d1": 2, "d2": 2}
    assert found.slot["core"] == (found.slot["d1"] + found.slot["d2"]) / 2 == found.slot["edge"]
    assert not found.dense


def test_a_campus_of_many_switches_is_dense() -> None:
    found = ranked(sketched(networks.named("five_sites")), "nw")
    assert found.dense
    assert found.ranks == 5
    leaves = [f"nw-1{branch}{leaf}" for branch in (1, 2, 3) for leaf in range(1, 6)]
    slots = [found.slot[name] for name in leaves]
    assert slots == sorted(slots)


@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=6))
def test_labels_stay_near_their_links(lines: list[tuple[float, float, float, float]]) -> None:
    ends = [((x, y), (far_x, far_y)) for x, y, far_x, far_y in lines]
    found = placed([("10 Gbps", line) for line in ends], [], ends, [], 10)
    assert [label.text for label in found] == ["10 Gbps"] * len(ends)
    for label, line in zip(found, ends, strict=True):
        assert Box(label.x, label.y, 60, 60).crossed(line)
