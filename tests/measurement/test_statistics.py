"""Confidence of means: compared with scipy and hand calculation, and by coverage."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurement.statistics import (
    Interval,
    correlation,
    effective_count,
    is_correlated,
    mean_interval,
)


def interval_of(values: list[float], confidence: float = 0.95, count: float | None = None) -> Interval:
    number = len(values) if count is None else count
    found = mean_interval(statistics.fmean(values), statistics.stdev(values), number, confidence)
    assert found is not None
    return found


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.sampled_from([0.8, 0.95, 0.99]))
def test_interval_is_that_of_scipy(values: list[float], confidence: float) -> None:
    found = interval_of(values, confidence)
    if statistics.stdev(values) > 1e-6:
        expected = stats.t.interval(
            confidence, len(values) - 1, loc=statistics.fmean(values), scale=stats.sem(values)
        )
        assert found == (pytest.approx(expected[0], abs=1e-6), pytest.approx(expected[1], abs=1e-6))


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_values_have_no_interval(count: int) -> None:
    assert mean_interval(1.0, 0.0, count, 0.95) is None


def test_independent_values_count_fully() -> None:
    chance = random.Random(7)
    values = [chance.gauss(100, 10) for _ in range(500)]
    assert not is_correlated(values)
    assert effective_count(values) == 500


def test_correlated_values_count_less() -> None:
    """An autoregressive process with ρ = 0.8: n values count as n / 9."""
    chance = random.Random(7)
    values, last = [], 0.0
    for _ in range(4000):
        last = 0.8 * last + chance.gauss(0, 1)
        values.append(100 + last)
    assert correlation(values) == pytest.approx(0.8, abs=0.05)
    assert effective_count(values) == pytest.approx(4000 / 9, rel=0.25)


def test_interval_of_correlated_values_has_its_coverage() -> None:
    """Of 300 runs with ρ = 0.7 about 95 % contain the true mean; taken as independent about 60 % would."""
    chance = random.Random(3)
    held = naive = 0
    for _ in range(300):
        values, last = [], 0.0
        for _ in range(80):
            last = 0.7 * last + chance.gauss(0, 1)
            values.append(last)
        sure, unsure = interval_of(values, count=effective_count(values)), interval_of(values)
        held += sure.low <= 0 <= sure.high
        naive += unsure.low <= 0 <= unsure.high
    assert held >= 0.91 * 300
    assert naive <= 0.75 * 300


@given(st.lists(st.floats(-1e3, 1e3), max_size=50))
def test_correlation_is_between_minus_one_and_one(values: list[float]) -> None:
    assert -1 - 1e-9 <= correlation(values) <= 1 + 1e-9
    assert effective_count(values) <= len(values) or len(values) < 2


def test_effective_count_of_a_short_series() -> None:
    """Six blocks of four equal values: ρ = 3.25 / 6, corrected (24ρ + 1) / 20 = 0.7; m = 24 · 0.3 / 1.7.

    And for the deviation, which is too low as well: 24 (m - 1) / 23 = 3.3760.
    """
    values = [float(number // 4 % 2) for number in range(24)]
    assert correlation(values) == pytest.approx(3.25 / 6)
    assert effective_count(values) == pytest.approx(3.37596, abs=1e-5)


def test_step_counts_as_two_values() -> None:
    """Fewer values would have no interval."""
    assert effective_count([0.0] * 8 + [1.0] * 8) == 2.0
