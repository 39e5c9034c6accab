"""k cheapest loop-free paths: the same costs as networkx, every path simple, every constraint kept."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.config.network import Cost
from adon.flowvisor.topology.k_shortest_paths import backup_path
from adon.flowvisor.topology.network_graph import Link, LinkState, NetworkGraph, PathConstraints, Route
from adon.flowvisor.topology.overlay import PathCache
from tests.flowvisor.graphs import directed_edges, fat_tree, graph_of, weighted

DELAY = PathConstraints(Cost.DELAY)


def two_way(edges: list[tuple[int, int]], nodes: int, cost: int = 1000) -> NetworkGraph:
    return graph_of({pair: cost for a, b in edges for pair in ((a, b), (b, a))}, nodes)


def well_formed(route: Route) -> bool:
    joined = all(one.target == next_.source for one, next_ in pairwise(route.links))
    return joined and len(set(route.nodes)) == len(route.nodes)


@given(directed_edges(), st.integers(1, 12))
def test_the_costs_are_those_of_networkx(drawn: tuple[dict[tuple[int, int], int], int], count: int) -> None:
    edges, nodes = drawn
    found = PathCache().k_shortest_paths(graph_of(edges, nodes), 0, nodes - 1, count, DELAY)
    theirs = weighted(edges, nodes)
    expected: list[int] = []
    if nx.has_path(theirs, 0, nodes - 1):
        paths = islice(nx.shortest_simple_paths(theirs, 0, nodes - 1, "weight"), count)
        expected = [nx.path_weight(theirs, path, "weight") for path in paths]
    assert [route.cost for route in found] == expected
    assert all(well_formed(route) and route.nodes[0] == 0 and route.nodes[-1] == nodes - 1 for route in found)
    assert len({route.nodes for route in found}) == len(found)


TOPOLOGIES = sorted(Path("tests/data/topologies").glob("*.txt"))


def published(file: Path) -> tuple[dict[tuple[int, int], int], int]:
    """The links of an edge list in both directions, with numbers for names."""
    lines = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    number = {name: at for at, name in enumerate(sorted({name for *ends, _ in lines for name in ends}))}
    pairs = [((number[one], number[other]), int(cost)) for one, other, cost in lines]
    return {way: cost for pair, cost in pairs for way in (pair, pair[::-1])}, len(number)


def generated(seed: int) -> tuple[dict[tuple[int, int], int], int]:
    """A connected random network of 20 to 200 switches; few different costs, so that there are ties."""
    chance = random.Random(seed)
    nodes = chance.randrange(20, 200)
    network = nx.connected_watts_strogatz_graph(nodes, 4, chance.random(), seed=seed)
    pairs = {pair: chance.randrange(1, chance.choice((3, 10_000))) for pair in sorted(network.edges)}
    return {way: cost for pair, cost in pairs.items() for way in (pair, pair[::-1])}, nodes


@pytest.mark.parametrize(
    "network",
    [
        *(pytest.param(published(file), id=file.stem) for file in TOPOLOGIES),
        *(pytest.param(generated(seed), id=f"random-{seed}") for seed in range(20)),
    ],
)
def test_eight_paths_of_a_network_cost_as_much_as_those_of_networkx(
    network: tuple[dict[tuple[int, int], int], int],
) -> None:
    edges, nodes = network
    graph, theirs, cache = graph_of(edges, nodes), weighted(edges, nodes), PathCache()
    chance = random.Random(nodes)
    for source, target in [chance.sample(range(nodes), 2) for _ in range(10)]:
        found = cache.k_shortest_paths(graph, source, target, 8, DELAY)
        expected = islice(nx.shortest_simple_paths(theirs, source, target, "weight"), 8)
        assert [route.cost for route in found] == [
            nx.path_weight(theirs, each, "weight") for each in expected
        ]
        assert all(well_formed(route) for route in found)
        assert found == cache.k_shortest_paths(graph, source, target, 8, DELAY)


def test_parallel_links_are_paths_of_their_own() -> None:
    """Three links between 0 and 1 of different cost, two of equal cost between 1 and 2."""
    ends = {"a": (0, 1, 3), "b": (0, 1, 1), "c": (0, 1, 2), "e": (1, 2, 5), "d": (1, 2, 5)}
    links = [Link(name, one, other, 1, 1, 1e9, cost / 1e9) for name, (one, other, cost) in ends.items()]
    found = PathCache().k_shortest_paths(NetworkGraph(frozenset({0, 1, 2}), tuple(links)), 0, 2, 8, DELAY)
    names = [("b", "d"), ("b", "e"), ("c", "d"), ("c", "e"), ("a", "d"), ("a", "e")]
    assert [(route.cost, route.names) for route in found] == list(zip((6, 6, 7, 7, 8, 8), names, strict=True))


def test_fewer_paths_are_the_first_of_more_where_costs_are_equal() -> None:
    graph = two_way(fat_tree(4), 20)
    eight = PathCache().k_shortest_paths(graph, 6, 19, 8, DELAY)
    for count in range(1, 9):
        assert PathCache().k_shortest_paths(graph, 6, 19, count, DELAY) == eight[:count]


@given(directed_edges(most=6), st.sets(st.integers(0, 5)))
def test_every_simple_path_is_found_once_and_none_passes_what_it_must_not(
    drawn: tuple[dict[tuple[int, int], int], int], only_ends: set[int]
) -> None:
    """Against enumeration: all paths there are, fewer than 64."""
    edges, nodes = drawn
    constraints = replace(DELAY, only_ends=frozenset(only_ends))
    expected = {
        tuple(path)
        for path in nx.all_simple_paths(weighted(edges, nodes), 0, nodes - 1)
        if not set(path[1:-1]) & only_ends
    }
    found = PathCache().k_shortest_paths(graph_of(edges, nodes), 0, nodes - 1, 64, constraints)
    assert {route.nodes for route in found} <= expected
    assert len({route.nodes for route in found}) == len(found) == min(64, len(expected))


def test_fewer_links_win_a_tie() -> None:
    edges = {(0, 1): 1, (1, 3): 1, (0, 3): 2, (0, 2): 1, (2, 3): 1}
    assert [route.nodes for route in PathCache().k_shortest_paths(graph_of(edges, 4), 0, 3, 3, DELAY)] == [
        (0, 3),
        (0, 1, 3),
        (0, 2, 3),
    ]


def diamond(**odd: object) -> NetworkGraph:
    """0 to 3 by 1 (short) or by 2; link 0-1 is odd."""
    graph = graph_of({(0, 1): 1000, (1, 3): 1000, (0, 2): 2000, (2, 3): 2000}, 4)
    links = [replace(link, **odd) if link.name == "0-1" else link for link in graph.links]  # type: ignore[arg-type]
    return NetworkGraph(graph.nodes, tuple(links))


@pytest.mark.parametrize(
    ("odd", "constraints"),
    [
        ({"state": LinkState.DOWN}, DELAY),
        ({"state": LinkState.UNHEARD}, DELAY),
        ({}, replace(DELAY, only_ends=frozenset({1}))),
        ({}, replace(DELAY, links=frozenset({"0-2", "2-3", "1-3"}))),
        ({"delay": None}, DELAY),
        ({"capacity": 1e8}, PathConstraints(Cost.CAPACITY)),
    ],
)
def test_a_link_that_does_not_serve_is_not_used(odd: dict[str, object], constraints: PathConstraints) -> None:
    assert PathCache().k_shortest_paths(diamond(), 0, 3, 1, DELAY)[0].nodes == (0, 1, 3)
    assert PathCache().k_shortest_paths(diamond(**odd), 0, 3, 1, constraints)[0].nodes == (0, 2, 3)


@given(directed_edges())
def test_the_backup_shares_the_fewest_links_and_is_the_cheapest_of_those(
    drawn: tuple[dict[tuple[int, int], int], int],
) -> None:
    edges, nodes = drawn
    graph = graph_of(edges, nodes)
    routes = PathCache().k_shortest_paths(graph, 0, nodes - 1, 64, DELAY)
    if not routes:
        return
    first, others = routes[0], routes[1:]
    backup = backup_path(graph, first, DELAY)
    if backup is None:
        assert not others
        return

    def badness(route: Route) -> tuple[int, int, int]:
        return (
            len(set(route.names) & set(first.names)),
            len(set(route.nodes[1:-1]) & set(first.nodes)),
            route.cost,
        )

    assert badness(backup) <= min(badness(route) for route in others)
    assert well_formed(backup)
    assert backup != first


def test_a_link_used_the_other_way_is_shared() -> None:
    """0-1-2-5 is in use; the way over 2>1 would need no direction of it again, but the same fibre."""
    pairs = {"a": (0, 1), "b": (1, 2), "c": (2, 5), "d": (0, 2), "e": (1, 5), "f": (0, 3), "g": (3, 5)}
    links = [
        Link(name, one, other, 1, 1, 1e9, 1e-3 if name in "abc" else 5e-3)
        for name, pair in pairs.items()
        for one, other in (pair, pair[::-1])
    ]
    graph = NetworkGraph(frozenset({0, 1, 2, 3, 5}), tuple(links))
    first = PathCache().k_shortest_paths(graph, 0, 5, 1, DELAY)[0]
    assert first.names == ("a", "b", "c")
    backup = backup_path(graph, first, DELAY)
    assert backup is not None
    assert backup.names == ("f", "g")


def test_a_partition_has_no_path() -> None:
    graph = two_way([(0, 1), (2, 3)], 4)
    assert PathCache().k_shortest_paths(graph, 0, 3, 8, DELAY) == ()
    assert PathCache().k_shortest_paths(graph, 0, 1, 8, DELAY)[0].nodes == (0, 1)


def over(*walks: tuple[list[int], int]) -> NetworkGraph:
    """Two-way links along these walks, each costing so many microseconds; who lays a link first, wins."""
    costs: dict[tuple[int, int], int] = {}
    for nodes, cost in walks:
        for one, other in pairwise(nodes):
            costs.setdefault((min(one, other), max(one, other)), cost)
    links = [
        Link(f"{low}-{high}", *ends, 1, 1, 1e9, cost / 1e6)
        for (low, high), cost in costs.items()
        for ends in ((low, high), (high, low))
    ]
    return NetworkGraph(frozenset(node for pair in costs for node in pair), tuple(links))


@pytest.mark.parametrize(
    ("others", "backup"),
    [
        # No link shared either way: the one that passes no switch of it, although it is dearer.
        ([([0, 4, 2, 5, 9], 5), ([0, 6, 9], 50)], (0, 6, 9)),
        # Both share nothing: the cheaper.
        ([([0, 4, 9], 40), ([0, 6, 9], 50)], (0, 4, 9)),
        # Nothing but the first link can be shared.
        ([([1, 4, 9], 40)], (0, 1, 4, 9)),
    ],
)
def test_links_count_before_switches_and_switches_before_cost(
    others: list[tuple[list[int], int]], backup: tuple[int, ...]
) -> None:
    graph = over(([0, 1, 2, 3, 9], 1), *others)
    first = PathCache().k_shortest_paths(graph, 0, 9, 1, DELAY)[0]
    assert first.nodes == (0, 1, 2, 3, 9)
    found = backup_path(graph, first, DELAY)
    assert found is not None
    assert found.nodes == backup


def test_a_cheap_detour_over_a_shared_link_is_no_backup() -> None:
    """0-4-1-2-5-9 shares 1-2 and two switches; 0-4-1-6-2-7-3-8-9 three switches and no link."""
    graph = over(
        ([0, 1, 2, 3, 9], 1), ([0, 4, 1], 2), ([2, 5], 2), ([5, 3], 2), ([1, 6, 2], 9), ([3, 8, 9], 9)
    )
    first = PathCache().k_shortest_paths(graph, 0, 9, 1, DELAY)[0]
    found = backup_path(graph, first, DELAY)
    assert found is not None
    assert not set(found.names) & set(first.names)
    assert found.nodes == (0, 4, 1, 6, 2, 5, 3, 8, 9)
