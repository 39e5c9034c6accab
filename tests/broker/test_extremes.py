"""Values at the limits of a double, and steps of the clock: decisions are made, and finite."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adon.broker.events import Tick
from adon.broker.flow import FlowState
from tests.support.stage import Stage, know, make_stage

LARGEST, SMALLEST = sys.float_info.max, math.ulp(0.0)
EDGES = [0.0, SMALLEST, sys.float_info.min, 1.0, 1e15, 1e300, LARGEST]
VALUES = st.sampled_from(EDGES) | st.floats(0, allow_infinity=False, allow_nan=False)
STEPS = st.lists(
    st.tuples(st.sampled_from(["throughput", "loss", "rtt", "submit", "wait"]), VALUES), max_size=12
)


def all_numbers(stage: Stage) -> None:
    for decision in stage.saved.decisions:
        for record in decision.candidates:
            assert record.q is None or math.isfinite(record.q)
        for cost in decision.compute:
            assert not math.isnan(cost.cost)
            assert not math.isnan(cost.total)
        told = decision.forecast
        assert told is None or 0 <= told.low <= told.expected <= told.high


@settings(suppress_health_check=list(HealthCheck))
@given(STEPS)
@example(steps=[("submit", 50e6), ("wait", 1.0), ("throughput", 1.79e308)])  # sums to an infinite rate
def test_whatever_is_measured_there_is_a_decision(steps: list[tuple[str, float]]) -> None:
    """Every decision is also made again from its snapshot (``stage``)."""
    stage = make_stage()
    for number, (what, value) in enumerate(steps):
        match what:
            case "throughput":
                stage.measure("al2s", min(value, 1.79e308) / 1e6)
            case "loss":
                stage.measure("al2s", loss=min(1.0, value))
            case "rtt":
                stage.measure("al2s", rtt=value)
            case "submit":
                bound = {"throughput": {"min": f"{min(max(value, SMALLEST), 60e6)!r} bps"}}
                size = f"{min(10**18, max(1, int(min(value, 1e18))))} B"
                stage.submit(ports=[6000 + number], size=size, qspec=bound)
            case "wait":
                stage.pass_time(min(value, 30.0))
    all_numbers(stage)
    for flow in [one for one in stage.saved.flows.values() if not one.state.final]:
        stage.cancel(flow)
    stage.pass_time(70)
    assert not any(stage.rules_of(flow) for flow in stage.saved.flows.values())


def test_event_before_the_latest_one_is_an_error_of_the_caller() -> None:
    stage = make_stage()
    stage.broker.handle(Tick("e-late", stage.now + 10))
    with pytest.raises(ValueError, match="e-early"):
        stage.broker.handle(Tick("e-early", stage.now + 9.999))
    stage.broker.handle(Tick("e-same", stage.now + 10))


@pytest.mark.parametrize("by", [31.0, 3600.0, 1e6, 1e9])
def test_broker_works_on_after_a_step_of_the_clock(by: float) -> None:
    """One flow runs, one waits, one has reserved; the clock steps forward."""
    stage = make_stage()
    stage.submit(queue_patience="1 h")
    night: dict[str, Any] = {"not_before": "1 h", "deadline": "3 h", "size": "9 GB"}
    stage.submit(qspec={"throughput": {"min": "20 Mbps"}}, **night)
    stage.submit(qspec={"throughput": {"min": "60 Mbps"}}, queue_patience="1 h")
    stage.now += by
    know(stage, al2s=58.0, internet=6.5)
    stage.pass_time(1)
    all_numbers(stage)
    know(stage, al2s=58.0, internet=6.5)
    late = stage.submit(ports=[7000])
    assert late.state is FlowState.ACTIVE, late.reason
    for flow in [one for one in stage.saved.flows.values() if not one.state.final]:
        stage.cancel(flow)
    stage.pass_time(70)
    assert len(stage.broker.flows) == 0
    assert stage.holders() == {}
