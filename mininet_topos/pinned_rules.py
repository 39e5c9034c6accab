"""Static rules that pin a flow between two DTNs to a transit path, without ADON.

They do what ADON's rules for the path do: rewrite MAC addresses and tag or untag, in both directions.  Only
the edges get rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from adon.errors import InvalidInput
from mininet_topos.topologies.campus_topo import Campus, CampusTopo, Interface, TransitPath

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


_End = tuple[Campus, Interface]
"""A campus, and the data interface of a DTN in it with the address of the flow."""


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
    if {near[0].name, far[0].name} != {*taken.campuses}:
        raise InvalidInput.of("path", f"{path} joins {' and '.join(taken.campuses)}, not the flow's campuses")
    port = "" if flow.port is None else f"={flow.port}"
    deliver_there, send_there = _direct(taken, near, far, flow.protocol, port and f",tp_dst{port}")
    deliver_back, send_back = _direct(taken, far, near, flow.protocol, port and f",tp_src{port}")
    return [deliver_there, deliver_back, send_there, send_back]


def _find_end(topo: CampusTopo, host: str, address: str | None) -> _End:
    campuses = {name: campus for campus in topo.campuses.values() for name in campus.dtns}
    if host not in campuses:
        raise InvalidInput.of("host", f"{host!r} is no DTN; expected one of {', '.join(campuses)}")
    dtn = campuses[host].dtns[host]
    return campuses[host], replace(dtn, address=address or dtn.address)


def _direct(
    path: TransitPath, origin: _End, target: _End, protocol: str, port: str
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the rule that delivers the packets of one direction, and the rule that sends them."""
    (near, source), (far, destination) = origin, target
    match = f"{protocol},nw_src={source.address},nw_dst={destination.address}{port}"
    arriving = f'in_port="{path.edge_ports[far.name]}"'
    leaving = f'in_port="{near.ports[source.node]}",{match},actions='
    output = f'output:"{far.ports[destination.node]}"'
    if path.vlan is None:
        deliver = f"{arriving},{match},actions={output}"
        leaving += f"set_field:{path.next_hop_macs[near.name]}->eth_dst"
    else:
        rewrite = f"pop_vlan,set_field:{far.gateway_mac}->eth_src"
        deliver = f"{arriving},dl_vlan={path.vlan},{match},actions={rewrite},{output}"
        tag = path.vlan | _VLAN_PRESENT
        leaving += f"push_vlan:0x8100,set_field:{tag}->vlan_vid,set_field:{destination.mac}->eth_dst"
    return (far.edge, deliver), (near.edge, f'{leaving},output:"{path.edge_ports[near.name]}"')
