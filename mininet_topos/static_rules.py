"""Rules as ADON would install them, written down by hand: a test network without the controller.

They keep traffic between two DTNs on a transit path, in both directions, with the MAC rewriting and the tag
that the path needs (spec section 2).  Only the edges are told: what is between them is the provider's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Literal

from adon.errors import InvalidInput
from mininet_topos.networks import Dtn, Network, Path, Site

PRIORITY = 40_000
"""Above the campus's own rule; ADON's, where it runs too, are about other addresses or other flows."""
COOKIE = 1

Ofctl = Callable[..., str]
"""``ovs-ofctl`` on a network's switches: its words, what it prints."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is kept on a path.

    :param source, destination: DTNs, by host name.
    :param protocol: all of IPv4, or of one protocol what goes to this port of the destination and comes back.
    :param addresses: of the two; those of their data where it is None.
    """

    source: str
    destination: str
    protocol: Literal["ip", "tcp", "udp"] = "ip"
    port: int | None = None
    addresses: tuple[IPv4Address | None, IPv4Address | None] = (None, None)

    def __post_init__(self) -> None:
        if (self.protocol == "ip") != (self.port is None):
            raise ValueError("port: belongs to tcp and udp, and they have one")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, in ``ovs-ofctl``'s words; ports are called by name."""

    switch: str
    match: str
    actions: str

    def text(self, cookie: int = COOKIE) -> str:
        """As ``add-flow`` takes it."""
        return f"cookie={cookie:#x},priority={PRIORITY},{self.match},actions={self.actions}"


@dataclass(frozen=True, slots=True)
class _End:
    site: Site
    dtn: Dtn
    address: IPv4Address


def rules(network: Network, path: str, traffic: Traffic) -> tuple[Rule, ...]:
    """What keeps the traffic on the path: first what delivers at the ends, then what sends there.

    :raises InvalidInput: if the network has no such path or DTN, or the path does not join their sites.
    """
    taken = network.path(path)
    near, far = (
        _End(network.site_of(host), network.dtn(host), address or network.dtn(host).address)
        for host, address in zip((traffic.source, traffic.destination), traffic.addresses, strict=True)
    )
    if {near.site.name, far.site.name} != set(taken.ends):
        ends = f"{near.site.name} and {far.site.name}"
        raise InvalidInput.of("path", f"{path} joins {' and '.join(taken.ends)}, not {ends}")
    ways = [
        (near, far, _pair(traffic.protocol, near, far, "tp_dst", traffic.port)),
        (far, near, _pair(traffic.protocol, far, near, "tp_src", traffic.port)),
    ]
    delivering = [_delivering(taken, to, pair) for _, to, pair in ways]
    return (*delivering, *(_sending(taken, of, to, pair) for of, to, pair in ways))


def pin(ofctl: Ofctl, network: Network, path: str, traffic: Traffic, cookie: int = COOKIE) -> None:
    """Install them; traffic that was kept on another path so far goes on here.

    :raises InvalidInput: as :func:`rules`.
    :raises Unavailable: if a switch cannot be told.
    """
    for rule in rules(network, path, traffic):
        ofctl("--names", "add-flow", rule.switch, rule.text(cookie))


def unpin(ofctl: Ofctl, network: Network, cookie: int = COOKIE) -> None:
    """Remove the rules of a cookie from all edges.

    :raises Unavailable: if a switch cannot be told.
    """
    for site in network.sites:
        ofctl("del-flows", site.edge, f"cookie={cookie:#x}/-1")


def _pair(protocol: str, of: _End, to: _End, field: str, port: int | None) -> str:
    match = f"{protocol},nw_src={of.address},nw_dst={to.address}"
    return match if port is None else f"{match},{field}={port}"


def _sending(path: Path, of: _End, to: _End, pair: str) -> Rule:
    end = path.ends[of.site.name]
    if path.layer == 2:
        assert path.vlan is not None  # noqa: S101 - layer 2 has one
        tag = f"push_vlan:0x8100,set_field:{path.vlan | 0x1000}->vlan_vid"
        rewrite = f"{tag},set_field:{to.dtn.mac}->eth_dst"
    else:
        rewrite = f"set_field:{end.next_hop_mac}->eth_dst"
    return Rule(of.site.edge, f"in_port={_q(of.dtn.port)},{pair}", f"{rewrite},output:{_q(end.port)}")


def _delivering(path: Path, to: _End, pair: str) -> Rule:
    port = _q(path.ends[to.site.name].port)
    if path.layer == 2:
        tagged = f"in_port={port},dl_vlan={path.vlan},{pair}"
        rewrite = f"pop_vlan,set_field:{to.site.gateway_mac}->eth_src,"
        return Rule(to.site.edge, tagged, f"{rewrite}output:{_q(to.dtn.port)}")
    return Rule(to.site.edge, f"in_port={port},{pair}", f"output:{_q(to.dtn.port)}")


def _q(port: str) -> str:
    return f'"{port}"'
