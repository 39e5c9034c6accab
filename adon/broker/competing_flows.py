"""The flows that share a path with a flow that is to begin there.

Counters count frames, of which TCP delivers ``PAYLOAD``.  They are some seconds old, so each flow has the
time at which it was counted.  :mod:`adon.broker.forecasting.shared_path` uses them.
"""

from __future__ import annotations

import math

from adon.broker.flow import Flow
from adon.broker.forecasting.shared_path import PAYLOAD, CompetingFlow
from adon.broker.world import World
from measurement.model import PathKey

MOST = 32
"""Flows of which each is listed: those with the least left; the others are one."""


def competing_flows(world: World, flow: Flow, key: PathKey, now: float) -> tuple[CompetingFlow, ...]:
    """Return the flows on a directed path, without the flow that asks."""
    load = world.flows.loads((key.source, key.destination)).get(key.path)
    numbers = () if load is None else load.numbers
    others = [world.flows.get(number) for number in numbers if number != flow.number]
    found = [_competing_flow(world, other, now) for other in others if other is not None]
    ordered = sorted(found, key=lambda one: one.bits / one.streams)
    if len(ordered) <= MOST:
        return tuple(ordered)
    rest = ordered[MOST - 1 :]
    bits, streams = math.fsum(one.bits for one in rest), sum(one.streams for one in rest)
    together = CompetingFlow(bits, streams, min(one.since for one in rest), min(one.ago for one in rest))
    return (*ordered[: MOST - 1], together)


def _competing_flow(world: World, other: Flow, now: float) -> CompetingFlow:
    counted = world.flows.counters(other).arrived
    since = now if other.path_since is None else other.path_since
    at, delivered = (since, other.bytes_delivered) if counted is None else counted
    arrived = max(delivered, other.bytes_delivered) * PAYLOAD
    if other.bytes_reported is not None and other.bytes_reported > arrived:
        at, arrived = now, other.bytes_reported  # by its own report, which is newer
    left = max(0.0, (other.transfer_size or other.request.size) - arrived) * 8
    return CompetingFlow(left, world.flows.need(other).streams, since, now - max(since, at))
