"""The network as configured, reported and seen: what a link may be used for, and what hangs together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from adon.flowvisor.topology.network_graph import Graph, LinkState
from tests.flowvisor.graphs import (
    configuration,
    connected,
    directed_edges,
    graph_of,
    link_down,
    ring_of_rings,
)

LINE = configuration([(0, 1), (1, 2)], [0, 2])


def states(graph: Graph) -> dict[str, set[LinkState]]:
    return {
        name: {link.state for link in graph.links if link.name == name}
        for name in {link.name for link in graph.links}
    }


def test_all_links_are_live_when_all_ports_are() -> None:
    graph = connected(LINE).graph
    assert states(graph) == {"l0": {LinkState.LIVE}, "l1": {LinkState.LIVE}}
    link = graph.link("l1", 2)
    assert link is not None
    assert (link.source, link.source_port, link.target, link.target_port) == (2, 3, 3, 2)
    assert (link.capacity, link.delay) == (1e10, 2e-3)


def test_a_port_that_is_down_takes_both_directions_down() -> None:
    graph = link_down(connected(LINE), "l0").graph
    assert states(graph) == {"l0": {LinkState.DOWN}, "l1": {LinkState.LIVE}}
    assert "to-l0" in graph.links[0].reason
    assert graph.partitions() == (frozenset({1}), frozenset({2, 3}))


def test_a_switch_that_is_away_says_nothing_about_its_links() -> None:
    graph = connected(LINE).switch_down(3).graph
    assert states(graph) == {"l0": {LinkState.LIVE}, "l1": {LinkState.UNHEARD}}
    assert not graph.reachable(1, 3)


def test_a_dead_port_at_the_other_end_says_more_than_a_switch_that_is_away() -> None:
    graph = link_down(connected(LINE), "l1").switch_down(3).graph
    assert states(graph)["l1"] == {LinkState.DOWN}


@pytest.mark.parametrize(
    ("seen", "state", "strangers"),
    [
        ((1, 2, 2, 2), LinkState.LIVE, 0),  # as configured
        ((1, 2, 3, 7), LinkState.DOWN, 1),  # somebody else behind the port
        ((2, 2, 1, 9), LinkState.DOWN, 1),  # the right switch, another port of it
        ((1, 9, 3, 9), LinkState.LIVE, 1),  # a cable that nobody configured
    ],
)
def test_what_discovery_saw(seen: tuple[int, int, int, int], state: LinkState, strangers: int) -> None:
    graph = replace(connected(LINE), seen=frozenset({seen})).graph
    assert states(graph)["l0"] == {state}
    assert len(graph.strangers) == strangers


def test_parts_of_rings() -> None:
    whole = configuration(ring_of_rings(), [0, 20, 40, 60, 80])
    topology = connected(whole)
    assert topology.graph.partitions() == (frozenset(range(1, 101)),)
    for name in [f"l{number}" for number in range(100, 110)]:
        topology = link_down(topology, name)
    assert len(topology.graph.partitions()) == 5
    assert topology.graph.component(1) == frozenset(range(1, 21))


@given(directed_edges())
def test_the_component_is_what_edges_lead_to(drawn: tuple[dict[tuple[int, int], int], int]) -> None:
    edges, nodes = drawn
    both = {pair: 1 for one, other in edges for pair in ((one, other), (other, one))}
    graph = graph_of(both, nodes)
    parts = graph.partitions()
    assert sorted(node for part in parts for node in part) == list(range(nodes))
    for one, other in both:
        assert graph.reachable(one, other)
    assert all(graph.component(node) == part for part in parts for node in part)
