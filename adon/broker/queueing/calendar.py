"""What of a directed path is taken when: by who runs, by flows and people who have reserved, by maintenance.

A running flow takes its throughput bound (or what it has reserved, if that is more) until all is moved at
this rate; a flow without a bound has no right to any rate and takes nothing.  A booking takes its rate from
its begin to its end.  Two things are kept apart by it:

- what is reserved in advance, all together and with who runs, is never more than the *reservable* part of
  what the path carries (:mod:`adon.broker.queueing.window_search`);
- a flow with a bound that has reserved nothing is not admitted where it would still be running when reserved
  bandwidth, what runs and its own bound exceed what the path carries (:func:`closed_paths`).

So what was granted can begin, if the network carries then what it carried when it was granted.  What a path
carries is its configured capacity, or less where the best test of the archive's window says so.

Rates in whole bits/s, needs rounded up and room rounded down, so that sums are exact.
"""

from __future__ import annotations

import math

from adon.broker.flow import Flow
from adon.broker.maintenance import Stage, forecast_end, paths_of
from adon.broker.resources.amounts import Place
from adon.broker.world import World
from adon.errors import NotFound
from adon.reasons import Reason
from adon.step_function import Span, StepFunction, round_down, round_up, sum_of_spans
from adon.timestamps import format_minutes
from adon.units import format_rate
from measurement.model import Metric, PathKey


def carries(world: World, key: PathKey, now: float) -> int:
    """What a directed path carries, in whole bits/s."""
    capacity = world.network.topology.capacity_of(key.path) or 0.0
    since = now - world.configuration.measurements.window
    best = world.performance.best([key], Metric.THROUGHPUT, since)
    return round_down(capacity if best is None else min(capacity, best))


def standing(world: World, key: PathKey, now: float) -> list[Span]:
    """What the flows take that run on a directed path, as long as they are expected to."""
    load = world.flows.loads((key.source, key.destination)).get(key.path)
    found = []
    for number in () if load is None else load.numbers:
        flow = world.flows.get(number)
        rate = 0.0 if flow is None else right_of(world, flow)
        if flow is not None and rate > 0:
            found.append(Span(now, now + flow.left * 8 / rate, round_up(rate)))
    return found


def right_of(world: World, flow: Flow) -> float:
    """What a running flow may count on, in bits/s: its bound, or what it has reserved on its path."""
    booked = flow.booking
    reserved = booked.rate if booked is not None and booked.path == flow.path else 0.0
    return max(world.flows.bound(flow), reserved)


def committed_bandwidth(world: World, key: PathKey, now: float) -> StepFunction[int]:
    """All that is taken of a directed path from now on; in maintenance it is all taken."""
    full = max(1, carries(world, key, now))
    outages = [Span(begins, ends, full) for begins, ends in _outages(world, key.path, now)]
    kept = [
        Span(max(now, one.begins), one.ends, one.amounts.bandwidth)
        for one in world.ledger.along(Place.along(key))
        if one.ends > now
    ]
    return sum_of_spans([*world.bookings.on(key), *standing(world, key, now), *outages, *kept])


def _outages(world: World, path: str, now: float) -> list[tuple[float, float]]:
    found = []
    for window in world.windows:
        try:
            hit = path in paths_of(world.network.topology, window.scope, window.name)
        except NotFound:
            hit = False
        if hit and window.stage(now) is not Stage.OVER:
            found.append((window.begins, window.ends))
    return found


def closed_paths(world: World, flow: Flow, now: float) -> dict[str, Reason]:
    """The paths on which a flow would be in the way of what others have reserved, each with the reason.

    Its own path it may keep, and what it has reserved is its own.
    """
    if not len(world.bookings):
        return {}
    bound = world.flows.bound(flow)
    if bound <= 0:
        return {}
    end, found = forecast_end(flow, bound, now), {}
    for candidate in world.network.topology.between(*world.flows.ends(flow)):
        key = candidate.key
        if key.path in (flow.path, _own(flow, now)) or not world.bookings.any_on(key):
            continue
        full = fills_up(world, key, bound, now, flow.number)
        if full < end:
            words = f"reserved for others: from {format_minutes(full)} on it has no capacity"
            found[key.path] = Reason("reserved", f"{words} for {format_rate(bound)}")
    return found


def _own(flow: Flow, now: float) -> str | None:
    """The path that a flow has reserved, once its time has begun."""
    booked = flow.booking
    return booked.path if booked is not None and booked.begins <= now < booked.ends else None


def fills_up(world: World, key: PathKey, bound: float, now: float, number: int) -> float:
    """When what is reserved on a path leaves no room for a flow of this bound; infinite if never.

    :param number: of the flow, whose own booking does not count.
    """
    load = world.flows.loads((key.source, key.destination)).get(key.path)
    own = world.bookings.holds(number)
    stamp = (now, world.bookings.version, 0 if load is None else load.version, world.performance.of(key))
    what = (key, bound, number if own else 0)
    return world.bookings.cached(what, stamp, lambda: _fills_up(world, key, bound, now, number))


def _fills_up(world: World, key: PathKey, bound: float, now: float, number: int) -> float:
    booked = world.bookings.on(key, number)
    reserved = sum_of_spans(booked)
    everything = sum_of_spans([*booked, *standing(world, key, now)])
    left = carries(world, key, now) - round_up(bound)
    at = now
    while True:
        at = everything.exceeds(left, at)
        if math.isinf(at) or reserved.at(at) > 0:
            return at
        # Full of who runs, and nothing is reserved then: measurements say whether there is room.
        at = reserved.exceeds(0, at)
        if math.isinf(at):
            return at
