"""What was measured of a path, as a quantity: as if the newest result of a metric had been another value.

The rate of a running flow on its own path, which is told by its counters and the test beside it, is scaled as
a whole.  The best value ever seen rises with a result that is better; a worse one leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from adon.broker.choice import Need
from adon.broker.decision import Decision
from adon.broker.flipping.quantity import Kind, Quantity, geometric_steps
from adon.broker.recompute.seen import Known, OwnRates, Snapshot
from adon.flowvisor.selection.assessment import MetricRecord
from adon.flowvisor.selection.performance import usable_value
from adon.flowvisor.topology.path import Basis
from adon.flowvisor.topology.path import KnownValue as Usable
from adon.templates_catalog.model import scoring_tables
from adon.values import FrozenMap
from measurement.model import Measurement, Metric

LONGEST_S = 10.0
SHORTEST_S = 1e-5
SUPPOSED = "supposed"
TEST_S = 5.0


def metric_quantities(snapshot: Snapshot, need: Need, decision: Decision) -> Iterator[Quantity]:
    """Each metric that matters, of each candidate."""
    tables = scoring_tables(need.template, need.qspec, snapshot.seen.best, need.weights)
    for record in decision.candidates:
        known = next((one for one in snapshot.seen.paths if one.key.path == record.path), None)
        if known is None:
            continue
        for metric in need.metrics:
            told = next((one for one in record.metrics if one.metric == metric), None)
            rivals = [
                one.value
                for other in decision.candidates
                for one in other.metrics
                if one.metric == metric and one.value is not None
            ]
            points = [value for value, _ in tables[metric].points] if metric in tables else []
            bound = need.qspec.bound(metric)
            marks = [*points, *([] if bound is None else [bound]), *rivals]
            yield _quantity(snapshot, need, known, metric, told, marks)


def _quantity(
    snapshot: Snapshot,
    need: Need,
    known: Known,
    metric: Metric,
    told: MetricRecord | None,
    marks: list[float],
) -> Quantity:
    path = known.key.path
    if metric is Metric.THROUGHPUT and told is not None and told.basis == Basis.OWN and told.value:
        value: float | None = told.value
        put: Callable[[Snapshot, float], Snapshot] = partial(_own, known=known, was=told.value)
    else:
        value = _value(snapshot, need, known, metric, told)
        put = partial(with_result, need=need, known=known, metric=metric)

    low, high, better = _range(snapshot, path, metric, value)
    if value and told is not None and told.value:
        # An estimate goes with its test, about in proportion: so far the test goes for it to reach a mark.
        marks = [*marks, *(mark * value / told.value for mark in marks)]
    spread = geometric_steps(value) if value else tuple(low + (high - low) * step / 32 for step in range(33))
    return Quantity(
        Kind.METRIC, metric.value, path, metric.value, value, low, high, put, (*marks, *spread), better=better
    )


def _value(
    snapshot: Snapshot, need: Need, known: Known, metric: Metric, told: MetricRecord | None
) -> float | None:
    """What the newest result says, if it could be used; a delay that links are configured to have."""
    result = _newest(known, metric)
    changed = dict(known.changes).get(metric)
    found = usable_value(result, snapshot.seen.at, need.template.selection.max_age, changed)
    if isinstance(found, Usable):
        return found.value
    declared = told is not None and told.basis == Basis.LINKS and metric is not Metric.THROUGHPUT
    return told.value if declared and told is not None else None


def _range(snapshot: Snapshot, path: str, metric: Metric, value: float | None) -> tuple[float, float, float]:
    """How far it is changed, and the end at which it is best."""
    if metric.is_ratio:
        return 0.0, 1.0, float(metric.higher_is_better)
    if metric is not Metric.THROUGHPUT:
        high = max(LONGEST_S, 64 * (value or 0.0))
        return min(SHORTEST_S, (value or SHORTEST_S) / 64), high, min(SHORTEST_S, value or SHORTEST_S)
    capacity = snapshot.seen.topology.capacity_of(path) or 0.0
    high = max(capacity, value or 0.0, 1.0)
    return (value or high) / 4096, high, high


def _newest(known: Known, metric: Metric) -> Measurement | None:
    return next((one for one in known.results if one.metric is metric), None)


def with_result(snapshot: Snapshot, value: float, *, need: Need, known: Known, metric: Metric) -> Snapshot:
    """As if the newest result of a metric of a path had been this; one that could not be used is of now."""
    at, result = snapshot.seen.at, _newest(known, metric)
    changed = dict(known.changes).get(metric)
    usable_now = isinstance(usable_value(result, at, need.template.selection.max_age, changed), Usable)
    if result is None:
        parameters = {"streams": need.qspec.streams} if metric is Metric.THROUGHPUT else {}
        result = Measurement(known.key, metric, value, at - TEST_S, at, SUPPOSED, SUPPOSED, parameters)
        before = None
    elif usable_now:
        before, result = result.value, replace(result, value=value)
    else:
        before = None
        result = replace(result, value=value, started_at=at - TEST_S, observed_at=at)
    others = tuple(one for one in known.results if one.metric is not metric)
    path = replace(known, results=(*others, result))
    if metric is Metric.THROUGHPUT:
        carried = known.carried
        if carried is not None:
            kept = None if before is None else replace(carried, bits=carried.bits + value - before)
            path = replace(path, carried=kept)
        path = replace(path, best=value if known.best is None else max(known.best, value))
    paths = tuple(path if one.key == known.key else one for one in snapshot.seen.paths)
    seen = replace(snapshot.seen, paths=paths, best=_best(snapshot.seen.best, metric, value))
    return replace(snapshot, seen=seen)


def _best(best: Mapping[Metric, float], metric: Metric, value: float) -> Mapping[Metric, float]:
    """The best values seen, with one more; only of metrics whose table rests on it."""
    held = best.get(metric)
    better = max if metric.higher_is_better else min
    if held is None or better(held, value) == held:
        return best
    return FrozenMap({**best, metric: value})


def _own(snapshot: Snapshot, value: float, *, known: Known, was: float) -> Snapshot:
    """As if a running flow's rate on its own path had been this, and the test beside it in proportion."""
    factor = value / was
    own, result = snapshot.seen.own, _newest(known, Metric.THROUGHPUT)
    rates = None
    if own is not None:
        rates = OwnRates(
            None if own.during is None else own.during * factor,
            None if own.latest is None else (own.latest[0] * factor, own.latest[1]),
        )
    results = tuple(replace(one, value=one.value * factor) if one is result else one for one in known.results)
    path = replace(known, results=results)
    paths = tuple(path if one.key == known.key else one for one in snapshot.seen.paths)
    return replace(snapshot, seen=replace(snapshot.seen, paths=paths, own=rates))
