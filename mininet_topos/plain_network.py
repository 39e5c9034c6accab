"""ADON's configuration for a plain ``mininet.topo.Topo``: any Mininet user's own network.

Each switch with hosts is a site and its edge; ADON forwards what is nobody's as an ordinary switch does
(``table_miss: normal``), so hosts reach each other as soon as the switches are connected.  Between any two
sites there is one layer-2 path, the way through the tree of switches, with a VLAN of its own.

Addresses are those that Mininet gives, with the MAC addresses of ``mn --mac``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from mininet.topo import Topo
from mininet.util import ipAdd, macColonHex, netParse

from adon.yamlfile import dump_data

NETWORK = "10.0.0.0/8"
"""Mininet's default; hosts have the addresses from .1 on, in the order of their names."""
FIRST_VLAN, LAST_VLAN = 1701, 4094
CAPACITY = 1000.0
"""Mbit/s of a path whose links declare no ``bw``."""
GATEWAY_MAC = "02:00:00:00:{:02x}:{:02x}"
"""No host has a router here: packets of other sites arrive from this address of the receiver's site."""


@dataclass(frozen=True)
class PlainHost:
    """A host of one switch.

    :param port: the switch's interface to it.
    """

    address: str
    mac: str
    switch: str
    port: str


@dataclass(frozen=True)
class PlainPath:
    """The way between two switches with hosts.

    :param ports: per switch, its interface toward the other one.
    :param capacity: Mbit/s.
    """

    ends: tuple[str, str]
    ports: tuple[str, str]
    capacity: float


@dataclass
class PlainNetwork:
    """What ADON has to know of a topology.

    :param dpids: datapath id of each switch.
    """

    dpids: dict[str, int]
    hosts: dict[str, PlainHost]
    paths: dict[str, PlainPath] = field(default_factory=dict)

    def hosts_of(self, switch: str) -> dict[str, PlainHost]:
        """Return the hosts at a switch, by name."""
        return {name: host for name, host in self.hosts.items() if host.switch == switch}

    @property
    def edges(self) -> list[str]:
        """Switches with hosts."""
        return [switch for switch in self.dpids if self.hosts_of(switch)]


@dataclass(frozen=True)
class _Link:
    """A link, seen from one of its ends."""

    port: str
    far_node: str
    bandwidth: float


def read_plain_topo(topo: Topo) -> PlainNetwork:
    """Return the network that ``mn --mac`` builds of a topology; nothing is built.

    :raises ValueError: if ADON cannot control it, with the name of the host or switch.
    """
    links = _links_by_node(topo)
    network = PlainNetwork(
        {switch: _dpid(switch, topo.nodeInfo(switch)) for switch in topo.switches()},
        dict(_hosts(topo, links)),
    )
    if len(network.edges) < 2:
        raise ValueError("switches: ADON chooses paths between switches; expected hosts at two of them")
    ways = {edge: _ways_from(edge, links, topo) for edge in network.edges}
    for one, other in combinations(network.edges, 2):
        if other not in ways[one]:
            raise ValueError(f"{other}: no links lead to it from {one}; expected one connected network")
        (port, capacity), (back, _) = ways[one][other], ways[other][one]
        network.paths[f"{one}-{other}"] = PlainPath((one, other), (port, back), capacity)
    if len(network.paths) > LAST_VLAN - FIRST_VLAN + 1:
        raise ValueError(
            f"switches: {len(network.paths)} pairs with hosts; expected at most 2394, one VLAN each"
        )
    return network


def plain_configuration(
    network: PlainNetwork, *, name: str, openflow_port: int = 6653, web_port: int = 8080
) -> str:
    """Return ADON's configuration file for a plain network, as YAML."""
    return dump_data(
        {
            "network": name,
            "switches": {
                switch: {"dpid": f"{dpid:016x}", "table_miss": "normal"}
                for switch, dpid in network.dpids.items()
            },
            "sites": {
                edge: {
                    "edge": edge,
                    "gateway_mac": GATEWAY_MAC.format(*divmod(number, 256)),
                    "hosts": {
                        host: {"address": its.address, "mac": its.mac, "port": its.port}
                        for host, its in network.hosts_of(edge).items()
                    },
                }
                for number, edge in enumerate(network.edges, start=1)
            },
            "paths": {
                path: {
                    "layer": 2,
                    "vlan": vlan,
                    "capacity": f"{its.capacity:g} Mbps",
                    "ends": {end: {"port": port} for end, port in zip(its.ends, its.ports, strict=True)},
                }
                for vlan, (path, its) in enumerate(network.paths.items(), start=FIRST_VLAN)
            },
            "controller": {"openflow_port": openflow_port, "web_port": web_port},
        }
    )


def _links_by_node(topo: Topo) -> dict[str, list[_Link]]:
    """Each node's links; the names of interfaces are those that Mininet gives."""
    found: dict[str, list[_Link]] = {node: [] for node in topo.nodes()}
    for one, other, info in topo.links(withInfo=True):
        names = [
            info.get(f"intfName{end}") or f"{node}-eth{info[f'port{end}']}"
            for end, node in enumerate((one, other), start=1)
        ]
        bandwidth = float(info.get("bw") or CAPACITY)
        found[one].append(_Link(names[0], other, bandwidth))
        found[other].append(_Link(names[1], one, bandwidth))
    return found


def _dpid(switch: str, info: Mapping[str, Any]) -> int:
    """Mininet's own rule: what was declared, else the number in the name."""
    if info.get("dpid"):
        return int(str(info["dpid"]).replace(":", ""), 16)
    number = re.search(r"\d+", switch)
    if number is None:
        raise ValueError(
            f"{switch}: has no number for its datapath id; expected a name such as s1, or dpid='1'"
        )
    return int(number[0])


def _hosts(topo: Topo, links: Mapping[str, list[_Link]]) -> Iterator[tuple[str, PlainHost]]:
    base, prefix = netParse(NETWORK)
    for number, name in enumerate(topo.hosts(), start=1):
        if len(links[name]) != 1 or not topo.isSwitch(links[name][0].far_node):
            raise ValueError(f"{name}: has {len(links[name])} links; expected one link, to a switch")
        info, switch = topo.nodeInfo(name), links[name][0].far_node
        address = info.get("ip") or ipAdd(number, prefixLen=prefix, ipBaseNum=base)
        port = next(link.port for link in links[switch] if link.far_node == name)
        mac = info.get("mac") or macColonHex(number)
        yield name, PlainHost(address.partition("/")[0], mac, switch, port)


def _ways_from(edge: str, links: Mapping[str, list[_Link]], topo: Topo) -> dict[str, tuple[str, float]]:
    """Per other switch, the edge's port toward it and the narrowest bandwidth on the way.

    :raises ValueError: at a loop, in which a broadcast would circle without end.
    """
    found: dict[str, tuple[str, float]] = {}
    waiting = [(edge, "", "", math.inf)]
    while waiting:
        switch, before, port, narrowest = waiting.pop()
        onward = [link for link in links[switch] if topo.isSwitch(link.far_node)]
        if sum(link.far_node == before for link in onward) > 1:
            raise ValueError(_loop(switch, before))
        for link in onward:
            if link.far_node == before:
                continue
            if link.far_node in found or link.far_node == edge:
                raise ValueError(_loop(switch, link.far_node))
            way = port or link.port, min(narrowest, link.bandwidth)
            found[link.far_node] = way
            waiting.append((link.far_node, switch, *way))
    return found


def _loop(one: str, other: str) -> str:
    return (
        f"{one}: its link to {other} closes a loop, in which broadcasts never end; remove the link, "
        "or declare the ways as paths of a CampusTopo"
    )
