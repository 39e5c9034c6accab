"""Beside others on the same switch: the campus's NORMAL forwarding, and Faucet with its own tables.

What is shown: their rules are never altered, packets that are not ours keep their way, ours take ours, and
after the other has wiped the switch our rules are back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.edge import Controller, Switches, eventually, free_port
from tests.apps.faucet import COOKIE, faucet
from tests.support.switched_flows import prepare, run_edges, submit_flow

pytestmark = pytest.mark.integration

OURS = "in_port=1,tcp,nw_src=10.1.0.10,nw_dst=10.2.0.10,tp_dst=5001"
OTHERS = "in_port=1,tcp,nw_src=10.1.0.10,nw_dst=10.2.0.10,tp_dst=22"
TO_AL2S = "push_vlan(vid=1701,pcp=0),2"


@pytest.fixture
def edges(tmp_path: Path) -> Iterator[tuple[Controller, Switches]]:
    with run_edges(tmp_path, consistency_period="1 s") as running:
        yield running


def with_a_flow(controller: Controller) -> None:
    with controller.client("collector") as link:
        prepare(link)
        submit_flow(link, size="1 GB")
    eventually(lambda: controller.said("code=flow-active") == 1, "the flow is not active")


def way(switches: Switches, packet: str) -> str:
    """What Open vSwitch itself says it would do with a packet at the MU edge."""
    told = switches.appctl("ofproto/trace", "mu-edge", packet)
    return told.rpartition("Datapath actions: ")[2].strip()


def without_counters(rules: list[str]) -> set[str]:
    return {rule.partition("n_bytes=")[2].partition(", ")[2] for rule in rules}


def theirs(switches: Switches) -> set[str]:
    lines = switches.ofctl("dump-flows", "mu-edge", COOKIE).splitlines()
    return without_counters([line for line in lines if "cookie=0x5adc15c0" in line])


def test_beside_normal_forwarding_only_our_packets_leave_its_way(edges) -> None:
    controller, switches = edges
    before = way(switches, OTHERS)
    with_a_flow(controller)
    assert TO_AL2S in way(switches, OURS)
    assert way(switches, OTHERS) == before
    (normal,) = without_counters([r for r in switches.rules("mu-edge", ours=False) if "cookie=0x0" in r])
    assert normal == "priority=0 actions=NORMAL"


@pytest.mark.slow
def test_beside_faucet_each_keeps_its_own_and_ours_survive_its_wipe(edges, tmp_path: Path) -> None:
    """Faucet deletes every rule of a switch that connects to it, ours among them, and begins with its own."""
    controller, switches = edges
    with_a_flow(controller)
    ours = without_counters(switches.rules("mu-edge"))
    port = free_port()
    with faucet(tmp_path, switches, port):
        eventually((tmp_path / "faucet.log").exists, "Faucet did not start")
        for bridge in ("mu-edge", "osu-edge"):
            switches.connect(bridge, controller.port, port)
        eventually(lambda: len(theirs(switches)) > 10, "Faucet put no rules in")
        eventually(lambda: without_counters(switches.rules("mu-edge")) == ours, "ours did not come back")
        faucets = theirs(switches)
        assert TO_AL2S in way(switches, OURS)
        assert "push_vlan(vid=10,pcp=0)" in way(switches, OTHERS) or ",2,3" in way(switches, OTHERS)
        with controller.client() as link:
            link.call("flow.cancel", {"flow": 1, "requester": "test"})
        eventually(lambda: not any("tp_dst=5001" in rule for rule in switches.rules("mu-edge")))
        assert theirs(switches) == faucets
    assert controller.said("code=rules-changed") > 0
    assert controller.alive
