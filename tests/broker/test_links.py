"""Discovery as a part of the broker: hellos go out and come in, rules are wanted, the read-out shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adon.broker.effects import WakeAt
from adon.broker.events import LldpReceived, SnapshotAsked
from adon.flowvisor.discovery.link import LinkState
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.topology.network_graph import PortState
from tests.flowvisor.frames import CHASSIS, END, PORT, TTL, lldp_frame
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know
from tests.support.wired_stage import WIRE, WiredStage, discovering

DOCS = Path(__file__).parents[2] / "docs" / "switches.md"
LINK = (MU_EDGE, 2, OSU_EDGE, 2)


class LinkStage(WiredStage):
    @property
    def live(self) -> frozenset[tuple[int, int, int, int]]:
        names = {name: switch.dpid for name, switch in self.configuration.switches.items()}
        return frozenset(
            tuple(part for end in entry["ends"] for part in (names[end["switch"]], end["number"]))
            for entry in self.shown()
            if entry["state"] == "live"
        )

    def shown(self) -> Any:
        return json.loads(json.dumps(self.command(SnapshotAsked), allow_nan=False))["links"]


def test_where_it_is_not_configured_nothing_is_sent_or_known() -> None:
    stage = LinkStage(make_configuration())
    stage.connect()
    stage.pass_time(10)
    stage.feed(LldpReceived(*stage.stamp(), MU_EDGE, 2, lldp_frame(CHASSIS, PORT, TTL, END)))
    assert stage.packets == []
    assert stage.shown() == []
    assert not {rule for rule in stage.installed() if cookie_owner(rule.cookie)[0] is Kind.DISCOVERY}


def test_configured_without_an_identity_is_a_bug() -> None:
    with refused(ValueError):
        Stage(discovering())


def test_a_link_is_found_watched_and_lost() -> None:
    stage = LinkStage()
    stage.connect()
    assert stage.live == {LINK}
    stage.pass_time(60)
    assert stage.live == {LINK}
    stage.wires.clear()
    stage.pass_time(3.6)
    assert stage.live == frozenset()
    assert stage.announcements("link-down")


def test_a_port_that_goes_down_takes_the_link_with_it_in_the_same_event() -> None:
    stage = LinkStage()
    stage.connect()
    stage.change_port(OSU_EDGE, "osu-edge-al2s", PortState(2, False, oper=False))
    assert stage.live == frozenset()
    ((link),) = [entry for entry in stage.shown() if entry["state"] != "foreign"]
    assert "osu-edge-al2s" in link["reason"]
    assert [(end["admin"], end["oper"]) for end in link["ends"]] == [(True, True), (True, False)]


def test_hosts_get_no_hellos() -> None:
    stage = LinkStage()
    stage.connect()
    stage.pass_time(5)
    assert {packet.port for packet in stage.packets} == {2, 3}


def test_each_switch_gets_its_rule_and_a_restart_leaves_it() -> None:
    stage = LinkStage()
    stage.connect()
    mine = [rule for rule in stage.installed() if cookie_owner(rule.cookie)[0] is Kind.DISCOVERY]
    assert sorted((rule.dpid, cookie_owner(rule.cookie)[1]) for rule in mine) == [(MU_EDGE, 0), (OSU_EDGE, 1)]
    stage.batches.clear()
    stage.restart()
    stage.pass_time(5)
    assert stage.batches == []
    assert set(mine) <= stage.desired()
    assert stage.live == {LINK}


def test_switched_off_again_the_rules_go() -> None:
    stage = LinkStage()
    stage.connect()
    stage.configuration = make_configuration()
    stage.restart()
    assert not {rule for rule in stage.installed() if cookie_owner(rule.cookie)[0] is Kind.DISCOVERY}


def test_a_deleted_rule_comes_back() -> None:
    stage = LinkStage()
    stage.connect()
    (rule,) = [r for r in stage.installed(MU_EDGE) if cookie_owner(r.cookie)[0] is Kind.DISCOVERY]
    stage.delete_by_hand(rule)
    stage.pass_time(5)
    assert rule in stage.installed(MU_EDGE)


def test_hellos_of_a_controller_that_stands_by_are_not_ours() -> None:
    stage = LinkStage()
    stage.connect()
    old = stage.packets[-1]
    stage.restart()
    stage.wires.clear()
    stage.pass_time(5)
    stage.feed(LldpReceived(*stage.stamp(), *WIRE[old.dpid, old.port], old.data))
    assert stage.live == frozenset()
    assert stage.announcements("hello-standby")


def test_the_read_out_has_links_and_foreign_neighbours() -> None:
    stage = LinkStage()
    stage.connect()
    stage.feed(LldpReceived(*stage.stamp(), MU_EDGE, 3, lldp_frame(CHASSIS, PORT, TTL, END)))
    link, other = stage.shown()
    assert (link["state"], link["reason"], link["penalised_until"]) == ("live", "", None)
    assert link["delays"] == [0.0, 0.0]
    assert [(end["switch"], end["port"], end["number"]) for end in link["ends"]] == [
        ("mu-edge", "mu-edge-al2s", 2),
        ("osu-edge", "osu-edge-al2s", 2),
    ]
    assert (other["state"], other["chassis"], other["port"]) == ("foreign", "sw", "p1")
    assert other["ends"][0]["port"] == "mu-edge-rtr"


def test_a_flapping_link_has_a_penalty_that_is_shown() -> None:
    stage = LinkStage()
    stage.connect()
    for _ in range(2):
        stage.change_port(OSU_EDGE, "osu-edge-al2s", PortState(2, False))
        stage.change_port(OSU_EDGE, "osu-edge-al2s", PortState(2, True))
    until = stage.now + 10.0
    assert [(entry["state"], entry["penalised_until"]) for entry in stage.shown()] == [("penalised", until)]
    stage.pass_time(10.0)
    assert stage.live == {LINK}


def test_a_wrong_wire_is_said() -> None:
    stage = LinkStage()
    stage.wires = {(MU_EDGE, 2): (OSU_EDGE, 3), (OSU_EDGE, 3): (MU_EDGE, 2)}
    stage.connect()
    assert stage.live == frozenset()
    assert stage.announcements("link-miswired")


def test_a_hello_that_changes_nothing_leads_to_nothing() -> None:
    """Hundreds come in per second."""
    stage = LinkStage()
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    stage.submit()
    packet = next(p for p in reversed(stage.packets) if (p.dpid, p.port) == (MU_EDGE, 2))
    effects = stage.broker.handle(LldpReceived(*stage.stamp(), OSU_EDGE, 2, packet.data))
    assert all(isinstance(effect, WakeAt) for effect in effects)


@pytest.mark.parametrize("state", LinkState)
def test_the_page_explains_every_state(state: LinkState) -> None:
    assert f"| `{state}` |" in DOCS.read_text()
