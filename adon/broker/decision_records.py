"""What is decided about one flow, from all that the broker knows; nothing is changed here.

Gathers the knowledge for :mod:`adon.broker.choice` (which path), :mod:`adon.flowvisor.selection.selection`
(move or stay) and :mod:`adon.broker.preemption` (who gives way), and writes the result down as a
:class:`~adon.broker.decision.Decision`.  Sources: [ADON] 3.3, algorithm 2; spec sections 2 and 3.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from adon.broker import ladder_grants, limits
from adon.broker.alarms import Waived
from adon.broker.cause import cause_text
from adon.broker.choice import Choice, Need, Situation, choose, held_back
from adon.broker.decision import Decision, Outcome
from adon.broker.events import AlarmCleared, AlarmRaised, Event
from adon.broker.flow import Flow, FlowState
from adon.broker.optimisation.placement import NOWHERE, Placement
from adon.broker.preemption import Holder, Rivals, only_full, summed_up
from adon.broker.queueing import calendar, line_updates
from adon.broker.world import World
from adon.flowvisor.rules.queue_ladder import GrantRecord
from adon.flowvisor.selection.assessment import CandidateRecord
from adon.flowvisor.selection.selection import MoveAdvice, advise_reroute
from adon.flowvisor.topology.path import Layer
from adon.flowvisor.topology.topology import Candidate
from adon.reasons import Reason
from measurement.model import Measurement, Metric, PathKey


def choose_path(
    world: World, flow: Flow, now: float, without: Mapping[str, Reason] = MappingProxyType({})
) -> tuple[Need, Choice]:
    """What a flow needs, and what is known of its candidates now.

    :param without: paths it may not have, and why.
    """
    kind = world.flows.kind(flow)
    s = situation(world, kind.ends, now)
    own = world.flows.counters(flow) if flow.state is FlowState.ACTIVE else None
    given_up = world.damping.given_up(flow.number)
    closed = world.windows.closed_paths(world.network.topology, flow, world.flows.bound(flow), now)
    booked = calendar.closed_paths(world, flow, now)
    without = {**limits.closed_paths(world, flow, kind.need, now), **booked, **closed, **given_up, **without}
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
        shunned={
            path: Reason("path-held-down", why) for path, (until, why) in world.shunned.items() if until > now
        },
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
    return advise_reroute(
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


def rivals(
    world: World, flow: Flow, need: Need, choice: Choice, now: float, decided: Collection[int] = ()
) -> Rivals | None:
    """Return the running flows of the same slice that may give way; None if the policy permits no preemption.

    On a full layer-2 path (algorithm 2, P_min), or on the queue ladder of a port.

    :param decided: the flows that this event has led to a decision about.
    """
    if not world.configuration.policy.preemption or need.qspec.throughput is None:
        return None
    falls = ladder_grants.falls(world, flow, choice)
    if falls is not None and line_updates.before(world, flow, falls):
        return Rivals(_holder(world, falls), decided=frozenset({falls.number}.intersection(decided)))
    flows, layer2 = world.flows, {n: path for n, path in choice.paths.items() if path.layer is Layer.L2}
    full = [r.path for r in choice.selection.records if r.path in layer2 and only_full(r)]
    lowest = flows.lowest(flows.ends(flow))
    if not full or lowest is None or lowest >= flows.priority(flow):
        return Rivals()
    best = best_seen(world, [layer2[path].key for path in full], now)
    there = [other for other in flows.alongside(flow) if other.path in layer2]
    goes = _first_to_go(world, flow, there)
    holders = summed_up(
        _holder(world, other, may_go=other is goes)
        for other in there
        if goes is not None and other.path == goes.path
    )
    return Rivals(None, holders, best, frozenset({one.number for one in holders}.intersection(decided)))


def _first_to_go(world: World, newcomer: Flow, there: list[Flow]) -> Flow | None:
    """Of these the one of lowest priority, the youngest of several, that may lose its place at all."""
    by_number = {other.number: other for other in there}
    ordered = [(world.flows.priority(other), -other.number) for other in there]
    heapq.heapify(ordered)  # mostly the first may: the others need no order
    while ordered:
        other = by_number[-heapq.heappop(ordered)[1]]
        if _may_go(world, other, newcomer):
            return other
    return None


def _holder(world: World, flow: Flow, *, may_go: bool = True) -> Holder:
    return Holder(flow.number, world.flows.priority(flow), str(flow.path), world.flows.bound(flow), may_go)


def _may_go(world: World, holder: Flow, newcomer: Flow) -> bool:
    """Whether a running flow may lose its place to a new one.

    Not another tenant's, not one whose rules are being changed, not one with reserved bandwidth; and not one
    that arrived so much earlier that it would have its turn first by now: so it loses its place to few.
    """
    settled = holder.state is FlowState.ACTIVE and not world.network.busy(holder.id)
    ours = holder.slice == newcomer.slice and holder.booking is None
    return settled and ours and line_updates.before(world, newcomer, holder)


def best_seen(world: World, keys: Iterable[PathKey], now: float) -> dict[str, float]:
    """Per path name the best rate seen there in the archive's window, in bits/s, where one was seen."""
    since = now - world.configuration.measurements.window
    found = {key.path: world.performance.best([key], Metric.THROUGHPUT, since) for key in keys}
    return {name: value for name, value in found.items() if value is not None}


def decision_of(
    number: int,
    flow: Flow,
    need: Need,
    choice: Choice,
    outcome: Outcome,
    reason: Reason,
    event: Event,
    path: str | None = None,
    sites: Placement = NOWHERE,
    granted: GrantRecord | None = None,
    trigger: str | None = None,
) -> Decision:
    """Write a decision down.

    :param number: which decision of this event it is, from 1.
    :param flow: the flow as it was before.
    :param path: the path it gets, if it gets one by this decision.
    :param granted: what the queue ladder gives it there.
    :param trigger: what of its template's triggers led to it.
    """
    return Decision(
        id=f"d-{event.id}.{number}",
        flow=flow.id,
        at=event.at,
        cause=event.id,
        outcome=outcome,
        path=flow.path if path is None and outcome is Outcome.STAY else path,
        previous_path=flow.path,
        code=reason.code,
        reason=reason.text,
        template=need.template.reference,
        weights={metric.value: weight for metric, weight in need.weights.items()},
        candidates=choice.selection.records,
        tables={m.value: table.model_dump(mode="json") for m, table in choice.tables.items()},
        compute=sites.costs,
        compute_site=sites.site,
        forecast=sites.forecast if outcome is Outcome.ADMIT else None,
        alarm=event.alarm.id if isinstance(event, AlarmRaised | AlarmCleared) else None,
        slice=flow.slice,
        granted=granted,
        trigger=trigger,
        cause_text=cause_text(event),
    )
