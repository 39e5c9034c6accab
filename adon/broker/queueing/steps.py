"""A quantity over time that changes in steps: how much of something is taken, from when until when.

The sum of spans is a step function of time.  Questions about it (the most that is taken between two times,
the earliest time at which so much is free for so long) cost one pass over the steps at most.  Amounts are
whole numbers (bits/s, worker nodes), so that sums are exact and do not depend on the order of the spans.
Spans are half open: what ends at a time leaves its place to what begins then.

Knows nothing of flows or paths: it serves any calendar.  Values and functions only.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """An amount that is taken from ``begins`` up to, not including, ``ends``."""

    begins: float
    ends: float
    amount: int


@dataclass(frozen=True, slots=True)
class Steps:
    """A step function: ``values[i]`` from ``times[i]`` until ``times[i + 1]``, 0 before the first time.

    :param times: strictly rising; neighbours have different values.
    """

    times: tuple[float, ...] = ()
    values: tuple[int, ...] = ()

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Steps:
        """The sum of spans; an empty one, or of nothing, adds nothing.

        :raises ValueError: for a negative amount.
        """
        changes: dict[float, int] = {}
        for span in spans:
            if span.amount < 0:
                raise ValueError(f"amount: {span.amount} is less than nothing")
            if span.begins < span.ends:
                changes[span.begins] = changes.get(span.begins, 0) + span.amount
                changes[span.ends] = changes.get(span.ends, 0) - span.amount
        times, values, value = [], [], 0
        for at in sorted(changes):
            if changes[at]:
                value += changes[at]
                times.append(at)
                values.append(value)
        return cls(tuple(times), tuple(values))

    def at(self, when: float) -> int:
        """What is taken at a time."""
        index = bisect_right(self.times, when) - 1
        return self.values[index] if index >= 0 else 0

    def most(self, begins: float, ends: float) -> int:
        """The most that is taken at any time between two, the second not included; 0 for no time."""
        if not begins < ends:
            return 0
        first, last = bisect_right(self.times, begins) - 1, bisect_left(self.times, ends)
        inside = self.values[max(first, 0) : last]
        return max(inside, default=0)

    def exceeds(self, limit: int, since: float) -> float:
        """The first time from ``since`` on at which more than the limit is taken; infinite if never."""
        if self.at(since) > limit:
            return since
        start = bisect_right(self.times, since)
        return next(
            (self.times[i] for i in range(start, len(self.times)) if self.values[i] > limit), math.inf
        )

    def earliest(self, amount: int, limit: int, lasts: float, since: float, until: float) -> float | None:
        """The earliest begin from which so much more fits below the limit for so long; None if there is none.

        :param lasts: seconds; the end must not be later than ``until``.
        """
        free, begin = limit - amount, since
        if free < 0:
            return None
        while math.isfinite(begin) and begin + lasts <= until:
            full = self.exceeds(free, begin)
            if full >= begin + lasts:
                return begin
            index = bisect_right(self.times, full)
            while index < len(self.times) and self.values[index] > free:
                index += 1
            if index == len(self.times):
                return None
            begin = self.times[index]
        return None


def whole_up(rate: float) -> int:
    """A need in whole units, rounded up.

    :raises ValueError: if it is negative or not finite.
    """
    if not 0 <= rate < math.inf:
        raise ValueError(f"{rate!r} is no amount")
    return math.ceil(rate)


def whole_down(room: float) -> int:
    """Room in whole units, rounded down; what is less than nothing is nothing.

    :raises ValueError: if it is not finite.
    """
    if not math.isfinite(room):
        raise ValueError(f"{room!r} is no amount of room")
    return max(0, math.floor(room))
