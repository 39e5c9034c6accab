"""The connection that a packet from the network belongs to.

Parsed no further than needed, by lengths that are bounded, and never raising: the packet is whatever
somebody on the campus sent.  os-ken's packet library is not used: it goes through TCP options (an option of
length 0 keeps it there for ever) and builds an object per header.
"""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from adon.flowvisor.discovery.lldp import is_lldp
from adon.flowvisor.openflow.instructions import ETH_TYPE_VLAN
from adon.flowvisor.openflow.oxm import PORT_FIELDS
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6
from adon.flowvisor.topology.path import FiveTuple

Connection = tuple[FiveTuple, str, str]
"""Protocol and ports, source address, destination address."""

MAX_EXTENSION_HEADERS = 8
"""IPv6 extension headers that are gone through; a packet with more is nobody's."""
HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION = 0, 43, 44, 51, 60
NO_NEXT_HEADER = 59

_PORTS = struct.Struct("!HH")


def lldp_frame(message: Any) -> tuple[int, bytes] | None:
    """The port and the bytes of a packet-in that a discovery rule of ours sent; None for any other (R18)."""
    try:
        if cookie_owner(message.cookie)[0] is not Kind.DISCOVERY:
            return None
    except ValueError:
        return None
    port = message.match.get("in_port")
    if not isinstance(port, int) or not is_lldp(message.data):
        return None
    return port, bytes(message.data)


def first_packet(message: Any) -> Connection | None:
    """Connection, source and destination address of a packet-in that a learning rule sent.

    None for anything else: a cookie that is not that of a learning rule (R18), a packet that is neither IPv4
    nor IPv6, a later fragment, or bytes that make no sense.
    """
    try:
        if cookie_owner(message.cookie)[0] is not Kind.FLOW_LEARN:
            return None
    except ValueError:
        return None
    return five_tuple(message.data)


def five_tuple(data: bytes) -> Connection | None:
    """Connection, source and destination address of an Ethernet frame, or None; never raises.

    One VLAN tag is looked behind, two are not.  The ports are the first four bytes of TCP, UDP and SCTP
    alike.
    """
    try:
        (eth_type,) = struct.unpack_from("!H", data, 12)
        start = 14
        if eth_type == ETH_TYPE_VLAN:
            (eth_type,) = struct.unpack_from("!H", data, 16)
            start = 18
        if eth_type == ETH_TYPE_IPV4:
            return _ipv4(data, start)
        return _ipv6(data, start) if eth_type == ETH_TYPE_IPV6 else None
    except (struct.error, IndexError):
        return None


def _ipv4(data: bytes, start: int) -> Connection | None:
    """RFC 791, 3.1."""
    first, fragment, protocol, source, destination = struct.unpack_from("!B5xHxB2x4s4s", data, start)
    words = first & 0xF
    if first >> 4 != 4 or words < 5 or fragment & 0x1FFF:
        return None
    connection = _connection(data, start + words * 4, protocol)
    return connection, str(IPv4Address(source)), str(IPv4Address(destination))


def _ipv6(data: bytes, start: int) -> Connection | None:
    """RFC 8200, 3 and 4."""
    first, protocol, source, destination = struct.unpack_from("!B5xBx16s16s", data, start)
    if first >> 4 != 6:
        return None
    found = _upper(data, start + 40, protocol)
    if found is None:
        return None
    protocol, offset = found
    connection = _connection(data, offset, protocol)
    return connection, str(IPv6Address(source)), str(IPv6Address(destination))


def _upper(data: bytes, offset: int, protocol: int) -> tuple[int, int] | None:
    """The protocol behind the extension headers and where it begins; None for a later fragment."""
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


def _connection(data: bytes, offset: int, protocol: int) -> FiveTuple:
    if protocol not in PORT_FIELDS:
        return FiveTuple(protocol, 0)
    source_port, destination_port = _PORTS.unpack_from(data, offset)
    return FiveTuple(protocol, destination_port, source_port)
