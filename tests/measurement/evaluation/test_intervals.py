"""Intervals: against a textbook's value, against scipy's own, and by coverage."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from measurement.evaluation.intervals import correlated, correlation, interval, welch, worth
from measurement.evaluation.results import Measured
from measurement.evaluation.run import summarised


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.sampled_from([0.8, 0.95, 0.99]))
def test_it_is_students(values: list[float], confidence: float) -> None:
    measured = summarised(values)
    found = interval(measured, confidence)
    assert found is not None
    if measured.deviation > 1e-6:
        low, high = stats.t.interval(confidence, len(values) - 1, loc=measured.mean, scale=stats.sem(values))
        assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


@pytest.mark.parametrize("count", [0, 1])
def test_of_too_few_there_is_none(count: int) -> None:
    assert interval(Measured(1, 0, count), 0.95) is None


def test_independent_values_are_worth_their_number() -> None:
    chance = random.Random(7)
    values = [chance.gauss(100, 10) for _ in range(500)]
    assert not correlated(values)
    assert worth(values) == 500


def test_values_that_follow_each_other_are_worth_less() -> None:
    """An autoregressive process with ρ = 0.8: n values are worth n / 9."""
    chance = random.Random(7)
    values, last = [], 0.0
    for _ in range(4000):
        last = 0.8 * last + chance.gauss(0, 1)
        values.append(100 + last)
    assert correlation(values) == pytest.approx(0.8, abs=0.05)
    assert worth(values) == pytest.approx(4000 / 9, rel=0.25)


def test_with_correlation_the_interval_holds_what_it_promises() -> None:
    """Of 300 runs with ρ = 0.7 about 95 % contain the true mean; taken as independent about 60 % would."""
    chance = random.Random(3)
    held = naive = 0
    for _ in range(300):
        values, last = [], 0.0
        for _ in range(80):
            last = 0.7 * last + chance.gauss(0, 1)
            values.append(last)
        measured = summarised(values)
        sure, unsure = interval(measured, 0.95, worth(values)), interval(measured, 0.95)
        assert sure is not None
        assert unsure is not None
        held += sure.low <= 0 <= sure.high
        naive += unsure.low <= 0 <= unsure.high
    assert held >= 0.91 * 300
    assert naive <= 0.75 * 300


@given(st.lists(st.floats(-1e3, 1e3), max_size=50))
def test_a_correlation_is_one(values: list[float]) -> None:
    assert -1 - 1e-9 <= correlation(values) <= 1 + 1e-9
    assert worth(values) <= len(values) or len(values) < 2


def test_what_a_short_series_is_worth_by_hand() -> None:
    """Six blocks of four equal values: ρ = 3.25 / 6, corrected (24ρ + 1) / 20 = 0.7; m = 24 · 0.3 / 1.7.

    And for the deviation, which is too low as well: 24 (m - 1) / 23 = 3.3760.
    """
    values = [float(number // 4 % 2) for number in range(24)]
    assert correlation(values) == pytest.approx(3.25 / 6)
    assert worth(values) == pytest.approx(3.37596, abs=1e-5)


def test_a_step_is_worth_two_values() -> None:
    """No fewer: of fewer there would be no interval at all."""
    assert worth([0.0] * 8 + [1.0] * 8) == 2.0


@given(
    st.lists(st.floats(1, 1e3), min_size=2, max_size=30), st.lists(st.floats(1, 1e3), min_size=2, max_size=30)
)
def test_welch_is_scipys(first: list[float], second: list[float]) -> None:
    one, other = summarised(first), summarised(second)
    # Of values that are all but the same scipy's own moments are no measure: it says so by a warning.
    assume(min(one.deviation, other.deviation) > 1e-6)
    p, apart = welch(one, other, (len(first), len(second)), 0.95)
    oracle = stats.ttest_ind(second, first, equal_var=False)
    assert p == pytest.approx(oracle.pvalue, rel=1e-6, abs=1e-12)
    low, high = oracle.confidence_interval(0.95)
    assert (apart.low, apart.high) == (
        pytest.approx(low, rel=1e-6, abs=1e-6),
        pytest.approx(high, rel=1e-6, abs=1e-6),
    )


@pytest.mark.parametrize("step", [2.0**-10, 1.0])
def test_what_is_all_but_the_same_is_tested_as_well_as_anything(step: float) -> None:
    """Means and deviations are summed exactly (fsum, statistics.stdev): an offset takes nothing from them."""
    series = ([0.0, step, 2 * step], [step, 2 * step, 4 * step])
    plain, far = ([summarised([by + value for value in its]) for its in series] for by in (0.0, 2.0**30))
    assert [its.deviation for its in far] == [its.deviation for its in plain]
    expected, actual = (welch(one, other, (3, 3), 0.95) for one, other in (plain, far))
    assert actual[0] == pytest.approx(expected[0], rel=1e-3)
    assert actual[1].low == pytest.approx(expected[1].low, rel=1e-3)


def test_where_nothing_deviates_only_equal_means_are_equal() -> None:
    assert welch(Measured(1, 0, 5), Measured(1, 0, 5), (5, 5), 0.95)[0] == 1
    assert welch(Measured(1, 0, 5), Measured(2, 0, 5), (5, 5), 0.95)[0] == 0
