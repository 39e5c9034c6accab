"""Medians, spreads and intervals, beside scipy's and by trying how often they hold."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adon.experiments.summary import ratio, summary
from tests.support.refusals import refused

values = st.lists(st.floats(0.1, 1e6), min_size=2, max_size=30)


@given(values)
def test_a_summary_is_what_scipy_says(found: list[float]) -> None:
    its = summary(found)
    assert its is not None
    assert its.median == statistics.median(found)
    assert (its.least, its.most, its.count) == (min(found), max(found), len(found))
    assert its.interval is not None
    error = stats.sem(found)
    if error > 1e-9:
        low, high = stats.t.interval(0.95, len(found) - 1, loc=statistics.fmean(found), scale=error)
        assert its.interval.low == pytest.approx(max(0.0, low), rel=1e-6, abs=1e-6)
        assert its.interval.high == pytest.approx(high, rel=1e-6, abs=1e-6)


def test_what_is_never_below_zero_has_no_mean_below_zero():
    """A delay by clocks that differ may be, and so may its mean."""
    time, delay = summary([0.0, 0.0, 3.0]), summary([-0.1, 0.0, 3.0])
    assert time is not None
    assert time.interval is not None
    assert time.interval.low == 0
    assert delay is not None
    assert delay.interval is not None
    assert delay.interval.low < -0.1


def test_one_value_has_no_interval_and_none_no_summary():
    one = summary([3.0])
    assert one is not None
    assert (one.median, one.interval, one.least, one.most) == (3.0, None, 3.0, 3.0)
    assert summary([]) is None


@given(st.lists(st.tuples(st.floats(0.1, 1e4), st.floats(0.1, 1e4)), min_size=2, max_size=10))
def test_a_ratio_upside_down_is_the_same_ratio(pairs: list[tuple[float, float]]) -> None:
    middle, between = ratio(pairs)
    inverse, beneath = ratio([(other, one) for one, other in pairs])
    assert middle * inverse == pytest.approx(1.0)
    assert between is not None
    assert beneath is not None
    assert between.low * beneath.high == pytest.approx(1.0)
    assert middle == pytest.approx(stats.gmean([one / other for one, other in pairs]))


@given(st.floats(0.01, 100), st.lists(st.floats(0.1, 1e4), min_size=2, max_size=6))
def test_a_constant_ratio_is_found_exactly(factor: float, below: list[float]) -> None:
    middle, between = ratio([(factor * one, one) for one in below])
    assert middle == pytest.approx(factor)
    assert between is not None
    assert between.high == pytest.approx(factor, rel=1e-6)


def test_ratios_need_numbers_above_zero():
    for pairs in ([], [(1.0, 0.0)], [(0.0, 1.0)]):
        with refused(ValueError, "ratio"):
            ratio(pairs)


def test_of_three_repetitions_the_interval_covers_what_it_says_and_a_bootstrap_would_not():
    chance = random.Random(8)
    covered = resampled = 0
    rounds = 1000
    for _ in range(rounds):
        found = [chance.gauss(10, 1) for _ in range(3)]
        its = summary(found)
        assert its is not None
        assert its.interval is not None
        covered += its.interval.low <= 10 <= its.interval.high
        means = sorted(statistics.fmean(chance.choices(found, k=3)) for _ in range(200))
        resampled += means[5] <= 10 <= means[194]
    # Of 1000 rounds at 95 % the count deviates by 7: four times that is allowed.
    assert abs(covered / rounds - 0.95) < 4 * math.sqrt(0.95 * 0.05 / rounds)
    assert resampled / rounds < 0.85
