"""Rules as ADON would install them, written down by hand: the testbed without the controller.

They pin all IPv4 traffic between two addresses to one path, in both directions, with the MAC rewriting
that each path needs (spec section 2).
"""

from __future__ import annotations

from ipaddress import IPv4Address

from mininet_topos.mu_osu import MU, OSU, OVERLAY_VLAN, Campus, edge_port
from mininet_topos.openvswitch import OpenVSwitch

PRIORITY = 40_000


def pin(switches: OpenVSwitch, path: str, at_mu: IPv4Address, at_osu: IPv4Address) -> None:
    """Install the rules that keep traffic between these two addresses on ``al2s`` or ``internet``."""
    rules = {"al2s": _overlay, "internet": _routed}[path]
    for near, source, far, destination in ((MU, at_mu, OSU, at_osu), (OSU, at_osu, MU, at_mu)):
        pair = f"ip,nw_src={source},nw_dst={destination}"
        for edge, rule in rules(near, far, pair):
            switches.ofctl("--names", "add-flow", edge, f"cookie=0x1,priority={PRIORITY},{rule}")


def _overlay(near: Campus, far: Campus, pair: str) -> tuple[tuple[str, str], ...]:
    send = f"push_vlan:0x8100,set_field:{OVERLAY_VLAN | 0x1000}->vlan_vid,set_field:{far.dtn_mac}->eth_dst"
    arriving = f"in_port={_q(far, 'al2s')},dl_vlan={OVERLAY_VLAN},{pair}"
    deliver = f"pop_vlan,set_field:{far.gateway_mac}->eth_src"
    return (
        (near.edge, f"in_port={_q(near, 'dtn')},{pair},actions={send},output:{_q(near, 'al2s')}"),
        (far.edge, f"{arriving},actions={deliver},output:{_q(far, 'dtn')}"),
    )


def _routed(near: Campus, far: Campus, pair: str) -> tuple[tuple[str, str], ...]:
    to_router = f"set_field:{near.gateway_mac}->eth_dst"
    return (
        (near.edge, f"in_port={_q(near, 'dtn')},{pair},actions={to_router},output:{_q(near, 'rtr')}"),
        (far.edge, f"in_port={_q(far, 'rtr')},{pair},actions=output:{_q(far, 'dtn')}"),
    )


def _q(campus: Campus, toward: str) -> str:
    return f'"{edge_port(campus, toward)}"'
