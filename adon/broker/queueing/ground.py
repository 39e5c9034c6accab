"""What a refusal rests on now, gathered from what the broker knows (:mod:`adon.broker.queueing.refusal`)."""

from __future__ import annotations

import math
from collections.abc import Hashable

from adon.broker.flow import Flow
from adon.broker.maintenance import Stage, forecast_end
from adon.broker.memo import good_until
from adon.broker.preemption import only_full
from adon.broker.queueing import calendar
from adon.broker.queueing.refusal import Ground, Refusal
from adon.broker.queueing.trial import Trial
from adon.broker.resources import paths
from adon.broker.world import World
from adon.flowvisor.topology.path import Layer

_HOUR_S = 3600.0


def ground(world: World, ends: tuple[str, str], now: float, *, limited: bool) -> Ground:
    """What refusals between two sites rest on now.

    :param limited: whether other limits may apply (:func:`adon.broker.limits.is_limited`).
    """
    keys = [candidate.key for candidate in world.network.topology.between(*ends)]
    loads = world.flows.loads(ends)
    shunned = world.shunned
    return Ground(
        topology=world.network.topology,
        performance=world.performance,
        heard=sum(world.performance.of(key) for key in keys),
        loads=sum(loads[key.path].version for key in keys if key.path in loads),
        shunned=tuple(key.path for key in keys if key.path in shunned and shunned[key.path][0] > now),
        hour=math.floor((now - world.configuration.measurements.window) / _HOUR_S),
        limited=limited,
    )


def reach(world: World, flow: Flow, now: float) -> Hashable:
    """The maintenance windows and the reservations that a flow would run into, if it began now."""
    windows: tuple[int, ...] = ()
    if any(True for _ in world.windows):
        end = forecast_end(flow, world.flows.bound(flow), now)
        windows = tuple(
            window.number
            for window in world.windows
            if end >= window.begins and window.stage(now) is not Stage.OVER
        )
    booked = tuple(calendar.closed_paths(world, flow, now)) if len(world.bookings) else ()
    kept = tuple(paths.closed_paths(world, flow, now))
    # What is reserved of sites is for somebody, and for a time: whom it keeps off differs from flow to flow.
    alone = flow.number if world.ledger.reserved and world.flows.need(flow).template.cost is not None else 0
    return (windows, booked, kept, alone) if windows or booked or kept or alone else ()


def reaching(world: World) -> bool:
    """Whether :func:`reach` may differ between flows that are alike."""
    reserved = world.ledger.reserved or bool(world.ledger.elsewhere)
    return reserved or len(world.bookings) > 0 or any(True for _ in world.windows)


def alongside(world: World, ends: tuple[str, str]) -> Hashable:
    """Who runs between two sites, and whose rules are being changed: who of them could give way."""
    flows = (world.flows.owner(owner) for owner in world.network.changing())
    busy = frozenset(flow.number for flow in flows if flow is not None and world.flows.ends(flow) == ends)
    return (world.flows.version(ends), busy)


def instant(world: World, event: str) -> Hashable:
    """What has to be the same where a refusal does not outlast the event."""
    return (event, world.flows.moved)


def refusal_of(world: World, trial: Trial, on: Ground, event: str) -> Refusal:
    """A trial that ended in a refusal, with what that rests on."""
    flow, records = trial.flow, trial.choice.selection.records
    passing = trial.passing or trial.by_site or flow.slice is not None or flow.booking is not None
    kind = world.flows.kind(flow)
    contested = (
        world.configuration.policy.preemption
        and trial.need.qspec.throughput is not None
        and any(record.layer == Layer.L2.value and only_full(record) for record in records)
    )
    return Refusal(
        ground=on,
        until=min((good_until(record, kind) for record in records), default=math.inf),
        token=token(trial),
        alongside=alongside(world, kind.ends) if contested else None,
        instant=instant(world, event) if passing or on.limited else None,
    )


def token(trial: Trial) -> Hashable:
    """The verdicts of a refusal, without values and ages."""
    return tuple(
        (
            record.path,
            record.verdict,
            tuple(one.metric for one in record.metrics if one.bound_met is False or one.unknown),
        )
        for record in trial.choice.selection.records
    )
