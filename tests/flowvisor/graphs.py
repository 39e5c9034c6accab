"""Networks for the tests of the path engine: as graphs, and as whole configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from adon.config import Configuration
from adon.flowvisor.topology.network_graph import Link, NetworkGraph, PortState
from adon.flowvisor.topology.topology import Topology

Edges = Iterable[tuple[int, int]]


def graph_of(edges: Mapping[tuple[int, int], int], nodes: int, **properties: Any) -> NetworkGraph:
    """Directed links with a delay of so many nanoseconds each."""
    links = [
        Link(f"{source}-{target}", source, target, 1, 1, 1e9, cost / 1e9, **properties)
        for (source, target), cost in edges.items()
    ]
    return NetworkGraph(frozenset(range(nodes)), tuple(links))


def weighted(edges: Mapping[tuple[int, int], int], nodes: int) -> nx.DiGraph[int]:
    """The same for networkx."""
    found: nx.DiGraph[int] = nx.DiGraph()
    found.add_nodes_from(range(nodes))
    for (source, target), cost in edges.items():
        found.add_edge(source, target, weight=cost)
    return found


@st.composite
def directed_edges(draw: st.DrawFn, most: int = 8) -> tuple[dict[tuple[int, int], int], int]:
    """Edges with small costs, so that there are many ties, and the number of nodes."""
    nodes = draw(st.integers(2, most))
    node = st.integers(0, nodes - 1)
    pairs = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
    return draw(st.dictionaries(pairs, st.integers(1, 6), max_size=nodes * 4)), nodes


def ring_of_rings(sites: int = 5, switches: int = 20) -> list[tuple[int, int]]:
    """Per site a ring of switches, numbers ``site * switches ...``; their first switches form a ring too,
    and their middle ones a second."""
    inner = [
        (site * switches + each, site * switches + (each + 1) % switches)
        for site in range(sites)
        for each in range(switches)
    ]
    outer = [
        (site * switches + at, (site + 1) % sites * switches + at)
        for site in range(sites)
        for at in (0, switches // 2)
    ]
    return inner + outer


def fat_tree(k: int = 8) -> list[tuple[int, int]]:
    """A k-ary fat tree (Al-Fares et al., SIGCOMM 2008) without its hosts: 5k²/4 switches."""
    half = k // 2
    core = half * half
    edges = []
    for pod in range(k):
        first = core + pod * k
        for above in range(half):
            edges += [(first + above, above * half + each) for each in range(half)]
            edges += [(first + above, first + half + below) for below in range(half)]
    return edges


def random_regular(nodes: int = 100, degree: int = 4, seed: int = 1) -> list[tuple[int, int]]:
    return sorted(nx.random_regular_graph(degree, nodes, seed=seed).edges)


def configuration(edges: Edges, edge_switches: Iterable[int], **overlay: Any) -> Configuration:
    """Switches ``s0 ...`` with datapath id 1 + number, links ``l0 ...``, a site per edge switch, and one
    overlay ``core``."""
    edges = list(edges)
    switches = sorted({end for edge in edges for end in edge} | set(edge_switches))
    body = {
        "network": "generated",
        "switches": {f"s{number}": {"dpid": f"{number + 1:016x}"} for number in switches},
        "sites": {f"site{at}": _site(at, number) for at, number in enumerate(edge_switches)},
        "paths": {},
        "links": {
            f"l{number}": {
                "ends": {f"s{one}": f"to-l{number}", f"s{other}": f"to-l{number}"},
                "capacity": "10 Gbps",
                "delay": f"{1 + number % 7} ms",
            }
            for number, (one, other) in enumerate(edges)
        },
        "overlays": {"core": {"vlans": "100-199", **overlay}},
    }
    return Configuration.model_validate(body)


def _site(at: int, switch: int) -> dict[str, Any]:
    host = {"address": f"10.{at}.0.10", "mac": f"02:00:00:00:{at:02x}:10", "port": "dtn"}
    return {"edge": f"s{switch}", "gateway_mac": f"02:00:00:00:{at:02x}:01", "hosts": {f"dtn{at}": host}}


def ports_of(whole: Configuration, switch: str) -> dict[str, PortState]:
    """The ports of a switch, numbered from 1, all live."""
    names = ["dtn", *(link.ends[switch] for link in whole.links.values() if switch in link.ends)]
    return {name: PortState(number, True) for number, name in enumerate(names, 1)}


def connected(whole: Configuration) -> Topology:
    """All switches connected, every port live."""
    topology = Topology(whole)
    for name, switch in whole.switches.items():
        topology = topology.switch_up(switch.dpid, ports_of(whole, name))
    return topology


def link_down(topology: Topology, link: str, live: bool = False) -> Topology:
    """After both ports of a link have gone down, or come up again."""
    for switch, port in topology.configuration.links[link].ends.items():
        dpid = topology.configuration.switches[switch].dpid
        number = topology.ports[dpid][port].number
        topology = topology.change_port(dpid, port, PortState(number, live))
    return topology
