"""How long failures last for the flows they hit: from the event to the last move confirmed (R16, R25).

A failure is an event of the network (a port, a link, a switch) that takes flows off their paths.  It is over
when every flow that was moved for it has its new rules confirmed; one that ended, or was moved for another
reason meanwhile, is waited for no more.  Times are those of the events, which the shell stamps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram, in seconds; above the last is infinite.  The aim is one second (R16)."""


class Failovers:
    """See the module's text."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._moving: dict[int, str] = {}  # per flow number the failure it is moved for
        self._waiting: Counter[str] = Counter()  # per failure, how many flows
        self._last: dict[str, float] = {}
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self._seconds = 0.0

    def moving(self, flow: int, failure: str, at: float) -> None:
        """A flow is moved because of a failure.

        :param failure: the id of the event.
        :param at: when it happened.
        """
        self.left_out(flow)
        self._began.setdefault(failure, at)
        self._moving[flow] = failure
        self._waiting[failure] += 1

    def record_move(self, flow: int, at: float) -> None:
        """A flow's new rules are confirmed."""
        failure = self._moving.pop(flow, None)
        if failure is not None:
            self._last[failure] = at
            self._settle(failure)

    def left_out(self, flow: int) -> None:
        """A flow is not moved after all: it ended, or its switch refused."""
        failure = self._moving.pop(flow, None)
        if failure is not None:
            self._settle(failure)

    def _settle(self, failure: str) -> None:
        self._waiting[failure] -= 1
        if self._waiting[failure]:
            return
        del self._waiting[failure]
        began, last = self._began.pop(failure), self._last.pop(failure, None)
        if last is not None:
            seconds = last - began
            self._counts[bisect_left(BOUNDS_S, seconds)] += 1
            self._seconds += seconds

    def reading(self) -> Mapping[str, object]:
        """A cumulative histogram as plain values, and how many failures are not over."""
        bounds = [*map(str, BOUNDS_S), "+Inf"]
        buckets = [list(pair) for pair in zip(bounds, accumulate(self._counts), strict=True)]
        return {"buckets": buckets, "seconds": self._seconds, "open": len(self._began)}
