"""A quantity over time that keeps its value until it changes: the capacity of a link, its loss.

A piecewise-constant function, right-continuous: from a change on the new value holds.  Before the first
change the first value holds.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Steps:
    """See the module's text.

    :param times: when it changes, rising; as many as values.
    :raises ValueError: if they are not.
    """

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.times or len(self.times) != len(self.values):
            raise ValueError("times: there must be as many as values, at least one")
        if any(after <= before for before, after in pairwise(self.times)):
            raise ValueError("times: must rise")
        if any(not math.isfinite(number) for number in (*self.times, *self.values)):
            raise ValueError("values: must be finite")

    @classmethod
    def of(cls, *changes: tuple[float, float]) -> Steps:
        """From pairs of time and value; changes that change nothing are left out."""
        kept: list[tuple[float, float]] = []
        for at, value in sorted(changes):
            if kept and kept[-1][0] == at:
                kept[-1] = (at, value)
            elif not kept or kept[-1][1] != value:
                kept.append((at, value))
        return cls(tuple(at for at, _ in kept), tuple(value for _, value in kept))

    def at(self, when: float) -> float:
        """The value at a time."""
        return self.values[max(0, bisect_right(self.times, when) - 1)]

    @property
    def changes(self) -> tuple[float, ...]:
        """When it changes."""
        return self.times[1:]

    def integral(self, start: float, end: float) -> float:
        """Value times time from ``start`` to ``end``."""
        borders = [start, *(at for at in self.changes if start < at < end), end]
        return math.fsum((after - before) * self.at(before) for before, after in pairwise(borders))


def steady(value: float) -> Steps:
    """A quantity that never changes."""
    return Steps((0.0,), (value,))
