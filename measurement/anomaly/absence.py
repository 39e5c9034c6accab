"""When silence is too long.

Old must never pass for good: a series that stops is an alarm of its own, whatever its last value was.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

MISSES = 3.0
INTERVALS = 8
REGULAR = 0.75


def is_absent(last_seen: float, expected_period: float, now: float, misses: float = MISSES) -> bool:
    """Whether ``misses`` expected values are missing and overdue.

    :param last_seen: when the last value was observed, or since when one was waited for.
    :param expected_period: seconds from one value to the next, above 0.
    """
    return now - last_seen > misses * expected_period


def learnt_period(intervals: Sequence[float]) -> float | None:
    """The period that the last intervals show: their median, if they are regular.

    None for fewer than 8 intervals, or when fewer than three quarters lie within half and twice the median:
    somebody's tests by hand make no promise that more will come.
    """
    if len(intervals) < INTERVALS:
        return None
    median = statistics.median(intervals)
    regular = sum(median / 2 <= interval <= 2 * median for interval in intervals)
    return median if median > 0 and regular >= REGULAR * len(intervals) else None
