"""Dynamic transit selection ([ADON] 3.3, equations 1-3 and figure 6; spec section 2).

::

    (1) W = {w_1 ... w_n}     metric weights, normalised to sum 1
    (2) S = {s_1 ... s_n}     metric scores, from the lookup tables
    (3) Q(W, S) = Σ w_i·s_i   the path of the highest Q among those that keep every hard bound wins

A candidate that misses a bound is shown with its Q but cannot be selected ([ADON] 5.2, at t4 and t6).
A bounded *or weighted* metric without a usable value, or a weighted one without a table, makes the
candidate unknown and leaves it without a Q: any invented score would be either zero or good, and a
missing value is neither.  A bound known to be missed says more than an unknown metric: that candidate
is unqualified.  Metrics of weight zero and without a bound play no part.

Functions from values to values; Q is summed in the order of :class:`~measurement.model.Metric`, so that
the same values give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from adon.flowvisor.selection.assessment import CandidateRecord, MetricRecord, Verdict
from adon.flowvisor.topology.path import Knowledge, PathView, Unknown
from adon.reasons import DecisionCode, Reason
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec, normalised
from adon.units import format_duration, format_rate, format_ratio
from measurement.model import Metric

TIE = 1e-9
"""Q values closer than this are the same: the order of the configuration decides."""

UnknownPolicy = Literal["avoid", "default_path"]
QualityWord = Literal["met", "degraded", "violated", "unknown"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome: the path's name, or None if nobody can be selected; and why."""

    path: str | None
    records: tuple[CandidateRecord, ...]
    reason: Reason


@dataclass(frozen=True, slots=True)
class MoveAdvice:
    """Whether a running flow should move now, and why (not)."""

    move: bool
    reason: Reason


def assess(
    view: PathView,
    qspec: QSpec,
    tables: Mapping[Metric, LookupTable],
    weights: Mapping[Metric, float],
    now: float,
) -> CandidateRecord:
    """One candidate, with every weighted or bounded metric, its Q, and the verdict.

    :param weights: as the researcher wrote them; normalised here.
    :raises ValueError: for weights that cannot be normalised.
    """
    shares = normalised(weights)
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
    known: Knowledge = view.metrics.get(metric, Unknown("never measured"))
    bound = qspec.bound(metric)
    if isinstance(known, Unknown):
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
    """Equation 3; None while a weighted metric has no score or a bounded one no value."""
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
    """A value in the unit people read: ``5.1 Mbps``, ``20 ms``, ``0.01 %``."""
    match metric:
        case Metric.THROUGHPUT:
            return format_rate(value)
        case Metric.RTT | Metric.ONE_WAY_DELAY | Metric.JITTER:
            return format_duration(value)
        case Metric.LOSS | Metric.HEALTH:
            return format_ratio(value)


def explain(record: CandidateRecord) -> str:
    """One candidate in words, for example ``throughput 5.1 Mbps is below 7 Mbps (active test, 4 s old)``."""
    match record.verdict:
        case Verdict.EXCLUDED:
            words = record.why
        case Verdict.UNQUALIFIED:
            words = " and ".join(_missed_text(m) for m in record.metrics if m.bound_met is False)
        case Verdict.UNKNOWN:
            words = " and ".join(f"{m.metric} {_unknown_text(m)}" for m in record.metrics if m.unknown)
        case Verdict.QUALIFIED:
            words = f"Q {_q_text(record)}"
    return f"{record.path}: {words}"


def _missed_text(record: MetricRecord) -> str:
    metric = Metric(record.metric)
    bound = value_text(metric, math.nan if record.bound is None else record.bound)
    value = value_text(metric, math.nan if record.value is None else record.value)
    side = "below" if metric.higher_is_better else "above"
    age = format_duration(0.0 if record.age is None else record.age)
    return f"{metric} {value} is {side} {bound} ({record.basis}, {age} old)"


def _unknown_text(record: MetricRecord) -> str:
    return f"is unknown ({record.unknown})"


def _q_text(record: CandidateRecord) -> str:
    return "unknown" if record.q is None else f"{record.q:.3g}"


def select(
    records: Sequence[CandidateRecord], unknown_policy: UnknownPolicy, default_path: str | None
) -> Selection:
    """The candidate to take, from records in configuration order.

    :param unknown_policy: what to do if nothing is known of any candidate: ``avoid`` selects nobody,
        ``default_path`` the template's default path.
    :param default_path: that path's name, if the template has one.
    """
    ranked = [
        (record.q, record)
        for record in records
        if record.verdict is Verdict.QUALIFIED and record.q is not None
    ]
    if ranked:
        return _highest(ranked, records)
    if _nothing_known(records):
        return _without_knowledge(records, unknown_policy, default_path)
    return Selection(None, tuple(records), _nobody(records))


def _highest(
    ranked: Sequence[tuple[float, CandidateRecord]], records: Sequence[CandidateRecord]
) -> Selection:
    top = max(q for q, _ in ranked)
    winner, *equals = (record for q, record in ranked if top - q <= TIE)
    rank = "the only candidate that qualifies" if len(ranked) == 1 else f"the highest of {len(ranked)}"
    code: DecisionCode = "only-qualified" if len(ranked) == 1 else "best-score"
    text = f"{winner.path}: Q {_q_text(winner)}, {rank}"
    if equals:
        code, names = "tied-score", ", ".join(record.path for record in equals)
        text += f" (tied with {names}; the configuration names {winner.path} first)"
    others = _listed(record for record in records if record is not winner)
    return Selection(winner.path, tuple(records), Reason(code, text + (f"; {others}" if others else "")))


def _nothing_known(records: Sequence[CandidateRecord]) -> bool:
    """Whether no usable candidate is known: one that is, even as unqualified, is better evidence."""
    verdicts = {record.verdict for record in records} - {Verdict.EXCLUDED}
    return verdicts == {Verdict.UNKNOWN}


def _without_knowledge(
    records: Sequence[CandidateRecord], policy: UnknownPolicy, default_path: str | None
) -> Selection:
    listed = _listed(records)
    if policy == "avoid":
        reason = Reason("all-unknown", f"nothing is known of any candidate: {listed}")
        return Selection(None, tuple(records), reason)
    if default_path is None:
        text = f"nothing is known of any candidate and the template names no default path: {listed}"
        return Selection(None, tuple(records), Reason("no-default-path", text))
    if not any(record.path == default_path and record.verdict is Verdict.UNKNOWN for record in records):
        text = f"nothing is known of any candidate and the default path {default_path} cannot be used"
        return Selection(None, tuple(records), Reason("default-path-unusable", f"{text}: {listed}"))
    text = f"{default_path}: the template's default path, because nothing is known of any candidate: {listed}"
    return Selection(default_path, tuple(records), Reason("default-path", text))


def _nobody(records: Sequence[CandidateRecord]) -> Reason:
    if not records:
        return Reason("no-path", "there is no candidate path")
    return Reason("none-qualified", f"no candidate qualifies: {_listed(records)}")


def _listed(records: Iterable[CandidateRecord]) -> str:
    return "; ".join(explain(record) for record in records)


def hysteresis(
    current: CandidateRecord | None,
    best: CandidateRecord | None,
    *,
    misses: int,
    patience: int,
    margin: float,
    dwelt: float,
    min_dwell: float,
) -> MoveAdvice:
    """Whether a running flow should move from its present path to the best qualified one.

    It moves if the new Q exceeds the present one by more than ``margin``, or the present path missed
    the QSpec at ``patience`` consecutive measurements; never before it has dwelt ``min_dwell`` seconds;
    and never without a qualified alternative.  A present path that cannot be used at all (a port is
    down) yields no measurements to be patient with: it is left at once.

    :param current: the flow's present path as assessed now; None if it is no candidate any more.
    :param best: the path that :func:`select` would take now, if any.
    :param misses: consecutive measurements at which the present path missed the QSpec.
    :param dwelt: seconds since the flow came to its present path.
    """
    if best is None or best.verdict is not Verdict.QUALIFIED:
        return _advice(False, "no-alternative", "no qualified alternative: it stays where it is")
    if current is None:
        return _advice(True, "path-removed", f"its path is no candidate any more; {best.path} qualifies")
    if current.path == best.path:
        return _advice(False, "keeps-path", f"{best.path} is the best candidate already")
    if current.verdict is Verdict.EXCLUDED:
        return _advice(True, "path-excluded", f"{explain(current)}; {best.path} qualifies")
    wish = _wish_to_move(current, best, misses, patience, margin)
    if wish.move and dwelt < min_dwell:
        left = format_duration(min_dwell - dwelt)
        text = f"{wish.reason}; but min_dwell keeps it where it is for another {left}"
        return _advice(False, "min-dwell", text)
    return wish


def _advice(move: bool, code: DecisionCode, text: str) -> MoveAdvice:
    return MoveAdvice(move, Reason(code, text))


def _wish_to_move(
    current: CandidateRecord, best: CandidateRecord, misses: int, patience: int, margin: float
) -> MoveAdvice:
    compared = f"Q {_q_text(best)} on {best.path} against {_q_text(current)} on {current.path}"
    if current.verdict is Verdict.UNQUALIFIED and misses >= patience:
        text = f"{current.path} missed the QSpec {misses} times in a row; {compared}"
        return _advice(True, "patience-exhausted", text)
    if current.q is not None and best.q is not None and best.q - current.q > margin:
        return _advice(True, "better-score", f"{compared} exceeds the switch margin of {margin:.3g}")
    if current.verdict is Verdict.UNQUALIFIED:
        text = f"{current.path} missed the QSpec {misses} times, patience is {patience}"
        return _advice(False, "within-patience", text)
    if current.q is None:
        return _advice(False, "path-unknown", f"{current.path} is unknown, which is no reason to leave it")
    return _advice(False, "within-margin", f"{compared} does not exceed the switch margin of {margin:.3g}")


def quality(record: CandidateRecord, qspec: QSpec) -> QualityWord:
    """How a path keeps a QSpec: degraded is between bound and target (spec section 1).

    An excluded path is never called met: the last values say little about it.
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
