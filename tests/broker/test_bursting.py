"""A path behind a token bucket: a short transfer goes far, a long one's data is computed where it is."""

from __future__ import annotations

import pytest

from adon.broker.decision import SiteCost
from adon.broker.events import MeasurementArrived, TemplateSaved
from adon.broker.flow import Flow, FlowState
from adon.flowvisor.topology.path import Basis
from apps.rest.flow_views import to_decision_view
from measurement.model import Metric
from tests.support.factories import make_measurement, make_template
from tests.support.stage import Stage

COUPLED = make_template(
    name="coupled",
    qspec={"throughput": {"min": "1 Mbps"}},
    selection={"max_age": "10 min"},
    cost={"function": "total_time"},
)
THROTTLED, CONSTANT = [50e6] * 4 + [10e6] * 6, [26e6] * 10
"""Both have a mean of 26 Mbps; the bucket gives 25 MB at 50, then 10."""


def stage_with(rates: list[float] | None = THROTTLED, age: float = 60.0) -> Stage:
    stage = Stage()
    stage.connect()
    stage.command(TemplateSaved, COUPLED)
    stage.measure("internet", 2.0, age=age)
    tell(stage, rates, age)
    return stage


def tell(stage: Stage, rates: list[float] | None, age: float) -> None:
    end = stage.now - age
    told = {} if rates is None else {"interval_bits": rates}
    said = {"streams": 1, "seconds": 10.0, "protocol": "tcp", **told}
    found = make_measurement(value=26e6, observed_at=end, lasted=10, parameters=said)
    stage.feed(MeasurementArrived(*stage.stamp(), found))


def costs(stage: Stage, flow: Flow) -> dict[bool, SiteCost]:
    """By whether the site is local, what it costs by the path of the flow."""
    return {cost.local: cost for cost in stage.decision(flow).compute if cost.path == "al2s"}


@pytest.mark.parametrize(
    ("rates", "size", "site"),
    [
        # By hand: to compute takes as long here as there, to wait 15 s longer here; the result is a tenth.
        # Remote T_n less local T_n, by the bucket: 3.2 - 0.32 s; 24 - 0.8 s.  By the mean: 5.54 s; 13.85 s.
        (THROTTLED, "20 MB", "osu-hpc"),
        (THROTTLED, "50 MB", "mu-hpc"),
        (CONSTANT, "20 MB", "osu-hpc"),
        (CONSTANT, "40 MB", "osu-hpc"),
        (CONSTANT, "50 MB", "osu-hpc"),
    ],
)
def test_a_short_flow_stays_remote_and_a_long_one_does_not(rates: list[float], size: str, site: str) -> None:
    stage = stage_with(rates)
    flow = stage.submit("coupled", size=size)
    assert flow.state is FlowState.ACTIVE
    assert (flow.path, flow.compute_site) == ("al2s", site)


def test_each_site_has_the_rate_of_what_would_travel_and_says_from_what() -> None:
    stage = stage_with()
    flow = stage.submit("coupled", size="50 MB")
    found = costs(stage, flow)
    assert found[True].available == pytest.approx(50e6), "5 MB of results fit into the bucket"
    assert found[True].network == pytest.approx(0.8)
    assert found[False].network == pytest.approx(24.0), "4 s at 50, 200 Mbit at 10"
    assert found[False].available == pytest.approx(400e6 / 24)
    for cost in found.values():
        assert cost.basis == Basis.BUCKET
    told = to_decision_view(stage.decision(flow)).model_dump(mode="json")["compute"]
    assert {one["available_basis"] for one in told if one["path"] == "al2s"} == {Basis.BUCKET.value}


def test_its_score_is_that_of_the_mean_as_for_every_flow() -> None:
    stage = stage_with()
    flow = stage.submit("coupled", size="50 MB")
    record = next(one for one in stage.decision(flow).candidates if one.path == "al2s")
    rate = next(one for one in record.metrics if one.metric == Metric.THROUGHPUT)
    assert (rate.value, rate.basis) == (26e6, Basis.TEST.value)


@pytest.mark.parametrize("rates", [CONSTANT, None, THROTTLED[:5]])
def test_without_a_bucket_it_is_the_mean_as_before(rates: list[float] | None) -> None:
    stage = stage_with(rates)
    flow = stage.submit("coupled", size="50 MB")
    for cost in costs(stage, flow).values():
        assert (cost.available, cost.basis) == (26e6, Basis.TEST.value)
        assert Basis.BUCKET not in cost.origins.get("available", "")


def test_beside_a_flow_that_came_since_nobody_knows_what_is_in_the_bucket() -> None:
    stage = stage_with()
    stage.submit("coupled", size="20 MB")
    flow = stage.submit("coupled", size="20 MB")
    assert {cost.basis for cost in costs(stage, flow).values()} == {Basis.FAIR_SHARE.value}


def test_right_after_the_test_its_bucket_is_empty() -> None:
    stage = stage_with(age=0.0)
    flow = stage.submit("coupled", size="20 MB")
    assert {(cost.basis, cost.available) for cost in costs(stage, flow).values()} == {(Basis.BUCKET, 10e6)}


@pytest.mark.parametrize(("size", "seconds"), [("20 MB", 3.2), ("39 MB", 4 + 112 / 10)])
def test_the_forecast_goes_by_the_bucket(size: str, seconds: float) -> None:
    stage = stage_with()
    flow = stage.submit("coupled", size=size)
    told = stage.decision(flow).forecast
    assert flow.compute_site == "osu-hpc"
    assert told is not None
    assert told.expected == pytest.approx(seconds, rel=0.02), "our own tests take their part"


def test_what_was_promised_is_compared_with_what_it_got() -> None:
    """20 MB were promised 50 Mbps and took 4 s: 40.  Errors of a bucket are kept apart from a test's."""
    stage = stage_with()
    flow = stage.submit("coupled", size="20 MB")
    stage.report(flow, "started", 0)
    stage.pass_time(4.0)
    stage.report(flow, "finished", 20_000_000)
    (score,) = stage.scores
    assert score.parameters["basis"] == Basis.BUCKET.value
    assert score.parameters["estimated"] == pytest.approx(50e6)
    assert score.value == pytest.approx(0.25)
