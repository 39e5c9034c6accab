"""From a flow to its place in the line, kept up to date as flows come, wait and go."""

from __future__ import annotations

import math
from collections.abc import Hashable

from adon.broker import use_grants
from adon.broker.flow import Flow, FlowState
from adon.broker.queueing.line import Line
from adon.broker.queueing.turns import Phase, Position, Rules, Waiter, phase, turn
from adon.broker.scheduler import queued_since
from adon.broker.world import World
from adon.config.policy import Policy
from measurement.model import Metric, PathKey


def line_of(policy: Policy) -> Line:
    """An empty line with the order that the policy wants."""
    queue = policy.queue
    return Line(Rules(policy.aging, queue.hurry, queue.slack))


def update_line(world: World, flow: Flow) -> None:
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


def waiter_of(world: World, flow: Flow) -> Waiter:
    """What decides about a flow's place."""
    bound, bits = world.flows.bound(flow), flow.left * 8
    bounded = bits / bound if bound > 0 else math.inf
    booking = flow.booking
    return Waiter(
        number=flow.number,
        priority=world.flows.priority(flow),
        arrived=queued_since(flow),
        lasts=bounded if bound > 0 else _expected_duration(world, flow, bits),
        bounded=bounded,
        alike=alike(world, flow),
        ends=world.flows.ends(flow),
        not_before=-math.inf if flow.not_before is None else flow.not_before,
        deadline=math.inf if flow.deadline is None else flow.deadline,
        begins=math.inf if booking is None else booking.begins,
        until=math.inf if booking is None else booking.ends,
    )


def _expected_duration(world: World, flow: Flow, bits: float) -> float:
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

    What they need of which paths (the kind), with which rights (priority, slice), how many rules they
    would get, and which paths they have given up.  Their sizes are not in it: what a site has free, and
    what a path carries, does not depend on how much is to be moved.
    """
    tenant = None if flow.slice is None else world.configuration.slices.get(flow.slice)
    by_port = tenant is not None and any(space.paths for space in tenant.flowspace)
    return (
        world.flows.kind(flow),
        world.flows.priority(flow),
        flow.slice,
        use_grants.rights(world, flow),
        flow.tuples if by_port else len(flow.tuples),
        bool(flow.request.ports),
        flow.aggregated,
        flow.unannounced,
        frozenset(world.damping.given_up(flow.number)),
        flow.number if flow.booking is not None else 0,
    )


def place_of(world: World, flow: Flow, now: float) -> Position:
    """A flow's position in the line, as if it waited."""
    waiter = world.line.waiter(flow.number)
    if waiter is None:
        waiter = waiter_of(world, flow)
    rules = world.line.rules
    how = phase(waiter, now, rules)
    return turn(waiter, Phase.CALM if how is Phase.DUE else how, rules)


def before(world: World, flow: Flow, other: Flow) -> bool:
    """Whether a flow would have its turn before another by priority and age alone, running or not."""
    return _aged_since(world, flow) < _aged_since(world, other)


def _aged_since(world: World, flow: Flow) -> float:
    return queued_since(flow) - world.line.rules.aging * world.flows.priority(flow)
