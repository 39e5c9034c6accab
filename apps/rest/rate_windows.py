"""Moving windows of requests per kind and per user or address, in memory.

A request above a limit gets 429 with ``Retry-After``.  Each limited answer has ``RateLimit`` headers
(draft-ietf-httpapi-ratelimit-headers; :mod:`apps.rest.rate_limits`).  A user can check a window by counting.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from adon.config.controller import WebLimits

MANY = 1000
SWEEP_S = 1.0
"""Seconds between two removals of empty windows, when there are more than :data:`MANY`."""
Kind = Literal["reads", "writes", "inside", "anonymous", "sign_in"]


@dataclass(frozen=True, slots=True)
class Standing:
    """State of a limit after a request.

    :param left: number of requests that are still permitted now.
    :param wait_s: seconds until one more is permitted.
    """

    kind: Kind
    allowed: bool
    most: int
    per_s: int
    left: int
    wait_s: float

    @property
    def headers(self) -> Mapping[str, str]:
        """The ``RateLimit`` fields, and ``Retry-After`` for a refusal."""
        seconds = max(1, math.ceil(self.wait_s))
        told = {
            "RateLimit-Policy": f'"{self.kind}";q={self.most};w={self.per_s}',
            "RateLimit": f'"{self.kind}";r={self.left};t={seconds}',
        }
        return told if self.allowed else {**told, "Retry-After": str(seconds)}


class _NoThread(threading.Timer):
    """Substitute for the timer thread of the library, which never runs."""

    def __init__(self) -> None:
        super().__init__(0.0, lambda: None)

    def is_alive(self) -> bool:
        """Return True, so that the library starts no thread."""
        return True


class _Windows(MemoryStorage):
    """Windows of the library, which expire when they are written.

    The library would start a thread for nearly every request to expire them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.timer.cancel()
        self.timer = _NoThread()

    def forget(self, key: str, now: float) -> None:
        """Drop the expired requests of a key, and its window if it is empty."""
        window = self.events.get(key)
        while window and window[-1].expiry <= now:  # the newest stands first
            window.pop()
        if not window:
            self.events.pop(key, None)
            self.locks.pop(key, None)


class Rates:
    """Windows of all users and addresses, for any thread."""

    def __init__(self, limits: WebLimits) -> None:
        self._storage = _Windows()
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._lock = threading.Lock()
        self._swept = 0.0
        self._items = {
            kind: RateLimitItemPerSecond(rate.requests, max(1, math.ceil(rate.per)), namespace=kind)
            for kind, rate in limits.rates.items()
        }

    def take(self, kind: Kind, who: str) -> Standing:
        """Count a request, if the limit permits it."""
        item = self._items[kind]
        with self._lock:  # so that nobody's place is swept while it is written to
            self._sweep(time.monotonic())
            self._storage.forget(item.key_for(who), time.time())
            allowed = self._limiter.hit(item, who)
            window = self._limiter.get_window_stats(item, who)
        wait = max(0.0, window.reset_time - time.time())
        return Standing(kind, allowed, item.amount, item.get_expiry(), window.remaining, wait)

    @property
    def known(self) -> int:
        """Number of stored windows."""
        return len(self._storage.events)

    def _sweep(self, now: float) -> None:
        """Remove empty windows."""
        known = self._storage.events
        if len(known) < MANY or now - self._swept < SWEEP_S:
            return
        self._swept = now
        for key in list(known):
            self._storage.forget(key, time.time())
