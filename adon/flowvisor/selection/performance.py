"""Performance of each path: measured values, and the estimated throughput of a new flow.

:class:`PerformanceView` holds the newest result per directed path and metric, and the best value per
hour, in bounded memory.  An absent value is never a number: :meth:`PerformanceView.knowledge` returns
:class:`~adon.flowvisor.topology.path.UnknownValue` with the reason (spec section 2).

Estimation (spec section 2, last point; in [ADON] 5.2 a test fell from 5.5 to 4.8 Gbps next to one transfer).
A test with n streams measured T.  It shared the path with the k streams of the flows at its *start*; j
streams were admitted since.  If TCP shares the bottleneck evenly, all k + n streams together had B =
T·(k+n)/n, and s streams of a new flow can expect::

    s · B / (k + max(j + s, n))            which for s = n is  T · (k+n) / (k+j+n)

``max(..., n)`` limits each stream to the rate of a tested stream: window or loss may keep one stream from
using the rest of the path, so the estimate does not extrapolate to fewer streams.

If flows *ended* since the test, the estimate of their released share uses C, the counted rate of the test and
of ADON's flows during the test.  The path carries W, the greater of the best test ever and the rate of ADON's
flows; C is at most W.  Other traffic has the difference.  If TCP shares evenly, it has m = (W - C)/(T/n)
streams, which take their part of the released rate.  With p present streams of ADON, a new flow can expect::

    s · W / (p + m + max(s, n))          at most the rate of s streams of the best test

The greater of both estimates holds; this one applies only with fewer streams of ADON than during the test.

If every flow admitted since is limited (its RSpec ceiling, or its observed rate if that is greater), T less
the limits is a second lower bound; the greater bound holds.

Without a fresh test, the switch's counters give capacity less the rate in use.  That is an upper bound of the
free rate, not a measurement, and the decision names it.

An alarm says that a metric of a path changed (:class:`PathChange`): values from before the change are unknown
from then on.  While the path carries less than before, its configured capacity is not valid either, so
counters are no substitute.

The module reads no clock; times are seconds since the epoch, rates bits/s.

[CEEM] and [ADON] 3.1 compare candidates by the coefficient of variation (COV) of their results.  Results are
summarised by the hour of the clock, so that a window of days takes bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

from adon.errors import InvalidInput
from adon.flowvisor.topology.path import Basis, Knowledge, KnownValue, UnknownValue
from adon.running_statistics import NONE, RunningStatistics
from adon.units import format_duration
from measurement.health.path_metrics import TRAIN
from measurement.model import Measurement, Metric, PathKey

_HOUR_S = 3600.0
T = TypeVar("T")


class HourlyTable(Generic[T]):
    """Summaries of results by the hour of the clock, per directed path and metric.

    :param hours: number of hours kept per path and metric.
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
        """Return the summaries since a time; up to one earlier hour may be included."""
        first = math.floor(since / _HOUR_S)
        return [summary for hour, summary in self._summaries.get((key, metric), {}).items() if hour >= first]


FUTURE_TOLERANCE = 5.0
"""Seconds by which the clock of a measurement point may be ahead of ours."""

_BASES = {TRAIN: Basis.TRAIN}
"""Basis of a throughput by its tool; other tools are active tests."""


@dataclass(frozen=True, slots=True)
class PathChange:
    """Change of a metric of a path at a time.

    :param why: the source of the change, in words.
    :param less: whether the path performs worse than before; False if it is only unknown.
    """

    since: float
    why: str
    less: bool = True


def _unusable(observed_at: float, now: float, max_age: float, changed: PathChange | None = None) -> str:
    """Return the reason why a value of a time is unusable now; empty if it is usable."""
    if changed is not None and observed_at < changed.since:
        return f"superseded: {changed.why}"
    age = max(0.0, now - observed_at)
    if age > max_age:
        return f"{format_duration(age)} old, older than max_age ({format_duration(max_age)})"
    return ""


@dataclass(frozen=True, slots=True)
class MeasuredLoad:
    """Load of a path during a test: bits/s of the test and of ADON's flows, and the flows' ``streams``."""

    bits: float
    streams: float
    observed_at: float


class PerformanceView:
    """The newest value per directed path and metric, and the best per hour over ``window`` seconds."""

    def __init__(self, window: float = 7 * 86_400.0) -> None:
        self._latest: dict[tuple[PathKey, Metric], Measurement] = {}
        self._changed: dict[tuple[PathKey, Metric], PathChange] = {}
        self._carried: dict[PathKey, MeasuredLoad] = {}
        self._beside: dict[PathKey, tuple[float, float]] = {}
        hours = max(1, math.ceil(window / _HOUR_S)) + 1
        self._best = HourlyTable[float](hours)
        self._moments = HourlyTable[RunningStatistics](hours)

    def record(self, measurement: Measurement, now: float | None = None, beside: float = 0.0) -> bool:
        """Record a result; return False for a duplicate, or a result older than the present one.

        Late results still count towards :meth:`best`.

        :param now: time of the event in seconds; None disables the check of the result's time.
        :param beside: mean number of streams of ADON's flows on the path during a throughput test.
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
        self._moments.update(measurement, lambda seen: (seen or NONE).add(value))
        return True

    def _without_ours(self, tested: Measurement, beside: float) -> float:
        """Return the result of a test without ADON's flows, whose load is no variation of the path."""
        if tested.metric is not Metric.THROUGHPUT or beside <= 0:
            return tested.value
        most = self.best([tested.key], tested.metric, 0.0)
        alone = tested.value * (1 + beside / streams_of(tested))
        return alone if most is None else min(alone, most)

    def latest(self, key: PathKey, metric: Metric) -> Measurement | None:
        """Return the newest result of a metric of a directed path, of any age."""
        return self._latest.get((key, metric))

    def knowledge(self, key: PathKey, metric: Metric, now: float, max_age: float) -> Knowledge:
        """Return the usable value of a metric now, or the reason why there is none."""
        return usable_value(self.latest(key, metric), now, max_age, self.find_change(key, metric))

    def supersede(self, key: PathKey, metric: Metric, changed: PathChange | None) -> None:
        """Mark values from before a change as unknown; None clears the change."""
        if changed is None:
            self._changed.pop((key, metric), None)
        else:
            self._changed[key, metric] = changed

    def find_change(self, key: PathKey, metric: Metric) -> PathChange | None:
        """Return the known change of a metric of a directed path, or None."""
        return self._changed.get((key, metric))

    def note_test_load(self, tested: Measurement, beside: float, streams: float) -> None:
        """Record the rate (bits/s) and the streams of ADON's flows during a path's newest test."""
        self._carried[tested.key] = MeasuredLoad(tested.value + beside, streams, tested.observed_at)

    def find_test_load(self, key: PathKey) -> MeasuredLoad | None:
        """Return the total load of a path during its newest test; None if unknown."""
        tested, noted = self.latest(key, Metric.THROUGHPUT), self._carried.get(key)
        return noted if tested is not None and noted and noted.observed_at == tested.observed_at else None

    def note_beside(self, tested: Measurement, streams: float) -> None:
        """Record the mean number of streams of ADON's flows during a path's newest test."""
        self._beside[tested.key] = (tested.observed_at, streams)

    def beside(self, key: PathKey) -> float | None:
        """Return the mean number of streams of ADON's flows during the newest test; None if unknown."""
        tested, noted = self.latest(key, Metric.THROUGHPUT), self._beside.get(key)
        return noted[1] if tested is not None and noted and noted[0] == tested.observed_at else None

    def best(self, keys: Iterable[PathKey], metric: Metric, since: float) -> float | None:
        """Return the best value of these directed paths since a time; None without a value.

        Values are stored per hour of the clock: up to one hour before ``since`` may be included.
        """
        seen = [value for key in keys for value in self._best.since(key, metric, since)]
        return (max if metric.higher_is_better else min)(seen, default=None)

    def summarise_results(self, key: PathKey, metric: Metric, since: float) -> RunningStatistics:
        """Return count, mean and spread of the new results since a time, or since the path changed."""
        changed = self.find_change(key, metric)
        start = since if changed is None else max(since, changed.since)
        return reduce(RunningStatistics.merge, self._moments.since(key, metric, start), NONE)


def usable_value(
    measurement: Measurement | None, now: float, max_age: float, changed: PathChange | None = None
) -> Knowledge:
    """Return a result as knowledge.

    It is known if it is neither older than ``max_age`` nor from before a change.
    """
    if measurement is None:
        return UnknownValue("never measured")
    reason = _unusable(measurement.observed_at, now, max_age, changed)
    if reason:
        return UnknownValue(reason)
    return KnownValue(measurement.value, measurement.observed_at, measurement.source)


@dataclass(frozen=True, slots=True)
class FlowLoad:
    """A flow on the path.

    :param streams: its parallel streams.
    :param limit: its RSpec's ceiling in bits/s, if any.
    :param rate: its rate in bits/s by the switch's counters, if known.  It may exceed a limit that is not
        enforced.
    """

    streams: int
    admitted_at: float
    limit: float | None = None
    rate: float | None = None

    @property
    def charge(self) -> float | None:
        """Maximum rate of the flow in bits/s; None without a limit."""
        if self.limit is None:
            return None
        return self.limit if self.rate is None else max(self.limit, self.rate)


@dataclass(frozen=True, slots=True)
class Counters:
    """Rate of one direction of a path by the edge switch's counters: ``used`` bits/s at a time."""

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
    changed: PathChange | None = None,
    together: MeasuredLoad | None = None,
    best: float | None = None,
) -> Knowledge:
    """Estimate the throughput of a flow of ``streams`` streams on a path, in bits/s, with its basis.

    :param tested: the newest active test; its parameter ``streams`` (default 1) is the module's n.
    :param capacity: bits/s that the path can carry; no estimate exceeds it.
    :param loads: the other flows on the path now.
    :param together: total load of the path during the test, if known; ``best``: the best test.
    :param changed: a known change of the path; while the path performs worse, counters are no basis, because
        they assume its capacity.
    """
    test = usable_value(tested, now, max_age, changed)
    if tested is not None and isinstance(test, KnownValue):
        value, basis = _from_test(tested, streams, loads)
        freed = _estimate_released(tested, streams, loads, together, best)
        if freed > value:
            value, basis = freed, Basis.FAIR_SHARE
        return KnownValue(min(value, capacity), tested.observed_at, tested.source, basis)
    trusted = changed is None or not changed.less
    if counters is not None and trusted and not _unusable(counters.observed_at, now, max_age):
        value = _from_counters(counters, capacity, streams, loads)
        return KnownValue(value, counters.observed_at, counters.source, Basis.COUNTERS)
    return test


def _from_test(tested: Measurement, streams: int, loads: Sequence[FlowLoad]) -> tuple[float, Basis]:
    since = [load for load in loads if load.admitted_at >= tested.started_at]
    before = sum(load.streams for load in loads if load.admitted_at < tested.started_at)
    alone = _share(tested, streams, before, 0)
    if not since:
        return alone, _BASES.get(tested.tool, Basis.TEST)
    fair = _share(tested, streams, before, sum(load.streams for load in since))
    return max(fair, _less_charges(alone, since)), Basis.FAIR_SHARE


def _estimate_released(
    tested: Measurement,
    streams: int,
    loads: Sequence[FlowLoad],
    test: MeasuredLoad | None,
    best: float | None,
) -> float:
    """Return the docstring's last formula; 0 if its inputs are unknown."""
    n, ours = streams_of(tested), sum(load.streams for load in loads)
    each = tested.value / n
    if test is None or best is None or each <= 0 or ours >= test.streams:
        return 0.0
    whole = max(best, test.bits - tested.value)  # counters may be of a time just before the test
    theirs = (whole - min(whole, test.bits)) / each
    return min(streams * whole / (ours + theirs + max(streams, n)), streams * best / n)


def _share(tested: Measurement, streams: int, before: int, since: int) -> float:
    """Return the first formula of the module's docstring: k = ``before``, j = ``since``, s = ``streams``."""
    return streams * compute_total_rate(tested, before) / (before + max(since + streams, streams_of(tested)))


def compute_total_rate(tested: Measurement, before: int) -> float:
    """Return the total rate of a test and ``before`` parallel streams, in bits/s: the docstring's B."""
    streams = streams_of(tested)
    return tested.value * (before + streams) / streams


def streams_of(tested: Measurement) -> int:
    """Return the parallel streams of a throughput test: the module's n."""
    stated = tested.parameters.get("streams", 1)
    return stated if isinstance(stated, int) and stated >= 1 else 1


def _less_charges(available: float, newcomers: Sequence[FlowLoad]) -> float:
    """Return the remaining rate if each newcomer takes its maximum; 0 if one has no limit."""
    left = available
    for load in newcomers:
        if load.charge is None:
            return 0.0
        left -= load.charge
    return max(0.0, left)


def _from_counters(counters: Counters, capacity: float, streams: int, loads: Sequence[FlowLoad]) -> float:
    """Return capacity less the used rate, shared with the flows that are newer than the counters."""
    free = min(capacity, max(0.0, capacity - counters.used))
    unseen = [load for load in loads if load.admitted_at >= counters.observed_at]
    if not unseen:
        return free
    fair = free * streams / (streams + sum(load.streams for load in unseen))
    return max(fair, _less_charges(free, unseen))
