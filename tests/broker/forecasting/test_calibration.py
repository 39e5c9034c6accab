"""How well forecasts held: numbers worked out by hand, and forecasters whose truth is known."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from adon.broker.forecasting.calibration import (
    LEVELS,
    by_wait,
    calibration,
    interval_score,
    position,
    scorable_forecasts,
    wilson,
)
from adon.broker.outcomes import FlowOutcome, Forecast
from tests.support.refusals import refused

NORMAL = statistics.NormalDist()


def outcome(
    took: float, forecast: Forecast | None, number: int = 1, state: str = "finished", waited: float = 0.0
) -> FlowOutcome:
    return FlowOutcome(
        number,
        "soykb@1",
        "mu-dtn",
        "osu-dtn",
        state,
        1000.0 - waited,
        1000.0 + took,
        1,
        1,
        admitted_at=1000.0,
        forecast=forecast,
    )


FORTY = Forecast(40.0, 20.0, 80.0, 0.9)


def test_only_finished_flows_that_had_one_are_scored() -> None:
    never = FlowOutcome(9, "t", "a", "b", "expired", 1.0, 2.0, 1, 0, forecast=FORTY)
    others = [outcome(50, None), outcome(50, FORTY, state="cancelled"), outcome(0, FORTY), never]
    assert scorable_forecasts([*others, outcome(50, FORTY)]) == [(FORTY, 50.0)]
    assert calibration(others) is None


def test_by_hand() -> None:
    found = calibration(outcome(took, FORTY, n) for n, took in enumerate((20.0, 40.0, 50.0, 100.0)))
    assert found is not None
    assert (found.count, found.nominal, found.covered) == (4, 0.9, 0.75)
    assert found.bias == pytest.approx(statistics.median([1.0, 0.0, -0.2, -0.6]))
    assert found.error == pytest.approx(statistics.median([1.0, 0.0, 0.2, 0.6]))
    scores = [60 / 20, 60 / 40, 60 / 50, (60 + 20 * 20) / 100]
    assert found.score == pytest.approx(statistics.median(scores))
    assert dict(found.curve)[0.9] == 0.75


def test_wilson_s_interval_is_that_of_the_textbook() -> None:
    assert wilson(9, 10) == (pytest.approx(0.5958, abs=1e-4), pytest.approx(0.9821, abs=1e-4))
    assert wilson(0, 5)[0] == pytest.approx(0.0)
    with refused(ValueError):
        wilson(0, 0)


def test_an_interval_that_misses_pays_for_it() -> None:
    assert interval_score(FORTY, 50.0) == 60.0
    assert interval_score(FORTY, 90.0) == pytest.approx(60 + 20 * 10)
    assert interval_score(Forecast(40.0, 40.0, 40.0, 1.0), 41.0) == math.inf


@pytest.mark.parametrize(
    ("took", "expected"), [(40.0, 0.0), (80.0, 1.0), (20.0, 1.0), (160.0, 2.0), (10.0, 2.0)]
)
def test_where_a_truth_lies(took: float, expected: float) -> None:
    assert position(FORTY, took) == pytest.approx(expected)


def test_where_a_truth_lies_without_a_logarithm() -> None:
    assert position(Forecast(40.0, 0.0, 80.0, 0.9), 20.0) == pytest.approx(0.5)
    assert position(Forecast(40.0, 40.0, 40.0, 0.9), 41.0) == math.inf


def forecasters(spread: float, told: float, count: int = 4000) -> list[FlowOutcome]:
    """Transfers whose times are log-normal, forecast by somebody who thinks they know the spread."""
    chance, reach = random.Random(5), NORMAL.inv_cdf(0.95) * told
    forecast = Forecast(40.0, 40 * math.exp(-reach), 40 * math.exp(reach), 0.9)
    return [outcome(40 * chance.lognormvariate(0, spread), forecast, n) for n in range(count)]


def test_who_knows_the_truth_is_calibrated_at_every_level() -> None:
    found = calibration(forecasters(0.4, 0.4))
    assert found is not None
    assert found.covered == pytest.approx(0.9, abs=0.025)
    for level, share in found.curve:
        assert share == pytest.approx(level, abs=0.025)


@pytest.mark.parametrize("told", [0.2, 0.8])
def test_too_sure_and_too_doubtful_show_and_pay(told: float) -> None:
    honest, other = calibration(forecasters(0.4, 0.4)), calibration(forecasters(0.4, told))
    assert honest is not None
    assert other is not None
    too_sure = told < 0.4
    assert (other.covered < 0.8) is too_sure
    for level, share in other.curve[2:9]:
        assert (share < level) is too_sure
    pairs = {t: scorable_forecasts(forecasters(0.4, t)) for t in (0.4, told)}
    means = {t: statistics.fmean(interval_score(*pair) for pair in found) for t, found in pairs.items()}
    assert means[0.4] < means[told], "the score cannot be bettered by saying anything but the truth"


def test_flows_that_waited_apart() -> None:
    found = by_wait([outcome(50, FORTY, 1), outcome(100, FORTY, 2, waited=5.0)])
    assert {name: one.count for name, one in found.items()} == {"all": 2, "at once": 1, "after a wait": 1}
    assert found["after a wait"].covered == 0.0
    assert by_wait([]) == {}
    assert len(found["all"].curve) == len(LEVELS)
