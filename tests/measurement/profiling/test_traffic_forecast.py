"""The next hour: beside the two naive ways, on rhythms made by a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.profiling.traffic_forecast import (
    DAY,
    LEARNT,
    Error,
    next_hour,
    previous_hour,
    rolling_error,
    same_hour_yesterday,
)
from tests.support.refusals import refused


def rhythm(seed: int, *, swing: float, wander: float, days: int = 14) -> list[float]:
    """Bytes with a daily wave, and what wanders around it and comes back."""
    chance, off, hours = random.Random(seed), 0.0, list[float]()
    for hour in range(days * DAY):
        off = 0.8 * off + chance.gauss(0, wander)
        hours.append(max(0.0, 1e9 * (1 + swing * math.sin(2 * math.pi * hour / DAY) + off)))
    return hours


def share(hours: Sequence[float], predict: object) -> float:
    found = rolling_error(hours, predict)  # type: ignore[arg-type]
    assert found is not None
    return found.share


@pytest.mark.parametrize(("swing", "wander"), [(0.6, 0.1), (0.9, 0.15), (0.3, 0.05)])
def test_with_a_rhythm_it_is_better_than_either(swing: float, wander: float) -> None:
    of = [rhythm(seed, swing=swing, wander=wander) for seed in range(8)]
    ours, last, yesterday = (
        math.fsum(share(hours, predict) for hours in of)
        for predict in (next_hour, previous_hour, same_hour_yesterday)
    )
    assert ours < 0.9 * min(last, yesterday)


def test_without_a_rhythm_it_is_hardly_worse_than_the_previous_hour() -> None:
    of = [rhythm(seed, swing=0.0, wander=0.1) for seed in range(8)]
    ours, last = (math.fsum(share(h, predict) for h in of) for predict in (next_hour, previous_hour))
    assert ours < 1.1 * last


def test_what_only_depends_on_the_time_of_day_is_told_exactly() -> None:
    hours = [float(hour % DAY) ** 2 for hour in range(5 * DAY)]
    assert rolling_error(hours, next_hour) == Error(0.0, 0.0, 3 * DAY)


def test_what_was_usual_more_than_four_weeks_ago_is_forgotten_and_the_time_of_day_is_kept() -> None:
    """Three hours into a day, whatever begins before the window."""
    now = [float(hour % DAY) for hour in range(LEARNT + 3)]
    assert next_hour(now) == pytest.approx(3.0)
    assert next_hour([1e9] * 100 * DAY + now) == pytest.approx(3.0)


def test_with_less_than_two_days_it_is_the_previous_hour() -> None:
    assert next_hour([]) is None
    assert next_hour([float(n) for n in range(2 * DAY - 1)]) == 2 * DAY - 2
    assert same_hour_yesterday([1.0] * (DAY - 1)) is None


def test_an_hour_is_predicted_from_those_before_it_alone() -> None:
    seen = list[int]()

    def predict(hours: Sequence[float]) -> float:
        seen.append(len(hours))
        return 0.0

    assert rolling_error([1.0] * 5, predict, start=2) == Error(1.0, 1.0, 3)
    assert seen == [2, 3, 4]


def test_errors_by_hand() -> None:
    assert rolling_error([10.0, 20.0, 0.0, 5.0], previous_hour, start=1) == Error(35 / 25, 1.0, 3)
    assert rolling_error([1.0], previous_hour, start=1) is None
    found = rolling_error([1.0, 0.0], previous_hour, start=1)
    assert found == Error(math.inf, math.inf, 1)


@given(st.lists(st.floats(0, 1e15), max_size=80))
def test_it_is_a_number_of_bytes(hours: list[float]) -> None:
    found = next_hour(hours)
    assert (found is None) == (not hours)
    assert found is None or (math.isfinite(found) and found >= 0)


@given(st.lists(st.floats(1, 1e9), min_size=50, max_size=80), st.sampled_from([0.5, 2.0, 1024.0]))
def test_the_unit_does_not_matter(hours: list[float], by: float) -> None:
    one, other = next_hour(hours), next_hour([by * each for each in hours])
    assert one is not None
    assert other == pytest.approx(by * one, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_what_is_no_amount_is_refused(bad: float) -> None:
    with refused(ValueError, "hours"):
        next_hour([1.0, bad])


def test_by_hand() -> None:
    """A day of 10, a day of 20: each 10 off the other day; 46 pairs of hours alike, one not, of 47."""
    assert next_hour([10.0] * DAY + [20.0] * DAY) == pytest.approx(15 + 45 / 47 * 10)
