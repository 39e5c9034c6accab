"""Whether a throughput test went through a token bucket, by its intervals ([HEALTH] 4.1, figure 4).

Some clouds let a transfer begin faster than it may go on, so the mean of a test is the rate of transfers of
the test's own size and of no others.  :func:`throttling_of` says what a path gives a transfer of any size,
where a test's intervals fit a token bucket *clearly* better than a constant rate:

- :func:`measurement.throttling.fit` finds a fall: more than a fifth, and more than four times the usual
  deviation of single intervals;
- at least :data:`BEFORE` intervals are above the middle of the two rates (of the first alone the sender's
  socket buffer would be an explanation) and :data:`AFTER` are not;
- it falls once and stays down; only the very first interval may be lower, if there are more than enough
  (slow start);
- the burst that follows from what arrived in all, t = (V - r·T) / (p - r) for V bits in T seconds, ends in
  the interval where the rate fell, give or take one.

p and r are means of the intervals on both sides, without those next to the fall and without the first: a
sender hands over a block at a time, of which few fit into a short interval, so medians are whole blocks.
In doubt there is None, and the mean of the test stays what it was.  What no test can tell: whether it was a
bucket that ran empty or somebody else who came for good; and what a path sustains whose bucket outlasts the
test.

Seconds that a test omits (iperf3's ``-O``) are not among its intervals.  What they took from the bucket is
not known and not counted, so the depth that is found is the least it is.  Intervals are what the *sender*
handed over.  What did not arrive of that by the end is what filled its buffer, at the beginning: it is taken
off the first interval.

Values and functions only: rates in bits/s, times in seconds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache

from measurement.model import Measurement, Metric
from measurement.throttling import Allowance, fit

BEFORE = 2
AFTER = 4
MOST = 100
"""So many intervals tell enough; of more, neighbours are taken together."""
_NO_RATE, _NO_TIME = 1e18, 1e9
"""Bits/s and seconds that no interval has: what comes from outside may say anything."""
APART = 0.1
"""Intervals whose mean differs by more than this share from the test's value are not all of that test."""


def throttling_of(tested: Measurement) -> Allowance | None:
    """What the token bucket of a throughput test is; None if its intervals do not clearly show one.

    Asked of tests over TCP that were free to go as fast as they could, however many streams they had: the
    intervals are the sums of all.
    """
    said = tested.parameters
    if tested.metric is not Metric.THROUGHPUT or said.get("protocol", "tcp") != "tcp" or "bandwidth" in said:
        return None
    rates = _rates(said.get("interval_bits"))
    length = _length(said, len(rates))
    return None if length is None else _fit_bucket(rates, length, tested.value)


def at_its_start(bucket: Allowance, idle: float) -> Allowance:
    """What the same path gives a transfer that begins so many seconds after the bucket was empty.

    It fills at the sustained rate while nothing is sent, which takes b/r seconds.
    """
    if not bucket.throttled:
        return bucket
    filled = min(bucket.bucket, bucket.sustained * max(0.0, idle))
    return Allowance(bucket.burst, bucket.sustained, filled / (bucket.burst - bucket.sustained))


def of_its_part(bucket: Allowance, part: float, most: float) -> Allowance:
    """What a transfer has that gets this share of both rates, and ``most`` bits/s at most.

    :raises ValueError: if nothing is left of the rates.
    """
    burst, sustained = (min(most, part * rate) for rate in (bucket.burst, bucket.sustained))
    return Allowance(burst, sustained, bucket.lasts if burst > sustained else 0.0)


def _rates(told: object) -> tuple[float, ...]:
    """The rates of the intervals; none where one of them is no rate."""
    if not isinstance(told, Sequence) or isinstance(told, str | bytes):
        return ()
    fine = all(isinstance(rate, int | float) and 0 <= rate < _NO_RATE for rate in told)
    return tuple(float(rate) for rate in told) if fine else ()


def _length(said: Mapping[str, object], count: int) -> float | None:
    """Seconds of an interval: as it is told, else the test's seconds by their number."""
    told, parts = said.get("interval_seconds"), 1
    if told is None:
        told, parts = said.get("seconds"), count
    fine = isinstance(told, int | float) and 0 < told < _NO_TIME and parts > 0
    return told / parts if isinstance(told, int | float) and fine else None


@lru_cache(maxsize=1024)
def _fit_bucket(rates: tuple[float, ...], length: float, value: float) -> Allowance | None:
    mean = statistics.fmean(rates) if rates else 0.0
    if mean <= 0 or abs(mean - value) > APART * value:
        return None
    together = max(1, math.ceil(len(rates) / MOST))
    starts = range(0, len(rates) - together + 1, together)
    parts = [statistics.fmean(rates[at : at + together]) for at in starts]
    parts[0] = max(0.0, parts[0] - max(0.0, mean - value) * len(rates) / together)
    rough = fit(parts, length * together)
    if rough is None or not rough.throttled:
        return None
    return _levels(parts, (rough.burst + rough.sustained) / 2, length * together, value)


def _levels(rates: Sequence[float], middle: float, length: float, value: float) -> Allowance | None:
    """The bucket behind intervals that fall once through this rate; None if they do not."""
    above = [rate > middle for rate in rates]
    fell = len(above) - above[::-1].index(True) if any(above) else 0
    slow = 1 if fell > BEFORE else 0
    if fell < BEFORE or len(rates) - fell < AFTER or not all(above[slow:fell]):
        return None
    before, after = rates[1 : fell - 1] or rates[:fell], rates[fell + 1 :]
    burst, sustained = statistics.fmean(before), statistics.fmean(after)
    if not burst > sustained > 0:
        return None
    lasts = (value - sustained) * len(rates) / (burst - sustained)  # in intervals
    return Allowance(burst, sustained, lasts * length) if abs(lasts - fell) <= 1 else None
