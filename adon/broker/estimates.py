"""What a decision estimated, compared with what the flow then achieved.

When a flow gets a path, the throughput that the decision expected there is noted with its basis (active
test, fair share, counters).  At the flow's end it is compared with the achieved rate::

    error = (estimate − achieved) / achieved          above zero: too much was promised

Both sides must mean the same.  The estimate is for the QSpec's number of streams; a flow that runs more gets
more, so its rate is multiplied by (streams of the QSpec) / (its own streams), as if TCP shared evenly.  The
achieved rate is the transfer's own report, bytes by the time from *started* to *finished*, where that lies
within the stay on the last path: that is goodput, as the test measures.  Without it, it is what the far
edge's rule counters saw while the flow was busy (:meth:`FlowCounters.busy_rate`), headers included.

A flow that could not or did not want to use what it could have had counts as promised too much.  One such
error says little, hence medians.  Pure but for the notes kept per running flow; issue: estimating what a
new flow would get, spec section 2, last point.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adon.broker.choice import Choice, Need
from adon.broker.counters import FlowCounters
from adon.broker.flow import Flow
from adon.flowvisor.topology.path import Basis
from measurement.model import Metric, Observation, PathKey

METRIC = "estimate.throughput_error"
"""The series that the errors form, one per directed path."""

KEPT = 200
"""Errors per path and basis that the summary looks back on."""

ENOUGH = 5
"""Transfers of one path, from which its own say how long they last there."""

LATEST = 40
"""So many transfers say how long they last: the load of yesterday does not."""

SHORTEST_S = 1.0
"""A transfer that reports to have taken less is too short to have a rate."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What a decision expected of a path.

    :param estimate: bits/s for ``streams`` streams.
    """

    decision: str
    key: PathKey
    estimate: float
    basis: str
    streams: int


class Achieved(NamedTuple):
    """The rate a flow had, in bits/s with all its streams, and who says so."""

    rate: float
    by: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The errors of one basis on one path: how many, their median, and their interquartile range."""

    count: int
    median: float
    spread: float


class Estimates:
    """The promises to the flows that run, and the latest errors per path and basis.

    :ivar scored: how many promises have been compared: what errors say changes with it.
    """

    def __init__(self) -> None:
        self.scored = 0
        self._promises: dict[int, dict[str, Promise]] = {}
        self._errors: dict[tuple[PathKey, str], deque[float]] = {}
        self._lasted: dict[tuple[PathKey | tuple[str, str], bool], deque[float]] = {}

    def took(self, key: PathKey, expected: float, seconds: float, *, waited: bool) -> None:
        """A transfer on a directed path took so long; ``expected`` was worked out at its admission.

        :param waited: whether it had to wait first: then others are about to come.
        """
        if expected > 0 and seconds >= SHORTEST_S:
            error = seconds / expected - 1
            for place in (key, (key.source, key.destination)):
                self._lasted.setdefault((place, waited), deque(maxlen=LATEST)).append(error)

    def duration_errors(self, key: PathKey, *, waited: bool) -> Sequence[float]:
        """How much longer transfers took there than was worked out, as a share; the oldest first.

        Those on the path itself, or on all paths that lead there, while these are few.
        """
        own = self._lasted.get((key, waited), ())
        if len(own) >= ENOUGH:
            return tuple(own)
        return tuple(self._lasted.get(((key.source, key.destination), waited), ()))

    def note(
        self,
        flow: int,
        key: PathKey,
        need: Need,
        choice: Choice,
        decision: str,
        throttled: float | None = None,
    ) -> None:
        """A flow gets this path; nothing is noted where no throughput was estimated.

        :param throttled: Γ_a in bits/s for all its streams, where a token bucket makes that another for its
            size than what was estimated for flows of any size.
        """
        promises = self._promises.setdefault(flow, {})
        promises.pop(key.path, None)
        record = choice.record(key.path)
        metrics = () if record is None else record.metrics
        for found in metrics:
            if found.metric == Metric.THROUGHPUT and found.value is not None:
                promises[key.path] = Promise(decision, key, found.value, found.basis, need.qspec.streams)
                if throttled is not None:
                    promises[key.path] = Promise(decision, key, throttled, Basis.BUCKET.value, need.streams)

    def score(self, flow: Flow, need: Need, achieved: Achieved | None, at: float) -> Observation | None:
        """Compare; None where nothing was promised for the flow's last path, or nothing achieved."""
        promise = self._promises.get(flow.number, {}).get(str(flow.path))
        if promise is None or achieved is None or achieved.rate <= 0:
            return None
        comparable = achieved.rate * promise.streams / need.streams
        error = (promise.estimate - comparable) / comparable
        kept = self._errors.setdefault((promise.key, promise.basis), deque(maxlen=KEPT))
        kept.append(error)
        self.scored += 1
        parameters: Mapping[str, object] = {
            "unit": "ratio",
            "flow": flow.id,
            "basis": promise.basis,
            "estimated": promise.estimate,
            "achieved": comparable,
            "streams": promise.streams,
            "achieved_by": achieved.by,
        }
        source = f"decision:{promise.decision}"
        return Observation(promise.key, METRIC, error, at, source, "adon", parameters)

    def errors(self, key: PathKey, basis: str) -> Sequence[float]:
        """The latest relative errors on one directed path and basis, the oldest first."""
        return tuple(self._errors.get((key, basis), ()))

    def forget(self, flow: int) -> None:
        """A flow has ended."""
        self._promises.pop(flow, None)

    def summaries(self) -> dict[tuple[PathKey, str], Summary]:
        """Per directed path and basis, how far off the latest estimates were."""
        return {place: summarise(errors) for place, errors in sorted(self._errors.items())}


def summarise(errors: Iterable[float]) -> Summary:
    """Median and spread of relative errors.

    :raises ValueError: if there is none.
    """
    values = sorted(errors)
    if not values:
        raise ValueError("there is no error to summarise")
    if len(values) == 1:
        return Summary(1, values[0], 0.0)
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return Summary(len(values), middle, high - low)


def achieved_rate(flow: Flow, counters: FlowCounters, *, reported: bool) -> Achieved | None:
    """The rate that a flow which has just ended had on its last path; None if nothing tells.

    :param reported: whether it is the transfer itself that said it has finished.
    """
    began, ended, octets = flow.started_at, flow.ended_at, flow.bytes_reported
    if reported and octets and began is not None and ended is not None and flow.path_since is not None:
        taken = ended - began
        if began >= flow.path_since and taken >= SHORTEST_S:
            return Achieved(octets * 8 / taken, "the transfer's report")
    rate = counters.busy_rate()
    return None if rate is None else Achieved(rate, "rule counters at the far edge")
