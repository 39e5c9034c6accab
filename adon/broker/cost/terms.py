"""The network's side of the cost of a site: Γ_t, Γ_a, and how long some bytes take.

Sizes are bytes, rates bits/s, times seconds: each quotient has its 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from measurement.mathis import mathis
from measurement.token_bucket import Allowance

MSS = 1460
"""TCP's maximum segment size in bytes on a 1500-byte path without options."""


@dataclass(frozen=True, slots=True)
class NetworkTerms:
    """The network's side of T_n for one leg.

    :param path: the transit path the leg would take, None if there is none.
    :param theoretical: Γ_t in bits/s (:func:`theoretical_throughput`).
    :param available: Γ_a in bits/s as measured, None if unknown.
    :param relative: the spread of what it carries, as a share of it.
    :param origin: who has observed that, in words.
    :param basis: what Γ_a rests on (:class:`~adon.flowvisor.topology.path.Basis`); empty if unknown.
    :param bucket: what the path gives by the size of a transfer, where a token bucket throttles it.
    """

    path: str | None
    theoretical: float
    available: float | None
    relative: float = 0.0
    origin: str = ""
    basis: str = ""
    bucket: Allowance | None = None

    @property
    def rate(self) -> float | None:
        """min(Γ_t, Γ_a) for a transfer whose size is not known; None if unknown."""
        return None if self.available is None else min(self.theoretical, self.available)

    def available_for(self, size: int) -> float | None:
        """Γ_a for a transfer of so many bytes: behind a token bucket less, the larger it is."""
        if self.available is None or self.bucket is None or size <= 0:
            return self.available
        try:
            return self.bucket.mean_rate(size)
        except OverflowError:  # of what is longer than any float a burst is no part
            return self.bucket.sustained

    def rate_for(self, size: int) -> float | None:
        """min(Γ_t, Γ_a) for a transfer of so many bytes; None if unknown."""
        available = self.available_for(size)
        return None if available is None else min(self.theoretical, available)


NO_NETWORK = NetworkTerms(None, 0.0, None)


def theoretical_throughput(
    link_rate: float,
    streams: int,
    window_bytes: float | None,
    rtt: float | None,
    loss: float | None,
    mss: int = MSS,
) -> float:
    """Γ_t: what TCP can reach at best, in bits/s ([ADON] 4.3; Mathis et al., CCR 1997).

    The least of the link's rate, ``streams`` windows per round trip, and ``streams`` times Mathis' limit
    (:func:`measurement.mathis.mathis`).  Streams add windows and loss recovery, never link rate.  A term
    whose inputs are unknown (None), or that is unbounded (no delay, no loss), drops out.

    :raises ValueError: for a negative or undefined quantity, or less than one stream.
    """
    quantities = {"link_rate": link_rate, "window_bytes": window_bytes, "rtt": rtt, "loss": loss}
    for name, value in quantities.items():
        if value is not None and not value >= 0:
            raise ValueError(f"{name}: must be zero or more, not {value!r}")
    if streams < 1:
        raise ValueError(f"streams: must be at least 1, not {streams!r}")
    terms = [float(link_rate)]
    if rtt is not None and rtt > 0:
        if window_bytes is not None:
            terms.append(streams * window_bytes * 8 / rtt)
        if loss is not None:
            terms.append(streams * mathis(rtt, loss, mss))
    return min(terms)


def seconds_for(size: int, rate: float) -> float:
    """How long ``size`` bytes take at ``rate`` bits/s; ∞ at no rate, and where the quotient overflows."""
    if size == 0:
        return 0.0
    if not rate > 0:
        return math.inf
    try:
        return size * 8 / rate
    except OverflowError:
        return math.inf
