"""How fast transfers go on a path of the past; the package's text states the model.

Between two events every rate is constant, so time may be advanced in any steps.  Sizes in bytes, rates in
bits/s, times in seconds since the epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from adon.explain.backtest.past import Beside, streams_tested
from adon.flowvisor.selection.performance import compute_total_rate
from measurement.model import Measurement, PathKey

_ALL = 0.5
"""Bytes: less than so many left is nothing left."""


@dataclass(slots=True)
class Transfer:
    """One transfer under way.

    :param size: in bytes; ``moved``: so many of them, as far as it has come.
    :param key: the path it is on; None while it has none.
    """

    size: float
    streams: int
    key: PathKey | None = None
    since: float = -math.inf
    moved: float = 0.0

    @property
    def left(self) -> float:
        """Bytes that have not moved yet."""
        return max(0.0, self.size - self.moved)


class Carriage:
    """What paths carry, and the transfers on them.

    :param beside: who was beside the tests of then.
    :param capacity: of a path by name; None where it is not known.
    """

    def __init__(self, beside: Beside, capacity: Callable[[str], float | None]) -> None:
        self._beside = beside
        self._capacity = capacity
        self._carries: dict[PathKey, float] = {}
        self._tests: dict[PathKey, int] = {}
        self.transfers: dict[int, Transfer] = {}
        self.now = -math.inf

    # -- paths ------------------------------------------------------------------------------------------

    def carries(self, key: PathKey) -> float:
        """bits/s that a path carries altogether: by the last test, or before any its capacity."""
        return self._carries.get(key, self._most(key))

    def test_begins(self, test: Measurement) -> None:
        """A throughput test takes its part from now on."""
        self._tests[test.key] = self._tests.get(test.key, 0) + streams_tested(test.parameters)

    def test_ended(self, test: Measurement) -> Measurement:
        """It is over: what it says of the path, and its result as it is beside the flows of the replay."""
        streams = streams_tested(test.parameters)
        self._tests[test.key] = max(0, self._tests.get(test.key, 0) - streams)
        then = self._beside.streams(test.key, test.started_at)
        self._carries[test.key] = min(self._most(test.key), compute_total_rate(test, then))
        now = sum(
            one.streams
            for one in self.transfers.values()
            if one.key == test.key and one.since < test.started_at
        )
        return replace(test, value=self._carries[test.key] * streams / (now + streams))

    def _most(self, key: PathKey) -> float:
        capacity = self._capacity(key.path)
        return math.inf if capacity is None else capacity

    # -- transfers --------------------------------------------------------------------------------------

    def rate(self, transfer: Transfer) -> float:
        """bits/s of a transfer at present."""
        if transfer.key is None:
            return 0.0
        beside = sum(one.streams for one in self.transfers.values() if one.key == transfer.key)
        return self.carries(transfer.key) * transfer.streams / (beside + self._tests.get(transfer.key, 0))

    def advance(self, to: float) -> None:
        """Let time pass."""
        span, self.now = max(0.0, to - self.now), max(to, self.now)
        if not math.isfinite(span) or span == 0:
            return
        rates = {number: self.rate(one) for number, one in self.transfers.items()}
        for number, rate in rates.items():
            one = self.transfers[number]
            one.moved = min(one.size, one.moved + rate * span / 8)

    def next_end(self) -> tuple[float, int] | None:
        """When the first transfer has moved all if nothing changes, and which; None if none ever has."""
        ends = []
        for number, one in self.transfers.items():
            rate = self.rate(one)
            if one.key is not None and one.left <= _ALL:
                ends.append((self.now, number))
            elif rate > 0:
                ends.append((self.now + one.left * 8 / rate, number))
        return min(ends, default=None)

    def done(self, number: int) -> bool:
        """Whether a transfer has moved all."""
        return self.transfers[number].left <= _ALL
