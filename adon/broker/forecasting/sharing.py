"""How long a transfer takes beside others that leave, and come, while it runs.

Its size over its share of now is wrong in both directions: those beside it end and leave it their part, and
those who wait for the same path take the place that they leave.  Both are known at admission, and so is how
often we test there ourselves.  A fluid model: between two ends every stream has the same rate,

    r = min(each, W / (p + m) · (1 − τ·n / (p + m + n)))

of p streams of ours and m of other people, where W is what the path carries, τ the share of the time in which
our test with its n streams runs, and *each* what one stream gets at most.  At each end those who wait are
tried in their order by the rule by which the broker admits (s·W/(p + m + s) ≥ bound).

*W and m* come from the last test T of n streams, from the best test and from what was counted
(:class:`~adon.flowvisor.performance.Carried`): with k streams of ours beside it they had B = T·(k + n)/n
altogether, or C by their counters; the larger of the two is what the path carried.  W is the best test (or B,
if that is more by a quarter: one stream alone does not fill the path), and what is missing of it went to
others, m = (W − B)/(T/n) streams.  Where less than :data:`SLACK` of W is missing (:data:`CROWDED_SLACK`
beside ours) nobody else is there: a test of some seconds is not exact.  T says what a stream gets there with
the loss and the delay that there are, so Γ_t does not come into this.

Who arrives later is not known to anybody, but how often somebody was admitted to the path of late is, and
what they brought on average: one such comes again and again, at that interval, the first after those who
wait.  What is still missing is learnt (:mod:`adon.broker.forecasting.interval`).

Values and functions only: bits, bits/s, seconds from now.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from measurement.throttling import Allowance

SLACK = 0.15
"""So much of what a path carried at best may be missing in a test that nobody disturbed."""

MORE = 1.25
"""By so much streams together must exceed the best test to prove that it did not fill the path."""

CROWDED_SLACK = 0.4
"""And beside streams of ours: one that begins beside others has less than its share for the first seconds
(measured beside one stream of reno, tests of 3 s: 0.34 to 0.56 of the path)."""

PAYLOAD = 1448 / 1514
"""Of an untagged frame of 1514 bytes 20 are IP's, 32 TCP's with time stamps (RFC 7323), 14 Ethernet's."""

EVENTS = 500
"""So many who come or leave are looked at; then everything stays as it is."""

STILL = 0.5
"""Seconds that one has left at least who, by what was counted, should be done and has not said so."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A transfer that runs on the path.

    :param bits: what was left of it ``ago`` seconds before now, when it was counted, or else admitted.
    :param since: when it came to the path, seconds since the epoch.
    """

    bits: float
    streams: int
    since: float
    ago: float = 0.0


@dataclass(frozen=True, slots=True)
class Coming:
    """A transfer that waits for room there.

    :param asks: the streams that its bound is meant for.
    """

    bits: float
    streams: int
    asks: int
    bound: float


@dataclass(frozen=True, slots=True)
class Usual:
    """Who comes to the path of late: one every so many seconds, like this."""

    every: float
    one: Coming


@dataclass(frozen=True, slots=True)
class Company:
    """Who else is on a path, and who waits for it, in their order.

    :param usual: None where too few have come to tell.
    :param busy: the share of the time in which a throughput test of ours runs there.
    """

    beside: tuple[Beside, ...] = ()
    coming: tuple[Coming, ...] = ()
    busy: float = 0.0
    usual: Usual | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """What a path carries altogether.

    :param bits: W, bits/s; ``others``: m; ``tester``: n.
    :param each: bits/s that one stream gets at most.
    """

    bits: float
    others: float = 0.0
    tester: int = 1
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
    :param best: the best test, bits/s; ``counted``: what all had during this one, 0 if nobody knows.
    :param capacity: bits/s of payload that the path is configured for.
    """
    most = max(best, tested)
    if not 0 < most < math.inf or tested <= 0:
        return None
    shared = max(tested * (there + streams) / streams, counted)
    if shared > MORE * most:
        return Whole(max(most, min(shared, capacity)), 0.0, streams, most / streams)
    missing, slack = most - shared, SLACK if there < streams / 2 else CROWDED_SLACK
    others = 0.0 if missing <= slack * most else missing / (tested / streams)
    return Whole(most, others, streams, most / streams)


def present(beside: Sequence[Beside], begin: float, end: float) -> float:
    """The streams of these who were there between two times, on average."""
    if end <= begin:
        return float(sum(one.streams for one in beside if one.since <= begin))
    there = (one.streams * max(0.0, end - max(one.since, begin)) for one in beside)
    return math.fsum(there) / (end - begin)


@dataclass(slots=True)
class _Road:
    """The path as time passes.

    Every stream but the first transfer's own has the same rate at any time, so one number says what each has
    had so far (``had``, bits), and who is there is kept by how much that will be when it is done: one who
    comes or leaves costs one look at a heap, as in generalised processor sharing (Parekh and Gallager,
    IEEE/ACM ToN 1(3), 1993).

    :param streams: those of all transfers that are there.
    :param ends: per transfer, but the first, what ``had`` will be at its end, and its streams; a heap.
    """

    carries: Whole
    busy: float
    streams: int
    had: float = 0.0
    ends: list[tuple[float, int]] = field(default_factory=list)

    def rate(self) -> float:
        """Bits/s of one stream."""
        streams, tester = self.streams + self.carries.others, self.carries.tester
        share = self.carries.bits / streams * (1 - self.busy * tester / (streams + tester))
        return min(self.carries.each, share)

    def fits(self, one: Coming) -> bool:
        """Whether the broker would admit it now."""
        streams = self.streams + self.carries.others
        return one.asks * self.carries.bits / (streams + one.asks) >= one.bound

    def enter(self, bits: float, streams: int) -> None:
        """A transfer comes that has so much for each of its streams."""
        heapq.heappush(self.ends, (self.had + bits, streams))
        self.streams += streams

    def next_end(self) -> float:
        """Bits that each stream will have had more when the next of the others is done."""
        return self.ends[0][0] - self.had if self.ends else math.inf

    def advance(self, bits: float) -> None:
        """Each stream has had so much more; who is done by that is gone."""
        done = self.had + bits * (1 + 1e-12)
        self.had += bits
        while self.ends and self.ends[0][0] <= done:
            self.streams -= heapq.heappop(self.ends)[1]


def left_now(carries: Whole, company: Company) -> list[float]:
    """Bits that are left of each of them now, by what they had since they were counted."""
    if not company.beside:
        return []
    streams = sum(one.streams for one in company.beside)
    rate = _Road(carries, min(1.0, max(0.0, company.busy)), streams).rate()
    return [
        max(one.bits - rate * one.streams * one.ago, rate * one.streams * STILL) for one in company.beside
    ]


def lasts(bits: float, streams: int, carries: Whole, company: Company, most: float = math.inf) -> float:
    """Seconds that a transfer takes that begins now; infinite if it does not end.

    :param most: bits/s that its streams can have together, for reasons of their own.
    """
    if bits <= 0:
        return 0.0
    if most <= 0:
        return math.inf
    road = _Road(carries, min(1.0, max(0.0, company.busy)), streams)
    for rest, one in zip(left_now(carries, company), company.beside, strict=True):
        road.enter(rest / one.streams, one.streams)
    return _until_done(road, bits / streams, list(company.coming), company.usual, most / streams)


def lasts_behind(
    bucket: Allowance,
    mean: float,
    bits: float,
    streams: int,
    carries: Whole,
    company: Company,
    most: float = math.inf,
) -> float:
    """The same behind a token bucket of depth b, burst rate p and sustained rate r.

    Alone a transfer of B bits takes max(B / p, (B - b) / r): at p as long as that lasts, and what the bucket
    does not give at r.  Company shares r; of the bucket nothing is taken off for it.

    :param mean: what the path gives such a transfer by the mean of the test, bits/s; ``carries`` is of that.
    """
    if bits <= 0:
        return 0.0
    if most <= 0:
        return math.inf
    part = bucket.sustained / mean
    slower = replace(carries, bits=carries.bits * part, each=carries.each * part)
    return max(bits / min(bucket.burst, most), lasts(bits - bucket.bucket, streams, slower, company, most))


def _until_done(road: _Road, left: float, waiting: list[Coming], usual: Usual | None, most: float) -> float:
    """When the first is done, the others coming and leaving.

    :param left: bits for each of its streams; ``most``: bits/s of each at most.
    """
    now, came = 0.0, 0  # of those who came while it ran, so many wait: all alike, and behind the others
    comes = math.inf if usual is None else (len(waiting) + 1) * usual.every
    for _ in range(EVENTS):
        waiting = [one for one in waiting if not _enters(one, road)]
        while came and usual is not None and _enters(usual.one, road):
            came -= 1
        rate = road.rate()
        own = min(rate, most)
        step = min(road.next_end() / rate, comes - now)
        if left / own <= step:
            return now + left / own
        now, left = now + step, left - own * step
        road.advance(rate * step)
        if usual is not None and now >= comes:
            came += 1
            comes += usual.every
    return now + left / min(road.rate(), most)


def _enters(one: Coming, road: _Road) -> bool:
    if not road.fits(one):
        return False
    road.enter(one.bits / one.streams, one.streams)
    return True
