"""An overlay: paths are computed, kept, left when a link goes, and lead where they should."""

from __future__ import annotations

import pytest

from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6
from adon.flowvisor.topology.network_graph import PortState
from tests.support.datapath import Packet
from tests.support.overlay_network import LOWER, PORTS, UPPER, make_diamond_stage
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage

SWITCHES = {"mu-edge": MU_EDGE, "osu-edge": OSU_EDGE, "upper": UPPER, "lower": LOWER}
DTN_PORT = 1


def way(
    stage: Stage,
    source: str = "mu",
    destination: str = "osu",
    *,
    port: int,
    sender: int = 49_152,
    ip: int = 4,
) -> list[str]:
    """Send one packet from a site's DTN to the other's, and return the switches that it passes.

    :raises AssertionError: if it does not arrive.
    """
    sites, wires = stage.configuration.sites, _wires(stage)
    (one,), (other,) = sites[source].hosts.values(), sites[destination].hosts.values()
    addresses = (one.address, other.address) if ip == 4 else (one.address6, other.address6)
    packet = Packet(
        one.mac,
        sites[source].gateway_mac,
        *map(str, addresses),
        tp_src=sender,
        tp_dst=port,
        eth_type=ETH_TYPE_IPV4 if ip == 4 else ETH_TYPE_IPV6,
    )
    here, in_port, passed = sites[source].edge, DTN_PORT, list[str]()
    while True:
        passed.append(here)
        ((out, packet),) = stage.switches[SWITCHES[here]].forward(in_port, packet)
        if (here, out) not in wires:
            assert (here, out, packet.vlan) == (sites[destination].edge, DTN_PORT, None)
            return passed
        here, in_port = wires[here, out]


def _wires(stage: Stage) -> dict[tuple[str, int], tuple[str, int]]:
    found = {}
    for link in stage.configuration.links.values():
        one, other = ((switch, PORTS[SWITCHES[switch]][port]) for switch, port in link.ends.items())
        found |= {one: other, other: one}
    return found


def names(stage: Stage) -> dict[str, tuple[tuple[str, ...], int]]:
    return {circuit.name: (circuit.links, circuit.vlan) for circuit in stage.saved.circuits.circuits}


@pytest.mark.parametrize("pipeline", ["single", "staged"])
def test_a_flow_crosses_our_own_switches_both_ways_and_in_both_versions_of_ip(pipeline: str) -> None:
    stage = make_diamond_stage(pipeline)
    flow = stage.submit("bulk", ports=[5001])
    assert flow.path == "ring.1"
    assert names(stage)["ring.1"] == (("a-up", "up-b"), 100)
    assert way(stage, port=5001) == ["mu-edge", "upper", "osu-edge"]
    back = way(stage, "osu", "mu", port=40_000, sender=5001)
    assert back == ["osu-edge", "upper", "mu-edge"]
    assert way(stage, port=5001, ip=6) == ["mu-edge", "upper", "osu-edge"]


def test_a_link_in_the_middle_goes_and_the_flow_moves_without_waiting_for_a_measurement() -> None:
    stage = make_diamond_stage()
    flow = stage.submit("bulk", ports=[5001])
    stage.change_port(UPPER, "east", PortState(2, False))
    assert stage.saved.flows[flow.number].path == "ring.2"
    assert way(stage, port=5001) == ["mu-edge", "lower", "osu-edge"]
    assert "up-b" in stage.decision(flow).reason


def test_a_restart_keeps_names_numbers_and_vlans_and_changes_no_rule() -> None:
    stage = make_diamond_stage()
    stage.submit("bulk", ports=[5001])
    before, sent = names(stage), len(stage.batches)
    stage.restart()
    assert names(stage) == before
    assert len(stage.batches) == sent
    assert way(stage, port=5001) == ["mu-edge", "upper", "osu-edge"]


def test_a_circuit_that_nobody_uses_goes_with_its_rules_and_its_vlan_is_free_again() -> None:
    stage = make_diamond_stage()
    assert {rule.dpid for rule in stage.installed()} == {UPPER, LOWER}
    stage.change_port(LOWER, "east", PortState(2, False))
    assert list(names(stage)) == ["ring.1"]
    assert {rule.dpid for rule in stage.installed()} == {UPPER}
    stage.change_port(LOWER, "east", PortState(2, True))
    assert names(stage) == {"ring.1": (("a-up", "up-b"), 100), "ring.3": (("a-down", "down-b"), 100)}


def test_a_partition_queues_the_flow_with_the_reason_and_joins_again() -> None:
    stage = make_diamond_stage()
    flow = stage.submit("bulk", ports=[5001])
    for dpid in (UPPER, LOWER):
        stage.change_port(dpid, "east", PortState(2, False))
    waiting = stage.submit("bulk", ports=[5002])
    assert waiting.path is None
    stage.change_port(LOWER, "east", PortState(2, True))
    assert stage.saved.flows[flow.number].path == stage.saved.flows[waiting.number].path != "ring.1"
    assert way(stage, port=5001) == way(stage, port=5002) == ["mu-edge", "lower", "osu-edge"]
