"""Step functions of time: the capacity of a link, or the reserved amount of a resource.

A question about a function (its maximum between two times, the earliest time at which an amount is free for
a given duration) costs at most one pass over its steps.  Reservations are whole numbers (bits/s, worker
nodes), so that sums are exact and do not depend on the order of the spans.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Span:
    """Amount that is reserved from ``begins`` until before ``ends``."""

    begins: float
    ends: float
    amount: int


@dataclass(frozen=True, slots=True)
class StepFunction(Generic[N]):
    """Function with ``values[i]`` from ``times[i]`` until ``times[i + 1]``, and 0 before the first time.

    :param times: strictly rising, one for each value.
    :raises ValueError: for times that do not rise.
    """

    times: tuple[float, ...] = ()
    values: tuple[N, ...] = ()

    def __post_init__(self) -> None:
        if len(self.times) != len(self.values) or any(b <= a for a, b in pairwise(self.times)):
            raise ValueError(
                f"times: {self.times} do not rise; expected one for each value, as in (0.0, 60.0)"
            )

    def at(self, when: float) -> N:
        """Return the value at a time."""
        index = bisect_right(self.times, when) - 1
        return self.values[index] if index >= 0 else 0

    def most(self, begins: float, ends: float) -> N:
        """Return the maximum between two times, the second not included; 0 for an empty interval."""
        if not begins < ends:
            return 0
        first, last = bisect_right(self.times, begins) - 1, bisect_left(self.times, ends)
        return max(self.values[max(first, 0) : last], default=0)

    def exceeds(self, limit: N, since: float) -> float:
        """Return the first time from ``since`` on with a value above the limit; infinity if there is none."""
        if self.at(since) > limit:
            return since
        start = bisect_right(self.times, since)
        return next(
            (self.times[i] for i in range(start, len(self.times)) if self.values[i] > limit), math.inf
        )

    def earliest(self, amount: N, limit: N, lasts: float, since: float, until: float) -> float | None:
        """Return the earliest start from which an amount fits below the limit for a duration; None if never.

        :param lasts: seconds; the end must not be later than ``until``.
        """
        free, begin = limit - amount, since
        if free < 0:
            return None
        while math.isfinite(begin) and begin + lasts <= until:
            full = self.exceeds(free, begin)
            if full >= begin + lasts:
                return begin
            later = range(bisect_right(self.times, full), len(self.times))
            begin = next((self.times[i] for i in later if self.values[i] <= free), math.inf)
        return None


def constant(value: float) -> StepFunction[float]:
    """Return a function with one value from time 0 on."""
    return StepFunction((0.0,), (value,))


def sum_of_spans(spans: Iterable[Span]) -> StepFunction[int]:
    """Return the sum of spans; neighbouring values differ.

    :raises ValueError: for a negative amount.
    """
    changes: dict[float, int] = {}
    for span in spans:
        if span.amount < 0:
            raise ValueError(f"amount: {span.amount} is out of range; expected at least 0")
        if span.begins < span.ends:
            changes[span.begins] = changes.get(span.begins, 0) + span.amount
            changes[span.ends] = changes.get(span.ends, 0) - span.amount
    times = sorted(at for at, change in changes.items() if change)
    return StepFunction(tuple(times), tuple(accumulate(changes[at] for at in times)))


def round_up(rate: float) -> int:
    """Return a needed amount in whole units.

    :raises ValueError: for a negative or infinite rate.
    """
    if not 0 <= rate < math.inf:
        raise ValueError(f"rate: {rate!r} is out of range; expected a finite number of at least 0")
    return math.ceil(rate)


def round_down(room: float) -> int:
    """Return available room in whole units, at least 0.

    :raises ValueError: for infinite room.
    """
    if not math.isfinite(room):
        raise ValueError(f"room: {room!r} is out of range; expected a finite number")
    return max(0, math.floor(room))
