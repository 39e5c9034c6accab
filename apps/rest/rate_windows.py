"""How often one user, or one address, may ask: a moving window per kind of request, in memory.

Who exceeds it is answered with 429, ``Retry-After``, and ``RateLimit`` headers
(draft-ietf-httpapi-ratelimit-headers), which every limited answer carries (:mod:`apps.rest.rate_limits`).
A token bucket would allow the same on average; a window is what people can check by counting.
"""

from __future__ import annotations

import ipaddress
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
"""With so many known, those who are gone are forgotten, every so many seconds."""
Kind = Literal["reads", "writes", "inside", "anonymous", "sign_in", "addresses"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How somebody stands after a request.

    :param left: how many more there may be now.
    :param wait_s: seconds until there may be one more (than that).
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
    """Stands for the thread that the library would start: it is there already, always."""

    def __init__(self) -> None:
        super().__init__(0.0, lambda: None)

    def is_alive(self) -> bool:
        """So that none is started."""
        return True


class _Windows(MemoryStorage):
    """The library's windows, forgotten by whoever writes to them.

    The library starts a thread for that, again and again while somebody asks: with many pages open that
    was a new thread for nearly each question, and a tenth of what an answer took.
    """

    def __init__(self) -> None:
        super().__init__()
        self.timer.cancel()
        self.timer = _NoThread()

    def forget(self, key: str, now: float) -> None:
        """Drop what has left the window of this key, and the window itself when it is empty."""
        window = self.events.get(key)
        while window and window[-1].expiry <= now:  # the newest stands first
            window.pop()
        if not window:
            self.events.pop(key, None)
            self.locks.pop(key, None)


class Rates:
    """The windows of everybody; usable from any thread."""

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
        """Count a request of somebody, if it may be."""
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
        """Of how many kinds of somebody something is kept."""
        return len(self._storage.events)

    def _sweep(self, now: float) -> None:
        """Forget who is gone: a place is kept for everybody who ever came."""
        known = self._storage.events
        if len(known) < MANY or now - self._swept < SWEEP_S:
            return
        self._swept = now
        for key in list(known):
            self._storage.forget(key, time.time())


def network_of(address: str) -> str:
    """What counts as one address: an IPv4 address, or the /64 that one IPv6 host may choose from."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    mapped = found.ipv4_mapped
    return str(ipaddress.ip_network((found, 64), strict=False)) if mapped is None else str(mapped)
