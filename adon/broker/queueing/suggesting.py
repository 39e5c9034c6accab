"""The smallest change of a request that would be admitted now.

What a candidate path lacks says what to change: each bound that it misses is relaxed to what the path has,
rounded in the flow's favour; where a flow would run into maintenance or a reservation, a part of the data may
be done before; where a running flow of lower priority holds the path, a higher priority may take its place;
where no site has the worker nodes, fewer of them may do.  Every change found so is *decided* on, by the same
function that admits (:func:`adon.broker.queueing.trial.tried`); only those that would be admitted are
suggested.

How large a change is: the sum of the logarithms of the ratios by which values change, so that half the
throughput weighs as much as twice the delay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from adon.broker import compute
from adon.broker.comparing import placement
from adon.broker.maintenance import Stage, paths_of
from adon.broker.queueing import calendar
from adon.broker.queueing.refusal import Kept
from adon.broker.queueing.supposing import supposed
from adon.broker.queueing.trial import Trial, tried
from adon.broker.world import World
from adon.errors import NotFound
from adon.flowvisor.assessment import CandidateRecord, MetricRecord, Verdict
from adon.flowvisor.selection import value_text
from adon.templates_catalog.model import QSpec
from adon.units import format_count, format_size
from measurement.model import Metric, PathKey

MOST = 5
"""So many are told, the smallest first."""
LOSS_FLOOR = 1e-6
"""A loss below this counts as this when changes are compared: from nothing to anything is no ratio."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that would be admitted now.

    :param change: the fields of the request, as they would be written.
    :param text: the same in words.
    :param path: where the flow would go.
    :param size: how large the change is.
    """

    change: dict[str, object]
    text: str
    path: str
    size: float


def suggested(world: World, trial: Trial, now: float, kept: Kept) -> list[Suggestion]:
    """The changes that would get a refused flow admitted now, the smallest first.

    :param kept: what the flow may not have because it is kept for others.
    """
    found = [*_relaxed(world, trial, now, kept), *_smaller(world, trial, now, kept)]
    found += [*_more_urgent(world, trial, now, kept), *_fewer_nodes(world, trial, now)]
    unique = {one.text: one for one in found}
    return sorted(unique.values(), key=lambda one: (one.size, one.text))[:MOST]


def _admitted(world: World, trial: Trial, now: float, kept: Kept, **changes: object) -> str | None:
    """The path that the flow would be admitted to with another request; None if to none."""
    own = world.damping.given_up(trial.flow.number)
    off = replace(kept, paths={**kept.paths, **own})
    with supposed(world, trial.flow, **changes) as other:
        return tried(world, other, now, off).path


# -- bounds ---------------------------------------------------------------------------------------------


def _relaxed(world: World, trial: Trial, now: float, kept: Kept) -> Iterable[Suggestion]:
    """The bounds that paths miss, as they have them; of several that lead to one path the smallest change."""
    found: dict[tuple[str, frozenset[Metric]], Suggestion] = {}
    for record in trial.choice.selection.records:
        missed = [one for one in record.metrics if one.bound_met is False]
        if record.verdict is not Verdict.UNQUALIFIED or any(one.value is None for one in missed):
            continue
        changes = [_bound_for(one) for one in missed]
        if any(value is None for value in changes):
            continue
        bounds = {Metric(one.metric): value for one, value in zip(missed, changes, strict=True) if value}
        qspec = with_bounds(trial.need.qspec, bounds)
        path = _admitted(world, trial, now, kept, qspec=qspec)
        if path is not None:
            size = math.fsum(_ratio(one, bounds.get(Metric(one.metric), 0.0)) for one in missed)
            one = Suggestion({"qspec": _written(qspec, bounds)}, _in_words(missed, bounds), path, size)
            key = path, frozenset(bounds)
            found[key] = min(one, found.get(key, one), key=lambda each: each.size)
    return found.values()


def _bound_for(record: MetricRecord) -> float | None:
    """The bound that a value would meet, rounded to three digits in its own good direction."""
    metric, value = Metric(record.metric), 0.0 if record.value is None else record.value
    if value <= 0:
        return None
    rounded = float(f"{value:.3g}")
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    if metric.higher_is_better:
        rounded = rounded if rounded <= value else rounded - digit
    else:
        rounded = rounded if rounded >= value else rounded + digit
    return rounded if rounded > 0 and (not metric.is_ratio or rounded <= 1) else None


def with_bounds(qspec: QSpec, bounds: dict[Metric, float]) -> QSpec:
    """A QSpec with other bounds; a target that one has passed is left out."""
    changed = {}
    for metric, bound in bounds.items():
        part = getattr(qspec, metric.value)
        side = "min" if metric.higher_is_better else "max"
        beyond = part.target is not None and (
            part.target < bound if metric.higher_is_better else part.target > bound
        )
        changed[metric.value] = part.model_copy(update={side: bound} | ({"target": None} if beyond else {}))
    return qspec.model_copy(update=changed)


def _written(qspec: QSpec, bounds: dict[Metric, float]) -> dict[str, object]:
    """The part of a request that asks for these bounds."""
    parts = qspec.model_dump(mode="json", exclude_none=True)
    return {metric.value: parts[metric.value] for metric in bounds}


def _ratio(record: MetricRecord, bound: float) -> float:
    before = LOSS_FLOOR if not record.bound else record.bound
    return abs(math.log(max(bound, LOSS_FLOOR) / max(before, LOSS_FLOOR)))


def _in_words(missed: list[MetricRecord], bounds: dict[Metric, float]) -> str:
    parts = []
    for record in missed:
        metric = Metric(record.metric)
        side = "at least" if metric.higher_is_better else "at most"
        was = value_text(metric, 0.0 if record.bound is None else record.bound)
        parts.append(f"{side} {value_text(metric, bounds[metric])} {metric.value} instead of {was}")
    return " and ".join(parts).replace("one_way_delay", "one-way delay")


# -- size, priority, nodes ------------------------------------------------------------------------------


def _smaller(world: World, trial: Trial, now: float, kept: Kept) -> Iterator[Suggestion]:
    """A part of the data, done before a maintenance window or a reservation begins."""
    flow, bound = trial.flow, world.flows.bound(trial.flow)
    if bound <= 0:
        return
    for record in trial.choice.selection.records:
        begins = _closes(world, trial, record, now)
        bits = 0.0 if begins is None else (begins - now) * bound
        size = int(float(f"{bits / 8 * 0.99:.3g}")) if math.isfinite(bits) else 0
        if not 1 <= size < flow.request.size:
            continue
        path = _admitted(world, trial, now, kept, size=size)
        if path is not None:
            text = f"{format_size(size)} of the data now, which are done before {record.path} is closed to it"
            yield Suggestion({"size": f"{size} B"}, text, path, math.log(flow.request.size / size))


def _closes(world: World, trial: Trial, record: CandidateRecord, now: float) -> float | None:
    """When a path that is excluded for that closes to the flow; None if it is for something else."""
    if record.verdict is not Verdict.EXCLUDED:
        return None
    key = PathKey(record.path, *world.flows.ends(trial.flow))
    times = []
    if record.path in calendar.closed(world, trial.flow, now):
        bound = world.flows.bound(trial.flow)
        times.append(calendar.fills_up(world, key, bound, now, trial.flow.number))
    for window in world.windows:
        try:
            hit = record.path in paths_of(world.network.topology, window.scope, window.name)
        except NotFound:
            hit = False
        if hit and window.stage(now) is not Stage.OVER:
            times.append(window.begins)
    return min(times, default=None)


def _more_urgent(world: World, trial: Trial, now: float, kept: Kept) -> Iterator[Suggestion]:
    """The lowest priority by which the place of a running flow could be taken, if its slice may have that."""
    flow = trial.flow
    own, lowest = world.flows.priority(flow), world.flows.lowest(world.flows.ends(flow))
    tenant = None if flow.slice is None else world.configuration.slices.get(flow.slice)
    highest = 999 if tenant is None else tenant.priorities[1]
    if not world.configuration.policy.preemption or lowest is None:
        return
    for priority in sorted({min(highest, lowest + 1), highest}):
        if priority <= own:
            continue
        path = _admitted(world, trial, now, kept, priority=priority)
        if path is not None:
            text = f"priority {priority} instead of {own}: it would take the place of a flow on {path}"
            yield Suggestion({"priority": priority}, text, path, math.log((priority + 1) / (own + 1)))
            return


def _fewer_nodes(world: World, trial: Trial, now: float) -> Iterator[Suggestion]:
    """So many worker nodes as some site has free; its template would have to ask for no more."""
    asked = trial.need.template.rspec.compute
    path = trial.choice.selection.path
    if not trial.by_site or asked is None or path is None:
        return
    reserve = world.configuration.policy.reserve_nodes
    frees = {compute.free_nodes(world, cost.site, trial.flow, now) - reserve for cost in trial.sites.costs}
    for nodes in sorted((int(free) for free in frees if 1 <= free < asked.worker_nodes), reverse=True):
        fewer = asked.model_copy(update={"worker_nodes": nodes})
        rspec = trial.need.template.rspec.model_copy(update={"compute": fewer})
        need = replace(trial.need, template=trial.need.template.model_copy(update={"rspec": rspec}))
        seen = compute.regarded(world, trial.flow, need, trial.choice, now)
        found = placement(trial.flow, need, trial.choice, seen, functions=world.functions)
        if not found.refused:
            words = f"{format_count(nodes, 'worker node')} instead of {asked.worker_nodes}"
            text = f"a template that asks for {words}: {found.site}"
            change: dict[str, object] = {"rspec": {"compute": {"worker_nodes": nodes}}}
            yield Suggestion(change, text, path, math.log(asked.worker_nodes / nodes))
            return
