"""What one TCP stream can reach by itself, whatever the path would carry.

The least of its host, one window per round trip, and Mathis' bound for random loss ([ADON] 4.3; Mathis et
al., CCR 1997): :func:`adon.broker.cost.terms.theoretical_throughput`, for one stream.  Rates are goodput.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.cost.terms import theoretical_throughput

TCP_PAYLOAD = 1448
"""Bytes of data in a full segment with time stamps (RFC 7323)."""

FRAME = 1514
"""Bytes of its untagged Ethernet frame, which is what a switch's counters count."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The end hosts' side of a stream.

    :param window: bytes that may be under way: the smaller of the two hosts' buffers; None: always enough.
    :param host: bits/s that a host's one processor core handles.
    """

    window: float | None = None
    host: float = math.inf

    def limit(self, rtt: float, loss: float) -> float:
        """Bits/s at most, on a path of this round trip (seconds) and loss (ratio)."""
        if math.isinf(self.host) and rtt <= 0:
            return math.inf
        return theoretical_throughput(self.host, 1, self.window, rtt, loss, TCP_PAYLOAD)


EASY = Stream()
"""A stream that only the network limits."""
