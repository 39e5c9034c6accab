"""From a flow to its place in the line, kept up to date as flows come, wait and go."""

from __future__ import annotations

import math
from collections.abc import Hashable

from adon.broker import using
from adon.broker.flow import Flow, FlowState
from adon.broker.queueing.line import Line
from adon.broker.queueing.turns import Phase, Position, Rules, Waiter, phase, turn
from adon.broker.scheduler import arrived
from adon.broker.world import World
from adon.config import Policy
from measurement.model import Metric, PathKey


def line_of(policy: Policy) -> Line:
    """An empty line with the order that the policy wants."""
    queue = policy.queue
    return Line(Rules(policy.aging, queue.hurry, queue.slack), queue.weights)


def group_of(flow: Flow, policy: Policy) -> str:
    """Who shares with the other groups: its slice, or its requester."""
    if policy.queue.groups == "requester":
        return flow.requester
    return "" if flow.slice is None else flow.slice


def listened(world: World, flow: Flow) -> None:
    """A flow begins or ceases to wait, or waits for something else."""
    if flow.state is not FlowState.QUEUED:
        world.line.drop(flow.number)
        world.bookings.drop(flow.number)
        return
    if flow.booking is None:
        world.bookings.drop(flow.number)
    else:
        key = PathKey(flow.booking.path, *world.flows.ends(flow))
        world.bookings.put(flow.number, key, flow.booking)
    world.line.put(waiter_of(world, flow), flow.state_since)


def charged(world: World, flow: Flow) -> None:
    """A flow is admitted: its group is charged for what it has to move still."""
    world.line.shares.served(group_of(flow, world.configuration.policy), flow.left)


def refunded(world: World, flow: Flow) -> None:
    """A flow loses its path, or ends, before it has moved all: its group gets back what is left."""
    world.line.shares.unserved(group_of(flow, world.configuration.policy), flow.left)


def waiter_of(world: World, flow: Flow) -> Waiter:
    """What decides about a flow's place."""
    bound, bits = world.flows.bound(flow), flow.left * 8
    bounded = bits / bound if bound > 0 else math.inf
    booking = flow.booking
    return Waiter(
        number=flow.number,
        group=group_of(flow, world.configuration.policy),
        priority=world.flows.priority(flow),
        arrived=arrived(flow),
        size=flow.left,
        lasts=bounded if bound > 0 else _expected(world, flow, bits),
        bounded=bounded,
        alike=alike(world, flow),
        ends=world.flows.ends(flow),
        not_before=-math.inf if flow.not_before is None else flow.not_before,
        deadline=math.inf if flow.deadline is None else flow.deadline,
        begins=math.inf if booking is None else booking.begins,
        until=math.inf if booking is None else booking.ends,
    )


def _expected(world: World, flow: Flow, bits: float) -> float:
    """How long a transfer without a throughput bound may take, by the best that was seen of its paths."""
    candidates = world.network.topology.between(*world.flows.ends(flow))
    since = flow.state_since - world.configuration.measurements.window
    best = world.performance.best([one.key for one in candidates], Metric.THROUGHPUT, since)
    if best is None:
        known = (world.network.topology.capacity_of(one.key.path) for one in candidates)
        best = max((capacity for capacity in known if capacity is not None), default=0.0)
    return bits / best if best > 0 else math.inf


def alike(world: World, flow: Flow) -> Hashable:
    """Flows that are equal in this are admitted or refused by the same facts, but for their :class:`Fate`.

    What they need of which paths (the kind), with which rights (priority, group, slice), how many rules they
    would get, and which paths they have given up.  Their sizes are not in it: what a site has free, and
    what a path carries, does not depend on how much is to be moved.
    """
    tenant = None if flow.slice is None else world.configuration.slices.get(flow.slice)
    by_port = tenant is not None and any(space.paths for space in tenant.flowspace)
    return (
        world.flows.kind(flow),
        world.flows.priority(flow),
        group_of(flow, world.configuration.policy),
        flow.slice,
        using.rights(world, flow),
        flow.tuples if by_port else len(flow.tuples),
        bool(flow.request.ports),
        flow.aggregated,
        flow.unannounced,
        frozenset(world.damping.given_up(flow.number)),
        flow.number if flow.booking is not None else 0,
    )


def place_of(world: World, flow: Flow, now: float) -> tuple[str, Position]:
    """A flow's group and its position there, as if it waited."""
    waiter = world.line.waiter(flow.number)
    if waiter is None:
        waiter = waiter_of(world, flow)
    rules = world.line.rules
    how = phase(waiter, now, rules)
    return waiter.group, turn(waiter, Phase.CALM if how is Phase.DUE else how, rules)


def before(world: World, flow: Flow, other: Flow) -> bool:
    """Whether a flow would have its turn before another by priority and age alone, running or not."""
    return _aged(world, flow) < _aged(world, other)


def _aged(world: World, flow: Flow) -> float:
    return arrived(flow) - world.line.rules.aging * world.flows.priority(flow)


def restored(world: World) -> None:
    """After a restart: the flows that run are what their groups have been served."""
    for flow in world.flows.running():
        charged(world, flow)
