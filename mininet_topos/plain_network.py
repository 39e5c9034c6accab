"""ADON's configuration for a plain ``mininet.topo.Topo``: any Mininet user's own network.

Each switch with hosts is a site and its edge.  ADON forwards packets of no flow as an ordinary switch does
(``table_miss: normal``), so hosts reach each other as soon as the switches are connected.  Between any two
sites there is one layer-2 path, the way through the tree of switches, with a VLAN of its own.

Addresses are those that Mininet gives, with the MAC addresses of ``mn --mac``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
from mininet.topo import Topo
from mininet.util import ipAdd, macColonHex, netParse

from adon.yamlfile import dump_data
from mininet_topos.topologies.campus_topo import FIRST_VLAN, LAST_VLAN, require

NETWORK = "10.0.0.0/8"
"""Mininet's default; hosts have the addresses from .1 on, in the order of their names."""
CAPACITY = 1000.0
"""Mbit/s of a link that declares no ``bw``."""
GATEWAY_MAC = "02:00:00:00:{:02x}:{:02x}"
"""No host has a router here: packets of other sites arrive from this address of the receiver's site."""


def plain_configuration(topo: Topo, *, name: str) -> str:
    """Return ADON's configuration file, as YAML, for the network that ``mn --mac`` builds of a topology.

    :raises ValueError: if ADON cannot control the network, with the name of the host or switch.
    """
    sites = read_sites(topo)
    dpids = {switch: _read_dpid(switch, topo.nodeInfo(switch)) for switch in topo.switches()}
    document = {
        "network": name,
        "switches": {
            switch: {"dpid": f"{dpid:016x}", "table_miss": "normal"} for switch, dpid in dpids.items()
        },
        "sites": sites,
        "paths": _find_paths(topo, list(sites)),
        "controller": {"openflow_port": 6653, "web_port": 8080},
    }
    return dump_data(document)


def read_sites(topo: Topo) -> dict[str, Any]:
    """Return the section ``sites``: per switch with hosts their addresses and ports.

    :raises ValueError: if a host is not attached to one switch, or fewer than two switches have hosts.
    """
    hosts: dict[str, dict[str, Any]] = {switch: {} for switch in topo.switches()}
    base, prefix = netParse(NETWORK)
    links = topo.convertTo(nx.MultiGraph, data=True)
    for number, name in enumerate(topo.hosts(), start=1):
        ends = list(links.edges(name, data=True))
        is_attached = len(ends) == 1 and topo.isSwitch(ends[0][1])
        require(is_attached, f"{name}: has {len(ends)} links; expected one link, to a switch")
        ((_, switch, link),) = ends
        info = topo.nodeInfo(name)
        address = info.get("ip") or ipAdd(number, prefixLen=prefix, ipBaseNum=base)
        hosts[switch][name] = {
            "address": address.partition("/")[0],
            "mac": info.get("mac") or macColonHex(number),
            "port": _port_of(switch, link),
        }
    edges = [switch for switch, own in hosts.items() if own]
    require(len(edges) > 1, "switches: ADON chooses paths between switches; expected hosts at two of them")
    macs = {edge: GATEWAY_MAC.format(*divmod(number, 256)) for number, edge in enumerate(edges, start=1)}
    return {edge: {"edge": edge, "gateway_mac": mac, "hosts": hosts[edge]} for edge, mac in macs.items()}


def _find_paths(topo: Topo, edges: list[str]) -> dict[str, Any]:
    """Return the section ``paths``: the way through the tree between any two switches with hosts."""
    tree = _read_tree(topo, edges)
    pairs, vlans = list(combinations(edges, 2)), range(FIRST_VLAN, LAST_VLAN + 1)
    has_vlans = len(pairs) <= len(vlans)
    require(has_vlans, f"switches: {len(pairs)} pairs with hosts; expected at most 2394, one VLAN each")
    paths = {}
    for vlan, (one, other) in zip(vlans, pairs, strict=False):
        links = [tree.edges[hop] for hop in pairwise(nx.shortest_path(tree, one, other))]
        paths[f"{one}-{other}"] = {
            "layer": 2,
            "vlan": vlan,
            "capacity": f"{min(float(link.get('bw') or CAPACITY) for link in links):g} Mbps",
            "ends": {one: {"port": _port_of(one, links[0])}, other: {"port": _port_of(other, links[-1])}},
        }
    return paths


def _read_tree(topo: Topo, edges: list[str]) -> nx.Graph[str]:
    """Return the links between switches.

    :raises ValueError: if an edge is not joined to the others, or at a loop.
    """
    switches = topo.convertTo(nx.MultiGraph, data=True).subgraph(topo.switches())
    for edge in edges:
        is_joined = nx.has_path(switches, edges[0], edge)
        require(is_joined, f"{edge}: no links lead to it from {edges[0]}; expected one connected network")
    with suppress(nx.NetworkXNoCycle):
        one, other, _ = nx.find_cycle(switches)[0]
        raise ValueError(
            f"{one}: its link to {other} closes a loop, in which broadcasts never end; remove the link, "
            "or declare the ways as paths of a CampusTopo"
        )
    return nx.Graph(switches)


def _port_of(switch: str, link: Mapping[str, Any]) -> str:
    """Return the interface of a switch on a link, with the name that Mininet gives it."""
    end = 1 if link["node1"] == switch else 2
    return str(link.get(f"intfName{end}") or f"{switch}-eth{link[f'port{end}']}")


def _read_dpid(switch: str, info: Mapping[str, Any]) -> int:
    """Return the datapath id by Mininet's rule: the declared one, else the number in the name."""
    if info.get("dpid"):
        return int(str(info["dpid"]).replace(":", ""), 16)
    numbers = re.findall(r"\d+", switch)
    require(numbers, f"{switch}: has no number for its datapath id; expected a name such as s1, or dpid='1'")
    return int(numbers[0])
