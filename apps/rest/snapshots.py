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
    """The latest read-out; ``clock`` is a monotonic clock in seconds, ``max_age`` in its seconds."""

    def __init__(
        self, fetch: Callable[[], Snapshot], clock: Callable[[], float], max_age: float = MAX_AGE
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._max_age = max_age
        self._lock = threading.Lock()
        self._latest: tuple[float, Snapshot] | None = None

    def get(self) -> Snapshot:
        """A read-out not older than the age allowed; whoever comes while one is fetched shares it.

        :raises Unavailable: if the controller does not answer.
        """
        with self._lock:
            if self._latest is None or self._clock() - self._latest[0] >= self._max_age:
                # Its age counts from when it is there: those who waited share it, however long it took.
                fetched = self._fetch()
                self._latest = (self._clock(), fetched)
            return self._latest[1]
