"""Starvation bound for queued flows: after a time, a flow claims the path or site that it waits for.

A small flow can be admitted while a larger flow that precedes it in the queue waits for capacity.  Repeated,
this starves the larger flow.  A flow therefore *claims* a path or compute site if it lacks only capacity
there and arrived at least ``overtaken_for`` seconds ago.  No later flow in the queue is admitted to that path
(or gets worker nodes of that site).  This is the reservation for the head of the queue of EASY backfilling
(Lifka, *The ANL/IBM SP Scheduling System*, 1995), without backfilling by predicted end times, because
predictions for transfers are not accurate enough.

**The bound.**  Let a flow wait from its arrival s on for capacity of path P only.  Each flow that is admitted
to P after s + ``overtaken_for`` and before this flow precedes it in the queue.  So it did not arrive after
:func:`~adon.broker.queueing.turns.safe_from`.  Proof.  At each trial after that time, this flow or one that
precedes it claims P.  The flow that is tried is kept off P unless it precedes the claimant.  ∎

Only capacity can be claimed.  A path that is down, unknown, or misses another bound cannot be claimed, nor
can what a slice or the queue hierarchy refuses.  There, a smaller flow may start as long as the limit holds.
A path can be claimed only if it has carried the needed rate before; otherwise the claim of a flow that can
never start would block all others.  A reroute ignores claims, because the running flow was admitted before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adon.broker.decision_records import best_seen
from adon.broker.flow import Flow
from adon.broker.preemption import only_full
from adon.broker.queueing.line import Alike, Resource
from adon.broker.queueing.line_updates import place_of
from adon.broker.queueing.refusal import NONE, Kept
from adon.broker.queueing.trial import Trial
from adon.broker.queueing.turns import Position
from adon.broker.resources.amounts import Amounts
from adon.broker.world import World
from adon.flowvisor.selection.assessment import CandidateRecord
from adon.reasons import Reason
from measurement.model import Metric, PathKey


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims something.

    :param place: its position in the queue; later flows are kept off.
    """

    place: Position
    number: int
    resource: Resource

    @property
    def name(self) -> str:
        """The path's or the site's."""
        return self.resource.path if isinstance(self.resource, PathKey) else self.resource


def claimants(world: World, ends: tuple[str, str], now: float) -> tuple[Claimant, ...]:
    """Per path between two sites, and per compute site, the first in line who claims it."""
    if not world.line.has_claims:
        return ()
    found = []
    resources: list[Resource] = [one.key for one in world.network.topology.between(*ends)]
    resources += world.ledger.sites
    for resource in resources:
        rivals = [
            Claimant(those.positions[0], number, resource)
            for those in world.line.wanting(resource)
            if (number := claims(world, those, now)) is not None
        ]
        if rivals:
            found.append(min(rivals, key=lambda one: one.place))
    return tuple(found)


def kept_from(found: Iterable[Claimant], own: Position) -> Kept:
    """Return what claims of earlier flows withhold from this position of the queue."""
    before = [one for one in found if one.place < own]
    if not before:
        return NONE
    words = {one.name: f"it is claimed by f-{one.number}, which precedes it in the queue" for one in before}
    paths = {
        one.name: Reason("path-kept", words[one.name]) for one in before if isinstance(one.resource, PathKey)
    }
    sites = {one.name: words[one.name] for one in before if not isinstance(one.resource, PathKey)}
    return Kept(paths, sites, tuple((one.name, one.number) for one in before))


def kept_from_flow(world: World, flow: Flow, now: float) -> Kept:
    """What is kept for others from a flow that waits, or wants in."""
    found = claimants(world, world.flows.ends(flow), now)
    if not found:
        return NONE
    return kept_from(found, place_of(world, flow, now))


def claims(world: World, those: Alike, now: float) -> int | None:
    """Who of some that are alike claims what they want: the first, if it has waited long enough."""
    return those.positions[0][1] if those.wants is not None and has_waited(world, those, now) else None


def has_waited(world: World, those: Alike, now: float) -> bool:
    """Return whether the first of equal flows has waited so long that no later flow may overtake it."""
    waiter = world.line.waiter(those.positions[0][1])
    longest = world.configuration.policy.queue.overtaken_for
    return waiter is not None and now - waiter.arrived >= longest


def missing_resource(world: World, trial: Trial, now: float, until_now: Resource | None) -> Resource | None:
    """What a refused flow lacks room of, and nothing else; None if it lacks anything else.

    :param until_now: what it has wanted so far: of several paths it wants the same one as long as it can.
    """
    if trial.by_site:
        return _site(world, trial)
    if trial.alone:
        return None
    throughput = trial.need.qspec.throughput
    if throughput is None:
        return None
    ends = world.flows.ends(trial.flow)
    full = [record for record in trial.choice.selection.records if only_full(record)]
    best = best_seen(world, [PathKey(record.path, *ends) for record in full], now)
    fitting = [record for record in full if best.get(record.path, 0.0) >= throughput.min]
    if not fitting:
        return None
    same = (one for one in fitting if PathKey(one.path, *ends) == until_now)
    nearest = next(same, max(fitting, key=_throughput))
    return PathKey(nearest.path, *ends)


def _throughput(record: CandidateRecord) -> float:
    value = next((one.value for one in record.metrics if one.metric == Metric.THROUGHPUT), None)
    return 0.0 if value is None else value


def _site(world: World, trial: Trial) -> str | None:
    """The cheapest site that would do, had it enough of its worker nodes free."""
    asked = trial.need.template.rspec.compute
    nodes = (1 if asked is None else asked.worker_nodes) + world.configuration.policy.reserve_nodes
    needed, books, ends = Amounts(nodes=nodes), world.ledger.sites, world.flows.ends(trial.flow)
    fitting = [
        cost
        for cost in trial.sites.costs
        if cost.cost < float("inf") and cost.campus in ends and books[cost.site].limits.holds(needed)
    ]
    return min(fitting, key=lambda cost: (cost.cost, cost.site)).site if fitting else None
