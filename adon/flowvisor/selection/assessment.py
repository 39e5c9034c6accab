"""Assessment of the candidates of a transit selection ([ADON] 3.3, equations 1-3, figure 6; spec section 2).

::

    (1) W = {w_1 ... w_n}     metric weights, normalised to sum 1
    (2) S = {s_1 ... s_n}     metric scores, from the lookup tables
    (3) Q(W, S) = Σ w_i·s_i   the path of the highest Q among those that keep every hard bound wins

A candidate that misses a bound is shown with its Q but cannot be selected ([ADON] 5.2, at t4 and t6).  A
bounded *or weighted* metric without a usable value, or a weighted metric without a table, makes the candidate
unknown.  It then has no Q, because an assumed score would be either zero or good, and a missing value is
neither.  A missed bound takes precedence over an unknown metric: that candidate is unqualified.  Metrics with
weight zero and without a bound are ignored.

Q is summed in the order of :class:`~measurement.model.Metric`, so that equal values give equal bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from adon.flowvisor.topology.path import Knowledge, PathView, UnknownValue
from adon.reasons import Reason
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec, normalise_weights
from adon.units import format_duration, format_rate, format_ratio
from measurement.model import Metric

QualityWord = Literal["met", "degraded", "violated", "unknown"]


class Verdict(StrEnum):
    """Verdict of the selection on one candidate."""

    QUALIFIED = "qualified"
    UNQUALIFIED = "unqualified"
    UNKNOWN = "unknown"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class MetricRecord:
    """One metric of one candidate: value and origin, or the reason why it is unknown, and score."""

    metric: str
    value: float | None
    observed_at: float | None = None
    age: float | None = None
    source: str = ""
    basis: str = ""
    unknown: str = ""
    bound: float | None = None
    bound_met: bool | None = None
    score: float | None = None
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """One candidate path in a decision; ``q`` is equation 3, None while a metric is unknown.

    :param code, why: the verdict's reason (:class:`~adon.reasons.Reason`).
    """

    path: str
    layer: str
    verdict: Verdict
    code: str
    why: str
    q: float | None
    metrics: tuple[MetricRecord, ...] = ()


def assess(
    view: PathView,
    qspec: QSpec,
    tables: Mapping[Metric, LookupTable],
    weights: Mapping[Metric, float],
    now: float,
) -> CandidateRecord:
    """Assess one candidate: all weighted or bounded metrics, Q and the verdict.

    :param weights: not yet normalised.
    :raises ValueError: for weights that cannot be normalised.
    """
    shares = normalise_weights(weights)
    metrics = tuple(
        _metric_record(metric, view, qspec, tables.get(metric), shares.get(metric, 0.0), now)
        for metric in Metric
        if shares.get(metric, 0.0) > 0 or qspec.bound(metric) is not None
    )
    verdict, reason = _verdict(view, metrics)
    return CandidateRecord(
        path=view.path.key.path,
        layer=view.path.layer.value,
        verdict=verdict,
        code=reason.code,
        why=reason.text,
        q=_quality_score(metrics),
        metrics=metrics,
    )


def _metric_record(
    metric: Metric, view: PathView, qspec: QSpec, table: LookupTable | None, weight: float, now: float
) -> MetricRecord:
    known: Knowledge = view.metrics.get(metric, UnknownValue("never measured"))
    bound = qspec.bound(metric)
    if isinstance(known, UnknownValue):
        return MetricRecord(metric.value, None, unknown=known.reason, bound=bound, weight=weight)
    return MetricRecord(
        metric=metric.value,
        value=known.value,
        observed_at=known.observed_at,
        age=max(0.0, now - known.observed_at),
        source=known.source,
        basis=known.basis.value,
        unknown="no lookup table scores it" if weight > 0 and table is None else "",
        bound=bound,
        bound_met=None if bound is None else qspec.met_by(metric, known.value),
        score=None if table is None else table.score(known.value),
        weight=weight,
    )


def _quality_score(metrics: Sequence[MetricRecord]) -> float | None:
    """Return equation 3; None while a weighted metric has no score or a bounded one no value."""
    if any(record.unknown for record in metrics):
        return None
    return math.fsum(
        record.weight * record.score for record in metrics if record.weight > 0 and record.score is not None
    )


def _verdict(view: PathView, metrics: Sequence[MetricRecord]) -> tuple[Verdict, Reason]:
    # The words name no value and no age: an unchanged verdict must read the same (decision digests).
    if view.unusable is not None:
        return Verdict.EXCLUDED, view.unusable
    missed = [f"{m.metric} {_bound_text(m)}" for m in metrics if m.bound_met is False]
    if missed:
        return Verdict.UNQUALIFIED, Reason("bound-missed", "misses " + " and ".join(missed))
    unknown = [m.metric for m in metrics if m.unknown]
    if unknown:
        return Verdict.UNKNOWN, Reason("metric-unknown", "unknown: " + ", ".join(unknown))
    return Verdict.QUALIFIED, Reason("bounds-kept", "keeps every bound")


def _bound_text(record: MetricRecord) -> str:
    bound = 0.0 if record.bound is None else record.bound
    metric = Metric(record.metric)
    return f"{'>=' if metric.higher_is_better else '<='} {value_text(metric, bound)}"


def value_text(metric: Metric, value: float) -> str:
    """Return a value with a readable unit: ``5.1 Mbps``, ``20 ms``, ``0.01 %``."""
    match metric:
        case Metric.THROUGHPUT:
            return format_rate(value)
        case Metric.RTT | Metric.ONE_WAY_DELAY | Metric.JITTER:
            return format_duration(value)
        case Metric.LOSS | Metric.HEALTH:
            return format_ratio(value)


def explain(record: CandidateRecord) -> str:
    """Return a candidate in words, such as ``throughput 5.1 Mbps is below 7 Mbps (active test, 4 s old)``."""
    match record.verdict:
        case Verdict.EXCLUDED:
            words = record.why
        case Verdict.UNQUALIFIED:
            words = " and ".join(_missed_text(m) for m in record.metrics if m.bound_met is False)
        case Verdict.UNKNOWN:
            words = " and ".join(f"{m.metric} is unknown ({m.unknown})" for m in record.metrics if m.unknown)
        case Verdict.QUALIFIED:
            words = f"Q {score_text(record)}"
    return f"{record.path}: {words}"


def _missed_text(record: MetricRecord) -> str:
    metric = Metric(record.metric)
    bound = value_text(metric, math.nan if record.bound is None else record.bound)
    value = value_text(metric, math.nan if record.value is None else record.value)
    side = "below" if metric.higher_is_better else "above"
    age = format_duration(0.0 if record.age is None else record.age)
    return f"{metric} {value} is {side} {bound} ({record.basis}, {age} old)"


def score_text(record: CandidateRecord) -> str:
    """Return Q in words: three digits, or ``unknown``."""
    return "unknown" if record.q is None else f"{record.q:.3g}"


def path_quality(record: CandidateRecord, qspec: QSpec) -> QualityWord:
    """Return the quality of a path by a QSpec: degraded is between bound and target (spec section 1).

    An excluded path is never met, because its last values are not representative.
    """
    bounded = [m for m in record.metrics if m.bound is not None]
    if any(m.bound_met is False for m in bounded):
        return "violated"
    if record.verdict is Verdict.EXCLUDED or any(m.value is None for m in bounded):
        return "unknown"
    return "met" if all(_reaches_target(m, qspec) for m in bounded) else "degraded"


def _reaches_target(record: MetricRecord, qspec: QSpec) -> bool:
    metric = Metric(record.metric)
    target = qspec.target(metric)
    if target is None or record.value is None:
        return True
    return record.value >= target if metric.higher_is_better else record.value <= target
