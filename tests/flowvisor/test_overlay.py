"""Computed paths between sites: loop-free, one VLAN each, and a name that means the same links while used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.config import Configuration
from adon.errors import Conflict
from adon.flowvisor.topology.overlay import (
    FIRST_INDEX,
    OverlayPaths,
    Replan,
    replan,
    route_of,
)
from adon.flowvisor.topology.path import CandidatePath, Hop, Layer, PathEnd
from adon.flowvisor.topology.topology import Topology
from measurement.model import Metric, PathKey, from_json, to_json
from tests.flowvisor.graphs import (
    configuration,
    connected,
    fat_tree,
    link_down,
    random_regular,
    ring_of_rings,
)
from tests.support.refusals import refused

SQUARE = configuration([(0, 1), (1, 2), (0, 3), (3, 2), (1, 3)], [0, 2], paths=2)
"""Sites at 0 and 2; l0 l1 by switch 1, l2 l3 by switch 3, l4 across."""


def planned(topology: Topology, in_use: Sequence[str] = ()) -> tuple[Topology, Replan]:
    found = replan(topology.overlay_paths, topology.graph, topology.configuration, frozenset(in_use))
    return replace(topology, overlay_paths=found.paths), found


def routes(topology: Topology) -> dict[str, tuple[str, ...]]:
    return {circuit.name: circuit.links for circuit in topology.overlay_paths.circuits}


def assert_sound(topology: Topology) -> None:
    """Loop-free, connected in the configuration, and no VLAN id twice on a link."""
    ways: dict[tuple[int, int, int | None], int] = {}
    for path in (candidate.path for candidate in topology.directions() if candidate.path is not None):
        visited = [path.source_end.dpid, *(hop.dpid for hop in path.hops), path.destination_end.dpid]
        assert len(set(visited)) == len(visited)
        for hop in path.hops:
            assert ways.setdefault((hop.dpid, hop.in_port, path.vlan), hop.out_port) == hop.out_port
    for one, other in combinations(topology.overlay_paths.circuits, 2):
        assert one.vlan != other.vlan or not set(one.links) & set(other.links)
        assert (one.name, one.index) != (other.name, other.index)


def test_two_ways_around_a_square() -> None:
    topology, found = planned(connected(SQUARE))
    assert routes(topology) == {"core.1": ("l0", "l1"), "core.2": ("l2", "l3")}
    assert [circuit.vlan for circuit in found.added] == [100, 100]
    assert [circuit.index for circuit in found.added] == [FIRST_INDEX + 1, FIRST_INDEX + 2]
    assert planned(topology)[1] == Replan(found.paths)


def test_candidates_have_hops_in_both_directions() -> None:
    topology, _ = planned(connected(SQUARE))
    there, back = (topology.candidates(*ends)[0] for ends in (("dtn0", "dtn1"), ("dtn1", "dtn0")))
    assert there.path is not None
    assert dict(there.path.declared)[Metric.THROUGHPUT] == there.path.capacity
    assert replace(there.path, declared=()) == CandidatePath(
        PathKey("core.1", "site0", "site1"),
        Layer.L2,
        FIRST_INDEX + 1,
        1e10,
        PathEnd(1, 2),
        PathEnd(3, 2),
        100,
        (Hop(2, 2, 3),),
    )
    assert back.path == there.path.reverse()
    assert back.path is not None
    assert back.path.hops == (Hop(2, 3, 2),)
    assert there.usable
    assert topology.candidate(back.key) == back
    assert {candidate.key.path for candidate in topology.directions()} == {"core.1", "core.2"}
    assert back.path.reverse() == there.path


def test_a_link_failure_shows_at_once_and_is_planned_around() -> None:
    before, _ = planned(connected(SQUARE))
    down = link_down(before, "l1")
    first, second = down.between("site0", "site1")
    assert first.reason is not None
    assert (first.usable, first.reason.code) == (False, "link-down")
    assert second.usable
    after, found = planned(down)
    assert [circuit.name for circuit in found.dropped] == ["core.1"]
    assert routes(after) == {"core.2": ("l2", "l3"), "core.3": ("l0", "l4", "l3")}
    assert_sound(after)


def test_a_dead_path_that_is_used_stays_until_it_is_not() -> None:
    before, _ = planned(connected(SQUARE))
    after, found = planned(link_down(before, "l1"), in_use=["core.1"])
    assert found.dropped == ()
    assert list(routes(after)) == ["core.1", "core.2", "core.3"]
    assert list(routes(planned(after)[0])) == ["core.2", "core.3"]


def test_when_the_link_is_back_a_cheaper_path_takes_the_place_of_a_dearer_one_that_nobody_uses() -> None:
    before, _ = planned(connected(SQUARE))
    without, _ = planned(link_down(before, "l1"))
    back = link_down(without, "l1", live=True)
    again, found = planned(back)
    assert routes(again) == {"core.2": ("l2", "l3"), "core.4": ("l0", "l1")}
    assert [circuit.name for circuit in found.dropped] == ["core.3"]
    used, _ = planned(back, in_use=["core.3"])
    assert list(routes(used)) == ["core.2", "core.3"]


def test_for_a_path_that_costs_the_same_nothing_is_given_up() -> None:
    one_each = configuration([(0, 1), (1, 2), (0, 3), (3, 2)], [0, 2], paths=1)
    first, _ = planned(connected(one_each))
    other, _ = planned(link_down(first, "l0"))
    assert (routes(first), routes(other)) == ({"core.1": ("l0", "l1")}, {"core.2": ("l2", "l3")})
    assert routes(planned(link_down(other, "l0", live=True))[0]) == routes(other)


def test_a_switch_that_is_away_changes_nothing() -> None:
    before, _ = planned(connected(SQUARE))
    away = before.switch_down(2)
    assert [c.usable for c in away.between("site0", "site1")] == [False, True]
    reason = away.between("site0", "site1")[0].reason
    assert reason is not None
    assert reason.code == "switch-disconnected"
    assert planned(away)[0].overlay_paths == before.overlay_paths


def test_after_a_restart_the_circuits_are_there_before_any_switch() -> None:
    before, _ = planned(connected(SQUARE))
    kept = from_json(OverlayPaths, to_json(before.overlay_paths))
    assert kept == before.overlay_paths
    started = Topology(SQUARE, overlay_paths=kept)
    assert [(c.path, c.usable) for c in started.between("site0", "site1")] == [(None, False)] * 2
    assert planned(started)[1] == Replan(kept)
    assert planned(replace(connected(SQUARE), overlay_paths=kept))[1] == Replan(kept)


def test_the_backup_is_among_the_paths_even_if_others_are_cheaper() -> None:
    """Two paths of 3 links share l0; the disjoint one is longer."""
    edges = [(0, 1), (1, 2), (2, 5), (1, 3), (3, 5), (0, 6), (6, 7), (7, 8), (8, 5)]
    topology, _ = planned(connected(configuration(edges, [0, 5], paths=2)))
    first, second = routes(topology).values()
    assert not set(first) & set(second)
    assert len(second) == 4


def test_a_third_sites_edge_is_not_passed_unless_allowed() -> None:
    line = [(0, 1), (1, 2)]
    closed, _ = planned(connected(configuration(line, [0, 1, 2])))
    assert sorted(routes(closed).values()) == [("l0",), ("l1",)]
    opened, _ = planned(connected(configuration(line, [0, 1, 2], through_edges=True)))
    assert ("l0", "l1") in routes(opened).values()


def test_vlans_exhausted_refuses_one_path_and_keeps_the_others() -> None:
    whole = configuration([(0, 1), (1, 2), (2, 0), (0, 3), (3, 2)], [0, 2], paths=4, vlans="100")
    topology, found = planned(connected(configuration([(0, 1), (1, 2), (1, 3), (3, 2)], [0, 2], vlans="7")))
    assert list(routes(topology)) == ["core.1"]
    (unplaced,) = found.refused
    assert unplaced.startswith("site0 to site1: overlays.core.vlans: ")
    assert_sound(planned(connected(whole))[0])
    with refused(Conflict, field="overlays.core.vlans"):
        topology.overlay_paths.with_path("core", frozenset({7}), "site0", "site1", ("l0",))


def test_configuration_that_changed_makes_circuits_dead() -> None:
    before, _ = planned(connected(SQUARE))
    circuit = before.overlay_paths.circuits[0]
    for other in [
        configuration([(3, 0), (0, 1), (1, 2)], [0, 2]),  # l1 is elsewhere
        configuration([(0, 1), (1, 2)], [0, 1]),  # the circuit does not lead to the edge of site1
        configuration([(0, 1), (1, 2)], [0]),  # no site1
        configuration([(0, 1), (1, 2)], [0, 2], links=["l0"]),
        SQUARE.model_copy(update={"overlays": {}}),
    ]:
        now = replace(connected(other), overlay_paths=before.overlay_paths)
        assert isinstance(route_of(circuit, now.graph, other), str)
        (found,) = [c for c in now.directions() if c.key == PathKey("core.1", "site0", "site1")]
        assert found.reason is not None
        assert (found.path, found.usable, found.reason.code) == (None, False, "circuit-obsolete")
        assert circuit not in planned(now)[0].overlay_paths.circuits
        assert circuit in planned(now, in_use=["core.1"])[0].overlay_paths.circuits


NETWORKS = {
    "rings": configuration(ring_of_rings(), [3, 23, 43, 63, 83]),
    "fat tree": configuration(fat_tree(), [47, 45, 61, 55, 76], cost="delay"),
    "random": configuration(random_regular(), [0, 20, 40, 60, 80], paths=6),
}


@pytest.mark.parametrize("whole", NETWORKS.values(), ids=NETWORKS)
def test_five_sites_over_a_hundred_switches_with_failures(whole: Configuration) -> None:
    """Every pair has its paths; after links of a used path fail the rest still holds."""
    topology, found = planned(connected(whole))
    assert found.refused == ()
    pairs = [(f"site{one}", f"site{other}") for one, other in combinations(range(5), 2)]
    assert all(len(topology.between(*pair)) >= 2 for pair in pairs)
    assert_sound(topology)
    used = topology.overlay_paths.circuits[0]
    for link in used.links[:3]:
        topology, _ = planned(link_down(topology, link), in_use=[used.name])
        assert_sound(topology)
        assert used in topology.overlay_paths.circuits
        live = [(link.source, link.target) for link in topology.graph.links if link.live]
        for pair in pairs:
            edges = [topology.configuration.switches[whole.sites[site].edge].dpid for site in pair]
            alive = any(candidate.usable for candidate in topology.between(*pair))
            assert alive is nx.has_path(nx.DiGraph(live), *edges)


def test_the_same_network_gives_the_same_circuits() -> None:
    whole = NETWORKS["random"]
    assert planned(connected(whole))[0].overlay_paths == planned(connected(whole))[0].overlay_paths


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.sets(st.integers(0, 30))), max_size=12))
def test_whatever_fails_and_comes_back(history: list[tuple[int, bool, set[int]]]) -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 2), (4, 5), (5, 3), (1, 6), (6, 5)]
    topology, _ = planned(connected(configuration(edges, [0, 2, 5], vlans="100-103", paths=3)))
    meaning = routes(topology)
    for link, live, used in history:
        names = [f"core.{number}" for number in used]
        before = topology
        topology, found = planned(link_down(topology, f"l{link}", live), names)
        assert_sound(topology)
        assert not {circuit.name for circuit in found.dropped} & set(names)
        assert topology.overlay_paths.serial >= before.overlay_paths.serial
        for name, links in routes(topology).items():
            assert meaning.setdefault(name, links) == links
        for pair in (("site0", "site1"), ("site0", "site2"), ("site1", "site2")):
            live_now = [c for c in topology.between(*pair) if c.usable]
            used_now = [c for c in topology.between(*pair) if c.key.path in names]
            assert len(live_now) <= 3 + len(used_now)


def test_a_circuit_whose_links_were_joined_otherwise_and_form_a_loop_has_no_route() -> None:
    """Its links are 0-1, 1-2, 2-3; then the second leads back: 0-1, 1-0, 0-3."""
    line = configuration([(0, 1), (1, 2), (2, 3)], [0, 3])
    circuits = planned(connected(line))[0].overlay_paths
    looped = configuration([(0, 1), (1, 0), (0, 3)], [0, 3])
    topology = replace(connected(looped), overlay_paths=circuits)
    (there,) = topology.between("site0", "site1")
    assert (there.usable, there.path, there.reason and there.reason.code) == (False, None, "circuit-obsolete")
