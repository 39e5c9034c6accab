"""What the running flows put on one directed path, kept as flows come and go.

A decision asks how many streams share a path, split by whether they were there when a test began, what the
path's flows use by their counters, and how much is reserved.  Each of these used to be a pass over all flows;
here a flow that comes, goes or is counted costs one entry, and sums are made once per change, when asked for.

Streams may be summed because :func:`~adon.flowvisor.selection.performance.estimate_throughput` looks at no
more of these loads than their streams and on which side of a time they were admitted.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from itertools import accumulate

from adon.flowvisor.selection.performance import Counters, FlowLoad

GONE = 64
"""So many who have left a path are remembered: a test's result comes seconds after its end."""

Rate = tuple[float, float]
"""Bits/s, and when they were counted."""


class PathLoad:
    """The running flows on one directed path, by number.

    :param rate: a flow's latest rate by its rule counters, None where it has none.
    """

    def __init__(self, rate: Callable[[int], Rate | None]) -> None:
        self.version = 0
        self.numbers: dict[int, float] = {}  # per flow the bits/s that it reserves
        self._rate = rate
        self._admitted: list[tuple[float, int, int]] = []  # (when, number, streams), sorted
        self._streams_until: list[int] | None = None
        self._used: tuple[Counters | None] | None = None
        self._reserved: float | None = None
        self._gone: deque[tuple[float, float, int]] = deque(maxlen=GONE)  # (since, until, streams)

    def put(self, number: int, streams: int, admitted_at: float | None, reserved: float) -> None:
        """A flow comes to this path; without a time of admission it counts as reserved only."""
        self.numbers[number] = reserved
        if admitted_at is not None:
            insort(self._admitted, (admitted_at, number, streams))
        self._mark_changed()

    def drop(self, number: int, admitted_at: float | None, at: float | None = None) -> None:
        """A flow leaves it.

        :param at: when, if that is known.
        """
        del self.numbers[number]
        if admitted_at is not None:
            _, _, streams = self._admitted.pop(bisect_left(self._admitted, (admitted_at, number, 0)))
            if at is not None:
                self._gone.append((admitted_at, at, streams))
        self._mark_changed()

    def average(self, begin: float, end: float) -> float:
        """How many streams of flows were here on average between two times, those who left meanwhile too."""
        stays = [*self._gone, *((since, math.inf, streams) for since, _, streams in self._admitted)]
        if end <= begin:
            return float(sum(streams for since, until, streams in stays if since <= begin < until))
        there = (max(0.0, min(until, end) - max(since, begin)) * streams for since, until, streams in stays)
        return math.fsum(there) / (end - begin)

    def record_rate_change(self) -> None:
        """The rate of a flow here is another one."""
        self.version += 1
        self._used = None

    def _mark_changed(self) -> None:
        self.version += 1
        self._streams_until = self._used = self._reserved = None

    @property
    def streams(self) -> int:
        """The streams of all flows here."""
        return self._until(len(self._admitted))

    @property
    def reserved(self) -> float:
        """The sum of the throughput bounds admitted, in bits/s."""
        if self._reserved is None:
            self._reserved = math.fsum(self.numbers.values())
        return self._reserved

    def used_bandwidth(self) -> Counters | None:
        """What the flows here use by their own counters; None while one of them has no rate."""
        if self._used is None:
            self._used = (self._sum_up(),)
        return self._used[0]

    def _sum_up(self) -> Counters | None:
        rates = [self._rate(number) for number in self.numbers]
        known = [rate for rate in rates if rate is not None]
        if not known or len(known) < len(rates):
            return None
        at = min(at for _, at in known)
        return Counters(math.fsum(rate for rate, _ in known), at, "rule counters of our flows")

    def without(self, own: tuple[float, int] | None, *times: float) -> list[FlowLoad]:
        """The load of the others, summed up between these times, before the first and from the last on.

        :param own: since when the flow that asks is here, and its streams; None if it is not.
        """
        borders = sorted(set(times))
        places = [bisect_left(self._admitted, (border,)) for border in borders]
        sums = [self._until(place) for place in [*places, len(self._admitted)]]
        found: list[FlowLoad] = []
        below, start = 0, -math.inf
        for total, end in zip(sums, [*borders, math.inf], strict=True):
            mine = own[1] if own is not None and start <= own[0] < end else 0
            if total - below - mine > 0:
                found.append(FlowLoad(total - below - mine, start))
            below, start = total, end
        return found

    def _until(self, place: int) -> int:
        if self._streams_until is None:
            self._streams_until = list(accumulate((s for _, _, s in self._admitted), initial=0))
        return self._streams_until[place]
