"""The statistic: numbers worked by hand, and what must hold for every series."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.anomaly.shift import (
    Level,
    best_excess,
    best_shift,
    level_of,
    return_to,
    spike_in,
    steps_rather_than_drifts,
)

FINITE = st.floats(-1e6, 1e6)


def test_level_of_a_short_baseline_cuts_one_at_each_end() -> None:
    # Kept 2..9; winsorised 2, 2..9, 9: mean 5.5, squares 2·12.25 + 2·(12.25 + 6.25 + 2.25 + 0.25) = 66.5.
    level = level_of([10.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 5.0])
    assert (level.mean, level.size) == (5.5, 10)
    assert level.deviation == pytest.approx(math.sqrt(66.5 / 9) / 0.75)


def test_level_is_deaf_to_a_few_spikes() -> None:
    chance = random.Random(1)
    quiet = [chance.gauss(100, 5) for _ in range(32)]
    spiked = [*quiet[:28], 1e9, 1e9, -1e9, 1e9]
    assert level_of(spiked).mean == pytest.approx(level_of(quiet).mean, abs=3)
    assert level_of(spiked).deviation < 2 * level_of(quiet).deviation


def test_the_deviation_of_normal_noise_is_not_biased() -> None:
    chance = random.Random(2)
    for size in (10, 20, 32):
        mean = sum(level_of([chance.gauss(0, 1) for _ in range(size)]).deviation for _ in range(2000)) / 2000
        assert mean == pytest.approx(1.0, abs=0.1)


def test_the_score_by_hand() -> None:
    # Mean -4, own deviation 0.816 < σ = 1; t² = 16 / (1/3 + 1/32) = 43.886; 3/2 · log(1 + t²/2) = 4.702.
    # The spread needed is sqrt(50/3) = 4.08 < 5: nothing is added.
    shift = best_shift([0.0, -5.0, -4.0, -3.0], Level(0.0, 1.0, 32), fewest=3, least_shift=2.0)
    assert shift is not None
    assert (shift.size, shift.by) == (3, -4.0)
    assert shift.score == pytest.approx(1.5 * math.log1p(16 / (1 / 3 + 1 / 32) / 2))


def test_a_spread_beyond_five_sigma_adds_to_the_score() -> None:
    # Three of 40 σ: t² = 1600 / (1/3 + 1/32); the spread needed is 40, eight times the plausible one.
    shift = best_shift([40.0] * 3, Level(0.0, 1.0, 32), fewest=3, least_shift=2.0)
    assert shift is not None
    plain = 1.5 * math.log1p(1600 / (1 / 3 + 1 / 32) / 2)
    assert shift.score == pytest.approx(plain + 4 * math.log(8))


@pytest.mark.parametrize("spike", [10.0, 1e3, 1e9])
def test_a_spike_alone_scores_next_to_nothing(spike: float) -> None:
    recent = [0.1, -0.2, 0.3, -0.1, 0.2, spike]
    shift = best_shift(recent, Level(0.0, 1.0, 32), fewest=3, least_shift=2.0)
    assert shift is None or shift.score < 5


@given(st.lists(FINITE, min_size=3, max_size=12), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_the_score_does_not_depend_on_the_unit(recent: list[float], mean: float, deviation: float) -> None:
    ours = best_shift(recent, Level(mean, deviation, 20), 3, 2.0)
    doubled = best_shift([8 * value for value in recent], Level(8 * mean, 8 * deviation, 20), 3, 2.0)
    assert (ours is None) == (doubled is None)
    if ours is not None and doubled is not None:
        assert (ours.size, ours.score) == (doubled.size, pytest.approx(doubled.score))


@given(st.lists(st.floats(-1e100, 1e100), min_size=13, max_size=44))
def test_no_value_breaks_it(values: list[float]) -> None:
    split = max(10, len(values) - 12)
    baseline, recent = values[:split], values[split:]
    level = level_of(baseline)
    shift = best_shift(recent, level, 3, 2.0)
    spike_in(recent, level)
    if shift is not None:
        assert 3 <= shift.size <= 12
        steps_rather_than_drifts(baseline, level, recent, shift.size, 5.0)


def test_excess_over_nothing_by_hand() -> None:
    # 32 zeros: chance 1/34 each; three of three: 3·log 34 = 10.58; with one of them 0 more: minus log 4 too.
    shift = best_excess([0.0, 0.02, 0.02, 0.02], [0.0] * 32, fewest=3)
    assert shift is not None
    assert (shift.size, shift.by) == (3, pytest.approx(0.02))
    assert shift.score == pytest.approx(3 * math.log(34))
    patchy = best_excess([0.02, 0.0, 0.02, 0.02], [0.0] * 32, fewest=3)
    assert patchy is not None
    assert patchy.score == pytest.approx(3 * math.log(34) - math.log(4))


def test_excess_counts_the_strays_of_the_baseline_and_the_newest_must_be_off() -> None:
    strayed = best_excess([0.02] * 3, [0.0] * 30 + [0.01] * 2, fewest=3)
    assert strayed is not None
    assert strayed.score == pytest.approx(3 * math.log(34 / 3))
    assert best_excess([0.02] * 8 + [0.0], [0.0] * 32, fewest=3) is None


def test_a_return_to_a_constant_level_by_hand() -> None:
    # One of eleven was 0 before: chance 2/13; four zeros in a row.
    shift = return_to(Level(0.0, 1e-150, 32), [0.02] * 9 + [0.0, 0.01] + [0.0] * 4, fewest=3)
    assert shift is not None
    assert (shift.size, shift.score) == (4, pytest.approx(4 * math.log(13 / 2)))
    assert return_to(Level(0.0, 1e-150, 32), [0.02] * 9 + [0.0] * 2, fewest=3) is None
    assert return_to(Level(0.0, 1e-150, 32), [0.0] * 9, fewest=3) is None


def test_a_ramp_is_a_drift_and_a_step_is_none() -> None:
    chance = random.Random(4)
    noise = [chance.gauss(0, 1) for _ in range(44)]
    ramp = [0.3 * index + value for index, value in enumerate(noise)]
    step = [value - (8 if index >= 36 else 0) for index, value in enumerate(noise)]
    for values, expected in ((ramp, False), (step, True)):
        level = level_of(values[:32])
        assert steps_rather_than_drifts(values[:32], level, values[32:], 8, 5.0) is expected


def test_a_spike_is_looked_for_before_the_newest() -> None:
    level = Level(0.0, 1.0, 32)
    assert spike_in([0.0, 9.0, 1.0, -4.0], level) == 1
    assert spike_in([0.0, 1.0, 1.0, 9.0], level) is None
