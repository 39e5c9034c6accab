from __future__ import annotations

import math
from functools import reduce

import pytest

from adon.broker.cost.spread import IQR_OF_NORMAL, of_rate
from adon.running_statistics import NONE, RunningStatistics


def test_nobody_has_observed_anything() -> None:
    found = of_rate((), NONE)
    assert (found.share, found.origin) == (0.0, "")
    assert of_rate((0.5,) * 4, reduce(RunningStatistics.add, [1.0, 9.0], NONE)).share == 0.0


def test_measurements_tell_until_there_are_promises_enough() -> None:
    tests = reduce(RunningStatistics.add, [4e6, 5e6, 6e6], NONE)
    found = of_rate((0.5,) * 4, tests)
    assert found.share == pytest.approx(0.2)


def test_past_promises_count_with_their_spread_and_with_what_they_are_off_on_the_whole() -> None:
    errors = (0.1, 0.2, 0.3, 0.4, 0.5)
    found = of_rate(errors, reduce(RunningStatistics.add, [4e6, 5e6, 6e6], NONE))
    assert found.share == pytest.approx(math.hypot(0.3, 0.2 / IQR_OF_NORMAL))
