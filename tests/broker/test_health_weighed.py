"""Health of paths weighs in decisions, and what trains found is what a site's cost is worked out from."""

from __future__ import annotations

import pytest

from adon.broker.events import MeasurementArrived, TemplateSaved
from adon.broker.flipping.nearest import why_not
from adon.broker.flipping.quantity import Kind
from adon.broker.flow import FlowState
from adon.flowvisor.topology.path import Basis
from measurement.health.path_metrics import ROUND, TRAIN, TRANSFER
from measurement.model import Metric, PathKey
from tests.support.factories import make_measurement, make_template
from tests.support.refusals import refused
from tests.support.stage import Stage

COUPLED = {
    "name": "coupled",
    "qspec": {"throughput": {"min": "1 Mbps"}},
    "weights": {"health": 1.0},
    "selection": {"max_age": "10 min"},
}


def stage_with(**changes: object) -> Stage:
    stage = Stage()
    stage.connect()
    template = make_template(**{**COUPLED, **changes})
    stage.command(TemplateSaved, template)
    for path in ("al2s", "internet"):
        stage.measure(path, 6.5 if path == "internet" else 50.0, age=90.0)
    return stage


def tell(stage: Stage, path: str, metric: Metric, value: float, tool: str = ROUND, age: float = 0.0) -> None:
    key = PathKey(path, "mu", "osu")
    found = make_measurement(
        key=key, metric=metric, value=value, observed_at=stage.now - age, lasted=60, tool=tool
    )
    stage.feed(MeasurementArrived(*stage.stamp(), found))


@pytest.mark.parametrize(("healthy", "poor"), [("internet", "al2s"), ("al2s", "internet")])
def test_the_healthier_path_is_taken_however_wide_the_other(healthy: str, poor: str) -> None:
    stage = stage_with()
    tell(stage, healthy, Metric.HEALTH, 0.9)
    tell(stage, poor, Metric.HEALTH, 0.3)
    flow = stage.submit("coupled")
    assert flow.path == healthy
    record = next(one for one in stage.decision(flow).candidates if one.path == healthy)
    health = next(one for one in record.metrics if one.metric == Metric.HEALTH)
    assert (health.value, health.weight) == (0.9, 1.0)


def test_a_bound_on_health_is_kept_and_told_as_a_share() -> None:
    stage = stage_with(qspec={"health": {"min": "60 %"}}, weights={"throughput": 1.0})
    tell(stage, "internet", Metric.HEALTH, 0.8)
    tell(stage, "al2s", Metric.HEALTH, 0.5)
    flow = stage.submit("coupled")
    stage.expect(flow, path="internet", missed={"al2s": "health"})


@pytest.mark.parametrize("metric", [Metric.HEALTH, Metric.LOSS])
def test_no_ratio_is_above_one(metric: Metric) -> None:
    with refused(ValueError):
        make_measurement(metric=metric, value=1.1)


def test_a_round_that_is_too_old_says_nothing() -> None:
    stage = stage_with()
    tell(stage, "al2s", Metric.HEALTH, 0.9, age=601.0)
    tell(stage, "internet", Metric.HEALTH, 0.3)
    flow = stage.submit("coupled")
    stage.expect(flow, path="internet", why={"al2s": "metric-unknown"})


def test_what_another_health_would_have_changed_is_told_within_what_a_ratio_may_be() -> None:
    stage = stage_with(qspec={"health": {"min": "60 %"}})
    tell(stage, "internet", Metric.HEALTH, 0.8)
    tell(stage, "al2s", Metric.HEALTH, 0.5)
    assert stage.submit("coupled").path == "internet"
    found = why_not(stage.snapshots[-1])
    (al2s,) = (one for one in found.whynots if one.alternative.path == "al2s")
    needed = [
        flip.needed
        for flip in al2s.flips
        if (flip.quantity.kind, flip.quantity.path) == (Kind.METRIC, "al2s")
    ]
    assert len(needed) == 1
    assert 0.8 <= needed[0] <= 1.0
    asked = [one for one in found.looked_at if one.name == Metric.HEALTH.value]
    measured = {(one.low, one.high, one.better) for one in asked if one.kind is Kind.METRIC}
    assert measured == {(0.0, 1.0, 1.0)}
    assert [one.high for one in asked if one.kind is Kind.BOUND] == [1.0]


@pytest.mark.parametrize(("tool", "basis"), [(TRAIN, Basis.TRAIN), (TRANSFER, Basis.TEST)])
def test_what_a_train_found_is_the_rate_of_a_site_s_cost_and_named(tool: str, basis: Basis) -> None:
    stage = stage_with(cost={"function": "total_time"}, weights={"throughput": 1.0})
    tell(stage, "al2s", Metric.THROUGHPUT, 42e6, tool)
    flow = stage.submit("coupled")
    assert flow.state in (FlowState.INSTALLING, FlowState.ACTIVE)
    told = stage.decision(flow)
    record = next(one for one in told.candidates if one.path == "al2s")
    rate = next(one for one in record.metrics if one.metric == Metric.THROUGHPUT)
    assert (rate.value, rate.basis) == (42e6, basis.value)
    by_path = {cost.available for cost in told.compute if cost.path == "al2s"}
    assert by_path == {42e6}, "Γ_a of T_n"
