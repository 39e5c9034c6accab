"""Who may send an agent packets: sessions of its connections, and how often each source is answered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from measurement.probes import wire
from measurement.probes.guarding import Allowance, Bucket, Window

MOST_SOURCES = 10_000


@dataclass(frozen=True, slots=True)
class Session:
    """One connection's packets, as they have come so far.

    :param source: where the last genuine one came from; None before the first.
    :param limited, forged, repeated: packets that were not answered, by why.
    """

    keys: wire.Keys
    window: Window = field(default_factory=Window)
    source: tuple[Any, ...] | None = None
    limited: int = 0
    forged: int = 0
    repeated: int = 0


class Allowances:
    """What each source has left.  Threads may ask at the same time.

    :param clock: seconds; never set back.
    """

    def __init__(self, allowance: Allowance, clock: Callable[[], float]) -> None:
        self._allowance = allowance
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets = dict[str, Bucket]()

    def taken(self, source: str) -> bool:
        """Whether it had a token, which is gone now."""
        now = self._clock()
        with self._lock:
            if len(self._buckets) >= MOST_SOURCES:
                self._forget(now)
            bucket = self._buckets.get(source, Bucket(self._allowance.size, now))
            left = bucket.taking(self._allowance, now)
            if left is not None:
                self._buckets[source] = left
            return left is not None

    def _forget(self, now: float) -> None:
        """Leave out who has all tokens again; if nobody has, the oldest, who gain a little."""
        full = self._allowance.size / self._allowance.rate
        kept = {source: bucket for source, bucket in self._buckets.items() if now - bucket.at < full}
        while len(kept) >= MOST_SOURCES:
            del kept[next(iter(kept))]
        self._buckets = kept
