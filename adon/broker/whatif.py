"""Failure rehearsal: what a failure would do to the flows that run now, without it happening.

The same functions decide as in earnest (:mod:`adon.broker.evacuation`): who would lose the path, where each
would go, planned together so that no refuge is over-subscribed, and who would find none.  Only the failure is
supposed: its paths are taken as dead.  Nothing in the world is changed, no effect comes of it.

What a flow can expect on its refuge is the smaller of what it would get there by itself and what the path
carries less the bounds of all others that would then be on it.  One failure at a time (N-1); who waits is not
looked at.  Bounds are counted, not the surplus that flows use beyond them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adon.broker.displaced import Grade
from adon.broker.evacuation import Fled, carries, losses, plan_evacuation, staying
from adon.broker.flow import Flow
from adon.broker.scenario import Failure, Scenario, Supposed, apply_failure, scenarios
from adon.broker.world import World
from adon.flowvisor.selection.assessment import path_quality
from measurement.model import Metric, PathKey

NO_PATH = "none"
"""The quality of a flow without a path: its QSpec is broken whatever it says."""


@dataclass(frozen=True, slots=True)
class Affected:
    """What would become of one flow.

    :param to: its refuge; None if there is none.
    :param estimate: bits/s that it could expect there, where that is known.
    :param quality: ``met``, ``degraded``, ``unknown``, or :data:`NO_PATH`.
    """

    flow: str
    requester: str
    priority: int
    bound: float
    path: str
    to: str | None
    outcome: str
    q: float | None
    estimate: float | None
    quality: str
    why: str

    @property
    def breaks(self) -> bool:
        """Whether its QSpec would break."""
        return self.quality == NO_PATH


@dataclass(frozen=True, slots=True)
class Load:
    """The throughput bounds on one directed path, in bits/s, before and after."""

    key: PathKey
    capacity: float
    carries: float
    before: float
    after: float
    down: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What one failure would do."""

    scenario: Scenario
    paths: tuple[str, ...]
    flows: tuple[Affected, ...]
    loads: tuple[Load, ...]

    @property
    def broken(self) -> tuple[Affected, ...]:
        """The flows whose QSpec would break."""
        return tuple(flow for flow in self.flows if flow.breaks)

    @property
    def damage(self) -> tuple[int, int, int, int]:
        """For ranking: flows broken, their priorities, flows of unknown quality, flows moved."""
        unknown = sum(flow.quality == "unknown" for flow in self.flows)
        moved = sum(flow.to is not None for flow in self.flows)
        return len(self.broken), sum(flow.priority for flow in self.broken), unknown, moved

    @property
    def verdict(self) -> str:
        """``broken``, ``unknown`` or ``fine``."""
        broken, _, unknown, _ = self.damage
        return "broken" if broken else "unknown" if unknown else "fine"


def rehearse(world: World, scenario: Scenario, now: float) -> Report:
    """What would become of the flows that run now.

    :raises InvalidInput: for a name that the configuration does not have.
    """
    failed = apply_failure(world.network.topology, world.windows, scenario)
    cut = [flow for flow in world.flows.running() if _cut_off(flow, failed)]
    gone = {flow.number for flow in cut}
    hit = [f for f in world.flows.running() if f.number not in gone and f.path in failed.paths]
    fled = plan_evacuation(world, losses(world, hit, now, failed.paths), now, failed.paths)
    loads = _loads(world, cut, fled, failed, now)
    without = "queues" if scenario.failure is Failure.MAINTENANCE else "stays"
    affected = [
        *(_cut_flow(world, flow, _cut_off(flow, failed)) for flow in cut),
        *(_describe_affected(world, one, loads, without) for one in fled),
    ]
    return Report(scenario, tuple(failed.paths), tuple(affected), tuple(loads.values()))


# -- what becomes of flows and paths --------------------------------------------------------------------


def _cut_off(flow: Flow, failed: Supposed) -> str:
    ends = (flow.request.source, flow.request.destination)
    return next((failed.hosts[host] for host in ends if host in failed.hosts), "")


def _loads(
    world: World, cut: list[Flow], fled: tuple[Fled, ...], failed: Supposed, now: float
) -> dict[PathKey, Load]:
    """The paths that are left or fled to."""
    leaving = {flow.number for flow in cut} | {one.flow.number for one in fled}
    arriving: dict[PathKey, float] = {}
    for one in fled:
        if one.place.option is not None:
            key = one.place.option.key
            arriving[key] = arriving.get(key, 0.0) + world.flows.bound(one.flow)
    left = {PathKey(str(flow.path), *world.flows.ends(flow)) for flow in (*cut, *(one.flow for one in fled))}
    oldest = max((one.need.template.selection.max_age for one in fled), default=0.0)
    return {
        key: Load(
            key=key,
            capacity=world.network.topology.capacity_of(key.path) or 0.0,
            carries=0.0 if key.path in failed.paths else carries(world, key, now, oldest),
            before=staying(world, key),
            after=0.0 if key.path in failed.paths else staying(world, key, leaving) + arriving.get(key, 0.0),
            down=key.path in failed.paths,
        )
        for key in sorted(left | set(arriving), key=str)
    }


def _describe_affected(world: World, fled: Fled, loads: Mapping[PathKey, Load], without: str) -> Affected:
    flow, option = fled.flow, fled.place.option
    estimate, after = None, NO_PATH
    if option is not None:
        estimate = _estimate(world, fled, loads[option.key])
        after = _quality(fled, estimate, option.grade)
    return Affected(
        flow=flow.id,
        requester=flow.requester,
        priority=world.flows.priority(flow),
        bound=world.flows.bound(flow),
        path=str(flow.path),
        to=fled.path,
        outcome=without if option is None else "moves",
        q=None if option is None or option.grade is Grade.UNKNOWN else option.q,
        estimate=estimate,
        quality=after,
        why=fled.reason,
    )


def _cut_flow(world: World, flow: Flow, why: str) -> Affected:
    ours, bound = world.flows.priority(flow), world.flows.bound(flow)
    reason = f"{why}: no path leads around it"
    return Affected(
        flow.id, flow.requester, ours, bound, str(flow.path), None, "stays", None, None, NO_PATH, reason
    )


def _estimate(world: World, fled: Fled, load: Load) -> float | None:
    record = fled.choice.record(fled.path)
    metrics = () if record is None else record.metrics
    alone = next((m.value for m in metrics if m.metric == Metric.THROUGHPUT), None)
    if alone is None:
        return None
    return min(alone, load.carries - (load.after - world.flows.bound(fled.flow)))


def _quality(fled: Fled, estimate: float | None, grade: Grade) -> str:
    record = fled.choice.record(fled.path)
    if record is None or grade is not Grade.QUALIFIED:
        return "unknown"
    alone, target = path_quality(record, fled.need.qspec), fled.need.qspec.target(Metric.THROUGHPUT)
    short = target is not None and estimate is not None and estimate < target
    return "degraded" if alone == "met" and short else alone


# -- for the answer -------------------------------------------------------------------------------------


def as_json(report: Report) -> Mapping[str, object]:
    """A report as plain JSON values; rates in bits/s."""
    return {
        "failure": report.scenario.failure.value,
        "name": report.scenario.name,
        "verdict": report.verdict,
        "paths": list(report.paths),
        "broken": len(report.broken),
        "damage": list(report.damage),
        "flows": [_flow_json(flow) for flow in report.flows],
        "loads": [_load_json(load) for load in report.loads],
    }


def _flow_json(flow: Affected) -> Mapping[str, object]:
    same = (
        "flow",
        "requester",
        "priority",
        "bound",
        "path",
        "to",
        "outcome",
        "q",
        "estimate",
        "quality",
        "why",
    )
    return {name: getattr(flow, name) for name in same}


def _load_json(load: Load) -> Mapping[str, object]:
    ends = {"path": load.key.path, "source": load.key.source, "destination": load.key.destination}
    same = ("capacity", "carries", "before", "after", "down")
    return {**ends, **{name: getattr(load, name) for name in same}}


def answer_what_if(world: World, scenario: Scenario | None, now: float) -> Mapping[str, object]:
    """The answer to a question: what one failure would do, or with None which single failures there are.

    Who wants to know of all of them asks about one after the other: decisions go in between.

    :raises InvalidInput: as :func:`rehearse`.
    """
    if scenario is None:
        known = scenarios(world.network.topology)
        return {"at": now, "scenarios": [{"failure": one.failure.value, "name": one.name} for one in known]}
    return {"at": now, "items": [as_json(rehearse(world, scenario, now))]}
