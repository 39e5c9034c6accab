"""The overlays' paths follow the network: computed anew when links come and go, saved before any rule.

What should be is :func:`adon.flowvisor.topology.overlay.replan`; here it is asked whenever ports, switches or
discovered links changed, told which circuits flows are on, and its answer becomes the topology's.
"""

from __future__ import annotations

from dataclasses import replace

from adon.broker.effects import Announce, Effect, SaveCircuits
from adon.broker.events import Event
from adon.broker.flow import Flow
from adon.broker.world import World
from adon.flowvisor.topology.overlay import replan
from adon.flowvisor.topology.topology import Topology


def follow_network(world: World, event: Event) -> list[Effect]:
    """Bring the topology's links and circuits up to date with what is known of the network."""
    topology = _with_links(world)
    if not topology.configuration.overlays and not topology.overlay_paths.circuits:
        return []
    world.network.topology = topology
    in_use = frozenset(flow.path for flow in world.flows.running() if flow.path is not None)
    found = replan(topology.overlay_paths, topology.graph, topology.configuration, in_use, world.routes)
    effects: list[Effect] = []
    if set(found.refused) != world.refused_circuits:
        world.refused_circuits = set(found.refused)
        effects += [
            Announce(event.id, "warning", "circuit-refused", f"no circuit from {text}")
            for text in found.refused
        ]
    if found.paths == topology.overlay_paths:
        return effects
    changed = replace(topology, overlay_paths=found.paths)
    world.network.topology = changed
    effects.append(SaveCircuits(event.id, found.paths))
    for one in found.added:
        text = f"circuit {one.name} over {', '.join(one.links)}, VLAN {one.vlan}"
        effects.append(Announce(event.id, "info", "circuit-added", text))
    for one in found.dropped:
        effects.append(Announce(event.id, "info", "circuit-removed", f"circuit {one.name} is removed"))
    return effects


def without_any(world: World, flow: Flow) -> str:
    """Why there is no path at all between a flow's sites: none leads there, or none could have a VLAN."""
    source, destination = world.flows.ends(flow)
    ways = (f"{source} to {destination}: ", f"{destination} to {source}: ")
    refused = sorted(text for text in world.refused_circuits if text.startswith(ways))
    if refused:
        return f"no circuit from {'; '.join(refused)}"
    return f"no path leads from {source} to {destination} over links that are up"


def _with_links(world: World) -> Topology:
    """The topology with the links that discovery has found, where it is on; else as it is."""
    topology = world.network.topology
    if not topology.configuration.discovery.enabled:
        return topology
    seen = world.links.live_links()
    return topology if seen == topology.seen else replace(topology, seen=seen)
