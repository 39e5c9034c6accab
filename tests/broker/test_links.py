"""Discovery as a part of the broker: hellos go out and come in, rules are wanted, the read-out shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from adon.broker.broker import Broker
from adon.broker.effects import Effect, SendPacket, WakeAt
from adon.broker.events import Event, LldpReceived, SnapshotAsked
from adon.config import Configuration
from adon.config.discovery import LinkDiscovery
from adon.flowvisor.cookie import Kind, cookie_owner
from adon.flowvisor.link import LinkState
from adon.flowvisor.lldp import Identity
from adon.flowvisor.port import PortState
from tests.broker.stage import MU_EDGE, OSU_EDGE, PORTS, Stage, configuration, know
from tests.flowvisor.test_lldp import CHASSIS, END, PORT, TTL, foreign
from tests.support.refusals import refused

DOCS = Path(__file__).parents[2] / "docs" / "discovery.md"
WIRE = {(MU_EDGE, 2): (OSU_EDGE, 2), (OSU_EDGE, 2): (MU_EDGE, 2)}
LINK = (MU_EDGE, 2, OSU_EDGE, 2)


def discovering(**wanted: Any) -> Configuration:
    found = LinkDiscovery.model_validate({"enabled": True, **wanted})
    return configuration().model_copy(update={"discovery": found})


class WiredStage(Stage):
    """A stage whose switches are joined by the layer-2 path's wire; each run has an identity of its own."""

    def __init__(self, read: Configuration | None = None) -> None:
        self.wires = dict(WIRE)
        self.packets: list[SendPacket] = []
        self.runs = 0
        super().__init__(discovering() if read is None else read)

    def _start(self) -> Broker:
        self.runs += 1
        unfinished = [flow for flow in self.flows.values() if not flow.state.final]
        wanted = [rule for rule, state in self.rules.values() if state.value != "removed"]
        identity = Identity("mu-osu", self.runs.to_bytes(8, "big"), bytes(32))
        return Broker(self.configuration, self.templates, flows=unfinished, rules=wanted, identity=identity)

    def _carry_out(self, effect: Effect) -> Iterable[Event]:
        if not isinstance(effect, SendPacket):
            return super()._carry_out(effect)
        self.packets.append(effect)
        end = self.wires.get((effect.dpid, effect.port))
        if end is None or not {effect.dpid, end[0]} <= self.connected:
            return ()
        return (LldpReceived(*self.stamp(), *end, effect.data),)

    @property
    def live(self) -> frozenset[tuple[int, int, int, int]]:
        return self.broker.world.links.live_links()

    def shown(self) -> Any:
        return json.loads(json.dumps(self.command(SnapshotAsked), allow_nan=False))["links"]


def test_where_it_is_not_configured_nothing_is_sent_or_known() -> None:
    stage = WiredStage(configuration())
    stage.connect()
    stage.pass_time(10)
    stage.happen(LldpReceived(*stage.stamp(), MU_EDGE, 2, foreign(CHASSIS, PORT, TTL, END)))
    assert stage.packets == []
    assert stage.shown() == []
    assert not {rule for rule in stage.installed() if cookie_owner(rule.cookie)[0] is Kind.DISCOVERY}


def test_configured_without_an_identity_is_a_bug() -> None:
    with refused(ValueError):
        Stage(discovering())


def test_a_link_is_found_watched_and_lost() -> None:
    stage = WiredStage()
    stage.connect()
    assert stage.live == {LINK}
    stage.pass_time(60)
    assert stage.live == {LINK}
    stage.wires.clear()
    stage.pass_time(3.6)
    assert stage.live == frozenset()
    assert any("no hello in either direction" in line for line in stage.said)


def test_a_port_that_goes_down_takes_the_link_with_it_in_the_same_event() -> None:
    stage = WiredStage()
    stage.connect()
    stage.port(OSU_EDGE, "osu-edge-al2s", PortState(2, False, oper=False))
    assert stage.live == frozenset()
    ((link),) = [entry for entry in stage.shown() if entry["state"] != "foreign"]
    assert link["reason"] == "port 'osu-edge-al2s' has no carrier"
    assert [(end["admin"], end["oper"]) for end in link["ends"]] == [(True, True), (True, False)]


def test_hosts_get_no_hellos() -> None:
    stage = WiredStage()
    stage.connect()
    stage.pass_time(5)
    assert {packet.port for packet in stage.packets} == {2, 3}


def test_each_switch_gets_its_rule_and_a_restart_leaves_it() -> None:
    stage = WiredStage()
    stage.connect()
    mine = [rule for rule in stage.installed() if cookie_owner(rule.cookie)[0] is Kind.DISCOVERY]
    assert sorted((rule.dpid, cookie_owner(rule.cookie)[1]) for rule in mine) == [(MU_EDGE, 0), (OSU_EDGE, 1)]
    stage.batches.clear()
    stage.restart_controller()
    stage.pass_time(5)
    assert stage.batches == []
    inherited = stage._start().world.network
    assert {inherited.wanted(owner) for owner in ("switch-0", "switch-1")} == {(rule,) for rule in mine}
    assert stage.live == {LINK}


def test_switched_off_again_the_rules_go() -> None:
    stage = WiredStage()
    stage.connect()
    stage.configuration = configuration()
    stage.restart_controller()
    assert not {rule for rule in stage.installed() if cookie_owner(rule.cookie)[0] is Kind.DISCOVERY}


def test_a_deleted_rule_comes_back() -> None:
    stage = WiredStage()
    stage.connect()
    (rule,) = [r for r in stage.installed(MU_EDGE) if cookie_owner(r.cookie)[0] is Kind.DISCOVERY]
    stage.delete(rule)
    stage.pass_time(5)
    assert rule in stage.installed(MU_EDGE)


def test_hellos_of_a_controller_that_stands_by_are_not_ours() -> None:
    stage = WiredStage()
    stage.connect()
    old = stage.packets[-1]
    stage.connected.clear()
    stage.restart_controller()
    stage.wires.clear()
    stage.pass_time(5)
    stage.happen(LldpReceived(*stage.stamp(), *WIRE[old.dpid, old.port], old.data))
    assert stage.live == frozenset()
    assert any("another controller of this network" in line for line in stage.said)


def test_the_read_out_has_links_and_foreign_neighbours() -> None:
    stage = WiredStage()
    stage.connect()
    stage.happen(LldpReceived(*stage.stamp(), MU_EDGE, 3, foreign(CHASSIS, PORT, TTL, END)))
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
    stage = WiredStage()
    stage.connect()
    for _ in range(2):
        stage.port(OSU_EDGE, "osu-edge-al2s", PortState(2, False))
        stage.port(OSU_EDGE, "osu-edge-al2s", PortState(2, True))
    until = stage.now + 10.0
    assert stage.broker.world.links.penalties(stage.now) == {((MU_EDGE, 2), (OSU_EDGE, 2)): until}
    assert [(entry["state"], entry["penalised_until"]) for entry in stage.shown()] == [("penalised", until)]
    stage.pass_time(10.0)
    assert stage.broker.world.links.penalties(stage.now) == {}
    assert stage.live == {LINK}


def test_a_wrong_wire_is_said() -> None:
    stage = WiredStage()
    stage.wires = {(MU_EDGE, 2): (OSU_EDGE, 3), (OSU_EDGE, 3): (MU_EDGE, 2)}
    stage.connect()
    assert stage.live == frozenset()
    assert any(
        "miswired" in line and "whose other end is port 'osu-edge-al2s'" in line for line in stage.said
    )


def test_a_clock_that_is_set_back_keeps_links_and_hellos() -> None:
    stage = WiredStage()
    stage.connect()
    stage.pass_time(5)
    stage.set_clock_back(3600)
    sent = len(stage.packets)
    stage.pass_time(5)
    assert stage.live == {LINK}
    assert len(stage.packets) - sent in range(16, 25)


def test_a_hello_that_changes_nothing_leads_to_nothing() -> None:
    """Hundreds come in per second."""
    stage = WiredStage()
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    stage.submit()
    packet = next(p for p in reversed(stage.packets) if (p.dpid, p.port) == (MU_EDGE, 2))
    effects = stage.broker.handle(LldpReceived(*stage.stamp(), OSU_EDGE, 2, packet.data))
    assert all(isinstance(effect, WakeAt) for effect in effects)


def test_every_port_of_the_stage_is_known_by_name() -> None:
    stage = WiredStage()
    stage.connect()
    for dpid, ports in PORTS.items():
        for name, number in ports.items():
            port = stage.broker.world.links.port((dpid, number))
            assert port is not None
            assert port.name == name


@pytest.mark.parametrize("word", [*LinkState, *LinkDiscovery.model_fields])
def test_every_state_and_setting_is_explained(word: str) -> None:
    assert f"`{word}`" in DOCS.read_text()
