"""Disjoint paths and campuses far apart, compared with trying everything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.errors import InvalidInput
from mininet_topos.zoo.campuses import costs, farthest_apart, named
from mininet_topos.zoo.disjoint import disjoint_paths
from mininet_topos.zoo.model import Edge, Graph, Node, Place


def graph_of(*edges: tuple[str, str], nodes: str = "", external: str = "") -> Graph:
    keys = sorted({key for edge in edges for key in edge} | set(nodes))
    return Graph(
        "made up",
        {key: Node(key, key, external=key in external) for key in keys},
        tuple(Edge(f"e{number}", ends) for number, ends in enumerate(edges)),
    )


def priced(graph: Graph, *prices: int) -> dict[str, int]:
    return {edge.name: price for edge, price in zip(graph.edges, prices, strict=True)}


def simple_paths(graph: Graph, here: str, there: str, seen: frozenset[str]) -> Iterator[tuple[Edge, ...]]:
    if here == there:
        yield ()
        return
    for edge in graph.at[here]:
        beyond = edge.beyond(here)
        if beyond not in seen:
            for rest in simple_paths(graph, beyond, there, seen | {beyond}):
                yield (edge, *rest)


@st.composite
def priced_graphs(draw: st.DrawFn) -> tuple[Graph, dict[str, int]]:
    size = draw(st.integers(2, 6))
    keys = [chr(ord("a") + number) for number in range(size)]
    pairs = st.sampled_from([(one, other) for one in keys for other in keys if one != other])
    edges = draw(st.lists(pairs, max_size=9))
    graph = graph_of(*edges, nodes="".join(keys))
    return graph, priced(graph, *draw(st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges))))


@given(priced_graphs(), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_no_set_of_disjoint_paths_is_larger_or_cheaper(made: tuple[Graph, dict[str, int]], most: int) -> None:
    graph, prices = made
    found = disjoint_paths(graph, "a", "b", most, lambda edge: prices[edge.name])
    every = [
        (sum(prices[edge.name] for edge in path), frozenset(path))
        for path in simple_paths(graph, "a", "b", frozenset("a"))
    ]
    sets = {
        number: [
            sum(price for price, _ in chosen)
            for chosen in combinations(every, number)
            if all(not one & other for (_, one), (_, other) in combinations(chosen, 2))
        ]
        for number in range(1, most + 1)
    }
    best = max((number for number, prices_ in sets.items() if prices_), default=0)
    assert len(found) == best
    for path in found:
        here, seen = "a", {"a"}
        for edge in path:
            here = edge.beyond(here)
            assert here not in seen
            seen.add(here)
        assert here == "b"
    used = [edge for path in found for edge in path]
    assert len(used) == len(set(used))
    if best:
        assert sum(prices[edge.name] for edge in used) == min(sets[best])
    totals = [sum(prices[edge.name] for edge in path) for path in found]
    assert totals == sorted(totals)


def test_the_shortest_path_that_blocks_every_second_is_given_up() -> None:
    """Suurballe's trap: a-c-d-b is the cheapest, and beside it nothing is left."""
    graph = graph_of(("a", "c"), ("c", "d"), ("d", "b"), ("a", "d"), ("c", "b"))
    prices = priced(graph, 1, 1, 1, 3, 3)
    found = disjoint_paths(graph, "a", "b", 2, lambda edge: prices[edge.name])
    assert [[edge.name for edge in path] for path in found] == [["e0", "e4"], ["e3", "e2"]]


def test_to_take_a_link_back_earns_its_cost() -> None:
    """a-c-d-b is the cheapest (6) and a-e-b (12) is beside it; a-c-b and a-d-b have 14 together, not 18."""
    graph = graph_of(("a", "c"), ("c", "d"), ("d", "b"), ("a", "d"), ("c", "b"), ("a", "e"), ("e", "b"))
    prices = priced(graph, 1, 4, 1, 6, 6, 6, 6)
    found = disjoint_paths(graph, "a", "b", 2, lambda edge: prices[edge.name])
    assert [[edge.name for edge in path] for path in found] == [["e0", "e4"], ["e3", "e2"]]


def one(_: Edge) -> int:
    return 1


def test_campuses_named_by_label_or_id() -> None:
    nodes = {
        key: Node(key, label) for key, label in {"0": "Oslo", "1": "Bergen", "2": "Oslo", "3": "3"}.items()
    }
    graph = Graph("made up", nodes, (Edge("e0", ("0", "1")), Edge("e1", ("1", "2"))))
    assert [node.key for node in named(graph, ["bergen", "2"])] == ["1", "2"]
    for wanted, words in {
        ("Oslo", "Bergen"): "2 nodes are called 'Oslo': write one of the ids 0, 2",
        ("Bregen", "0"): "there is no node 'Bregen'; did you mean Bergen?",
        ("Bergen", "1"): "at least two different nodes",
        ("Bergen",): "at least two different nodes",
        ("Bergen", "3"): "no path joins node 1 (Bergen) and node 3",
    }.items():
        with pytest.raises(InvalidInput) as error:
            named(graph, wanted)
        assert words in str(error.value)


def test_a_link_with_several_ends_is_no_campus() -> None:
    nodes = {"0": Node("0", "0"), "1": Node("1", "1", hyperedge=True)}
    graph = Graph("made up", nodes, (Edge("e0", ("0", "1")),))
    with pytest.raises(InvalidInput, match="node 1 stands for a link with several ends"):
        named(graph, ["0", "1"])


def test_the_farthest_with_two_disjoint_paths() -> None:
    """A ring a-b-c-d-e-f with a tail at a: the tail's end is farther, with one path only."""
    graph = graph_of(
        ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "a"), ("a", "t"), ("t", "u"),
        nodes="z", external="d",
    )  # fmt: skip
    assert [node.key for node in farthest_apart(graph, 2, 2, one)] == ["b", "e"]
    assert {node.key for node in farthest_apart(graph, 2, 1, one)} == {"c", "u"}
    # There are no four disjoint paths anywhere: the farthest then.
    assert {node.key for node in farthest_apart(graph, 2, 4, one)} == {"c", "u"}
    with pytest.raises(InvalidInput, match=r"8 is not in 2\.\.7"):
        farthest_apart(graph, 8, 1, one)


def test_far_is_the_great_circle_where_there_are_places() -> None:
    places = {"a": Place(0, 0), "b": Place(0, 10), "c": Place(0, 90), "d": Place(0, -91)}
    nodes = {key: Node(key, key, place) for key, place in places.items()}
    ring = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"))
    graph = Graph("ring", nodes, tuple(Edge(f"e{number}", ends) for number, ends in enumerate(ring)))
    assert {node.key for node in farthest_apart(graph, 2, 2, one)} == {"c", "d"}
    assert [node.key for node in farthest_apart(graph, 3, 2, one)][2] == "a"


@given(priced_graphs())
@settings(max_examples=60, deadline=None)
def test_the_cheapest_way_is_the_cheapest_path(made: tuple[Graph, dict[str, int]]) -> None:
    graph, prices = made
    told = costs(graph, "a", lambda edge: prices[edge.name])
    assert set(told) == graph.part("a")
    for key, price in told.items():
        paths = simple_paths(graph, "a", key, frozenset("a"))
        assert price == min(sum(prices[edge.name] for edge in path) for path in paths)


@pytest.mark.parametrize(
    ("one", "other", "kilometres"),
    [
        (Place(0, 0), Place(0, 180), 20015.1),
        (Place(90, 0), Place(-90, 77), 20015.1),
        (Place(0, 179.5), Place(0, -179.5), 111.2),
        # Paris to New York, as published for the great circle between the cities: 5 837 km, within 1 %.
        (Place(48.8566, 2.3522), Place(40.7128, -74.0060), 5837),
    ],
)
def test_great_circles(one: Place, other: Place, kilometres: float) -> None:
    assert one.distance(other) == pytest.approx(kilometres, rel=0.01)
    assert other.distance(one) == pytest.approx(one.distance(other))
