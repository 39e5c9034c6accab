"""Periods that provably fit, out of ranges of admissible periods.

Whoever needs a value "every 5 to 30 minutes" leaves the planner a choice.  The shortest periods are tried
first; then all are lengthened together, each by the same share of its own range (on a logarithmic scale),
until EDF-CE finds a schedule.  The schedule itself is the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from measurement.scheduling.agreement import Agreement
from measurement.scheduling.hyperperiod import (
    DAY,
    MOST_JOBS,
    HyperperiodTooLong,
    common_round,
    divisors,
    with_period,
)
from measurement.scheduling.planner import UNLIMITED, schedule
from measurement.scheduling.task import Task
from measurement.scheduling.ticks import Ticks, exactly
from measurement.scheduling.values import NoSchedule, Schedule

STEPS = 12


@dataclass(frozen=True, slots=True)
class Flexible:
    """A task whose period may be longer than wished.

    :param task: with the shortest, wished period.
    :param longest_period: seconds; the longest that still serves its purpose.
    :raises ValueError: naming the task, if that is shorter than the wished one.
    """

    task: Task
    longest_period: float

    def __post_init__(self) -> None:
        if self.longest_interval < self.task.interval:
            raise ValueError(
                f"task {self.task.id}: the longest period {self.longest_period:g} s is shorter than the "
                f"period {self.task.period:g} s"
            )

    @property
    def longest_interval(self) -> Ticks:
        """On the grid."""
        return exactly(self.longest_period)


def fit_periods(
    flexible: Sequence[Flexible],
    agreement: Agreement = UNLIMITED,
    *,
    longest: float = DAY,
    most_jobs: int = MOST_JOBS,
    grid: float = 0.001,
) -> Schedule | NoSchedule:
    """A schedule with periods within their ranges, as short as the steps of the search find.

    The periods in effect are those of the schedule's tasks.

    :param grid: seconds; periods are chosen among its multiples, where a range holds one.
    :returns: why not even the longest periods fit, if no step does.
    :raises HyperperiodTooLong: as :func:`~measurement.scheduling.planner.schedule`.
    """
    round_length = common_round([each.longest_interval for each in flexible], longest)
    choices = [length for length in divisors(round_length) if length % exactly(grid) == 0]
    for step in range(STEPS):
        tasks = _with_periods(flexible, step / STEPS, choices)
        try:
            found = schedule(tasks, agreement, longest=longest, most_jobs=most_jobs, explain=False)
        except HyperperiodTooLong:
            continue
        if isinstance(found, Schedule):
            return found
    return schedule(_with_periods(flexible, 1.0, choices), agreement, longest=longest, most_jobs=most_jobs)


def _with_periods(flexible: Sequence[Flexible], share: float, choices: Sequence[Ticks]) -> list[Task]:
    return [with_period(each.task, _interval(each, share, choices)) for each in flexible]


def _interval(flexible: Flexible, share: float, choices: Sequence[Ticks]) -> Ticks:
    """The period this share of the way from the shortest to the longest, one of the choices if any is."""
    shortest, longest = flexible.task.interval, flexible.longest_interval
    wanted = round(shortest * (longest / shortest) ** share)
    within = [choice for choice in choices if shortest <= choice <= longest]
    if not within:
        return shortest
    return max((choice for choice in within if choice <= wanted), default=within[0])
