"""Packets that a switch sends to the controller, and their connections.

The parser reads only the required fields and bounds all lengths, because packets are untrusted.  It does not
use the packet library of os-ken, which loops for ever on a TCP option of length 0, and builds an object per
header.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from adon.flowspace import PROTOCOL_NAMES, Address, Connection
from adon.flowvisor.discovery.lldp import is_lldp
from adon.flowvisor.rules.cookie import Kind, cookie_kind
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, ETH_TYPE_VLAN
from adon.flowvisor.topology.path import FiveTuple

MAX_EXTENSION_HEADERS = 8
"""Maximum number of IPv6 extension headers."""
HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION = 0, 43, 44, 51, 60
NO_NEXT_HEADER = 59

_PACKET_IN = struct.Struct("!16xQHHII")
"""Cookie; type and length of the match; header and value of its first field (7.4.1)."""
_MATCH_AT, _OXM, _IN_PORT = 24, 1, 0x80000004
_PORTS = struct.Struct("!HH")

Ends = tuple[FiveTuple, Address, Address]
"""Protocol and ports, source address, destination address."""


@dataclass(frozen=True, slots=True)
class PacketIn:
    """Packet-in: the cookie of the rule that sent it, the ingress port, the frame.

    :param in_port: None if the match does not start with it, which every known switch does.
    """

    cookie: int
    in_port: int | None
    frame: bytes


def read_packet_in(data: bytes) -> PacketIn:
    """Return a packet-in from its message (7.4.1).

    :raises ValueError: for bytes that are no packet-in.
    """
    if len(data) < _PACKET_IN.size:
        raise ValueError(f"a packet-in of {len(data)} bytes")
    cookie, kind, length, field, value = _PACKET_IN.unpack_from(data)
    frame_at = _MATCH_AT + (length + 7 & ~7) + 2
    if kind != _OXM or length < 4 or frame_at > len(data):
        raise ValueError(f"a packet-in with a match of type {kind} and length {length}")
    known = field == _IN_PORT and length >= 12
    return PacketIn(cookie, value if known else None, data[frame_at:])


def lldp_frame(packet: PacketIn) -> tuple[int, bytes] | None:
    """Return port and frame of a packet of a discovery rule; None for other packets (R18)."""
    if cookie_kind(packet.cookie) is not Kind.DISCOVERY or packet.in_port is None:
        return None
    return (packet.in_port, packet.frame) if is_lldp(packet.frame) else None


def first_packet(packet: PacketIn) -> tuple[FiveTuple, str, str] | None:
    """Return connection, source and destination address of a packet of a learning rule.

    None for a packet of another rule (R18), a packet that is neither IPv4 nor IPv6, a later fragment, or
    invalid bytes.
    """
    found = read_ends(packet.frame) if cookie_kind(packet.cookie) is Kind.FLOW_LEARN else None
    return None if found is None else (found[0], str(found[1]), str(found[2]))


def read_service(frame: bytes) -> tuple[Connection, int] | None:
    """Return the destination service and the source port of an untagged frame.

    A service is a connection without its source port.  None for a frame without ports, and as
    :func:`read_ends`.
    """
    found = None if frame[12:14] == ETH_TYPE_VLAN.to_bytes(2) else read_ends(frame)
    if found is None or found[0].source_port is None:
        return None
    ports, source, destination = found
    return Connection(source, destination, ports.protocol, ports.destination_port), found[0].source_port


def read_ends(frame: bytes) -> Ends | None:
    """Return connection, source and destination address of an Ethernet frame, or None; never raises.

    One VLAN tag is skipped, two are not.  The ports are the first four bytes of TCP, UDP and SCTP.
    """
    try:
        (eth_type,) = struct.unpack_from("!H", frame, 12)
        start = 14
        if eth_type == ETH_TYPE_VLAN:
            (eth_type,) = struct.unpack_from("!H", frame, 16)
            start = 18
        if eth_type == ETH_TYPE_IPV4:
            return _ipv4(frame, start)
        return _ipv6(frame, start) if eth_type == ETH_TYPE_IPV6 else None
    except (struct.error, IndexError):
        return None


def _ipv4(data: bytes, start: int) -> Ends | None:
    """Parse an IPv4 header (RFC 791, 3.1)."""
    first, fragment, protocol, source, destination = struct.unpack_from("!B5xHxB2x4s4s", data, start)
    words = first & 0xF
    if first >> 4 != 4 or words < 5 or fragment & 0x1FFF:
        return None
    return _ports(data, start + words * 4, protocol), IPv4Address(source), IPv4Address(destination)


def _ipv6(data: bytes, start: int) -> Ends | None:
    """Parse IPv6 headers (RFC 8200, 3 and 4)."""
    first, protocol, source, destination = struct.unpack_from("!B5xBx16s16s", data, start)
    upper = _upper(data, start + 40, protocol) if first >> 4 == 6 else None
    if upper is None:
        return None
    protocol, offset = upper
    return _ports(data, offset, protocol), IPv6Address(source), IPv6Address(destination)


def _upper(data: bytes, offset: int, protocol: int) -> tuple[int, int] | None:
    """Return protocol and offset after the extension headers; None for a later fragment."""
    for _ in range(MAX_EXTENSION_HEADERS):
        if protocol in (HOP_BY_HOP, ROUTING, DESTINATION):
            size = (data[offset + 1] + 1) * 8
        elif protocol == AUTHENTICATION:
            size = (data[offset + 1] + 2) * 4  # RFC 4302, 2.2
        elif protocol == FRAGMENT:
            if struct.unpack_from("!H", data, offset + 2)[0] & 0xFFF8:
                return None
            size = 8
        else:
            return None if protocol == NO_NEXT_HEADER else (protocol, offset)
        protocol, offset = data[offset], offset + size
    return None


def _ports(data: bytes, offset: int, protocol: int) -> FiveTuple:
    if protocol not in PROTOCOL_NAMES:
        return FiveTuple(protocol, 0)
    source_port, destination_port = _PORTS.unpack_from(data, offset)
    return FiveTuple(protocol, destination_port, source_port)
