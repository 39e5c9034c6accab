"""What becomes of a packet, hop by hop as switches and routers forward: without knowing how that was made."""

from __future__ import annotations

import re
from ipaddress import IPv4Address

from mininet_topos.networks import Network, Path
from mininet_topos.static_rules import Rule, Traffic, rules
from mininet_topos.topology import Host, Interface, Kind

LONGEST = 200


class Walk:
    """One network, for packets to walk through."""

    def __init__(self, network: Network) -> None:
        self.network = network
        links = network.topology.links
        self.interfaces = {end.name: end for link in links for end in link.ends}
        self.peers = {end.name: other for link in links for end, other in (link.ends, link.ends[::-1])}
        self.at: dict[str, list[Interface]] = {}
        for end in self.interfaces.values():
            self.at.setdefault(end.node, []).append(end)
        self.switches = {switch.name: switch for switch in network.topology.switches}
        self.hosts = {host.name: host for host in network.topology.hosts}

    def links(self, passed: list[Interface]) -> tuple[str, ...]:
        """The described links that paths lead over, as a walk crossed them."""
        over = {name for path in self.network.paths for name in path.links}
        of = {
            name: link.name
            for link in self.network.links
            if link.name in over
            for name in (*link.ends, *link.shaped)
        }
        return tuple(dict.fromkeys(of[end.name] for end in passed if end.name in of))

    def passed(self, path: Path, source: str, destination: str) -> list[Interface]:
        """The interfaces that a packet between two DTNs passes, kept on a path by rules at the edges."""
        pinned = rules(self.network, path.name, Traffic(source, destination))
        address = self.network.dtn(destination).address
        found = [self.at[source][0]]
        vlan: int | None = None
        while (arrived := self.peers[found[-1].name]).node != destination:
            assert len(found) < LONGEST, "it goes round and round"
            if arrived.node in {rule.switch for rule in pinned}:
                leaving, vlan = self._edge(pinned, arrived, address, vlan)
            else:
                leaving = self._hop(arrived, address, vlan, destination)
            found += [arrived, leaving]
        return [*found, arrived]

    def _edge(
        self, pinned: tuple[Rule, ...], arrived: Interface, address: IPv4Address, vlan: int | None
    ) -> tuple[Interface, int | None]:
        tagged = re.compile(rf"dl_vlan={vlan}," if vlan is not None else r"^(?!.*dl_vlan)")
        (rule,) = (
            rule
            for rule in pinned
            if rule.match.startswith(f'in_port="{arrived.name}",')
            and rule.match.endswith(f"nw_dst={address}")
            and tagged.search(rule.match)
        )
        pushed = re.search(r"set_field:(\d+)->vlan_vid", rule.actions)
        if pushed is not None:
            vlan = int(pushed[1]) & 0xFFF
        elif "pop_vlan" in rule.actions:
            vlan = None
        out = re.search(r'output:"(.+)"', rule.actions)
        assert out is not None
        return self.interfaces[out[1]], vlan

    def _hop(self, arrived: Interface, address: IPv4Address, vlan: int | None, destination: str) -> Interface:
        node = arrived.node
        if node in self.hosts:
            return self._through_host(self.hosts[node], arrived, address)
        for rule in self.switches[node].rules:
            found = re.fullmatch(r"priority=100,dl_vlan=(\d+),in_port=(.+),actions=output:(.+)", rule)
            if found is not None and (int(found[1]), found[2]) == (vlan, arrived.name):
                return self.interfaces[found[3]]
        assert self._normal(node), f"{node} drops VLAN {vlan}"
        assert vlan is None
        others = [end for end in self.at[node] if end != arrived]
        # Towards the DTN if it is behind one of its ports, else towards the campus's gateway.
        there = [end for end in others if self._leads_to(end, destination)]
        return (there or [end for end in others if self._leads_to(end, None)])[0]

    def _normal(self, node: str) -> bool:
        return node in self.switches and self.switches[node].rules == ("priority=0,actions=NORMAL",)

    def _leads_to(self, leaving: Interface, dtn: str | None) -> bool:
        """Whether a campus's port leads to a DTN; with None, whether to the edge."""
        arrived = self.peers[leaving.name]
        if arrived.node in self.hosts and self.hosts[arrived.node].kind is Kind.LINE:
            return any(self._leads_to(end, dtn) for end in self.at[arrived.node] if end != arrived)
        if self._normal(arrived.node) and not self.switches[arrived.node].controlled:
            onward = (end for end in self.at[arrived.node] if end != arrived)
            return any(self._leads_to(end, dtn) for end in onward)
        return arrived.node == dtn if dtn is not None else arrived.node in self.switches

    def _through_host(self, host: Host, arrived: Interface, address: IPv4Address) -> Interface:
        own = self.at[host.name]
        if host.kind is Kind.LINE:
            (other,) = (end for end in own if end != arrived)
            return other
        assert host.kind is Kind.ROUTER
        ways = [(end.addresses[0].network, end) for end in own]
        for route in host.routes:
            (out,) = (end for end in own if IPv4Address(route.via) in end.addresses[0].network)
            ways.append((route.destination, out))
        # The longest prefix, as Linux takes it.
        return max((way for way in ways if address in way[0]), key=lambda way: way[0].prefixlen)[1]
