"""The read-out of what the network is made of: sites, configured links, circuits; plain JSON values.

For pages and lists.  What was seen of links is in :mod:`adon.broker.link_report`; which paths can
be used now, and which flows are on them, is in the paths of :mod:`adon.broker.state_report`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adon.config import Configuration
from adon.config.network import TransitPath
from adon.flowvisor.topology.network_graph import Link, LinkState, NetworkGraph
from adon.flowvisor.topology.overlay import Circuit
from adon.flowvisor.topology.topology import Topology

_WORST = (LinkState.DOWN, LinkState.UNHEARD, LinkState.LIVE)


def sites(configuration: Configuration) -> list[dict[str, object]]:
    """Every site with its edge switch and its DTNs."""
    return [
        {"name": name, "edge": site.edge, "hosts": list(site.hosts)}
        for name, site in configuration.sites.items()
    ]


def wires(topology: Topology) -> list[dict[str, object]]:
    """Every configured link with what it may be used for now; capacity in bits/s."""
    known = _by_name(topology.graph)
    return [
        {
            "name": name,
            "ends": [{"switch": switch, "port": port} for switch, port in link.ends.items()],
            "capacity": link.capacity,
            "state": known[name].state.value if name in known else LinkState.UNHEARD.value,
            "reason": known[name].reason if name in known else "",
        }
        for name, link in topology.configuration.links.items()
    ]


def _by_name(graph: NetworkGraph) -> dict[str, Link]:
    """Of the two directions of each link the worse one."""
    found: dict[str, Link] = {}
    for link in graph.links:
        if link.name not in found or _WORST.index(link.state) < _WORST.index(found[link.name].state):
            found[link.name] = link
    return found


def circuits(topology: Topology) -> list[dict[str, object]]:
    """Every path, configured and computed: its VLAN, and which links and switches of ours it uses."""
    configuration = topology.configuration
    return [
        *(_configured_path(configuration, name, path) for name, path in configuration.paths.items()),
        *(_computed_path(configuration, circuit) for circuit in topology.overlay_paths.circuits),
    ]


def _configured_path(configuration: Configuration, name: str, path: TransitPath) -> dict[str, object]:
    source, destination = path.ends
    return {
        "name": name,
        "overlay": None,
        "source": source,
        "destination": destination,
        "vlan": path.vlan,
        "links": list(path.links),
        "switches": [configuration.sites[site].edge for site in path.ends],
    }


def _computed_path(configuration: Configuration, circuit: Circuit) -> dict[str, object]:
    return {
        "name": circuit.name,
        "overlay": circuit.overlay,
        "source": circuit.source,
        "destination": circuit.destination,
        "vlan": circuit.vlan,
        "links": list(circuit.links),
        "switches": list(_walk_switches(configuration, circuit)),
    }


def _walk_switches(configuration: Configuration, circuit: Circuit) -> Iterator[str]:
    """The switches in the circuit's own direction, as far as its links are still configured."""
    site = configuration.sites.get(circuit.source)
    if site is None:
        return
    at = site.edge
    yield at
    for name in circuit.links:
        ends: Mapping[str, str] = configuration.links[name].ends if name in configuration.links else {}
        if at not in ends:
            return
        at = next(switch for switch in ends if switch != at)
        yield at
