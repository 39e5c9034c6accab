"""How long a round is: the least common multiple of the periods, capped; and periods made to fit a cap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from measurement.errors import MeasurementError
from measurement.scheduling.task import Task
from measurement.scheduling.ticks import PER_SECOND, Ticks, exactly, seconds

DAY = 86_400.0
MOST_JOBS = 500_000
_MINUTE = 60 * PER_SECOND
_ROUNDS = tuple(minutes * _MINUTE for minutes in (1, 2, 4, 6, 12, 30, 60, 120, 240, 360, 720, 1440))
"""Lengths with many divisors."""
_TIMES = 12
"""A round so many times as long as a period has a divisor at most a fifth below it."""


class HyperperiodTooLong(MeasurementError):
    """The periods have no common multiple that is short enough, or a round of too many jobs."""

    code = "round-too-long"


def hyperperiod(tasks: Sequence[Task], longest: float = DAY, most_jobs: int = MOST_JOBS) -> Ticks:
    """The length of one round; of no tasks, the longest.

    :param longest: seconds it may have.
    :param most_jobs: jobs it may hold.
    :raises HyperperiodTooLong: saying what would help.
    """
    length = math.lcm(*(task.interval for task in tasks)) if tasks else exactly(longest)
    if length > longest * PER_SECOND:
        shown = ", ".join(f"{period:g}" for period in sorted({task.period for task in tasks})[:8])
        raise HyperperiodTooLong(
            f"the periods ({shown} s) repeat together only after {seconds(length):g} s, and at most "
            f"{longest:g} s are allowed: choose periods with common multiples, as in 60 s, 240 s and 4 h"
        )
    jobs = sum(length // task.interval for task in tasks)
    if jobs > most_jobs:
        raise HyperperiodTooLong(
            f"a round of {seconds(length):g} s would hold {jobs} runs, and at most {most_jobs} are allowed: "
            "choose longer periods"
        )
    return length


def harmonise_periods(tasks: Sequence[Task], longest: float = DAY) -> list[Task]:
    """The tasks with each period shortened to the next divisor of one common round.

    Shortened, not lengthened: nothing is measured less often than asked for.  An explicit deadline is
    kept unless it exceeds the new period.

    :param longest: seconds a round may have.
    :raises HyperperiodTooLong: if a period itself is longer than that.
    :raises ValueError: naming the task, if its duration no longer fits.
    """
    round_length = common_round([task.interval for task in tasks], longest)
    return [with_period(task, below(task.interval, round_length)) for task in tasks]


def common_round(intervals: Sequence[Ticks], longest: float = DAY) -> Ticks:
    """A well divisible length, some times the longest period, so that a divisor is near each period.

    :raises HyperperiodTooLong: if a period is longer than allowed.
    """
    needed, allowed = max(intervals, default=1), exactly(longest)
    if needed > allowed:
        raise HyperperiodTooLong(
            f"the period of {seconds(needed):g} s is longer than the {longest:g} s that are allowed"
        )
    fitting = [length for length in _ROUNDS if needed <= length < allowed] + [allowed]
    return next((length for length in fitting if length >= _TIMES * needed), fitting[-1])


def with_period(task: Task, interval: Ticks) -> Task:
    """The task with another period; its deadline never exceeds it.

    :raises ValueError: if its duration does.
    """
    period = seconds(interval)
    deadline = None if task.deadline is None else min(task.deadline, period)
    return replace(task, period=period, deadline=deadline)


def below(interval: Ticks, round_length: Ticks) -> Ticks:
    """The largest divisor of the round that does not exceed the period."""
    return max(divisor for divisor in divisors(round_length) if divisor <= interval)


@lru_cache(maxsize=64)
def divisors(length: Ticks) -> tuple[Ticks, ...]:
    """Every divisor, ascending."""
    small = [number for number in range(1, math.isqrt(length) + 1) if length % number == 0]
    return tuple(sorted({*small, *(length // number for number in small)}))
