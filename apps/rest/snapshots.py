"""The controller's prepared read-out, fetched at most once a second however many ask for it.

The decision thread prepares it; a hundred open pages must not make it prepare a hundred (design.md:
hot read-outs are prepared snapshots, not queries per poll).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

MAX_AGE = 1.0
"""Seconds for which one read-out serves everybody."""

Snapshot = Mapping[str, Any]


class Snapshots:
    """The latest read-out; ``clock`` is a monotonic clock in seconds."""

    def __init__(self, fetch: Callable[[], Snapshot], clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._latest: tuple[float, Snapshot] | None = None

    def get(self) -> Snapshot:
        """A read-out not older than :data:`MAX_AGE`; whoever comes while one is fetched shares it.

        :raises Unavailable: if the controller does not answer.
        """
        with self._lock:
            now = self._clock()
            if self._latest is None or now - self._latest[0] >= MAX_AGE:
                self._latest = (now, self._fetch())
            return self._latest[1]
