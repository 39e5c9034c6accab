"""Room in switches and slices: what does not fit is not taken; connections that do not fit share rules."""

from __future__ import annotations

from typing import Any

import pytest

from adon.broker.events import FirstPacket
from adon.broker.flow import Flow, FlowState
from adon.broker.room import Occupancy, Room
from adon.flowvisor.rules.action import ToController
from adon.flowvisor.rules.rule import Rule
from adon.flowvisor.topology.path import FiveTuple
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know, make_stage, verdicts

FULL = "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL"
PER_FLOW = 3
"""Rules at each edge of a flow with one port: in, and delivery from each of the two paths."""


def held(stage: Stage) -> int:
    return sum(isinstance(entry, Rule) for entry in stage.desired(MU_EDGE))


def seen(stage: Stage, flow: Flow, port: int) -> None:
    """A packet of a new connection reaches the learning rule."""
    rules = [r for r in stage.rules_in(MU_EDGE) if r.cookie >> 48 & 0xFF == 0x12 and copies(r)]
    assert rules, "nothing is copied to the controller any more"
    what = FiveTuple(6, port, 40_000)
    stage.feed(FirstPacket(*stage.stamp(), MU_EDGE, rules[0].cookie, "10.1.0.10", "10.2.0.10", what))


def copies(rule: Rule) -> bool:
    return any(isinstance(action, ToController) for action in rule.actions)


def test_a_flow_beyond_the_budget_of_a_switch_is_not_taken() -> None:
    base = held(make_stage(make_sliced_configuration()))
    stage = make_stage(make_sliced_configuration(budgets={"mu-edge": base + PER_FLOW}))
    first, second = stage.submit(), stage.submit()
    assert (stage.flow(first).state, stage.flow(second).state) == (FlowState.ACTIVE, FlowState.QUEUED)
    found = stage.decision(second)
    assert verdicts(found) == {"al2s": "excluded", "internet": "excluded"}
    assert {one.code for one in found.candidates} == {"no-rule-space"}
    assert "0000000000000a01" in found.candidates[0].why
    stage.report(first)
    stage.pass_time(1)
    assert stage.flow(second).state is FlowState.ACTIVE


def test_the_budget_of_a_slice() -> None:
    stage = make_stage(
        make_sliced_configuration({"genomics": make_slice(7, "5000-5999", rule_budget=PER_FLOW)})
    )
    stage.submit(ports=[5001])
    second = stage.submit(ports=[5002])
    assert stage.flow(second).state is FlowState.QUEUED
    assert stage.decision(second).candidates[0].code == "slice-limit"


def test_a_full_table_closes_the_switch_for_a_while_and_drives_nobody_away() -> None:
    stage = make_stage(make_sliced_configuration())
    first = stage.submit()
    stage.refuse(OSU_EDGE, FULL)
    second = stage.submit()
    sent = len(stage.batches)
    third = stage.submit()
    assert len(stage.batches) == sent, "tried again at a full table"
    assert [stage.flow(flow).state.value for flow in (first, second, third)] == ["active", "queued", "queued"]
    assert stage.decision(third).candidates[0].code == "no-rule-space"
    know(stage, al2s=58.0)
    assert (stage.flow(first).path, stage.flow(first).moves) == ("al2s", 0)
    stage.end_faults()
    stage.pass_time(31)
    know(stage, al2s=58.0)
    assert [stage.flow(flow).state.value for flow in (second, third)] == ["active", "active"]


@pytest.mark.parametrize("tight", ["budget", "slice", "refusal"])
def test_connections_that_do_not_fit_share_the_rules_between_the_hosts(tight: str) -> None:
    """R9: the table gets no fuller, nothing is half-installed, nothing more is copied to the controller."""
    fields: dict[str, Any] = {}
    if tight == "budget":
        fields["budgets"] = {"mu-edge": held(make_stage(make_sliced_configuration())) + 2 * PER_FLOW}
    elif tight == "slice":
        tenant = make_slice(7, rule_budget=2 * PER_FLOW, flowspace=[{}])
        fields["slices"] = {"genomics": tenant}
    stage = make_stage(make_sliced_configuration(**fields))
    flow = stage.submit(ports=[])
    assert stage.flow(flow).state is FlowState.ACTIVE
    alone = held(stage)
    seen(stage, flow, 20_001)
    if tight == "refusal":
        stage.refuse(OSU_EDGE, FULL)
    seen(stage, flow, 20_002)
    stage.end_faults()
    stage.pass_time(1)
    now_is = stage.flow(flow)
    assert (now_is.aggregated, now_is.tuples, now_is.path) == (True, (), "al2s")
    assert held(stage) == alone
    assert not any(copies(rule) for rule in stage.rules_in())
    stage.restart()
    assert stage.flow(flow).aggregated
    assert not any(copies(rule) for rule in stage.rules_in())


@pytest.mark.parametrize(
    ("occupied", "needed", "lacks"),
    [
        (Occupancy(10, 5), 1000, ""),
        (Occupancy(10, 5, budget=12), 2, ""),
        (Occupancy(10, 5, budget=12), 3, "10 of the 12"),
        (Occupancy(10, 5, maximum=17), 2, ""),
        (Occupancy(10, 5, maximum=17), 3, "ADON has 10, others have 5"),
    ],
)
def test_what_a_switch_lacks(occupied: Occupancy, needed: int, lacks: str) -> None:
    found = occupied.lacks(needed)
    assert lacks in found
    assert bool(found) is bool(lacks)


def test_a_full_switch_recovers() -> None:
    room = Room()
    assert not room.record_refusal(1, "OFPET_BAD_ACTION", 130.0)
    assert room.record_refusal(1, FULL, 130.0)
    assert "30 s" in room.why_full(1, 100.0)
    assert room.next_wake() == 130.0
    assert room.forget_expired(130.0)
    assert not room.forget_expired(131.0)
    assert (room.why_full(1, 129.0), room.next_wake()) == ("", None)
