"""k cheapest loop-free paths: the same costs as networkx, every path simple, every constraint kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.config.network import Cost
from adon.flowvisor.topology.k_shortest_paths import PathCache, Route, Wish, cheapest
from adon.flowvisor.topology.network_graph import Graph, Link, LinkState
from adon.flowvisor.topology.path import Attributes
from measurement.model import Metric
from tests.flowvisor.graphs import directed_edges, graph_of, weighted

DELAY = Wish(Cost.DELAY)


def two_way(edges: list[tuple[int, int]], nodes: int, cost: int = 1000) -> Graph:
    return graph_of({pair: cost for a, b in edges for pair in ((a, b), (b, a))}, nodes)


def well_formed(route: Route) -> bool:
    joined = all(one.target == next_.source for one, next_ in pairwise(route.links))
    return joined and len(set(route.nodes)) == len(route.nodes)


@given(directed_edges(), st.integers(1, 12))
def test_the_costs_are_those_of_networkx(drawn: tuple[dict[tuple[int, int], int], int], count: int) -> None:
    edges, nodes = drawn
    found = cheapest(graph_of(edges, nodes), 0, nodes - 1, count, DELAY)
    theirs = weighted(edges, nodes)
    expected: list[int] = []
    if nx.has_path(theirs, 0, nodes - 1):
        paths = islice(nx.shortest_simple_paths(theirs, 0, nodes - 1, "weight"), count)
        expected = [nx.path_weight(theirs, path, "weight") for path in paths]
    assert [route.cost for route in found] == expected
    assert all(well_formed(route) and route.nodes[0] == 0 and route.nodes[-1] == nodes - 1 for route in found)
    assert len({route.nodes for route in found}) == len(found)


@given(directed_edges(most=6), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_every_simple_path_is_found_once_and_none_passes_what_it_must_not(
    drawn: tuple[dict[tuple[int, int], int], int], avoid: set[int], only_ends: set[int]
) -> None:
    """Against enumeration: all paths there are, fewer than 64."""
    edges, nodes = drawn
    ends = {0, nodes - 1}
    kept = {pair: cost for pair, cost in edges.items() if not (avoid - ends) & set(pair)}
    wish = replace(DELAY, avoid_nodes=frozenset(avoid - ends), only_ends=frozenset(only_ends))
    expected = {
        tuple(path)
        for path in nx.all_simple_paths(weighted(kept, nodes), 0, nodes - 1)
        if not set(path[1:-1]) & only_ends
    }
    found = cheapest(graph_of(edges, nodes), 0, nodes - 1, 64, wish)
    assert {route.nodes for route in found} <= expected
    assert len({route.nodes for route in found}) == len(found) == min(64, len(expected))


def test_fewer_links_win_a_tie() -> None:
    edges = {(0, 1): 1, (1, 3): 1, (0, 3): 2, (0, 2): 1, (2, 3): 1}
    assert [route.nodes for route in cheapest(graph_of(edges, 4), 0, 3, 3, DELAY)] == [
        (0, 3),
        (0, 1, 3),
        (0, 2, 3),
    ]


def diamond(**odd: object) -> Graph:
    """0 to 3 by 1 (short) or by 2; link 0-1 is odd."""
    graph = graph_of({(0, 1): 1000, (1, 3): 1000, (0, 2): 2000, (2, 3): 2000}, 4)
    links = [replace(link, **odd) if link.name == "0-1" else link for link in graph.links]  # type: ignore[arg-type]
    return Graph(graph.nodes, tuple(links))


@pytest.mark.parametrize(
    ("odd", "wish"),
    [
        ({"state": LinkState.DOWN}, DELAY),
        ({"state": LinkState.UNHEARD}, DELAY),
        ({"capacity": 1e6}, replace(DELAY, min_capacity=1e7)),
        ({"attributes": Attributes(mtu=1500)}, replace(DELAY, mtu=9000)),
        (
            {"attributes": Attributes(mtu=9000, families=frozenset({4}))},
            replace(DELAY, families=frozenset({6})),
        ),
        ({}, replace(DELAY, avoid_links=frozenset({"0-1"}))),
        ({}, replace(DELAY, avoid_nodes=frozenset({1}))),
        ({}, replace(DELAY, only_ends=frozenset({1}))),
        ({}, replace(DELAY, links=frozenset({"0-2", "2-3", "1-3"}))),
        ({"delay": None}, DELAY),
        ({"penalty": 5.0}, DELAY),
        ({"capacity": 1e8}, Wish(Cost.CAPACITY)),
    ],
)
def test_a_link_that_does_not_serve_is_not_used(odd: dict[str, object], wish: Wish) -> None:
    graph = diamond(**odd)
    graph = Graph(
        graph.nodes,
        tuple(
            link if link.name == "0-1" else replace(link, attributes=Attributes(mtu=9000))
            for link in graph.links
        ),
    )
    assert cheapest(diamond(), 0, 3, 1, DELAY)[0].nodes == (0, 1, 3)
    assert cheapest(graph, 0, 3, 1, wish)[0].nodes == (0, 2, 3)


def test_a_path_composes_what_its_links_declare() -> None:
    route = cheapest(diamond(jitter=3e-6, loss=0.01, capacity=1e6), 0, 3, 1, DELAY)[0]
    assert route.metrics == {
        Metric.THROUGHPUT: 1e6,
        Metric.ONE_WAY_DELAY: pytest.approx(2e-6),
        Metric.RTT: pytest.approx(4e-6),
    }
    assert route.attributes == Attributes()


@given(directed_edges())
def test_the_backup_shares_the_fewest_links_and_is_the_cheapest_of_those(
    drawn: tuple[dict[tuple[int, int], int], int],
) -> None:
    edges, nodes = drawn
    graph = graph_of(edges, nodes)
    routes = cheapest(graph, 0, nodes - 1, 64, DELAY)
    if not routes:
        return
    first, others = routes[0], routes[1:]
    backup = PathCache().backup_for(graph, first, DELAY)
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
    graph = Graph(frozenset({0, 1, 2, 3, 5}), tuple(links))
    first = cheapest(graph, 0, 5, 1, DELAY)[0]
    assert first.names == ("a", "b", "c")
    backup = PathCache().backup_for(graph, first, DELAY)
    assert backup is not None
    assert backup.names == ("f", "g")


def test_a_partition_has_no_path() -> None:
    graph = two_way([(0, 1), (2, 3)], 4)
    assert cheapest(graph, 0, 3, 8, DELAY) == ()
    assert cheapest(graph, 0, 1, 8, DELAY)[0].nodes == (0, 1)


def over(*walks: tuple[list[int], int]) -> Graph:
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
    return Graph(frozenset(node for pair in costs for node in pair), tuple(links))


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
    first = cheapest(graph, 0, 9, 1, DELAY)[0]
    assert first.nodes == (0, 1, 2, 3, 9)
    found = PathCache().backup_for(graph, first, DELAY)
    assert found is not None
    assert found.nodes == backup


def test_a_cheap_detour_over_a_shared_link_is_no_backup() -> None:
    """0-4-1-2-5-9 shares 1-2 and two switches; 0-4-1-6-2-7-3-8-9 three switches and no link."""
    graph = over(
        ([0, 1, 2, 3, 9], 1), ([0, 4, 1], 2), ([2, 5], 2), ([5, 3], 2), ([1, 6, 2], 9), ([3, 8, 9], 9)
    )
    first = cheapest(graph, 0, 9, 1, DELAY)[0]
    found = PathCache().backup_for(graph, first, DELAY)
    assert found is not None
    assert not set(found.names) & set(first.names)
    assert found.nodes == (0, 4, 1, 6, 2, 5, 3, 8, 9)
