"""Static rules that pin a flow between two DTNs to a transit path, without ADON.

They do what ADON's rules for the path do: rewrite MAC addresses and tag or untag, in both directions.  Only
the edges get rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from adon.errors import InvalidInput
from mininet_topos.topologies.campus_topo import Campus, CampusTopo, DtnInterface, TransitPath

PRIORITY = 40_000
"""Above the campus's own rule; ADON's rules, where it runs too, are for other flows."""
COOKIE = 1
_VLAN_PRESENT = 0x1000
"""OFPVID_PRESENT (OpenFlow 1.3.5, 7.2.3.7)."""

Ofctl = Callable[..., str]
"""``ovs-ofctl`` on the switches: its arguments, what it prints."""


@dataclass(frozen=True, slots=True)
class PinnedFlow:
    """Traffic between two DTNs.

    :param source, destination: DTNs by name.
    :param protocol: ``ip`` is all of IPv4.
    :param port: of the destination, for TCP and UDP; None for all ports.
    :param addresses: of the two; None for the addresses of their data.
    """

    source: str
    destination: str
    protocol: Literal["ip", "tcp", "udp"] = "ip"
    port: int | None = None
    addresses: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _End:
    campus: Campus
    dtn: DtnInterface
    address: str


def pin_flow(ofctl: Ofctl, topo: CampusTopo, path: str, flow: PinnedFlow, cookie: int = COOKIE) -> None:
    """Install the rules; a flow that was pinned to another path continues on this one.

    :raises InvalidInput: if the topology has no such path or DTN, or the path does not join their campuses.
    :raises Unavailable: if a switch refuses a rule.
    """
    for switch, rule in path_rules(topo, path, flow):
        ofctl("--names", "add-flow", switch, f"cookie={cookie:#x},priority={PRIORITY},{rule}")


def unpin_flow(ofctl: Ofctl, topo: CampusTopo, cookie: int = COOKIE) -> None:
    """Remove the rules with a cookie from all edges.

    :raises Unavailable: if a switch cannot be reached.
    """
    for campus in topo.campuses.values():
        ofctl("del-flows", campus.edge, f"cookie={cookie:#x}/-1")


def path_rules(topo: CampusTopo, path: str, flow: PinnedFlow) -> list[tuple[str, str]]:
    """Return switches with their rules: those that deliver first, then those that send.

    :raises InvalidInput: as :func:`pin_flow`.
    """
    if path not in topo.paths:
        raise InvalidInput.of("path", f"{path!r} is unknown; expected one of {', '.join(topo.paths)}")
    taken = topo.paths[path]
    source, destination = flow.addresses or (None, None)
    near, far = _find_end(topo, flow.source, source), _find_end(topo, flow.destination, destination)
    if {near.campus.name, far.campus.name} != {*taken.campuses}:
        raise InvalidInput.of("path", f"{path} joins {' and '.join(taken.campuses)}, not the flow's campuses")
    delivering, sending = list[tuple[str, str]](), list[tuple[str, str]]()
    for origin, to, port in ((near, far, "tp_dst"), (far, near, "tp_src")):
        match = f"{flow.protocol},nw_src={origin.address},nw_dst={to.address}"
        match += "" if flow.port is None else f",{port}={flow.port}"
        delivering.append(_deliver(taken, to, match))
        sending.append(_send(taken, origin, to, match))
    return [*delivering, *sending]


def _find_end(topo: CampusTopo, host: str, address: str | None) -> _End:
    campuses = {name: campus for campus in topo.campuses.values() for name in campus.dtns}
    if host not in campuses:
        raise InvalidInput.of("host", f"{host!r} is no DTN; expected one of {', '.join(campuses)}")
    dtn = campuses[host].dtns[host]
    return _End(campuses[host], dtn, address or dtn.address)


def _send(path: TransitPath, origin: _End, to: _End, match: str) -> tuple[str, str]:
    name = origin.campus.name
    if path.vlan is not None:
        tag = f"push_vlan:0x8100,set_field:{path.vlan | _VLAN_PRESENT}->vlan_vid"
        rewrite = f"{tag},set_field:{to.dtn.mac}->eth_dst"
    else:
        rewrite = f"set_field:{path.next_hop_macs[name]}->eth_dst"
    rule = f'in_port="{origin.dtn.edge_port}",{match},actions={rewrite},output:"{path.edge_ports[name]}"'
    return origin.campus.edge, rule


def _deliver(path: TransitPath, to: _End, match: str) -> tuple[str, str]:
    port, output = path.edge_ports[to.campus.name], f'output:"{to.dtn.edge_port}"'
    if path.vlan is None:
        return to.campus.edge, f'in_port="{port}",{match},actions={output}'
    rewrite = f"pop_vlan,set_field:{to.campus.gateway_mac}->eth_src"
    return to.campus.edge, f'in_port="{port}",dl_vlan={path.vlan},{match},actions={rewrite},{output}'
