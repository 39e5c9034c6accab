"""Holds back what several threads move together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Throttle:
    """A rate that pieces share, each paid for after it was moved (a bucket that may be overdrawn).

    :param clock: seconds, only ever growing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._rate: float | None = None
        self._free_at = clock()

    def set(self, rate: float | None) -> None:
        """From now on so many bits/s; None for as fast as it goes.  Who waits is let go, to reckon anew."""
        with self._changed:
            self._rate = rate
            self._free_at = self._clock()
            self._changed.notify_all()

    def moved(self, size: int, stopped: Callable[[], bool]) -> None:
        """Wait until the bytes that were moved are paid for, or somebody wants to stop."""
        with self._changed:
            rate = self._rate
            if rate is None or rate <= 0:
                return
            self._free_at = max(self._free_at, self._clock()) + size * 8 / rate
            mine = self._free_at
            while self._rate == rate and (left := mine - self._clock()) > 0 and not stopped():
                self._changed.wait(min(left, 0.2))
