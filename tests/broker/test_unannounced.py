"""Connections that nobody announced, from packet to rule: what becomes of them in transcripts."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from adon.broker import unannounced
from adon.broker.events import ConnectionsRefused, UnannouncedPackets
from adon.broker.flow import Flow, FlowState
from adon.config import ReactiveEntry
from adon.flowvisor.cookie import Kind
from adon.flowvisor.rule import Rule
from tests.broker.slicing import network, part
from tests.broker.stage import MU_EDGE, OSU_EDGE, Stage, catalog, know
from tests.flowvisor.frames import frame

ENTRY: dict[str, Any] = {"template": "soykb", "flowspace": [{"protocols": ["tcp"], "ports": [5001, 5002]}]}


def opted_in(
    slices: dict[str, Any] | None = None, budgets: dict[str, int] | None = None, **entry: Any
) -> Stage:
    """Both switches connected, both paths measured, one entry."""
    one = ReactiveEntry.model_validate({**ENTRY, "per_minute": 100_000, **entry})
    stage = Stage(network(slices, None, budgets, reactive=(one,)))
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    return stage


def come(stage: Stage, *source_ports: int, port: int = 5001) -> None:
    """The first packets of connections arrive together at the MU edge."""
    packets = tuple((1, frame(source, port)) for source in source_ports)
    stage.happen(UnannouncedPackets(*stage.stamp(), MU_EDGE, packets))


def connections(stage: Stage, kind: Kind = Kind.FLOW_CONNECTION) -> list[Rule]:
    rules = (rule for rule in stage.installed(MU_EDGE) if isinstance(rule, Rule))
    return [rule for rule in rules if rule.cookie >> 48 & 0xFF == kind]


def the_flow(stage: Stage) -> Flow:
    (flow,) = stage.flows.values()
    return flow


def test_by_default_nothing_is_shown_to_us_and_nothing_becomes_a_flow() -> None:
    """R18."""
    stage = Stage()
    stage.connect()
    assert connections(stage, Kind.REACTIVE) == []
    before = stage.installed()
    come(stage, 40_001)
    assert (stage.flows, stage.released, stage.installed()) == ({}, [], before)


def test_the_first_packet_makes_a_flow_and_the_others_are_its_connections() -> None:
    stage = opted_in()
    assert {rule.match.tp_dst for rule in connections(stage, Kind.REACTIVE)} == {5001, 5002}
    come(stage, 40_001)
    flow = the_flow(stage)
    assert (flow.state, flow.requester, flow.unannounced) == (FlowState.ACTIVE, "reactive", True)
    assert stage.last_decision(flow).path == flow.path
    come(stage, 40_002, 40_003, 40_002)
    assert [struct.unpack_from("!H", sent, 34)[0] for sent in stage.released] == [
        40_001,
        40_002,
        40_003,
        40_002,
    ]
    assert sorted(int(rule.match.tp_src or 0) for rule in connections(stage)) == [40_001, 40_002, 40_003]
    assert len(stage.flows) == 1
    assert all(rule.idle_timeout for rule in connections(stage))


def test_another_port_is_another_flow() -> None:
    stage = opted_in()
    come(stage, 40_001)
    come(stage, 40_001, port=5002)
    assert [flow.request.ports for flow in stage.flows.values()] == [(5001,), (5002,)]
    assert len(connections(stage)) == 2


def test_a_thousand_at_once_are_all_let_in_and_none_is_left_after_the_idle_time_out() -> None:
    stage = opted_in()
    come(stage, *range(30_000, 31_000))
    assert (len(stage.released), len(connections(stage))) == (1000, 1000)
    stage.pass_time(600.0)
    assert connections(stage) == []
    assert the_flow(stage).state is FlowState.FINISHED
    assert len(stage.broker._unannounced) == 0
