"""Detection of a token bucket in the intervals of a throughput test ([HEALTH] 4.1, figure 4).

Some clouds throttle a transfer after a burst, so the mean of a test is the rate of transfers of the test's
own size only.  :func:`find_token_bucket` returns the token bucket of a path if a test's intervals fit it
*clearly* better than a constant rate:

- :func:`measurement.token_bucket.fit` finds a fall: more than a fifth, and more than four times the usual
  deviation of single intervals;
- at least :data:`MIN_BEFORE` intervals are above the middle of the two rates (the sender's socket buffer
  could explain a single one), and at least :data:`MIN_AFTER` are below it;
- the rate falls once and stays low; only the first interval may be lower, if there are enough others (slow
  start);
- the length of the burst, t = (V - r·T) / (p - r) for V received bits in T seconds, ends in the interval of
  the fall, or in one next to it.

p and r are means of the intervals on both sides, without those next to the fall and without the first.  A
sender writes whole blocks, of which few fit into a short interval, so medians would be whole blocks.  In
doubt the result is None, and the mean of the test holds.  A test cannot distinguish an empty bucket from
permanent new traffic, and cannot show the sustained rate of a path whose bucket outlasts the test.

Seconds that a test omits (iperf3's ``-O``) are not among its intervals.  Their tokens are unknown and not
counted, so the result is a lower bound of the depth.  Intervals count the bits that the *sender* wrote.  The
bits that did not arrive by the end filled its buffer at the start, and are subtracted from the first
interval.

Rates are in bits/s, times in seconds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache

from measurement.model import Measurement, Metric
from measurement.token_bucket import Allowance, fit

MIN_BEFORE = 2
MIN_AFTER = 4
MAX_INTERVALS = 100
"""Maximum number of intervals; more are merged with their neighbours."""
_NO_RATE, _NO_TIME = 1e18, 1e9
"""Exclusive limits of an interval in bits/s and seconds, for untrusted input."""
MAX_DEVIATION = 0.1
"""Maximum relative difference of the intervals' mean from the test's value; beyond it, some are missing."""


def find_token_bucket(tested: Measurement) -> Allowance | None:
    """Return the token bucket of a throughput test; None if its intervals do not clearly show one.

    Only TCP tests without a rate limit count.  The intervals are sums over all streams.
    """
    said = tested.parameters
    if tested.metric is not Metric.THROUGHPUT or said.get("protocol", "tcp") != "tcp" or "bandwidth" in said:
        return None
    rates = _rates(said.get("interval_bits"))
    length = _length(said, len(rates))
    return None if length is None else _fit_bucket(rates, length, tested.value)


def refill_bucket(bucket: Allowance, idle: float) -> Allowance:
    """Return the bucket for a transfer that starts ``idle`` seconds after the bucket was empty.

    An idle bucket fills at the sustained rate, which takes b/r seconds.
    """
    if not bucket.throttled:
        return bucket
    filled = min(bucket.bucket, bucket.sustained * max(0.0, idle))
    return Allowance(bucket.burst, bucket.sustained, filled / (bucket.burst - bucket.sustained))


def scale_bucket(bucket: Allowance, part: float, most: float) -> Allowance:
    """Return the bucket for a transfer with a share of both rates, and at most ``most`` bits/s.

    :raises ValueError: if the rates become zero.
    """
    burst, sustained = (min(most, part * rate) for rate in (bucket.burst, bucket.sustained))
    return Allowance(burst, sustained, bucket.lasts if burst > sustained else 0.0)


def _rates(stated: object) -> tuple[float, ...]:
    """Return the rates of the intervals; empty if one of them is invalid."""
    if not isinstance(stated, Sequence) or isinstance(stated, str | bytes):
        return ()
    fine = all(isinstance(rate, int | float) and 0 <= rate < _NO_RATE for rate in stated)
    return tuple(float(rate) for rate in stated) if fine else ()


def _length(said: Mapping[str, object], count: int) -> float | None:
    """Return the seconds of an interval: as stated, else the test's seconds divided by their number."""
    stated, parts = said.get("interval_seconds"), 1
    if stated is None:
        stated, parts = said.get("seconds"), count
    fine = isinstance(stated, int | float) and 0 < stated < _NO_TIME and parts > 0
    return stated / parts if isinstance(stated, int | float) and fine else None


@lru_cache(maxsize=1024)
def _fit_bucket(rates: tuple[float, ...], length: float, value: float) -> Allowance | None:
    mean = statistics.fmean(rates) if rates else 0.0
    if mean <= 0 or abs(mean - value) > MAX_DEVIATION * value:
        return None
    together = max(1, math.ceil(len(rates) / MAX_INTERVALS))
    starts = range(0, len(rates) - together + 1, together)
    parts = [statistics.fmean(rates[at : at + together]) for at in starts]
    parts[0] = max(0.0, parts[0] - max(0.0, mean - value) * len(rates) / together)
    rough = fit(parts, length * together)
    if rough is None or not rough.throttled:
        return None
    return _levels(parts, (rough.burst + rough.sustained) / 2, length * together, value)


def _levels(rates: Sequence[float], middle: float, length: float, value: float) -> Allowance | None:
    """Return the bucket of intervals that fall once through a rate; None for others."""
    above = [rate > middle for rate in rates]
    fell = len(above) - above[::-1].index(True) if any(above) else 0
    slow = 1 if fell > MIN_BEFORE else 0
    if fell < MIN_BEFORE or len(rates) - fell < MIN_AFTER or not all(above[slow:fell]):
        return None
    before, after = rates[1 : fell - 1] or rates[:fell], rates[fell + 1 :]
    burst, sustained = statistics.fmean(before), statistics.fmean(after)
    if not burst > sustained > 0:
        return None
    lasts = (value - sustained) * len(rates) / (burst - sustained)  # in intervals
    return Allowance(burst, sustained, lasts * length) if abs(lasts - fell) <= 1 else None
