"""Connections that nobody announced, from packet to rule: what becomes of them in transcripts."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

from adon.broker import unannounced
from adon.broker.events import ConnectionsRefused, UnannouncedPackets
from adon.broker.flow import Flow, FlowState
from adon.config.policy import ReactiveEntry
from adon.flowvisor.rules.cookie import Kind
from adon.flowvisor.rules.rule import Rule
from adon.flowvisor.topology.network_graph import PortState
from adon.templates_catalog.builtin_templates import builtin_templates, scale_template
from adon.templates_catalog.catalog import Catalog
from tests.flowvisor.frames import frame
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know

ENTRY: dict[str, Any] = {"template": "soykb", "flowspace": [{"protocols": ["tcp"], "ports": [5001, 5002]}]}


def opted_in(
    slices: dict[str, Any] | None = None,
    budgets: dict[str, int] | None = None,
    scale: float = 0.01,
    **entry: Any,
) -> Stage:
    """Both switches connected, both paths measured, one entry."""
    one = ReactiveEntry.model_validate({**ENTRY, "per_minute": 100_000, **entry})
    templates = Catalog.of(scale_template(template, scale) for template in builtin_templates())
    stage = Stage(make_sliced_configuration(slices, None, budgets, reactive=(one,)), templates)
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    return stage


def come(stage: Stage, *source_ports: int, port: int = 5001) -> None:
    """The first packets of connections arrive together at the MU edge."""
    packets = tuple((1, frame(source, port)) for source in source_ports)
    stage.feed(UnannouncedPackets(*stage.stamp(), MU_EDGE, packets))


def connections(stage: Stage, kind: Kind = Kind.FLOW_CONNECTION) -> list[Rule]:
    rules = (rule for rule in stage.installed(MU_EDGE) if isinstance(rule, Rule))
    return [rule for rule in rules if rule.cookie >> 48 & 0xFF == kind]


def the_flow(stage: Stage) -> Flow:
    (flow,) = stage.saved.flows.values()
    return flow


def test_by_default_nothing_is_shown_to_us_and_nothing_becomes_a_flow() -> None:
    """R18."""
    stage = Stage()
    stage.connect()
    assert connections(stage, Kind.REACTIVE) == []
    before = stage.installed()
    come(stage, 40_001)
    assert (stage.saved.flows, stage.released, stage.installed()) == ({}, [], before)


def test_the_first_packet_makes_a_flow_and_the_others_are_its_connections() -> None:
    stage = opted_in()
    assert {rule.match.tp_dst for rule in connections(stage, Kind.REACTIVE)} == {5001, 5002}
    come(stage, 40_001)
    flow = the_flow(stage)
    assert (flow.state, flow.requester, flow.unannounced) == (FlowState.ACTIVE, "reactive", True)
    assert stage.decision(flow).path == flow.path
    come(stage, 40_002, 40_003, 40_002)
    assert [struct.unpack_from("!H", sent, 34)[0] for sent in stage.released] == [
        40_001,
        40_002,
        40_003,
        40_002,
    ]
    assert sorted(int(rule.match.tp_src or 0) for rule in connections(stage)) == [40_001, 40_002, 40_003]
    assert len(stage.saved.flows) == 1
    assert all(rule.idle_timeout for rule in connections(stage))


def test_another_port_is_another_flow() -> None:
    stage = opted_in()
    come(stage, 40_001)
    come(stage, 40_001, port=5002)
    assert [flow.request.ports for flow in stage.saved.flows.values()] == [(5001,), (5002,)]
    assert len(connections(stage)) == 2


def test_a_thousand_at_once_are_all_let_in_and_none_is_left_after_the_idle_time_out() -> None:
    stage = opted_in()
    come(stage, *range(30_000, 31_000))
    assert (len(stage.released), len(connections(stage))) == (1000, 1000)
    stage.pass_time(600.0)
    assert connections(stage) == []
    assert the_flow(stage).state is FlowState.FINISHED


def test_packets_that_come_before_the_flow_is_active_wait_for_it() -> None:
    stage = opted_in()
    stage.silence(OSU_EDGE)
    come(stage, 40_001, 40_002)
    come(stage, 40_003)
    assert (the_flow(stage).state, stage.released) == (FlowState.INSTALLING, [])
    stage.end_faults()
    stage.answer_late()
    assert (len(stage.released), len(connections(stage))) == (3, 3)


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unannounced, "MAX_WAITING", 5)
    stage = opted_in()
    stage.silence(OSU_EDGE)
    come(stage, *range(40_000, 40_008))
    stage.end_faults()
    stage.answer_late()
    assert len(stage.released) == 5
    come(stage, *range(50_000, 50_008))
    assert len(stage.released) == 13


def test_a_move_takes_all_connections_along_and_new_ones_go_the_new_way() -> None:
    stage = opted_in(scale=0.001)  # so that both paths qualify
    come(stage, *range(40_000, 40_010))
    flow = the_flow(stage)
    before = {rule.actions for rule in connections(stage)}
    stage.change_port(MU_EDGE, "mu-edge-al2s", PortState(2, False))
    stage.pass_time(1.0)
    assert (stage.flow(flow).path, flow.path) == ("internet", "al2s")
    after = {rule.actions for rule in connections(stage)}
    assert len(after) == 1
    assert after != before
    come(stage, 41_000)
    assert {rule.actions for rule in connections(stage)} == after


def test_a_flow_that_is_cancelled_takes_its_connections_along() -> None:
    stage = opted_in()
    come(stage, 40_001, 40_002)
    stage.cancel(the_flow(stage))
    stage.pass_time(1.0)
    assert connections(stage) == []
    assert stage.rules_of(the_flow(stage)) == set()


def test_a_slice_that_does_not_have_it_refuses_once_and_for_a_time() -> None:
    stage = opted_in({"genomics": make_slice(7, 5001, who="reactive")}, slice="genomics", refuse_for="30 s")
    come(stage, 40_001, 40_002, port=5002)
    come(stage, 40_003, port=5002)
    assert stage.announcements("connections-refused") == [("connections-refused", "warning", None)]
    assert (stage.released, stage.saved.flows, stage.broker.unannounced_refused) == ([], {}, 3)
    (drop,) = connections(stage, Kind.REFUSED)
    assert (drop.actions, drop.hard_timeout, drop.match.tp_dst, drop.match.tp_src) == ((), 30, 5002, None)
    stage.sync()
    assert connections(stage, Kind.REFUSED) == [drop], "it is left alone until its time is over"
    come(stage, 40_001)
    assert len(stage.released) == 1


def test_a_slice_has_no_more_connections_than_its_budget() -> None:
    stage = opted_in({"genomics": make_slice(7, 5001, who="reactive", rule_budget=20)}, slice="genomics")
    come(stage, *range(40_000, 40_100))
    tenants = [rule for rule in stage.installed(MU_EDGE) if rule.cookie >> 36 & 0xFFF == 7]  # type: ignore[union-attr]
    assert 10 < len(tenants) <= 20
    assert stage.announcements("connections-refused")


def test_a_switch_gets_no_more_rules_than_its_budget() -> None:
    stage = opted_in(budgets={"mu-edge": 30})
    come(stage, *range(40_000, 40_100))
    assert len([rule for rule in stage.installed(MU_EDGE) if isinstance(rule, Rule)]) <= 31  # with the drop


def test_no_more_connections_in_a_minute_than_the_entry_takes() -> None:
    stage = opted_in(per_minute=5)
    come(stage, *range(40_000, 40_004))
    come(stage, *range(40_004, 40_010))
    assert len(connections(stage)) == 5
    assert stage.announcements("connections-refused")
    stage.pass_time(61.0)
    come(stage, *range(41_000, 41_004))
    assert len(stage.released) == 9


def test_who_announces_a_flow_has_it() -> None:
    stage = opted_in()
    come(stage, 40_001)
    flow = the_flow(stage)
    announced = stage.submit(ports=[5001])
    stage.pass_time(1.0)
    assert stage.flow(flow).state is FlowState.CANCELLED
    assert stage.flow(announced).state is FlowState.ACTIVE
    assert connections(stage) == []


def test_where_no_path_qualifies_nothing_waits_in_the_queue() -> None:
    stage = opted_in()
    for number, name in ((2, "mu-edge-al2s"), (3, "mu-edge-rtr")):
        stage.change_port(MU_EDGE, name, PortState(number, False))
    come(stage, 40_001)
    assert the_flow(stage).state is FlowState.CANCELLED
    assert len(connections(stage, Kind.REFUSED)) == 1
    assert stage.released == []


def test_a_flow_and_its_connections_are_found_again_after_a_restart() -> None:
    stage = opted_in()
    come(stage, 40_001, 40_002)
    stage.batches.clear()
    stage.restart()
    assert stage.batches == [], "a restart sends nothing to a switch that is right"
    assert len(connections(stage)) == 2
    know(stage, al2s=58.0)
    come(stage, 40_003)
    assert len(stage.saved.flows) == 1
    assert len(connections(stage)) == 3


def test_connections_that_somebody_changed_are_put_right() -> None:
    stage = opted_in()
    come(stage, 40_001, 40_002)
    wanted = {rule.actions for rule in connections(stage)}
    for held in stage.switches[MU_EDGE].table.values():
        if held.rule in connections(stage)[:1] and isinstance(held.rule, Rule):
            held.rule = replace(held.rule, actions=())
    stage.pass_time(5.0)
    stage.sync()
    assert {rule.actions for rule in connections(stage)} == wanted


def test_a_rule_that_the_switch_refuses_closes_the_service_for_a_while() -> None:
    stage = opted_in()
    come(stage, 40_001)
    stage.feed(ConnectionsRefused(*stage.stamp(), MU_EDGE, 1, "OFPFMFC_TABLE_FULL"))
    come(stage, 40_002)
    assert len(stage.released) == 1
    assert stage.announcements("connections-refused")


def test_the_packets_of_one_connection_are_not_sent_round_for_ever() -> None:
    stage = opted_in()
    come(stage, 40_001)
    come(stage, *[40_001] * 500)
    assert len(stage.released) == unannounced.MAX_RELEASES


def test_services_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unannounced, "MAX_SERVICES", 1)
    stage = opted_in()
    come(stage, 40_001)
    come(stage, 40_001, port=5002)
    come(stage, 40_002)
    assert len(stage.released) == 3
