"""Who shares a path with a flow that is to begin there: gathered from the broker's state, nothing changed.

What is made of it is in :mod:`adon.broker.forecasting.sharing`.  Two things are put right on the way.
Counters count frames, of which TCP delivers ``PAYLOAD``.  And they are some seconds old: how many is told
with what was left then.

Of a crowd the :data:`MOST` who are done first are told one by one, the others as one: what happens after so
many ends matters little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from adon.broker.choice import Need
from adon.broker.flow import Flow
from adon.broker.forecasting.sharing import PAYLOAD, Beside, Coming, Company
from adon.broker.world import World
from measurement.model import PathKey

MOST = 32
"""So many who are there, and so many who wait, are told one by one."""

AHEAD = 200
"""So many of the line are looked at."""


def company_of(world: World, flow: Flow, need: Need, key: PathKey, now: float) -> Company:
    """Who is on a directed path, and who waits for it, beside a flow that is to begin there."""
    load = world.flows.loads((key.source, key.destination)).get(key.path)
    numbers = () if load is None else load.numbers
    others = [world.flows.get(number) for number in numbers if number != flow.number]
    return Company(
        _at_most(_beside(world, other, now) for other in others if other is not None),
        _coming(world, flow, key),
        _busy(world, flow, need, key),
        world.estimates.usual(key, now),
    )


def _beside(world: World, other: Flow, now: float) -> Beside:
    counted, since = (
        world.flows.counters(other).arrived,
        now if other.path_since is None else other.path_since,
    )
    at, delivered = (since, other.bytes_delivered) if counted is None else counted
    arrived = max(delivered, other.bytes_delivered) * PAYLOAD
    if other.bytes_reported is not None and other.bytes_reported > arrived:
        at, arrived = now, other.bytes_reported  # by its own report, which is newer
    left = max(0.0, (other.transfer_size or other.request.size) - arrived) * 8
    return Beside(left, world.flows.need(other).streams, since, max(0.0, now - max(since, at)))


def _at_most(found: Iterable[Beside]) -> tuple[Beside, ...]:
    ordered = sorted(found, key=lambda one: one.bits / one.streams)
    if len(ordered) <= MOST:
        return tuple(ordered)
    rest = ordered[MOST - 1 :]
    bits, streams = math.fsum(one.bits for one in rest), sum(one.streams for one in rest)
    together = Beside(bits, streams, min(one.since for one in rest), min(one.ago for one in rest))
    return (*ordered[: MOST - 1], together)


def _coming(world: World, flow: Flow, key: PathKey) -> tuple[Coming, ...]:
    """Those in line who lack nothing but room, and have most of it on this path."""
    if not world.line.wanted:
        return ()
    found = list[Coming]()
    for number in world.line.front(AHEAD):
        other, those = world.flows.get(number), world.line.alike(number)
        if other is None or those is None or number == flow.number or those.wants != key:
            continue
        found.append(brings(world, other))
        if len(found) == MOST:
            break
    return tuple(found)


def brings(world: World, flow: Flow) -> Coming:
    """What a flow brings to the path that it gets."""
    need, bound = world.flows.need(flow), world.flows.bound(flow)
    return Coming(flow.left * 8.0, need.streams, need.qspec.streams, bound)


def _busy(world: World, flow: Flow, need: Need, key: PathKey) -> float:
    """The share of the time in which our throughput test will run on this path."""
    if _too_full_to_test(world, flow, need, key):
        return 0.0
    return min(1.0, math.fsum(duration / period for period, duration in tests_of(world, key)))


def tests_of(world: World, key: PathKey) -> list[tuple[float, float]]:
    """Of the throughput tests planned on a directed path the period and the duration, in seconds."""
    return [
        (test.throughput_period, test.throughput_duration)
        for test in world.configuration.measurements.tests
        if test.key == key and test.throughput_period is not None
    ]


def _too_full_to_test(world: World, flow: Flow, need: Need, key: PathKey) -> bool:
    """Whether, with this flow, so much of the path is reserved that it is not tested any more."""
    most, capacity = (
        world.configuration.policy.no_test_above_reserved,
        world.network.topology.capacity_of(key.path),
    )
    load, bound = world.flows.loads((key.source, key.destination)).get(key.path), need.qspec.throughput
    if most is None or capacity is None:
        return False
    reserved = 0.0 if load is None else load.reserved - load.numbers.get(flow.number, 0.0)
    return reserved + (0.0 if bound is None else bound.min) > most * capacity
