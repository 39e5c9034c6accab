"""Which jobs of the schedule are handed to the points now: pure, time is an argument.

The schedule (EDF-CE, :mod:`measurement.scheduling`) repeats from an epoch on.  A job is handed over
``notice`` seconds before it starts, because the points need that long to agree on it.  Every job is
considered once: handed over, or left out for a reason that is kept as its outcome.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from measurement.scheduling import Horizon, Refused, Request, Schedule, Start, admit

LEAST_NOTICE = 1.0
"""Seconds before its start at which a job can still be handed over at all."""
LONGEST_BACKOFF = 600.0
LONGEST_PAUSE = 60.0
"""Jobs that should have started longer ago (the process slept) are not even listed."""


class LeftOut(StrEnum):
    """Why a job of the schedule is not carried out."""

    QUIET = "quiet: no test may load this path now"
    BACKING_OFF = "its last runs failed"
    STILL_RUNNING = "its last run has not ended"
    LATE = "its time had passed"
    POSTED_LATE = "it was posted too late"
    NO_WORKER = "no worker was free"


@dataclass(frozen=True, slots=True)
class Timeline:
    """A schedule in time.

    :param horizon: rounds from a whole second on (the points' times are whole seconds), with what was
        admitted on demand.
    :param considered: jobs that start before this time have been dealt with.
    """

    horizon: Horizon
    notice: float
    considered: float

    @classmethod
    def begin(cls, schedule: Schedule, now: float, notice: float) -> Timeline:
        """A timeline whose first jobs can all still be handed over in time."""
        epoch = float(math.ceil(now + notice))
        return cls(Horizon(schedule, epoch), notice, epoch)

    def starts(self, now: float) -> tuple[Timeline, list[Start]]:
        """The jobs to consider now, in the order of their starts, and the timeline after them."""
        until = now + self.notice
        if until <= self.considered:
            return self, []
        found = self.horizon.starts(max(self.considered, now - LONGEST_PAUSE), until)
        return replace(self, horizon=self.horizon.after(now), considered=until), found

    def admit(self, request: Request, now: float) -> tuple[Timeline, Start] | Refused:
        """The timeline with an on-demand test in its slack, and when that starts."""
        not_before = float(math.ceil(max(self.considered, now + self.notice)))
        answer = admit(self.horizon, request, not_before)
        if isinstance(answer, Refused):
            return answer
        return replace(self, horizon=answer.horizon), answer.start


@dataclass(frozen=True, slots=True)
class Standing:
    """How a task's runs have gone.

    :param failures: how often in a row it failed.
    :param resume: jobs that start before this time are left out.
    """

    failures: int = 0
    resume: float = -math.inf

    def after_success(self) -> Standing:
        """After a run with at least one value."""
        return Standing()

    def after_failure(self, now: float, period: float) -> Standing:
        """After a run without: from the second failure on the pause doubles, up to ten minutes."""
        failures = self.failures + 1
        longest = max(period, LONGEST_BACKOFF)
        pause = 0.0 if failures == 1 else min(period * 2.0 ** min(failures - 2, 10), longest)
        return Standing(failures, now + pause)


def left_out(
    start: Start,
    now: float,
    *,
    loads: str | None,
    quiet: Collection[str],
    running: Collection[str],
    standings: Mapping[str, Standing],
) -> LeftOut | None:
    """Why a job is not handed over; None if it is.

    :param loads: the path that it loads, None for a light test.
    :param quiet: paths that no test may load now (counters serve there).
    :param running: ids of the tasks under way.
    """
    if start.at < now + LEAST_NOTICE:
        return LeftOut.LATE
    if loads is not None and loads in quiet:
        return LeftOut.QUIET
    if start.task in running:
        return LeftOut.STILL_RUNNING
    if start.at < standings.get(start.task, Standing()).resume:
        return LeftOut.BACKING_OFF
    return None
