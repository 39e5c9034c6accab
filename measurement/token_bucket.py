"""Clouds that let a transfer begin faster than it may go on ([HEALTH] 4.1, figure 4).

The paper's small instances had 200 Mbit/s for four seconds and 80 after that, its medium ones 1000 for one
second and 200 after that.  That is a token bucket: it gives out the burst rate p until its depth b, refilled
at the sustained rate r, is used up::

    b = (p - r) · t,  t: how long the burst lasts

:func:`fit` finds the three in a profile of throughput per interval, such as an iperf3 test's; a test of less
than t sees p alone.  :func:`Allowance.expected` says what a transfer of a given size will have.  Values and
functions only.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_FALL = 0.2
"""A burst is at least so much above what follows, as a share of that."""
NOISE = 4.0
"""And so many times the usual deviation of single intervals above it."""
ENOUGH = 4
"""Intervals without which nothing can be told apart."""
MOST = 7200
"""Intervals of one profile: every one of them is tried, against all the others."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a path gives a transfer.

    :param burst: p in bits/s; :param sustained: r in bits/s.
    :param lasts: t in seconds; 0 where nothing is throttled, and both rates are the same.
    :raises ValueError: for what is none; it names the field.
    """

    burst: float
    sustained: float
    lasts: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sustained) and self.sustained > 0):
            raise ValueError(f"sustained: {self.sustained} bits/s is no rate")
        if not (math.isfinite(self.burst) and self.burst >= self.sustained):
            raise ValueError(f"burst: {self.burst} bits/s is below what is sustained")
        if not (math.isfinite(self.lasts) and self.lasts >= 0):
            raise ValueError(f"lasts: {self.lasts} s is no time")

    @property
    def throttled(self) -> bool:
        """Whether a transfer begins faster than it may go on."""
        return self.lasts > 0 and self.burst > self.sustained

    @property
    def bucket(self) -> float:
        """The depth b, in bits."""
        return (self.burst - self.sustained) * self.lasts

    def takes(self, size: float) -> float:
        """Seconds that a transfer of so many bytes takes, the bucket full at its beginning.

        :raises ValueError: for a size below 0.
        """
        if not size >= 0:
            raise ValueError(f"size: {size} bytes is below 0")
        bits, at_once = 8 * size, self.burst * self.lasts
        if not self.throttled:
            return bits / self.sustained
        return bits / self.burst if bits <= at_once else self.lasts + (bits - at_once) / self.sustained

    def mean_rate(self, size: float) -> float:
        """The mean rate of a transfer of so many bytes, in bits/s; what its estimate of time should use.

        :raises ValueError: for a size that is not above 0.
        """
        if not size > 0:
            raise ValueError(f"size: of {size} bytes there is no rate")
        return 8 * size / self.takes(size)


def fit(rates: Sequence[float], interval: float = 1.0) -> Allowance | None:
    """The allowance that explains a profile best.

    Tried is every interval as the one in which the bucket ran empty; the levels are medians, so that single
    odd intervals move neither, and of all the one with the least sum of absolute deviations is taken.  Where
    the fall is not clear of the noise, nothing is throttled.

    :param rates: bits/s of each interval, from the transfer's first on.
    :param interval: seconds.
    :returns: None if there are fewer than :data:`ENOUGH` intervals, or nothing came through.
    :raises ValueError: for a rate or an interval that is none, or more than :data:`MOST` of them.
    """
    if len(rates) > MOST:
        raise ValueError(f"rates: {len(rates)} intervals are more than {MOST}: no transfer's beginning")
    if not interval > 0:
        raise ValueError(f"interval: {interval} s is no time")
    if not all(math.isfinite(rate) and rate >= 0 for rate in rates):
        raise ValueError("rates: are finite numbers of bits/s from 0 on")
    level = statistics.median(rates) if len(rates) >= ENOUGH else 0.0
    if level <= 0:
        return None
    best = min((_split(rates, at, interval) for at in range(len(rates) - 2)), key=lambda each: each.deviation)
    clear = max(LEAST_FALL * best.after, NOISE * best.noise)
    if best.after <= 0 or best.before - best.after <= clear:
        return Allowance(level, level, 0.0)
    return Allowance(best.before, best.after, best.lasts)


@dataclass(frozen=True, slots=True)
class _Split:
    before: float
    after: float
    lasts: float
    deviation: float
    noise: float


def _split(rates: Sequence[float], at: int, interval: float) -> _Split:
    """The levels, if the bucket ran empty in this interval, or at its end."""
    after = statistics.median(rates[at + 1 :])
    # In the first interval nobody knows how fast it was before it ran empty: its mean is the least it was.
    before = statistics.median(rates[:at]) if at else rates[0]
    within = min(max(rates[at], min(before, after)), max(before, after))
    part = (within - after) / (before - after) if before > after else 0.0
    fitted = [before] * at + [within] + [after] * (len(rates) - at - 1)
    off = [abs(rate - level) for rate, level in zip(rates, fitted, strict=True)]
    return _Split(before, after, (at + part) * interval, math.fsum(off), statistics.median(off) / 0.6745)
