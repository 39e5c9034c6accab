"""Protection of an agent: no packet counts twice, and each source is answered only so often."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 1024
"""Packets that may overtake each other; an older packet counts as a replay."""
MAX_SOURCES = 10_000


@dataclass(frozen=True, slots=True)
class ReplayWindow:
    """Packet numbers of a session that have arrived (as RFC 4303, 3.4.3 guards IPsec against replays).

    :param highest: the highest number so far; -1 before the first.
    :param seen: bit i stands for ``highest - i``.
    """

    highest: int = -1
    seen: int = 0

    def has(self, number: int) -> bool:
        """Return whether it has arrived, as far back as the window reaches."""
        age = self.highest - number
        return 0 <= age < WINDOW and bool(self.seen >> age & 1)

    def accept(self, number: int) -> ReplayWindow | None:
        """Return the window with this number; None if it has arrived before, or is too old to know."""
        ahead = number - self.highest
        if ahead > 0:
            kept = self.seen << ahead & (1 << WINDOW) - 1 if ahead < WINDOW else 0
            return ReplayWindow(number, kept | 1)
        if -ahead >= WINDOW or self.seen >> -ahead & 1:
            return None
        return ReplayWindow(self.highest, self.seen | 1 << -ahead)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Size of a token bucket.

    :param rate: tokens per second; :param size: the maximum number of tokens.
    """

    rate: float
    size: float


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """Tokens of one source.

    :param tokens: at the time ``at``, in seconds of a monotonic clock.
    """

    tokens: float
    at: float

    def take(self, limit: RateLimit, now: float) -> TokenBucket | None:
        """Return the bucket without one token; None if it has none."""
        tokens = min(limit.size, self.tokens + max(0.0, now - self.at) * limit.rate)
        return TokenBucket(tokens - 1.0, now) if tokens >= 1.0 else None


class SourceLimiter:
    """Token buckets by source address.  Threads may use it at the same time.

    :param clock: monotonic, in seconds.
    """

    def __init__(self, limit: RateLimit, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets = dict[str, TokenBucket]()

    def take_token(self, source: str) -> bool:
        """Return whether the source had a token, which is taken."""
        now = self._clock()
        with self._lock:
            if len(self._buckets) >= MAX_SOURCES:
                self._forget(now)
            bucket = self._buckets.get(source, TokenBucket(self._limit.size, now))
            left = bucket.take(self._limit, now)
            if left is not None:
                self._buckets[source] = left
            return left is not None

    def _forget(self, now: float) -> None:
        """Remove sources whose bucket is full again; if there is none, the oldest, which gain a little."""
        full = self._limit.size / self._limit.rate
        kept = {source: bucket for source, bucket in self._buckets.items() if now - bucket.at < full}
        while len(kept) >= MAX_SOURCES:
            del kept[next(iter(kept))]
        self._buckets = kept
