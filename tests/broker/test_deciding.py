"""Who gives way is in test_preemption.py; when a flow moves, in test_broker.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.broker.alarms import Waived
from adon.broker.deciding import advise, choose_path, decision_of, with_misses
from adon.broker.decision import Outcome
from adon.broker.events import Tick
from adon.broker.flow import Flow
from adon.flowvisor.assessment import CandidateRecord, MetricRecord, Verdict
from measurement.model import Measurement, Metric, PathKey
from tests.broker.stage import Stage, ready

THROUGHPUT_MISSED = CandidateRecord(
    "al2s",
    "l2",
    Verdict.UNQUALIFIED,
    "",
    None,
    (MetricRecord("throughput", 1e6, bound_met=False), MetricRecord("loss", 0.0, bound_met=True)),
)
ALL_MET = replace(THROUGHPUT_MISSED, metrics=(MetricRecord("throughput", 9e6, bound_met=True),))


def running() -> tuple[Stage, Flow]:
    stage = ready()
    flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    assert flow.path == "al2s"
    return stage, flow


@pytest.mark.parametrize(
    ("record", "path", "metric", "expected"),
    [
        (THROUGHPUT_MISSED, "al2s", Metric.THROUGHPUT, 3),
        (THROUGHPUT_MISSED, "al2s", Metric.LOSS, 2),  # another metric neither adds nor clears
        (THROUGHPUT_MISSED, "internet", Metric.THROUGHPUT, 2),  # another path says nothing
        (ALL_MET, "al2s", Metric.THROUGHPUT, 0),
        (None, "al2s", Metric.THROUGHPUT, 2),  # its path is not a candidate any more
    ],
)
def test_misses_are_counted_per_metric_that_misses(
    record: CandidateRecord | None, path: str, metric: Metric, expected: int
) -> None:
    _, flow = running()
    measured = Measurement(PathKey(path, "mu", "osu"), metric, 0.0, 1.0, 2.0, "t", "tool", {})
    assert with_misses(replace(flow, misses=2), record, measured).misses == expected
    assert with_misses(replace(flow, misses=2), record, None).misses == 2


def test_a_shunned_path_is_not_chosen_until_its_time_is_over() -> None:
    stage, flow = running()
    world = stage.broker.world
    world.shunned["al2s"] = (stage.now + 5, "table full")
    assert choose_path(world, flow, stage.now)[1].selection.path == "internet"
    assert choose_path(world, flow, stage.now + 5)[1].selection.path == "al2s"


def test_a_path_that_may_not_be_had_says_why() -> None:
    stage, flow = running()
    _, choice = choose_path(stage.broker.world, flow, stage.now, {"al2s": "gives way to f-9"})
    record = choice.record("al2s")
    assert record is not None
    assert (record.verdict, choice.selection.path) == (Verdict.EXCLUDED, "internet")
    assert "gives way to f-9" in record.why


def test_a_path_that_cannot_be_used_is_left_at_once() -> None:
    stage, flow = running()
    need, choice = choose_path(stage.broker.world, flow, stage.now)
    assert not advise(flow, need, choice, stage.now).move
    need, choice = choose_path(stage.broker.world, flow, stage.now, {"al2s": "down"})
    assert advise(flow, need, choice, stage.now).move


@pytest.mark.parametrize(
    ("waived", "dwelt", "move"),
    [
        (Waived.NOTHING, 100.0, False),
        (Waived.PATIENCE, 100.0, True),
        (Waived.PATIENCE, 10.0, False),
        (Waived.PATIENCE_AND_DWELL, 0.0, True),
    ],
)
def test_what_is_waived_no_longer_holds_a_flow(waived: Waived, dwelt: float, move: bool) -> None:
    stage, flow = running()
    stage.pass_time(1)
    stage.measure("al2s", 1.0)
    need, choice = choose_path(stage.broker.world, stage.flow(flow), stage.now)
    flow = replace(stage.flow(flow), path_since=stage.now - dwelt)
    advice = advise(flow, need, choice, stage.now, waived)
    assert advice.move is move
    if move:
        assert "missed the QSpec 1 times in a row" in advice.reason


@pytest.mark.parametrize(
    ("outcome", "path", "expected"),
    [(Outcome.STAY, None, "al2s"), (Outcome.QUEUE, None, None), (Outcome.MOVE, "internet", "internet")],
)
def test_a_decision_names_the_path_after_it_and_the_one_before(
    outcome: Outcome, path: str | None, expected: str | None
) -> None:
    stage, flow = running()
    need, choice = choose_path(stage.broker.world, flow, stage.now)
    decision = decision_of(2, flow, need, choice, outcome, "because", Tick("e9", 7.0), path)
    assert (decision.id, decision.cause, decision.at) == ("d-e9.2", "e9", 7.0)
    assert (decision.path, decision.previous_path) == (expected, "al2s")
    assert {record.path for record in decision.candidates} == {"al2s", "internet"}
