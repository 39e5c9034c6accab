"""Time on a grid of whole milliseconds: integers, so that no rounding can make two tests overlap.

Seconds (floats) are what people and other modules speak; they are converted here and nowhere else.
"""

from __future__ import annotations

import math
from typing import TypeAlias

Ticks: TypeAlias = int
"""Whole milliseconds."""

PER_SECOND = 1000
_GRAIN = 1e-3  # of a tick: more than floats are off by, about 0.0003 ms for seconds since 1970


def exactly(seconds: float) -> Ticks:
    """A time that must lie on the grid, because the hyperperiod is computed from it.

    :raises ValueError: if it is no finite number, or no whole number of milliseconds.
    """
    if not math.isfinite(seconds):
        raise ValueError(f"{seconds!r} is not a time")
    nearest = round(seconds * PER_SECOND)
    if abs(seconds * PER_SECOND - nearest) > _GRAIN:
        raise ValueError(f"{seconds!r} s is not a whole number of milliseconds")
    return nearest


def at_least(seconds: float) -> Ticks:
    """The first tick not before a time: for durations, and for "not earlier than".

    :raises ValueError: if it is no finite number.
    """
    if not math.isfinite(seconds):
        raise ValueError(f"{seconds!r} is not a time")
    return math.ceil(seconds * PER_SECOND - _GRAIN)


def at_most(seconds: float) -> Ticks:
    """The last tick not after a time: for deadlines.

    :raises ValueError: if it is no finite number.
    """
    return -at_least(-seconds)


def seconds(ticks: Ticks) -> float:
    """Back to seconds."""
    return ticks / PER_SECOND
