"""Forecasts in the life of a flow: made at admission, kept, learnt from, and scored."""

from __future__ import annotations

import pytest

from adon.broker.decision import Outcome
from adon.broker.forecasting.calibration import calibration
from adon.broker.forecasting.interval import UNOBSERVED
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, know, make_stage

RAW_S = 100_000_000 * 8 / 58e6


def without_sites() -> Stage:
    """The raw data travels: its size is what is asked for."""
    return make_stage(make_configuration().model_copy(update={"compute": {}}), internet=0)


def run(stage: Stage, seconds: float) -> None:
    """One transfer from admission to its own report."""
    flow = stage.submit()
    stage.report(flow, "started", 0)
    stage.pass_time(seconds)
    stage.report(flow, "finished", 100_000_000)
    know(stage, al2s=58.0)


def test_it_is_in_the_decision_and_in_the_flow_and_survives_a_restart() -> None:
    stage = without_sites()
    flow = stage.submit()
    decision = stage.decision(flow)
    assert (decision.outcome, decision.forecast) == (Outcome.ADMIT, flow.diary.forecast)
    assert flow.diary.forecast is not None
    assert flow.diary.forecast.expected == pytest.approx(RAW_S)
    assert (flow.diary.admitted_at, flow.ends_by) == (stage.now, stage.now + flow.diary.forecast.high)
    stage.restart()
    assert stage.broker.flows.get(flow.number).diary.forecast == flow.diary.forecast  # type: ignore[union-attr]


def test_what_travels_is_what_is_forecast() -> None:
    stage = make_stage(internet=0)
    flow = stage.submit(size="1 GB")
    assert flow.diary.forecast is not None
    assert flow.diary.forecast.expected == pytest.approx(flow.transfer_size * 8 / 58e6)


@pytest.mark.parametrize("streams", [1, 2, 16])
def test_more_streams_are_expected_to_get_more_of_what_others_leave(streams: int) -> None:
    """58 Mbps were seen, 20 are left for a test: other people have 1.9 streams there."""
    stage = without_sites()
    stage.pass_time(1)
    know(stage, al2s=20.0)
    told = stage.submit(streams=streams, size="1 GB").diary.forecast
    assert told is not None
    rate = 58e6 * streams / (streams + 1.9)
    assert told.expected == pytest.approx(8e9 / rate, rel=0.01)


def test_of_a_stream_over_udp_nothing_is_told() -> None:
    stage = make_stage(internet=6.5)
    stage.measure("al2s", rtt=0.01)
    template = stage.catalog.get("rivvir")
    assert template.protocol == "udp"
    flow = stage.submit("rivvir")
    assert flow.diary.forecast is None


def test_transfers_that_are_always_late_are_expected_to_be_late() -> None:
    stage = without_sites()
    first = stage.submit()
    stage.cancel(first)
    for _ in range(6):
        run(stage, 2 * RAW_S)
    later = stage.submit()
    assert first.diary.forecast is not None
    assert later.diary.forecast is not None
    assert later.diary.forecast.expected == pytest.approx(2 * first.diary.forecast.expected, rel=0.01)


def test_after_many_flows_the_interval_is_what_has_happened() -> None:
    stage = without_sites()
    lasted = [RAW_S * (1 + n % 5 / 10) for n in range(25)]
    for seconds in lasted:
        run(stage, seconds)
    told = stage.submit().diary.forecast
    assert told is not None
    assert told.low == pytest.approx(RAW_S, rel=0.02)
    assert told.high == pytest.approx(1.4 * RAW_S, rel=0.02)
    assert told.high / told.expected < 1 + UNOBSERVED


def test_what_became_of_flows_is_scored() -> None:
    stage = without_sites()
    for seconds in (RAW_S, 1.1 * RAW_S, 4 * RAW_S):
        run(stage, seconds)
    found = calibration(stage.saved.outcomes.values())
    assert found is not None
    assert (found.count, found.covered) == (3, pytest.approx(2 / 3))
