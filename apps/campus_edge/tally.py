"""What the switchboard counts, for Prometheus (R25): flow-mods, packet-ins, errors, barrier times.

Counted by os-ken's threads and the decision thread, read by the link's; one lock, held for a few
additions.  The web process turns the numbers into metrics.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from typing import Any

BARRIER_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the histogram of barrier times, in seconds; what is above the last counts as infinite."""


class Tally:
    """Counters since the process started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flow_mods = 0
        self._packet_ins = 0
        self._errors: Counter[str] = Counter()
        self._barriers = [0] * (len(BARRIER_BOUNDS_S) + 1)
        self._barrier_seconds = 0.0

    def sent(self, flow_mods: int) -> None:
        """So many flow-mods were sent."""
        with self._lock:
            self._flow_mods += flow_mods

    def packet_in(self) -> None:
        """A packet-in came."""
        with self._lock:
            self._packet_ins += 1

    def refused(self, error: str) -> None:
        """A switch answered with an error, by its names and numbers."""
        with self._lock:
            self._errors[error] += 1

    def barrier(self, seconds: float) -> None:
        """A barrier was answered this long after its batch was handed to the connection."""
        with self._lock:
            self._barriers[bisect_left(BARRIER_BOUNDS_S, seconds)] += 1
            self._barrier_seconds += seconds

    def read(self) -> dict[str, Any]:
        """Everything counted so far, as plain JSON values; barrier counts are cumulative per bound."""
        with self._lock:
            cumulative = [sum(self._barriers[: index + 1]) for index in range(len(self._barriers))]
            bounds = [*map(str, BARRIER_BOUNDS_S), "+Inf"]
            return {
                "flow_mods": self._flow_mods,
                "packet_ins": self._packet_ins,
                "errors": dict(self._errors),
                "barriers": [list(pair) for pair in zip(bounds, cumulative, strict=True)],
                "barrier_seconds": self._barrier_seconds,
            }
