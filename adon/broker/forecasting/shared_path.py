"""How long a transfer takes on a path that other transfers share, and leave while it runs.

Size divided by the present share is too long, because the others end and leave their part.  They are known at
admission.  A fluid model: between two ends every stream has the same rate,

    r = min(each, W / (p + m))

of p streams of ours and m of other people, where W is what the path carries and *each* what one stream gets
at most.  Transfers that come later are not counted: what they cost is learnt
(:mod:`adon.broker.forecasting.interval`).

*W and m* come from the last test T of n streams, from the best test and from what was counted
(:class:`~adon.flowvisor.selection.performance.MeasuredLoad`): with k streams of ours beside it they had B =
T·(k + n)/n altogether, or C by their counters; the larger of the two is what the path carried.  W is the best
test (or B, if that is more by a quarter: one stream alone does not fill the path), and what is missing of it
went to others, m = (W − B)/(T/n) streams.  Where less than :data:`SLACK` of W is missing
(:data:`CROWDED_SLACK` beside ours) there is no other traffic, because a test of some seconds is not exact.  T
says what a stream gets with the present loss and delay, so Γ_t is not used.

Values and functions only: bits, bits/s, seconds from now.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from measurement.token_bucket import Allowance

SLACK = 0.15
"""Share of the best rate of a path that a test without other traffic may lack."""

MORE = 1.25
"""By so much streams together must exceed the best test to prove that it did not fill the path."""

CROWDED_SLACK = 0.4
"""And beside streams of ours: one that begins beside others has less than its share for the first seconds
(measured beside one stream of reno, tests of 3 s: 0.34 to 0.56 of the path)."""

PAYLOAD = 1448 / 1514
"""Of an untagged frame of 1514 bytes 20 are IP's, 32 TCP's with time stamps (RFC 7323), 14 Ethernet's."""

STILL = 0.5
"""Seconds that a transfer has left at least while it has not reported its end."""


@dataclass(frozen=True, slots=True)
class CompetingFlow:
    """A transfer that runs on the path.

    :param bits: what was left of it ``ago`` seconds before now, when it was counted, or else admitted.
    :param since: when it came to the path, seconds since the epoch.
    """

    bits: float
    streams: int
    since: float
    ago: float = 0.0


@dataclass(frozen=True, slots=True)
class Whole:
    """What a path carries altogether.

    :param bits: W, bits/s; ``others``: m.
    :param each: bits/s that one stream gets at most.
    """

    bits: float
    others: float = 0.0
    each: float = math.inf


def whole(
    tested: float,
    streams: int,
    there: float,
    best: float,
    counted: float = 0.0,
    capacity: float = 0.0,
) -> Whole | None:
    """What a path carries, from its last test; None if that says nothing.

    :param tested: bits/s that it measured with ``streams`` streams.
    :param there: the streams of ours that were beside it, on average.
    :param best: the best test, bits/s; ``counted``: what all had during this one, 0 if unknown.
    :param capacity: bits/s of payload that the path is configured for.
    """
    most = max(best, tested)
    if not 0 < most < math.inf or tested <= 0:
        return None
    shared = max(tested * (there + streams) / streams, counted)
    if shared > MORE * most:
        return Whole(max(most, min(shared, capacity)), 0.0, most / streams)
    missing, slack = most - shared, SLACK if there < streams / 2 else CROWDED_SLACK
    others = 0.0 if missing <= slack * most else missing / (tested / streams)
    return Whole(most, others, most / streams)


def mean_streams(beside: Sequence[CompetingFlow], begin: float, end: float) -> float:
    """The streams of these who were there between two times, on average."""
    if end <= begin:
        return float(sum(one.streams for one in beside if one.since <= begin))
    there = (one.streams * max(0.0, end - max(one.since, begin)) for one in beside)
    return math.fsum(there) / (end - begin)


def lasts(
    bits: float, streams: int, carries: Whole, competing: Sequence[CompetingFlow], most: float = math.inf
) -> float:
    """Return the seconds that a transfer takes that begins now; infinity if it does not end.

    :param most: bits/s that its streams can have together, for reasons of their own.
    """
    if bits <= 0:
        return 0.0
    if most <= 0:
        return math.inf
    present_streams = streams + sum(one.streams for one in competing)
    left = _bits_left(carries, competing, present_streams - streams)
    # Each stream of the others has the same rate, so they end in the order of their bits per stream.
    ends = sorted((rest / one.streams, one.streams) for rest, one in zip(left, competing, strict=True))
    seconds, own, sent = 0.0, bits / streams, 0.0
    for end, leaving in ends:
        rate = _rate(carries, present_streams)
        step = (end - sent) / rate
        if own / min(rate, most / streams) <= step:
            break
        seconds, own, sent = seconds + step, own - min(rate, most / streams) * step, end
        present_streams -= leaving
    return seconds + own / min(_rate(carries, present_streams), most / streams)


def _rate(carries: Whole, streams: int) -> float:
    """Return the bits/s of one stream while so many of ours are there."""
    return min(carries.each, carries.bits / (streams + carries.others))


def _bits_left(carries: Whole, competing: Sequence[CompetingFlow], streams: int) -> list[float]:
    """Return what each has left now, by what it had since it was counted."""
    rates = [one.streams * _rate(carries, streams) for one in competing]
    return [max(one.bits - rate * one.ago, rate * STILL) for rate, one in zip(rates, competing, strict=True)]


def lasts_behind(
    bucket: Allowance,
    mean: float,
    bits: float,
    streams: int,
    carries: Whole,
    competing: Sequence[CompetingFlow],
    most: float = math.inf,
) -> float:
    """Return the same behind a token bucket of depth b, burst rate p and sustained rate r.

    Alone a transfer of B bits takes max(B / p, (B - b) / r): at p as long as that lasts, and what the bucket
    does not give at r.  Competing flows share r; of the bucket nothing is taken off for them.

    :param mean: what the path gives such a transfer by the mean of the test, bits/s; ``carries`` is of that.
    """
    if bits <= 0:
        return 0.0
    if most <= 0:
        return math.inf
    part = bucket.sustained / mean
    slower = replace(carries, bits=carries.bits * part, each=carries.each * part)
    return max(bits / min(bucket.burst, most), lasts(bits - bucket.bucket, streams, slower, competing, most))
