"""What may be changed in what a decision saw: one number at a time, the rest as it was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from adon.broker.choice import Need
from adon.broker.decision import Decision
from adon.broker.flipping.measured import metric_quantities
from adon.broker.flipping.quantity import Kind, Quantity, geometric_steps
from adon.broker.recompute.seen import Looked, Placed, Snapshot
from adon.templates_catalog.model import QSpec
from adon.values import FrozenMap
from measurement.model import Metric

MOST_PRIORITY = 999
MOST_PATIENCE = 100
MOST_MARGIN = 10.0
"""Scores go from 1 to 10: no two Q of table 2 are farther apart."""
MOST_SIZE = 10**18


def quantities(snapshot: Snapshot, decision: Decision) -> Iterator[Quantity]:
    """All that may be changed: of paths, of what was asked for, of the template's caution."""
    need = Need.of(snapshot.seen.template, snapshot.seen.flow.request)
    yield from metric_quantities(snapshot, need, decision)
    yield from _weights(need)
    yield from _bounds(need, decision)
    if isinstance(snapshot.seen.step, Placed):
        yield from _of_a_newcomer(snapshot, snapshot.seen.step, need)
    if isinstance(snapshot.seen.step, Looked):
        yield from _of_a_running_one(snapshot, snapshot.seen.step, decision)
    yield from _closed_paths(snapshot)


# -- what was asked for -----------------------------------------------------------------------------------


def _asking(snapshot: Snapshot, **changes: Any) -> Snapshot:
    flow = snapshot.seen.flow
    asked = replace(flow, request=flow.request.model_copy(update=changes))
    return replace(snapshot, seen=replace(snapshot.seen, flow=asked))


def _weights(need: Need) -> Iterator[Quantity]:
    """Each weight, the others keeping their proportion."""
    if len(need.weights) < 2:
        return
    for metric, weight in need.weights.items():
        rest = {other: value for other, value in need.weights.items() if other is not metric}
        if math.fsum(rest.values()) > 0:
            yield Quantity(
                Kind.WEIGHT,
                metric.value,
                None,
                "",
                weight,
                0.0,
                0.999,
                partial(_weighing, metric=metric, rest=rest),
                tuple(step / 16 for step in range(16)),
            )


def _weighing(snapshot: Snapshot, value: float, *, metric: Metric, rest: Mapping[Metric, float]) -> Snapshot:
    share = (1 - value) / math.fsum(rest.values())
    return _asking(
        snapshot, weights={metric: value, **{other: share * weight for other, weight in rest.items()}}
    )


def _bounds(need: Need, decision: Decision) -> Iterator[Quantity]:
    for metric in need.qspec.metrics:
        bound = need.qspec.bound(metric)
        if bound is None or bound <= 0:
            continue
        seen = [
            one.value
            for record in decision.candidates
            for one in record.metrics
            if one.metric == metric and one.value is not None
        ]
        high = 1.0 if metric.is_ratio else max((bound * 64, *(2 * value for value in seen)))
        yield Quantity(
            Kind.BOUND,
            metric.value,
            None,
            metric.value,
            bound,
            bound / 64,
            max(high, bound),
            partial(_change_bound, qspec=need.qspec, metric=metric),
            (*seen, *geometric_steps(bound)),
        )


def _change_bound(snapshot: Snapshot, value: float, *, qspec: QSpec, metric: Metric) -> Snapshot:
    return _asking(snapshot, qspec=_with_bound(qspec, metric, value))


def _with_bound(qspec: QSpec, metric: Metric, bound: float) -> QSpec:
    """Return the QSpec with another bound; a target that the bound has passed is left out."""
    part = getattr(qspec, metric.value)
    side = "min" if metric.higher_is_better else "max"
    passed = part.target is not None and (
        part.target < bound if metric.higher_is_better else part.target > bound
    )
    changed = part.model_copy(update={side: bound} | ({"target": None} if passed else {}))
    return qspec.model_copy(update={metric.value: changed})


def _of_a_newcomer(snapshot: Snapshot, step: Placed, need: Need) -> Iterator[Quantity]:
    flow, template = snapshot.seen.flow, snapshot.seen.template
    if step.rivals is not None and step.rivals.holders:
        marks = [one.priority + more for one in step.rivals.holders for more in (0, 1)]
        yield Quantity(
            Kind.PRIORITY,
            "",
            None,
            "",
            float(flow.priority(template.priority)),
            0.0,
            MOST_PRIORITY,
            lambda snapshot, value: _asking(
                snapshot, priority=int(value) - snapshot.seen.flow.triggered.priority
            ),
            tuple(map(float, marks)),
            whole=True,
        )
    if template.cost is None or not step.regarded.sites:
        return
    yield Quantity(
        Kind.SIZE,
        "",
        None,
        "B",
        float(flow.request.size),
        1.0,
        float(min(MOST_SIZE, flow.request.size * 1024)),
        _change_size,
        geometric_steps(float(flow.request.size)),
        whole=True,
    )
    yield _margin(need.template.selection.switch_margin)


def _change_size(snapshot: Snapshot, value: float) -> Snapshot:
    sized = _asking(snapshot, size=int(value))
    flow = replace(sized.seen.flow, transfer_size=int(value))
    return replace(sized, seen=replace(sized.seen, flow=flow))


# -- caution ----------------------------------------------------------------------------------------------


def _of_a_running_one(snapshot: Snapshot, step: Looked, decision: Decision) -> Iterator[Quantity]:
    selection, since = snapshot.seen.template.selection, snapshot.seen.flow.path_since
    scores = [record.q for record in decision.candidates if record.q is not None]
    gaps = tuple(abs(one - other) for one in scores for other in scores)
    yield _margin(selection.switch_margin, gaps)
    yield Quantity(
        Kind.PATIENCE,
        "",
        None,
        "",
        float(selection.patience),
        1.0,
        MOST_PATIENCE,
        lambda snapshot, value: _cautious(snapshot, patience=int(value)),
        (float(snapshot.seen.flow.misses), float(snapshot.seen.flow.misses + 1)),
        whole=True,
    )
    if since is not None:
        dwelt = max(0.0, snapshot.seen.at - since)
        yield Quantity(
            Kind.DWELL,
            "",
            None,
            "s",
            step.dwell,
            0.0,
            max(step.dwell, dwelt) * 2,
            lambda snapshot, value: replace(
                snapshot, seen=replace(snapshot.seen, step=replace(step, dwell=value))
            ),
            (dwelt,),
        )


def _margin(margin: float, marks: tuple[float, ...] = ()) -> Quantity:
    return Quantity(
        Kind.MARGIN,
        "",
        None,
        "",
        margin,
        0.0,
        max(margin, MOST_MARGIN),
        lambda snapshot, value: _cautious(snapshot, switch_margin=value),
        (*marks, *(step / 2 for step in range(20))),
    )


def _cautious(snapshot: Snapshot, **changes: Any) -> Snapshot:
    template = snapshot.seen.template
    selection = template.selection.model_copy(update=changes)
    changed = template.model_copy(update={"selection": selection})
    return replace(snapshot, seen=replace(snapshot.seen, template=changed))


# -- what was closed --------------------------------------------------------------------------------------


def _closed_paths(snapshot: Snapshot) -> Iterator[Quantity]:
    """A path that was closed to the flow, as if it had not been: 1 is closed, 0 is open."""
    for path, why in snapshot.seen.shut.items():
        yield Quantity(
            Kind.CLOSED,
            why.text,
            path,
            "",
            1.0,
            0.0,
            1.0,
            partial(_open_path, path=path),
            whole=True,
        )


def _open_path(snapshot: Snapshot, value: float, *, path: str) -> Snapshot:
    if value >= 1:
        return snapshot
    shut = FrozenMap({name: why for name, why in snapshot.seen.shut.items() if name != path})
    return replace(snapshot, seen=replace(snapshot.seen, shut=shut))
