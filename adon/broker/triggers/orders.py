"""What the triggers of running flows want of circuits: one standing order per directed path ([ADON] 3.3).

Each flow keeps which capacity its trigger wants of the path that it was on then.  Together they want the
largest of those that are above what there is; less only if every flow there can do with less.  Once the
circuit has it nothing is wanted any more; a flow that ends or moves wants nothing of the path either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adon.broker.flow import Flow
from adon.broker.world import World
from adon.flowvisor.circuits import Order
from measurement.model import PathKey


@dataclass(frozen=True, slots=True)
class Standing:
    """What is wanted of one directed path now.

    :param capacity: bits/s.
    :param flows: the ids of the flows that want it.
    """

    capacity: float
    flows: tuple[str, ...]


def standing(world: World, key: PathKey) -> Standing | None:
    """What the flows on a directed path want of its circuit; None if it is right as it is."""
    capacity = world.network.topology.capacity_of(key.path)
    there = [one for one in world.flows.groups((key.source, key.destination)) if one.path == key.path]
    found: dict[str, float] = {}
    for group in there:
        if group.kind.need.template.triggers:  # of all others, which may be thousands, nobody wants anything
            found |= _wanted(world, sorted(group.numbers), key.path)
    if capacity is None or not found:
        return None
    more = {flow: wanted for flow, wanted in found.items() if wanted > capacity}
    if more:
        return Standing(max(more.values()), tuple(more))
    if len(found) < sum(len(group.numbers) for group in there) or max(found.values()) >= capacity:
        return None
    return Standing(max(found.values()), tuple(found))


def _wanted(world: World, numbers: Iterable[int], path: str) -> dict[str, float]:
    """Which of these flows want which capacity of a path."""
    flows = (world.flows.get(number) for number in numbers)
    asked = {flow.id: flow.triggered.wanted_of(path) for flow in flows if flow is not None}
    return {flow: wanted for flow, wanted in asked.items() if wanted is not None}


def place_of(world: World, flow: Flow) -> PathKey:
    """The directed path that a flow is on."""
    return PathKey(str(flow.path), *world.flows.ends(flow))


def order(world: World, key: PathKey, wanted: Standing | None) -> Order | None:
    """The order for whoever provides the circuit; None for a path whose capacity nobody knows."""
    capacity = world.network.topology.capacity_of(key.path) if wanted is None else wanted.capacity
    if capacity is None:
        return None
    found = world.network.topology.between(key.source, key.destination)
    vlan = next((one.path.vlan for one in found if one.key == key and one.path is not None), None)
    return Order(key.path, key.source, key.destination, vlan or 0, capacity)
