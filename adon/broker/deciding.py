"""What is decided about one flow, from all that the broker knows; nothing is changed here.

Gathers the knowledge for :mod:`adon.broker.choice` (which path), :mod:`adon.flowvisor.selection` (move or
stay) and :mod:`adon.broker.preemption` (who gives way), and writes the result down as a
:class:`~adon.broker.decision.Decision`.  Sources: [ADON] 3.3, algorithm 2; spec sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from adon.broker import grading, limits
from adon.broker.alarms import Waived
from adon.broker.choice import Choice, Need, Situation, choose, held_back
from adon.broker.decision import Decision, Outcome
from adon.broker.events import AlarmCleared, AlarmRaised, Event
from adon.broker.flow import Flow, FlowState
from adon.broker.optimisation.placement import NOWHERE, Placement
from adon.broker.preemption import Holder, gives_way
from adon.broker.world import World
from adon.flowvisor.assessment import CandidateRecord
from adon.flowvisor.ladder import Granted
from adon.flowvisor.path import Layer
from adon.flowvisor.selection import MoveAdvice, hysteresis
from adon.flowvisor.topology import Candidate
from measurement.model import Measurement, Metric


def choose_path(
    world: World, flow: Flow, now: float, without: Mapping[str, str] = MappingProxyType({})
) -> tuple[Need, Choice]:
    """What a flow needs, and what is known of its candidates now.

    :param without: paths it may not have, and why.
    """
    kind = world.flows.kind(flow)
    s = situation(world, kind.ends, now)
    own = world.flows.counters(flow) if flow.state is FlowState.ACTIVE else None
    given_up = world.damping.given_up(flow.number)
    closed = world.windows.closed(world.network.topology, flow, world.flows.bound(flow), now)
    without = {**limits.closed(world, flow, kind.need, now), **closed, **given_up, **without}
    asks = replace(s, own=own, shunned={**s.shunned, **without})

    def finding(candidate: Candidate) -> CandidateRecord | None:
        path = candidate.path
        if candidate.key.path in without or (path and held_back(path, flow.path, flow.hosts, s.topology)):
            return None
        return world.memo.record(kind, candidate, s, world.performance)

    surveyed = world.memo.survey(kind, s, world.performance)
    return kind.need, choose(flow, kind.need, asks, surveyed, finding)


def situation(world: World, ends: tuple[str, str], now: float) -> Situation:
    """What is known now, for any flow between these sites."""
    return Situation(
        now=now,
        topology=world.network.topology,
        performance=world.performance,
        policy=world.configuration.policy,
        window=world.configuration.measurements.window,
        loads=world.flows.loads(ends),
        shunned={path: why for path, (until, why) in world.shunned.items() if until > now},
    )


def advise(
    flow: Flow,
    need: Need,
    choice: Choice,
    now: float,
    waived: Waived = Waived.NOTHING,
    dwell: float | None = None,
) -> MoveAdvice:
    """Whether a running flow should move to the best path there is (spec section 2, hysteresis).

    :param dwell: seconds that it stays on a path; the template's ``min_dwell`` if None.
    :param waived: without patience one miss is enough, the one that is seen now.
    """
    policy = need.template.selection
    patient, dwelling = waived is Waived.NOTHING, waived is not Waived.PATIENCE_AND_DWELL
    return hysteresis(
        choice.record(flow.path),
        choice.record(choice.selection.path),
        misses=flow.misses if patient else max(1, flow.misses),
        patience=policy.patience if patient else 1,
        margin=policy.switch_margin,
        dwelt=float("inf") if flow.path_since is None else now - flow.path_since,
        min_dwell=(policy.min_dwell if dwell is None else dwell) if dwelling else 0.0,
    )


def with_misses(flow: Flow, current: CandidateRecord | None, measured: Measurement | None) -> Flow:
    """Count consecutive measurements *of a metric whose bound is missed*: others neither add nor clear."""
    if measured is None or current is None or measured.key.path != flow.path:
        return flow
    missed = [metric.metric for metric in current.metrics if metric.bound_met is False]
    if measured.metric in missed:
        return replace(flow, misses=flow.misses + 1)
    return flow if missed else replace(flow, misses=0)


def giving_way(world: World, flow: Flow, need: Need, choice: Choice, now: float) -> Flow | None:
    """The running flow of the same slice whose place a new one may take.

    On a full layer-2 path (algorithm 2, P_min), or on the queue ladder of a port.
    """
    if not world.configuration.policy.preemption or need.qspec.throughput is None:
        return None
    falls = grading.falls(world, flow, choice)
    if falls is not None:
        return falls
    flows, layer2 = world.flows, {n: path for n, path in choice.paths.items() if path.layer is Layer.L2}
    since = now - world.configuration.measurements.window
    best = {n: world.performance.best([p.key], Metric.THROUGHPUT, since) for n, p in layer2.items()}
    holder = gives_way(
        flows.priority(flow),
        need.qspec.throughput.min,
        [
            Holder(other.number, flows.priority(other), str(other.path), flows.bound(other))
            for other in flows.alongside(flow)
            if other.path in layer2
            and other.slice == flow.slice  # another tenant's flow stays
            and other.state is FlowState.ACTIVE
            and not world.network.busy(other.id)
        ],
        choice.selection.records,
        {name: value for name, value in best.items() if value is not None},
    )
    return None if holder is None else flows.get(holder.number)


def decision_of(
    number: int,
    flow: Flow,
    need: Need,
    choice: Choice,
    outcome: Outcome,
    reason: str,
    event: Event,
    path: str | None = None,
    sites: Placement = NOWHERE,
    granted: Granted | None = None,
) -> Decision:
    """Write a decision down.

    :param number: which decision of this event it is, from 1.
    :param flow: the flow as it was before.
    :param path: the path it gets, if it gets one by this decision.
    :param granted: what the queue ladder gives it there.
    """
    return Decision(
        id=f"d-{event.id}.{number}",
        flow=flow.id,
        at=event.at,
        cause=event.id,
        outcome=outcome,
        path=flow.path if path is None and outcome is Outcome.STAY else path,
        previous_path=flow.path,
        reason=reason,
        template=need.template.reference,
        weights={metric.value: weight for metric, weight in need.weights.items()},
        candidates=choice.selection.records,
        tables={m.value: table.model_dump(mode="json") for m, table in choice.tables.items()},
        compute=sites.costs,
        compute_site=sites.site,
        forecast=sites.forecast if outcome is Outcome.ADMIT else None,
        starts=sites.starts if outcome is Outcome.QUEUE else None,
        alarm=event.alarm.id if isinstance(event, AlarmRaised | AlarmCleared) else None,
        slice=flow.slice,
        granted=granted,
    )
