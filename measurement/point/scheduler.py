"""Finding a free slot: pure functions over intervals of time.

A point's schedule is a set of bookings, each with a scheduling class.  What is free for a class is the
window minus the bookings that exclude it; what is free for a task is the intersection of its
participants' free ranges.  Starts are on whole seconds, because the API's timestamps are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from measurement.point.model import Schedule, SchedulingClass


class Slot(NamedTuple):
    """A half-open range of time, seconds since the epoch."""

    start: float
    end: float


class Booking(NamedTuple):
    """A slot that is taken."""

    start: float
    end: float
    kind: SchedulingClass


def free(bookings: Iterable[Booking], kind: SchedulingClass, window: Slot) -> list[Slot]:
    """The parts of the window in which a test of this class may run, by time."""
    taken = sorted((b.start, b.end) for b in bookings if kind.excludes(b.kind))
    found, at = [], window.start
    for start, end in taken:
        if start > at:
            found.append(Slot(at, min(start, window.end)))
        at = max(at, end)
        if at >= window.end:
            break
    if at < window.end:
        found.append(Slot(at, window.end))
    return [slot for slot in found if slot.start < slot.end]


def intersect(ours: Sequence[Slot], theirs: Sequence[Slot]) -> list[Slot]:
    """What is free in both."""
    both = (Slot(max(a.start, b.start), min(a.end, b.end)) for a in ours for b in theirs)
    return sorted(slot for slot in both if slot.start < slot.end)


def first_fit(ranges: Iterable[Slot], earliest: float, latest: float, length: float) -> float | None:
    """The earliest whole second in ``[earliest, latest]`` at which ``length`` seconds fit into one range."""
    for slot in sorted(ranges):
        start = float(math.ceil(max(slot.start, earliest)))
        if start > latest:
            return None
        if start + length <= slot.end:
            return start
    return None


def occurrence(schedule: Schedule, after: float, done: int) -> float | None:
    """The nominal start of the next run, or None when the task has no more.

    :param after: runs that could no longer start by now are passed over.
    :param done: how many runs there have been.
    """
    if schedule.repeat is None:
        return schedule.start if done == 0 else None
    if schedule.max_runs is not None and done >= schedule.max_runs:
        return None
    behind = max(0.0, after - schedule.slip - schedule.start)
    start = schedule.start + max(done, math.ceil(behind / schedule.repeat)) * schedule.repeat
    return None if schedule.until is not None and start > schedule.until else start
