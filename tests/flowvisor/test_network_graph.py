"""The network as configured, reported and seen: what a link may be used for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.flowvisor.topology.network_graph import LinkState, NetworkGraph
from tests.flowvisor.graphs import (
    configuration,
    connected,
    link_down,
)

LINE = configuration([(0, 1), (1, 2)], [0, 2])


def states(graph: NetworkGraph) -> dict[str, set[LinkState]]:
    return {
        name: {link.state for link in graph.links if link.name == name}
        for name in {link.name for link in graph.links}
    }


def test_all_links_are_live_when_all_ports_are() -> None:
    graph = connected(LINE).graph
    assert states(graph) == {"l0": {LinkState.LIVE}, "l1": {LinkState.LIVE}}
    link = graph.links_by_name["l1", 2]
    assert (link.source, link.source_port, link.target, link.target_port) == (2, 3, 3, 2)
    assert (link.capacity, link.delay) == (1e10, 2e-3)


def test_a_port_that_is_down_takes_both_directions_down() -> None:
    graph = link_down(connected(LINE), "l0").graph
    assert states(graph) == {"l0": {LinkState.DOWN}, "l1": {LinkState.LIVE}}
    assert "to-l0" in graph.links[0].reason


def test_a_switch_that_is_away_says_nothing_about_its_links() -> None:
    graph = connected(LINE).switch_down(3).graph
    assert states(graph) == {"l0": {LinkState.LIVE}, "l1": {LinkState.UNHEARD}}


def test_a_dead_port_at_the_other_end_says_more_than_a_switch_that_is_away() -> None:
    graph = link_down(connected(LINE), "l1").switch_down(3).graph
    assert states(graph)["l1"] == {LinkState.DOWN}


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        ((1, 2, 2, 2), LinkState.LIVE),  # as configured
        ((1, 2, 3, 7), LinkState.DOWN),  # somebody else behind the port
        ((2, 2, 1, 9), LinkState.DOWN),  # the right switch, another port of it
        ((1, 9, 3, 9), LinkState.LIVE),  # a cable that nobody configured
    ],
)
def test_what_discovery_saw(seen: tuple[int, int, int, int], state: LinkState) -> None:
    graph = replace(connected(LINE), seen=frozenset({seen})).graph
    assert states(graph)["l0"] == {state}
