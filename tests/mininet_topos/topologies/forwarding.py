"""What becomes of a packet, hop by hop as switches and routers forward: without knowing how that was made."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

from mininet_topos.nodes import Line, Router
from mininet_topos.pinned_rules import PinnedFlow, path_rules
from mininet_topos.topologies.campus_topo import CAMPUS_RULE, MANAGEMENT_BRIDGE, CampusTopo, Interface

LONGEST = 200


def wires_of(topo: CampusTopo) -> list[tuple[Interface, Interface]]:
    """The links of the network under test, as Mininet has them."""
    return [
        (_end(info, 1), _end(info, 2))
        for one, other, info in topo.links(withInfo=True)
        if MANAGEMENT_BRIDGE not in (one, other)
    ]


def _end(info: dict[str, Any], number: int) -> Interface:
    params = info[f"params{number}"]
    address, _, prefix = (params["ip"] or "").partition("/")
    return Interface(
        info[f"node{number}"],
        name=info[f"intfName{number}"],
        mac=info.get(f"addr{number}", ""),
        address=address,
        prefix=int(prefix or 0),
        aliases=tuple(alias.partition("/")[0] for alias in params["aliases"]),
        vlans=params["vlans"],
    )


class Walk:
    """One network, for packets to walk through."""

    def __init__(self, topo: CampusTopo) -> None:
        self.topo = topo
        wires = wires_of(topo)
        self.interfaces = {end.name: end for wire in wires for end in wire}
        self.peers = {end.name: other for wire in wires for end, other in (wire, wire[::-1])}
        self.at: dict[str, list[Interface]] = {}
        for end in self.interfaces.values():
            self.at.setdefault(end.node, []).append(end)

    def circuits(self, passed: list[Interface]) -> tuple[str, ...]:
        """The circuits that paths lead over, as a walk crossed them."""
        over = {name for path in self.topo.paths.values() for name in path.circuits}
        of = {
            name: circuit.name
            for circuit in self.topo.circuits.values()
            if circuit.name in over
            for name in (end.name for end in (*circuit.interfaces.values(), *circuit.shaped))
        }
        return tuple(dict.fromkeys(of[end.name] for end in passed if end.name in of))

    def passed(self, path: str, source: str, destination: str) -> list[Interface]:
        """The interfaces that a packet between two DTNs passes, kept on a path by rules at the edges."""
        pinned = path_rules(self.topo, path, PinnedFlow(source, destination))
        address = address_of(self.topo, destination)
        found = [self.at[source][0]]
        vlan: int | None = None
        while (arrived := self.peers[found[-1].name]).node != destination:
            assert len(found) < LONGEST, "it goes round and round"
            if arrived.node in {switch for switch, _ in pinned}:
                leaving, vlan = self._edge([rule for _, rule in pinned], arrived, address, vlan)
            else:
                leaving = self._hop(arrived, address, vlan, destination)
            found += [arrived, leaving]
        return [*found, arrived]

    def _edge(
        self, pinned: list[str], arrived: Interface, address: IPv4Address, vlan: int | None
    ) -> tuple[Interface, int | None]:
        tagged = re.compile(rf"dl_vlan={vlan}," if vlan is not None else r"^(?!.*dl_vlan)")
        (rule,) = (
            rule
            for rule in pinned
            if rule.startswith(f'in_port="{arrived.name}",')
            and f"nw_dst={address},actions=" in rule
            and tagged.search(rule)
        )
        pushed = re.search(r"set_field:(\d+)->vlan_vid", rule)
        if pushed is not None:
            vlan = int(pushed[1]) & 0xFFF
        elif "pop_vlan" in rule:
            vlan = None
        out = re.search(r'output:"(.+)"', rule)
        assert out is not None
        return self.interfaces[out[1]], vlan

    def _hop(self, arrived: Interface, address: IPv4Address, vlan: int | None, destination: str) -> Interface:
        node = arrived.node
        if not self.topo.isSwitch(node):
            return self._through_host(arrived, address)
        for rule in self.topo.nodeInfo(node)["rules"]:
            found = re.fullmatch(r"priority=100,dl_vlan=(\d+),in_port=(.+),actions=output:(.+)", rule)
            if found is not None and (int(found[1]), found[2]) == (vlan, arrived.name):
                return self.interfaces[found[3]]
        assert self._is_normal(node), f"{node} drops VLAN {vlan}"
        assert vlan is None
        others = [end for end in self.at[node] if end != arrived]
        # Towards the DTN if it is behind one of its ports, else towards the campus's gateway.
        there = [end for end in others if self._leads_to(end, destination)]
        return (there or [end for end in others if self._leads_to(end, None)])[0]

    def _is_normal(self, node: str) -> bool:
        return self.topo.isSwitch(node) and self.topo.nodeInfo(node)["rules"] == [CAMPUS_RULE]

    def _is_a(self, node: str, cls: type) -> bool:
        return self.topo.nodeInfo(node)["cls"] is cls

    def _leads_to(self, leaving: Interface, dtn: str | None) -> bool:
        """Whether a campus's port leads to a DTN; with None, whether to the edge."""
        node = self.peers[leaving.name].node
        onward = (end for end in self.at[node] if end != self.peers[leaving.name])
        if self._is_a(node, Line):
            return any(self._leads_to(end, dtn) for end in onward)
        if self._is_normal(node) and not self.topo.nodeInfo(node)["cls"].controlled:
            return any(self._leads_to(end, dtn) for end in onward)
        return node == dtn if dtn is not None else self.topo.isSwitch(node)

    def _through_host(self, arrived: Interface, address: IPv4Address) -> Interface:
        own = self.at[arrived.node]
        if self._is_a(arrived.node, Line):
            (other,) = (end for end in own if end != arrived)
            return other
        assert self._is_a(arrived.node, Router)
        near = [(IPv4Interface(f"{end.address}/{end.prefix}").network, end) for end in own if end.address]
        ways = list(near)
        for destination, via in self.topo.nodeInfo(arrived.node)["routes"]:
            (out,) = (end for network, end in near if IPv4Address(via) in network)
            ways.append((IPv4Network(destination), out))
        # The longest prefix, as Linux takes it.
        return max((way for way in ways if address in way[0]), key=lambda way: way[0].prefixlen)[1]


def address_of(topo: CampusTopo, dtn: str) -> IPv4Address:
    """Address of a DTN's data."""
    (held,) = (campus.dtns[dtn] for campus in topo.campuses.values() if dtn in campus.dtns)
    return IPv4Address(held.address)
