"""What a frame carries: from whom, to whom, and how many bytes of payload.

Payload is what TCP or UDP was given to carry.  Headers are not counted, so an acknowledgement alone is 0
bytes: a profile then says what an application sends, and a rate of goodput turns it into time.  What TCP
sends again is there again; on paths where that is more than a few per cent a profile is that much too high.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import dpkt

NO_PORT = 0
"""Of a fragment that is not the first."""


class Link(IntEnum):
    """What a frame begins with, by its number in captures (https://www.tcpdump.org/linktypes.html)."""

    NULL = 0
    ETHERNET = 1
    RAW_BSD = 12
    RAW = 101
    LINUX = 113
    LINUX_2 = 276


_OPENED: Mapping[Link, Callable[[bytes], Any]] = {
    Link.NULL: lambda frame: dpkt.loopback.Loopback(frame).data,
    Link.ETHERNET: lambda frame: dpkt.ethernet.Ethernet(frame).data,
    Link.LINUX: lambda frame: dpkt.sll.SLL(frame).data,
    Link.LINUX_2: lambda frame: dpkt.sll2.SLL2(frame).data,
    Link.RAW_BSD: lambda frame: _by_version(frame),
    Link.RAW: lambda frame: _by_version(frame),
}


class End(NamedTuple):
    """One side of a conversation: an IP address in its usual form, and a port."""

    address: str
    port: int


class Packet(NamedTuple):
    """A packet of TCP or UDP.

    :param payload: bytes that TCP or UDP was given to carry.
    """

    source: End
    destination: End
    payload: int


def dissect(frame: bytes, length: int, link: Link = Link.ETHERNET) -> Packet | None:
    """The packet in a frame, of which only the beginning may be there; None if it is neither TCP nor UDP.

    :param length: bytes of the whole frame, without its checksum.
    """
    try:
        network = _OPENED[link](frame)
    except (dpkt.dpkt.Error, IndexError):
        # What cannot be opened is cut off too early, or no network's: it says nothing of an application.
        return None
    if isinstance(network, dpkt.ip.IP):
        whole = network.len or length - (len(frame) - len(network))
        headers, first = network.hl * 4, network.offset == 0
    elif isinstance(network, dpkt.ip6.IP6):
        # No length: what the network card will cut into pieces, or the extension for very long packets.
        whole = 40 + network.plen if network.plen else length - (len(frame) - len(network))
        extensions = network.all_extension_headers
        headers = 40 + sum(each.length for each in extensions)
        first = all(getattr(each, "frag_off", 0) == 0 for each in extensions)
    else:
        return None
    if network.p not in _HEADER:
        return None
    carried, ports = network.data, (NO_PORT, NO_PORT)
    if first:
        headers += carried.off * 4 if isinstance(carried, dpkt.tcp.TCP) else _HEADER[network.p]
    if isinstance(carried, dpkt.tcp.TCP | dpkt.udp.UDP):
        ports = (carried.sport, carried.dport)
    addresses = (str(ipaddress.ip_address(each)) for each in (network.src, network.dst))
    source, destination = (End(*each) for each in zip(addresses, ports, strict=True))
    return Packet(source, destination, max(0, whole - headers))


_HEADER = {dpkt.ip.IP_PROTO_TCP: 20, dpkt.ip.IP_PROTO_UDP: 8}
"""Bytes of a header, without options."""


def _by_version(frame: bytes) -> Any:
    return dpkt.ip6.IP6(frame) if frame[0] >> 4 == 6 else dpkt.ip.IP(frame)
