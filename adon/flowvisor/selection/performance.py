"""What is known about the performance of each path, and what a new flow can expect of it.

:class:`PerformanceView` holds the newest result per directed path and metric, and the best value per
hour, in bounded memory.  *Absent* is never a number: :meth:`PerformanceView.knowledge` answers
:class:`~adon.flowvisor.topology.path.Unknown` with the reason (spec section 2).

Estimation (spec section 2, last point; [ADON] 5.2 saw a test fall from 5.5 to 4.8 Gbps beside one
transfer).  A test with n streams that measured T shared the path with the k streams of the flows that
were there when it *started*; j streams were admitted since.  If TCP shares the bottleneck evenly, all
k + n streams together had B = T·(k+n)/n, and s streams of a new flow can expect::

    s · B / (k + max(j + s, n))            which for s = n is  T · (k+n) / (k+j+n)

``max(..., n)`` says that no stream is promised more than a tested stream got: with fewer streams than
tested the rest of the path may be out of one stream's reach (window, loss), so nothing is extrapolated.

When flows *ended* since the test, how much of their share comes back follows from what the path carried in
all during the test, as far as that was counted: the test and our flows beside it, C.  The path carries W, the
greater of the best test ever and what our flows had; C is W at most.  The difference is other people's, which
are m = (W - C)/(T/n) streams if TCP shares evenly, and take their part of what was freed.  With p streams of
ours there now, a new flow can expect::

    s · W / (p + m + max(s, n))          at most what s streams of the best test had

The better of this and the above holds; it is asked only where there are fewer streams of ours than then.

Where every flow admitted since is limited (its RSpec ceiling, or what it was seen to use if that is
more), it takes at most its limit, so T less the limits is a second lower bound; the better one holds.

Without a fresh test, the switch's counters give capacity less what is in use.  That is an upper bound
of what is free, not a measurement, and the decision names it.

An alarm says that a metric of a path is not any more what it was (:class:`Changed`): values from before the
change are unknown from then on, and while the path carries less than it did, its configured capacity proves
nothing either, so counters are no substitute.

The module reads no clock; times are seconds since the epoch, rates bits/s.

[CEEM] and [ADON] 3.1 compare candidates by the coefficient of variation (COV) of their results.  Results are
summed up by the hour of the clock, so that a window of days takes bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

from adon.errors import InvalidInput
from adon.flowvisor.topology.path import Basis, Knowledge, Known, Unknown
from adon.units import format_duration
from adon.variation import NONE, Moments
from measurement.health.path_metrics import TRAIN
from measurement.model import Measurement, Metric, PathKey

_HOUR_S = 3600.0
T = TypeVar("T")


class HourlyTable(Generic[T]):
    """Summaries of results by the hour of the clock, per directed path and metric.

    :param hours: so many are kept of each.
    """

    def __init__(self, hours: int) -> None:
        self._hours = hours
        self._summaries: dict[tuple[PathKey, Metric], dict[int, T]] = {}

    def update(self, result: Measurement, change: Callable[[T | None], T]) -> None:
        """Change the summary of the hour of a result."""
        summaries = self._summaries.setdefault((result.key, result.metric), {})
        hour = math.floor(result.observed_at / _HOUR_S)
        summaries[hour] = change(summaries.get(hour))
        # By count, not by age: one result with a wrong date must not push out the true history.
        if len(summaries) > self._hours:
            del summaries[min(summaries)]

    def since(self, key: PathKey, metric: Metric, since: float) -> list[T]:
        """The summaries since then; up to one hour before that may be included."""
        first = math.floor(since / _HOUR_S)
        return [summary for hour, summary in self._summaries.get((key, metric), {}).items() if hour >= first]


FUTURE_TOLERANCE = 5.0
"""Seconds by which the clock of a measurement point may be ahead of ours."""

_BASES = {TRAIN: Basis.TRAIN}
"""What a throughput rests on, by its tool; an active test if it is not said here."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A metric of a path is different since this time.

    :param why: what says so, in words.
    :param less: whether the path itself does less than it did; False where merely nothing is known of it.
    """

    since: float
    why: str
    less: bool = True


def _unusable(observed_at: float, now: float, max_age: float, changed: Changed | None = None) -> str:
    """Why a value of this time cannot be used now; empty if it can."""
    if changed is not None and observed_at < changed.since:
        return f"superseded: {changed.why}"
    age = max(0.0, now - observed_at)
    if age > max_age:
        return f"{format_duration(age)} old, older than max_age ({format_duration(max_age)})"
    return ""


@dataclass(frozen=True, slots=True)
class Carried:
    """What a path carried in all during a test: bits/s of the test and of our flows with ``streams``."""

    bits: float
    streams: float
    observed_at: float


class PerformanceView:
    """The newest value per directed path and metric, and the best per hour over ``window`` seconds."""

    def __init__(self, window: float = 7 * 86_400.0) -> None:
        self._latest: dict[tuple[PathKey, Metric], Measurement] = {}
        self._changed: dict[tuple[PathKey, Metric], Changed] = {}
        self._carried: dict[PathKey, Carried] = {}
        self._beside: dict[PathKey, tuple[float, float]] = {}
        hours = max(1, math.ceil(window / _HOUR_S)) + 1
        self._best = HourlyTable[float](hours)
        self._moments = HourlyTable[Moments](hours)

    def record(self, measurement: Measurement, now: float | None = None, beside: float = 0.0) -> bool:
        """Take in a result; False if it is no news: a duplicate, or older than the one held.

        Late results still count towards :meth:`best`.

        :param now: the time of the event in seconds; a result is not refused for its time without it.
        :param beside: streams of our own flows that a throughput test shared the path with, on average.
        :raises InvalidInput: for a result that is more than :data:`FUTURE_TOLERANCE` later than ``now``.
        """
        if now is not None and measurement.observed_at > now + FUTURE_TOLERANCE:
            early = format_duration(measurement.observed_at - now)
            raise InvalidInput.of(
                "observed_at", f"is {early} in the future; synchronise the clocks", "in-future"
            )
        better = max if measurement.metric.higher_is_better else min
        result = measurement.value
        self._best.update(measurement, lambda best: result if best is None else better(best, result))
        place = (measurement.key, measurement.metric)
        held = self._latest.get(place)
        if held is not None and measurement.observed_at <= held.observed_at:
            return False
        self._latest[place] = measurement
        value = self._without_ours(measurement, beside)
        self._moments.update(measurement, lambda seen: (seen or NONE).with_one(value))
        return True

    def _without_ours(self, tested: Measurement, beside: float) -> float:
        """What a test would have had without our flows: what these take does not make a path unsteady."""
        if tested.metric is not Metric.THROUGHPUT or beside <= 0:
            return tested.value
        most = self.best([tested.key], tested.metric, 0.0)
        alone = tested.value * (1 + beside / streams_of(tested))
        return alone if most is None else min(alone, most)

    def latest(self, key: PathKey, metric: Metric) -> Measurement | None:
        """The newest result of one metric in one direction of one path, however old."""
        return self._latest.get((key, metric))

    def knowledge(self, key: PathKey, metric: Metric, now: float, max_age: float) -> Knowledge:
        """What may be used of it now: the value, or why there is none."""
        return usable(self.latest(key, metric), now, max_age, self.find_change(key, metric))

    def supersede(self, key: PathKey, metric: Metric, changed: Changed | None) -> None:
        """Values from before a change count no more; None: no change is known (any more)."""
        if changed is None:
            self._changed.pop((key, metric), None)
        else:
            self._changed[key, metric] = changed

    def find_change(self, key: PathKey, metric: Metric) -> Changed | None:
        """Since when one metric of one direction is different, if it is known to be."""
        return self._changed.get((key, metric))

    def note_test_load(self, tested: Measurement, beside: float, streams: float) -> None:
        """Beside a path's newest test our flows, with so many streams, had so many bits/s."""
        self._carried[tested.key] = Carried(tested.value + beside, streams, tested.observed_at)

    def find_test_load(self, key: PathKey) -> Carried | None:
        """What the path carried in all during its newest test; None if that is not known."""
        tested, noted = self.latest(key, Metric.THROUGHPUT), self._carried.get(key)
        return noted if tested is not None and noted and noted.observed_at == tested.observed_at else None

    def note_beside(self, tested: Measurement, streams: float) -> None:
        """So many streams of our flows were beside a path's newest test, on average over it."""
        self._beside[tested.key] = (tested.observed_at, streams)

    def beside(self, key: PathKey) -> float | None:
        """How many streams of our flows were beside the path's newest test; None if that is not known."""
        tested, noted = self.latest(key, Metric.THROUGHPUT), self._beside.get(key)
        return noted[1] if tested is not None and noted and noted[0] == tested.observed_at else None

    def best(self, keys: Iterable[PathKey], metric: Metric, since: float) -> float | None:
        """The best value seen on these directed paths since then; None if nothing was seen.

        Values are kept per hour of the clock: up to one hour before ``since`` may be included.
        """
        seen = [value for key in keys for value in self._best.since(key, metric, since)]
        return (max if metric.higher_is_better else min)(seen, default=None)

    def summarise_results(self, key: PathKey, metric: Metric, since: float) -> Moments:
        """Count, mean and spread of the results that were news, since then or since the path changed."""
        changed = self.find_change(key, metric)
        start = since if changed is None else max(since, changed.since)
        return reduce(Moments.joined, self._moments.since(key, metric, start), NONE)


def usable(
    measurement: Measurement | None, now: float, max_age: float, changed: Changed | None = None
) -> Knowledge:
    """A result as knowledge.

    Known if there is one, neither older than ``max_age`` nor from before a change.
    """
    if measurement is None:
        return Unknown("never measured")
    reason = _unusable(measurement.observed_at, now, max_age, changed)
    if reason:
        return Unknown(reason)
    return Known(measurement.value, measurement.observed_at, measurement.source)


@dataclass(frozen=True, slots=True)
class FlowLoad:
    """A flow that is on the path already.

    :param streams: its parallel streams.
    :param limit: bits/s it may use at most (its RSpec's ceiling), if it has one.
    :param rate: bits/s the switch's counters saw it use, if known.  It may exceed the limit, which
        nothing need enforce.
    """

    streams: int
    admitted_at: float
    limit: float | None = None
    rate: float | None = None

    @property
    def charge(self) -> float | None:
        """bits/s it takes at most; None if nothing bounds it."""
        if self.limit is None:
            return None
        return self.limit if self.rate is None else max(self.limit, self.rate)


@dataclass(frozen=True, slots=True)
class Counters:
    """What the edge switch's counters say about one direction of a path: ``used`` bits/s at that time."""

    used: float
    observed_at: float
    source: str


def estimate_throughput(
    tested: Measurement | None,
    now: float,
    max_age: float,
    capacity: float,
    streams: int,
    loads: Sequence[FlowLoad],
    counters: Counters | None = None,
    changed: Changed | None = None,
    together: Carried | None = None,
    best: float | None = None,
) -> Knowledge:
    """What a flow of ``streams`` streams can expect on a path, in bits/s, with its basis named.

    :param tested: the newest active test; its parameter ``streams`` (default 1) is the module's n.
    :param capacity: bits/s the path can carry; no estimate exceeds it.
    :param loads: the flows on the path now, the one that asks left out.
    :param together: what the path carried in all during the test, if that is known; ``best``: the best test.
    :param changed: since when the path is known to be different; while it does *less* than it did, counters
        are no basis, since they take its capacity for granted.
    """
    test = usable(tested, now, max_age, changed)
    if tested is not None and isinstance(test, Known):
        value, basis = _from_test(tested, streams, loads)
        freed = _estimate_freed(tested, streams, loads, together, best)
        if freed > value:
            value, basis = freed, Basis.FAIR_SHARE
        return Known(min(value, capacity), tested.observed_at, tested.source, basis)
    trusted = changed is None or not changed.less
    if counters is not None and trusted and not _unusable(counters.observed_at, now, max_age):
        value = _from_counters(counters, capacity, streams, loads)
        return Known(value, counters.observed_at, counters.source, Basis.COUNTERS)
    return test


def _from_test(tested: Measurement, streams: int, loads: Sequence[FlowLoad]) -> tuple[float, Basis]:
    since = [load for load in loads if load.admitted_at >= tested.started_at]
    before = sum(load.streams for load in loads if load.admitted_at < tested.started_at)
    alone = _share(tested, streams, before, 0)
    if not since:
        return alone, _BASES.get(tested.tool, Basis.TEST)
    fair = _share(tested, streams, before, sum(load.streams for load in since))
    return max(fair, _less_charges(alone, since)), Basis.FAIR_SHARE


def _estimate_freed(
    tested: Measurement, streams: int, loads: Sequence[FlowLoad], together: Carried | None, best: float | None
) -> float:
    """The docstring's last formula; 0 if what it needs is not known."""
    n, ours = streams_of(tested), sum(load.streams for load in loads)
    each = tested.value / n
    if together is None or best is None or each <= 0 or ours >= together.streams:
        return 0.0
    whole = max(best, together.bits - tested.value)  # counters may be of a time just before the test
    theirs = (whole - min(whole, together.bits)) / each
    return min(streams * whole / (ours + theirs + max(streams, n)), streams * best / n)


def _share(tested: Measurement, streams: int, before: int, since: int) -> float:
    """The formula of the module's docstring: k = ``before``, j = ``since``, s = ``streams``."""
    return streams * compute_total_rate(tested, before) / (before + max(since + streams, streams_of(tested)))


def compute_total_rate(tested: Measurement, before: int) -> float:
    """What a test and the ``before`` streams beside it had altogether, in bits/s: the docstring's B."""
    streams = streams_of(tested)
    return tested.value * (before + streams) / streams


def streams_of(tested: Measurement) -> int:
    """The parallel streams of a throughput test: the module's n."""
    stated = tested.parameters.get("streams", 1)
    return stated if isinstance(stated, int) and stated >= 1 else 1


def _less_charges(available: float, newcomers: Sequence[FlowLoad]) -> float:
    """What is left if each newcomer takes its charge; nothing is promised if one has no limit."""
    left = available
    for load in newcomers:
        if load.charge is None:
            return 0.0
        left -= load.charge
    return max(0.0, left)


def _from_counters(counters: Counters, capacity: float, streams: int, loads: Sequence[FlowLoad]) -> float:
    """Capacity less the use, shared with the flows that the counters cannot have seen yet."""
    free = min(capacity, max(0.0, capacity - counters.used))
    unseen = [load for load in loads if load.admitted_at >= counters.observed_at]
    if not unseen:
        return free
    fair = free * streams / (streams + sum(load.streams for load in unseen))
    return max(fair, _less_charges(free, unseen))
