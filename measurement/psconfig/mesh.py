"""How often a test must run so that its values are never older than an application needs: pure.

An application template says which metrics it needs and how old a value may be (``max_age``).  A test's
period follows from the age: a run is released every p seconds and over by the next release, so the starts of
two runs that follow each other are at most 2p - e apart (e: the slot).  A value is as old as that, and what
its slot is longer than the measurement, and the time to fetch the next one, before the next one replaces it;
hence ::

    p <= (max_age + lasts - FETCH) / 2

(the "half-half" rule for keeping data fresh; Xiong and Ramamritham, *Deriving deadlines and periods for
real-time update transactions*, IEEE Trans. Computers 53 (5), 2004).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FETCH = 5.0
"""Seconds from the end of a run until its value is archived."""

LONGEST_PERIOD = 86_400.0


@dataclass(frozen=True, slots=True)
class Need:
    """What an application needs to know of one metric.

    :param max_age: seconds that a value may be old.
    :param streams: of a throughput test.
    :param bound: the hard bound on the metric, in its units; None when it has none.
    :raises ValueError: for an age or a number of streams that is not above zero.
    """

    max_age: float
    streams: int = 1
    bound: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.max_age) and self.max_age > 0):
            raise ValueError(f"max_age: {self.max_age!r} must be above zero")
        if self.streams < 1:
            raise ValueError(f"streams: {self.streams!r} must be at least one")


def longest_period(max_age: float, lasts: float) -> float:
    """The longest period that keeps values younger than ``max_age``; whole milliseconds, as scheduled.

    :param lasts: seconds that a test measures.
    """
    return math.floor(min((max_age + lasts - FETCH) / 2, LONGEST_PERIOD) * 1000) / 1000
