"""What the switchboard and the connections count, for Prometheus (R25).

Flow-mods, packet-ins by what became of them, errors, connections refused, times of barriers and echoes.

Counted by the connections' and os-ken's threads and the decision thread, read by the link's; one lock,
held for a few additions.  The web process turns the numbers into metrics.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import Any

BARRIER_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the histogram of barrier times, in seconds; what is above the last counts as infinite."""
ECHO_BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""The same for the echoes that we ask for."""
ERRORS_LIMIT = 256
"""Different errors counted apart; switches choose the numbers, so there must be an end."""
OTHER_ERROR = "other other"


class _Histogram:
    """Times, counted up to each bound; the tally's lock guards it."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.seconds += seconds

    def cumulative(self) -> list[list[Any]]:
        """Pairs of bound (as Prometheus writes it) and how many were not above it."""
        bounds = [*map(str, self._bounds), "+Inf"]
        return [list(pair) for pair in zip(bounds, accumulate(self._counts), strict=True)]


class Tally:
    """Counters since the process started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flow_mods = 0
        self._malformed = 0
        self._connections = 0
        self._released = 0
        self._packet_ins: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._barriers = _Histogram(BARRIER_BOUNDS_S)
        self._echoes = _Histogram(ECHO_BOUNDS_S)

    def count_sent(self, flow_mods: int) -> None:
        """So many flow-mods were sent."""
        with self._lock:
            self._flow_mods += flow_mods

    def count_admitted(self, connections: int, packets: int) -> None:
        """Packets of unannounced flows were sent on, with the rules of so many new connections."""
        with self._lock:
            self._flow_mods += connections
            self._connections += connections
            self._released += packets

    def packet_in(self, result: str = "taken", number: int = 1) -> None:
        """Packet-ins came: ``taken``, or why they were dropped (``cookie``, ``port_rate``, ``inbox``, …)."""
        with self._lock:
            self._packet_ins[result] += number

    def count_refusal(self, error: str) -> None:
        """A switch answered with an error, by its names and numbers."""
        with self._lock:
            known = error in self._errors or len(self._errors) < ERRORS_LIMIT
            self._errors[error if known else OTHER_ERROR] += 1

    def connection_refused(self, kind: str) -> None:
        """A connection was ended by us, or never became one."""
        with self._lock:
            self._refused[kind] += 1

    def count_malformed(self) -> None:
        """A message of a known switch made no sense, and was left out."""
        with self._lock:
            self._malformed += 1

    def barrier(self, seconds: float) -> None:
        """A barrier was answered this long after its batch was handed to the connection."""
        with self._lock:
            self._barriers.add(seconds)

    def echo(self, seconds: float) -> None:
        """An echo request was answered after so long."""
        with self._lock:
            self._echoes.add(seconds)

    def read(self) -> dict[str, Any]:
        """Everything counted so far, as plain JSON values; histograms are cumulative per bound."""
        with self._lock:
            return {
                "flow_mods": self._flow_mods,
                "packet_ins": dict(self._packet_ins),
                "errors": dict(self._errors),
                "connections_refused": dict(self._refused),
                "malformed": self._malformed,
                "connections_admitted": self._connections,
                "packets_released": self._released,
                "barriers": self._barriers.cumulative(),
                "barrier_seconds": self._barriers.seconds,
                "echoes": self._echoes.cumulative(),
                "echo_seconds": self._echoes.seconds,
            }
