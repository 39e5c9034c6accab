"""Match of a rule, as a value and as text of ``ovs-ofctl -O OpenFlow13``."""

from __future__ import annotations

from dataclasses import dataclass

ETH_TYPE_IPV4 = 0x0800
ETH_TYPE_IPV6 = 0x86DD
ETH_TYPE_LLDP = 0x88CC
ETH_TYPE_VLAN = 0x8100

_PROTOCOLS = {None: "ip", 1: "icmp", 6: "tcp", 17: "udp", 132: "sctp"}
_PROTOCOLS_V6 = {None: "ipv6", 58: "icmp6", 6: "tcp6", 17: "udp6", 132: "sctp6"}


@dataclass(frozen=True, slots=True, order=True)
class MaskedNumber:
    """Number with a mask of the significant bits."""

    value: int
    mask: int

    def __str__(self) -> str:
        return f"0x{self.value:x}/0x{self.mask:x}"


@dataclass(frozen=True, slots=True)
class Match:
    """Match fields; None matches any value.

    Addresses are in their canonical text, with a prefix length for a network (``10.1.0.0/24``,
    ``2001:db8::/64``); ``eth_type`` states the version of IP.  ``vlan`` None matches tagged and untagged
    frames; delivery rules always state it for layer-2 paths.  ``metadata`` is the value that an earlier table
    wrote (:mod:`adon.flowvisor.rules.pipeline`).  ``other`` is empty in ADON's rules.  It keeps, as
    hexadecimal digits, further reported OXM fields, so that such a rule differs from ADON's and can be
    addressed strictly.
    """

    in_port: int | None = None
    vlan: int | None = None
    eth_type: int | None = None
    ip_proto: int | None = None
    ip_src: str | None = None
    ip_dst: str | None = None
    tp_src: int | None = None
    tp_dst: int | None = None
    metadata: MaskedNumber | None = None
    other: str = ""


def match_text(match: Match) -> str:
    """Return the match as ``ovs-ofctl -O OpenFlow13 dump-flows`` prints it."""
    return ",".join((*_protocol(match), *_fields(match)))


def _protocol(match: Match) -> tuple[str, ...]:
    if match.eth_type is None:
        return ()
    names = {ETH_TYPE_IPV4: _PROTOCOLS, ETH_TYPE_IPV6: _PROTOCOLS_V6}.get(match.eth_type)
    if names is None:
        return (f"dl_type=0x{match.eth_type:04x}",)
    return (names.get(match.ip_proto, f"{names[None]},nw_proto={match.ip_proto}"),)


def _fields(match: Match) -> tuple[str, ...]:
    prefix = "ipv6" if match.eth_type == ETH_TYPE_IPV6 else "nw"
    named = (
        ("metadata", match.metadata),
        ("in_port", match.in_port),
        ("dl_vlan", match.vlan),
        (f"{prefix}_src", match.ip_src),
        (f"{prefix}_dst", match.ip_dst),
        ("tp_src", match.tp_src),
        ("tp_dst", match.tp_dst),
    )
    found = tuple(f"{name}={value}" for name, value in named if value is not None)
    return (*found, match.other) if match.other else found
