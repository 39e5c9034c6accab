"""The queue ladder in transcripts: who is granted what, by a queue or a meter, and what the switch gets."""

from __future__ import annotations

from typing import Any

import pytest

from adon.broker.flow import Flow, FlowState
from adon.flowvisor.rules.action import Output, SetQueue
from adon.flowvisor.rules.pipeline import METER_FIRST, owner_of
from adon.flowvisor.rules.queue_ladder import GrantRecord
from adon.flowvisor.rules.rule import Op, Rule
from adon.flowvisor.rules.switch_features import PortQueue
from adon.values import FrozenMap
from tests.support.factories import make_features
from tests.support.network_factories import make_sliced_configuration
from tests.support.stage import MU_EDGE, Stage, know, make_stage, verdicts

METERS = {"mode": "meters"}
L2_PORT = 2


def asks(mbps: float, **fields: Any) -> dict[str, Any]:
    return {"qspec": {"throughput": {"min": f"{mbps} Mbps"}}, **fields}


def granted(stage: Stage, flow: Flow) -> GrantRecord:
    found = stage.flow(flow).granted
    assert found is not None
    return found


def ingress(stage: Stage, flow: Flow) -> Rule:
    """The rule by which a flow leaves the edge of its source."""
    rules = [r for r in stage.rules_of(flow) if r.dpid == MU_EDGE and r.cookie >> 48 & 0xFF == 0x10]
    (rule,) = rules
    return rule


def test_without_a_ladder_nothing_is_granted_and_nothing_limits() -> None:
    stage = make_stage(make_sliced_configuration())
    flow = stage.submit()
    assert stage.flow(flow).granted is None
    assert ingress(stage, flow).meter is None


def test_a_flow_alone_has_the_top_rung_and_the_whole_port() -> None:
    stage = make_stage(make_sliced_configuration(ladder=METERS))
    flow = stage.submit(**asks(7))
    found = granted(stage, flow)
    assert (found.share, found.asked, found.guaranteed, found.by, found.number) == (
        0.6,
        7e6,
        7e6,
        "meter",
        METER_FIRST,
    )
    assert found.ceiling == pytest.approx(60.6e6)
    assert stage.decision(flow).granted == found
    assert ingress(stage, flow).meter == METER_FIRST
    assert stage.meters(MU_EDGE)[METER_FIRST].rate == pytest.approx(60.6e6, abs=1000)


def test_a_more_urgent_flow_makes_one_step_down_and_its_end_lets_it_up_again() -> None:
    stage = make_stage(make_sliced_configuration(ladder=METERS))
    low = stage.submit(**asks(15))
    stage.measure("al2s", 58.0)
    high = stage.submit(**asks(25, priority=800))
    assert (stage.flow(low).path, stage.flow(high).path) == ("al2s", "al2s")
    assert (granted(stage, low).share, granted(stage, high).share) == (0.3, 0.6)
    rates = [stage.meters(MU_EDGE)[METER_FIRST + n].rate for n in (0, 1)]
    assert sum(rates) <= 60.6e6
    assert rates[0] == pytest.approx(15e6 + 20.6e6 / 2, abs=2000)
    stage.report(high)
    assert granted(stage, low).share == 0.6
    stage.pass_time(5)
    assert set(stage.meters(MU_EDGE)) == {METER_FIRST}
    stage.measure("al2s", 58.0)
    assert granted(stage, stage.submit(**asks(7))).number == METER_FIRST + 1  # its number is free again


def test_who_fits_no_rung_waits_and_the_decision_says_why() -> None:
    stage = make_stage(make_sliced_configuration(ladder=METERS, preemption=False))
    stage.submit(**asks(30))
    stage.measure("al2s", 58.0)
    second = stage.submit(**asks(25))
    assert stage.flow(second).state is FlowState.QUEUED
    found = stage.decision(second)
    assert verdicts(found)["al2s"] == "excluded"
    assert found.candidates[0].code == "no-queue"


def test_who_loses_the_last_rung_to_a_more_urgent_flow_goes_to_the_scheduler() -> None:
    stage = make_stage(make_sliced_configuration(ladder=METERS))
    low = stage.submit(**asks(30))
    stage.measure("al2s", 58.0)
    high = stage.submit(**asks(25, priority=800))
    stage.expect(high, path="al2s", code="preempts")
    stage.expect(low, state="queued", code="preempted")
    assert stage.flow(low).granted is None
    assert granted(stage, high).share == 0.6


def test_the_preempted_flow_is_placed_again_before_the_newcomer() -> None:
    """Algorithm 2: decided first, saved first, and first in what the switches are told."""
    stage = make_stage(make_sliced_configuration())
    low = stage.submit(**asks(6))
    decided, sent = len(stage.saved.decisions), len(stage.batches)
    high = stage.submit(**asks(55, priority=800))
    assert (stage.flow(low).path, stage.flow(high).path) == ("internet", "al2s")
    outcomes = [(d.flow, d.outcome.value) for d in stage.saved.decisions[decided:]]
    assert outcomes == [(low.id, "move"), (high.id, "admit")]
    owners = [owner_of(change.rule) for batch in stage.batches[sent:] for change in batch.changes]
    assert set(owners) == {low.id, high.id}
    assert owners.index(low.id) < owners.index(high.id)


def test_a_restart_keeps_grants_and_meter_numbers_and_changes_nothing() -> None:
    stage = make_stage(make_sliced_configuration(ladder=METERS))
    first, second = stage.submit(**asks(7)), stage.submit(**asks(7))
    stage.report(first)
    stage.pass_time(5)
    kept = granted(stage, second)
    held, rules = stage.meters(MU_EDGE), stage.installed()
    sent = len(stage.batches)
    stage.restart()
    stage.pass_time(30)
    assert granted(stage, second) == kept
    assert (stage.meters(MU_EDGE), stage.installed()) == (held, rules)
    assert len(stage.batches) == sent
    know(stage, al2s=58.0)
    sent = len(stage.batches)
    third = stage.submit(**asks(7))
    assert [granted(stage, flow).number for flow in (third, second)] == [METER_FIRST, METER_FIRST + 1]
    done = {c.rule.slot[-1]: c.op for b in stage.batches[sent:] for c in b.changes if len(c.rule.slot) == 3}
    assert done == {METER_FIRST: Op.ADD, METER_FIRST + 1: Op.MODIFY}  # one that is there cannot be added


def test_a_meter_that_nobody_wants_any_more_is_removed() -> None:
    stage = make_stage(make_sliced_configuration(ladder=METERS))
    stage.submit(**asks(7))
    stage.configuration = make_sliced_configuration()
    stage.restart()
    stage.pass_time(70)
    assert stage.meters(MU_EDGE) == {}


def test_queues_where_the_port_has_them_before_the_output() -> None:
    stage = Stage(make_sliced_configuration(ladder={"mode": "auto", "queues": [11, 12, 13]}))
    queues = FrozenMap({L2_PORT: tuple(map(PortQueue, (11, 12, 13)))})
    stage.switches[MU_EDGE].features = make_features(queues=queues)
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    flow = stage.submit(**asks(7))
    found = granted(stage, flow)
    assert (found.by, found.number) == ("queue", 11)
    kinds = [type(action) for action in ingress(stage, flow).actions]
    assert kinds.index(SetQueue) < kinds.index(Output)
    assert stage.meters(MU_EDGE) == {}


def test_where_there_are_neither_queues_nor_meters_that_is_said() -> None:
    stage = make_stage(make_sliced_configuration(ladder={"mode": "auto"}))
    found = granted(stage, stage.submit(**asks(7)))
    assert (found.by, found.number) == ("nothing", None)
