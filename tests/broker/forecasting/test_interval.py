"""Forecasts: what they are made of, and that they hold as often as they say."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.cost.terms import NetworkTerms
from adon.broker.forecasting.interval import (
    COVERAGE,
    ENOUGH,
    LEARNT,
    NETWORK,
    UNOBSERVED,
    Z,
    forecast,
    forecast_duration,
    order_statistics,
)
from adon.broker.outcomes import Forecast

SIZE = 25 * 10**9
L2 = NetworkTerms("al2s", 10e9, 5e9)  # 40 s


def told(terms: NetworkTerms = L2, errors: tuple[float, ...] = ()) -> Forecast:
    found = forecast(SIZE, terms, errors)
    assert found is not None
    return found


def test_nothing_is_known() -> None:
    found = told()
    factor = math.exp(Z * math.sqrt(math.log1p(UNOBSERVED**2)))
    assert (found.expected, found.coverage, found.terms) == (40.0, COVERAGE, {"network": 40.0})
    assert (found.low, found.high) == (pytest.approx(40 / factor), pytest.approx(40 * factor))


def test_a_steady_path_has_a_narrow_one() -> None:
    wide, narrow = told(), told(NetworkTerms("al2s", 10e9, 5e9, 0.1, "COV of 9 measurements"))
    assert wide.low < narrow.low < 40 < narrow.high < wide.high


def test_errors_that_are_made_again_and_again_are_corrected() -> None:
    found = told(errors=(0.5,) * 5)
    assert found.expected == pytest.approx(60.0), "a rate of 1.5 times what was had takes 1.5 times as long"


def test_with_enough_errors_they_are_the_distribution() -> None:
    errors = tuple(n / 10 for n in range(ENOUGH))
    found = told(errors=errors)
    assert (found.low, found.high) == (pytest.approx(40.0), pytest.approx(40 * 2.8))
    assert found.expected == pytest.approx(40 * 1.9)


@pytest.mark.parametrize(
    "terms", [NetworkTerms(None, 0.0, None), NetworkTerms("al2s", 1e9, 0.0), NetworkTerms("al2s", 0.0, 1e9)]
)
def test_nobody_can_say(terms: NetworkTerms) -> None:
    assert forecast(SIZE, terms, ()) is None


@given(
    st.integers(0, 10**18),
    st.floats(1, 1e12),
    st.floats(0, 5),
    st.lists(st.floats(-0.99, 9), max_size=40),
)
def test_the_expectation_is_within_and_nothing_is_negative(
    size: int, rate: float, share: float, errors: list[float]
) -> None:
    terms = NetworkTerms("al2s", 1e12, rate, share)
    found = forecast(size, terms, errors)
    assert found is not None
    assert 0 <= found.low <= found.expected * (1 + 1e-9)
    assert found.expected <= found.high * (1 + 1e-9)


@pytest.mark.parametrize("count", [19, 20, 50, 200])
def test_order_statistics_hold_the_next_one_as_often_as_they_say(count: int) -> None:
    """Exchangeable errors, whatever their distribution: at least nine in ten."""
    chance = random.Random(count)
    within = 0
    for _ in range(2000):
        errors = sorted(chance.paretovariate(1.5) - 1 for _ in range(count))
        low, high = order_statistics(errors)
        within += low <= chance.paretovariate(1.5) - 1 <= high
    assert within / 2000 >= COVERAGE - 0.02
    assert within / 2000 <= COVERAGE + 2 / (count + 1) + 0.02


def test_what_was_worked_out_is_corrected_by_how_long_others_lasted() -> None:
    found = forecast_duration(40.0, (0.2, 0.25, 0.25, 0.3, 1.0), 0.1)
    assert found is not None
    assert found.expected == pytest.approx(50.0)
    assert found.terms == {NETWORK: 40.0, LEARNT: pytest.approx(10.0)}
    spread = math.sqrt((0.05**2 + 0.05**2 + 0.75**2) / 5) / 1.25
    factor = math.exp(Z * math.sqrt(math.log1p(spread**2)))
    assert (found.low, found.high) == (pytest.approx(50 / factor), pytest.approx(50 * factor))


def test_until_enough_have_lasted_the_paths_spread_serves() -> None:
    few = forecast_duration(40.0, (0.5,) * 4, 0.1)
    assert few is not None
    assert few == forecast_duration(40.0, (), 0.1)
    assert (few.expected, few.terms) == (40.0, {NETWORK: 40.0})
    assert forecast_duration(40.0, (0.0,) * 5, 0.1) != few, "then it is how long they lasted"


def test_what_never_ends_is_not_foretold() -> None:
    assert forecast_duration(math.inf, (), 0.1) is None
