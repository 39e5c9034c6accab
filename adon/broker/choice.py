"""The path choice for one flow at one moment: what is known, scored and compared ([ADON] 3.3).

This joins what the flow needs (template, request) with what is known (measurements, counters, other
flows) into the candidates' views, and hands them to :mod:`adon.flowvisor.selection.selection`.  A value for
throughput means something different for a flow that wants in and for one that is there:

- a new flow gets what the last test got, shared with the flows admitted since
  (:func:`adon.flowvisor.selection.performance.estimate_throughput`);
- a flow on its own path has its own rate, which our test depressed: the test's share comes back to
  the flows on the path in proportion to their streams (:func:`own_throughput`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adon.broker.counters import FlowCounters
from adon.broker.flow import Flow, FlowRequest
from adon.broker.load import PathLoad
from adon.config.policy import Policy
from adon.flowvisor.selection.assessment import CandidateRecord, MetricRecord, Verdict, assess
from adon.flowvisor.selection.performance import Counters, FlowLoad, PerformanceView, estimate_throughput
from adon.flowvisor.selection.selection import Selection, select
from adon.flowvisor.topology.path import Basis, CandidatePath, Knowledge, KnownValue, PathView, find_obstacle
from adon.flowvisor.topology.topology import Candidate, Topology
from adon.reasons import Reason
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec, Template, normalise_weights, scoring_tables
from measurement.model import Measurement, Metric


@dataclass(frozen=True, slots=True)
class Need:
    """What one flow needs, its template and its request taken together."""

    template: Template
    qspec: QSpec
    weights: Mapping[Metric, float]
    streams: int

    @classmethod
    def of(cls, template: Template, request: FlowRequest) -> Need:
        """Join a template version with a request.

        :raises ValueError: for weights that cannot be normalised.
        """
        return cls(
            template,
            template.qspec.override(request.qspec),
            normalise_weights(template.weights if request.weights is None else request.weights),
            template.streams if request.streams is None else request.streams,
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that matter: weighted or bounded."""
        return tuple(m for m in Metric if m in self.weights or self.qspec.bound(m) is not None)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice may look at.

    :param loads: per path name, what our flows put on it, the one that asks included.
    :param own: the counters of the flow itself, if it is running.
    :param shunned: paths that must not be used now, with the reason.
    :param window: seconds of history that "best value seen" looks at.
    """

    now: float
    topology: Topology
    performance: PerformanceView
    policy: Policy
    window: float
    loads: Mapping[str, PathLoad]
    shunned: Mapping[str, Reason]
    own: FlowCounters | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The selection with what the broker needs to act on it.

    :param asked, surveyed: what it was chosen from.
    """

    selection: Selection
    tables: Mapping[Metric, LookupTable]
    paths: Mapping[str, CandidatePath]
    asked: Situation | None = field(default=None, compare=False, repr=False)
    surveyed: Survey | None = field(default=None, compare=False, repr=False)

    def taking(self, path: str, reason: Reason) -> Choice:
        """The same findings with another path taken, for this reason."""
        return replace(self, selection=replace(self.selection, path=path, reason=reason))

    def record(self, path: str | None) -> CandidateRecord | None:
        """What was found about one path."""
        return next((r for r in self.selection.records if r.path == path), None)


@dataclass(frozen=True, slots=True)
class Survey:
    """The candidates of flows that are alike, and the tables that score them.

    :param best: the best values seen that tables were generated from.
    """

    found: tuple[Candidate, ...]
    tables: Mapping[Metric, LookupTable]
    best: Mapping[Metric, float]


def survey(need: Need, found: tuple[Candidate, ...], situation: Situation) -> Survey:
    """Join candidates with the tables that score them now."""
    best = _best_seen(found, need, situation)
    return survey_of(need, found, best)


def survey_of(need: Need, found: tuple[Candidate, ...], best: Mapping[Metric, float]) -> Survey:
    """Candidates with the tables that score them, from the best values seen on them."""
    return Survey(found, scoring_tables(need.template, need.qspec, best, need.weights), best)


def choose(
    flow: Flow,
    need: Need,
    situation: Situation,
    surveyed: Survey | None = None,
    finding: Callable[[Candidate], CandidateRecord | None] = lambda _: None,
) -> Choice:
    """Score every candidate of a flow and select one (equation 3, spec section 2).

    :param surveyed: what :func:`survey` gives for flows like this one, if that is known.
    :param finding: what was found about a candidate for such a flow on another path, if that is known.
    :raises NotFound, InvalidInput: as :meth:`Topology.candidates`.
    """
    if surveyed is None:
        candidates = situation.topology.candidates(flow.request.source, flow.request.destination)
        surveyed = survey(need, candidates, situation)
    found, tables = surveyed.found, surveyed.tables
    records = tuple(
        (None if candidate.key.path == flow.path else finding(candidate))
        or record_of(candidate, flow, need, tables, situation)
        for candidate in found
    )
    default = need.template.selection.default_path
    selection = select(records, situation.policy.unknown_paths, default)
    paths = {c.key.path: c.path for c in found if c.path is not None}
    return Choice(selection, tables, paths, situation, surveyed)


def _best_seen(found: Sequence[Candidate], need: Need, s: Situation) -> dict[Metric, float]:
    keys = [candidate.key for candidate in found]
    generated = [metric for metric in need.weights if metric not in need.template.tables]
    best = {m: s.performance.best(keys, m, s.now - s.window) for m in generated}
    return {metric: value for metric, value in best.items() if value is not None}


def record_of(
    candidate: Candidate,
    flow: Flow | None,
    need: Need,
    tables: Mapping[Metric, LookupTable],
    s: Situation,
    metrics: Sequence[Metric] | None = None,
) -> CandidateRecord:
    """What is found about one candidate (spec section 2).

    :param flow: who asks; None for any flow of this need that is not on this path, nor on a wider one.
    :param metrics: those to be looked up, all that matter if None; the others stay unknown.
    """
    name = candidate.key.path
    stays = candidate.unheard and flow is not None and flow.path == name  # it forwards on (R10)
    reason = candidate.reason
    if candidate.path is None:
        code, why = ("", "") if reason is None else reason
        if not stays:
            return CandidateRecord(name, candidate.layer, Verdict.EXCLUDED, code, why, None)
        silent = tuple(
            MetricRecord(metric, None, unknown=why, bound=need.qspec.bound(metric)) for metric in need.metrics
        )
        return CandidateRecord(name, candidate.layer, Verdict.UNKNOWN, code, why, None, silent)
    if candidate.usable or stays:
        reason = s.shunned.get(name)
    if reason is None and flow is not None:
        reason = held_back(candidate.path, flow.path, flow.hosts, s.topology)
    asked = need.metrics if metrics is None else metrics
    known = {metric: knowledge(metric, candidate.path, flow, need, s) for metric in asked}
    view = PathView(candidate.path, known, reason)
    return assess(view, need.qspec, tables, need.weights, s.now)


def held_back(
    path: CandidatePath, present_path: str | None, hosts: tuple[str, str], topology: Topology
) -> Reason | None:
    """Why a flow cannot be on a path that others could be on: what the path does to packets.

    Path attributes are hard constraints on moves (spec section 2; :mod:`adon.flowvisor.topology.path`).

    :param present_path: the path it is on, if it is on one.
    :param hosts: the DTNs that it leads from and to.
    """
    if present_path == path.key.path:
        return None
    present = None if present_path is None else topology.find_path(present_path)
    before = None if present is None else present.attributes
    return find_obstacle(before, path.attributes, topology.families(*hosts), present_path is not None)


def knowledge(metric: Metric, path: CandidatePath, flow: Flow | None, need: Need, s: Situation) -> Knowledge:
    """What a flow may go by for one metric of one path; None asks for any flow that is not on it."""
    max_age = need.template.selection.max_age
    if metric is not Metric.THROUGHPUT:
        measured = s.performance.knowledge(path.key, metric, s.now, max_age)
        return (
            measured
            if isinstance(measured, KnownValue)
            else configured_value(path, metric, s.now) or measured
        )
    tested = s.performance.latest(path.key, metric)
    changed = s.performance.find_change(path.key, metric)
    load = s.loads.get(path.key.path)
    used = None if load is None else load.used_bandwidth()
    loads = others_on(load, flow, need, path, tested, used)
    if flow is not None and flow.path == path.key.path and s.own is not None:
        since = float("-inf") if changed is None else changed.since
        own = own_throughput(s.own, tested, need.streams, loads, path.capacity, s.now, max_age, since)
        if own is not None:
            return own
    estimate = estimate_throughput(
        tested,
        s.now,
        max_age,
        path.capacity,
        need.qspec.streams,
        loads,
        used,
        changed,
        s.performance.find_test_load(path.key),
        s.performance.best([path.key], metric, 0.0),
    )
    if isinstance(estimate, KnownValue):
        return estimate
    return configured_value(path, metric, s.now, need.streams, sum(one.streams for one in loads)) or estimate


def configured_value(
    path: CandidatePath, metric: Metric, now: float, streams: int = 1, others: int = 0
) -> KnownValue | None:
    """What the links of a path are configured to give, where nothing was measured; None if they say nothing.

    :param streams, others: throughput is shared evenly with the streams that are there.
    """
    value = dict(path.declared).get(metric)
    if value is None:
        return None
    share = streams / (streams + others) if metric is Metric.THROUGHPUT else 1.0
    return KnownValue(value * share, now, "the links' configuration", Basis.LINKS)


def others_on(
    load: PathLoad | None,
    flow: Flow | None,
    need: Need,
    path: CandidatePath,
    tested: Measurement | None,
    used: Counters | None,
) -> list[FlowLoad]:
    """The other flows on a path, summed up as far as an estimate can tell them apart."""
    if load is None:
        return []
    own: tuple[float, int] | None = None
    if flow is not None and flow.state.holds_rules and flow.path == path.key.path:
        own = None if flow.path_since is None else (flow.path_since, need.streams)
    times = [] if tested is None else [tested.started_at]
    return load.without(own, *times, *([] if used is None else [used.observed_at]))


def own_throughput(
    counters: FlowCounters,
    tested: Measurement | None,
    streams: int,
    others: Sequence[FlowLoad],
    capacity: float,
    now: float,
    max_age: float,
    since: float = float("-inf"),
) -> KnownValue | None:
    """What a running flow gets on its own path, its rate corrected for our own test.

    During a test with rate T the flow had rate F; without the test its ``streams`` out of all streams
    on the path take their part of T: ``F + T·streams/(streams + Σ others' streams)``, at most the
    capacity.  Where the counters do not cover the test, or there is none younger than ``max_age``, the
    flow's latest rate stands alone.

    None if that rate is older than ``max_age`` or zero: a flow that sends nothing says nothing about
    its path (whether packets are lost is asked by :mod:`adon.broker.counters`).

    :param since: the path is different since then: nothing from before it counts.
    """
    if tested is not None and now - tested.observed_at <= max_age and tested.observed_at >= since:
        during = counters.rate(tested.started_at, tested.observed_at)
        if during is not None:
            part = streams / (streams + sum(load.streams for load in others))
            value = min(capacity, during + tested.value * part)
            return KnownValue(value, tested.observed_at, tested.source, Basis.OWN)
    latest = counters.latest()
    if latest is None:
        return None
    rate, at = latest
    if rate <= 0 or now - at > max_age or at < since:
        return None
    return KnownValue(min(capacity, rate), at, "rule counters of the flow itself", Basis.OWN)
