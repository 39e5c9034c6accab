"""A schedule in time: round after round from an epoch on, and what on-demand tests changed in it.

Pure: the wall time is an argument.  Jobs are handed out by half-open windows of their exact start times, so
that windows that touch neither repeat a job nor lose one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import count
from operator import attrgetter
from typing import NamedTuple

from measurement.scheduling.task import Request
from measurement.scheduling.ticks import PER_SECOND, Ticks, at_least, at_most, seconds
from measurement.scheduling.values import Job, Schedule

_start = attrgetter("start")


class Start(NamedTuple):
    """One run to come.

    :param task: the task's, or the on-demand request's, id.
    :param number: counts on over the rounds from the epoch; with the task and epoch it names the run.
    :param at: when it starts, seconds since the Unix epoch.
    """

    task: str
    number: int
    at: float


@dataclass(frozen=True, slots=True)
class Placed:
    """An admitted on-demand test.

    :param start: since the horizon's epoch.
    """

    request: Request
    start: Ticks

    @property
    def finish(self) -> Ticks:
        """When it is over, since the horizon's epoch."""
        return self.start + self.request.execution_time


@dataclass(frozen=True, slots=True)
class Horizon:
    """What starts when, from the epoch on for ever.

    :param epoch: seconds since the Unix epoch; the first round begins here.
    :param revised: rounds in which jobs were moved, within their deadlines, for an on-demand test.
    :param on_demand: admitted on-demand tests.
    """

    schedule: Schedule
    epoch: float
    revised: Mapping[int, tuple[Job, ...]] = field(default_factory=dict)
    on_demand: tuple[Placed, ...] = ()

    def tick(self, at: float) -> Ticks:
        """The first instant of the grid that is not before a wall time, since the epoch.

        Not before it by a hair either: a window that begins at this time must contain the instant.
        """
        near = at_least(at - self.epoch)
        return near if self.wall(near) >= at else near + 1

    def wall(self, instant: Ticks) -> float:
        """The wall time of an instant since the epoch."""
        return self.epoch + instant / PER_SECOND

    def round_of(self, instant: Ticks) -> int:
        """The round that an instant belongs to; 0 before the epoch."""
        return max(0, instant // self.schedule.hyperperiod)

    def round(self, number: int) -> tuple[Job, ...]:
        """The jobs of a round, their times since its beginning."""
        return self.revised.get(number, self.schedule.jobs)

    def jobs(self, first: Ticks, last: Ticks) -> Iterator[Job]:
        """Periodic jobs that are under way or start in [first, last), times since the epoch, by start."""
        if not self.schedule.jobs:
            return
        longest = max(task.execution_time for task in self.schedule.tasks.values())
        for number in range(self.round_of(first), self.round_of(last - 1) + 1):
            begin, jobs = number * self.schedule.hyperperiod, self.round(number)
            some = jobs[
                bisect_left(jobs, first - longest - begin, key=_start) : bisect_left(
                    jobs, last - begin, key=_start
                )
            ]
            yield from (
                Job(
                    job.task,
                    number * (self.schedule.hyperperiod // self.schedule.tasks[job.task].interval)
                    + job.number,
                    begin + job.release,
                    begin + job.start,
                    begin + job.finish,
                    begin + job.deadline,
                )
                for job in some
                if begin + job.finish > first
            )

    def starts(self, since: float, until: float) -> list[Start]:
        """What starts at or after ``since`` and before ``until`` (finite wall times), by time."""
        # A tick more on both sides, then the exact comparison that callers can make themselves.
        first, last = self.tick(max(since, self.epoch)) - 1, at_most(max(until, self.epoch) - self.epoch) + 2
        periodic = (Start(job.task, job.number, self.wall(job.start)) for job in self.jobs(first, last))
        single = sorted(
            (Start(each.request.id, 0, self.wall(each.start)) for each in self.on_demand),
            key=attrgetter("at"),
        )
        both = merge(periodic, single, key=attrgetter("at"))
        return [start for start in both if since <= start.at < until]

    def upcoming(self, now: float, most: int) -> list[Start]:
        """The next runs from now on, at most so many."""
        length = seconds(self.schedule.hyperperiod)
        found: list[Start] = []
        begin = now
        for rounds in count(1):
            until = max(now, self.epoch) + rounds * length
            found += self.starts(begin, until)
            if len(found) >= most or not self.schedule.jobs:
                break
            begin = until
        return found[:most]

    def after(self, now: float) -> Horizon:
        """The same without what is over: revised rounds and on-demand tests of the past."""
        present = self.round_of(self.tick(now))
        return replace(
            self,
            revised={number: jobs for number, jobs in self.revised.items() if number >= present},
            on_demand=tuple(each for each in self.on_demand if self.wall(each.finish) > now),
        )


def timetable(schedule: Schedule, epoch: float, since: float, until: float) -> list[Start]:
    """The cyclic execution of a schedule: what starts at or after ``since`` and before ``until``.

    :param epoch: when the first round begins; nothing starts before.
    """
    return Horizon(schedule, epoch).starts(since, until)
