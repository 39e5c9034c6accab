"""The connection of a packet from the network; no network."""

from __future__ import annotations

import struct
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from os_ken.lib.packet import ethernet, icmp, icmpv6, ipv4, ipv6, packet, tcp, udp, vlan

from adon.flowspace import Connection
from adon.flowvisor.openflow.packets import (
    MAX_EXTENSION_HEADERS,
    PacketIn,
    first_packet,
    read_ends,
    read_packet_in,
    read_service,
)
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.topology.path import FiveTuple
from tests.flowvisor.openflow_samples import packet_in
from tests.support.refusals import refused

LEARN_COOKIE = cookie(Kind.FLOW_LEARN, 17)
ENDS = IPv4Address("10.1.0.10"), IPv4Address("10.2.0.10")


def frame(*layers: Any) -> bytes:
    first = {vlan.vlan: 0x8100, ipv6.ipv6: 0x86DD}
    ethertype = first.get(type(layers[0]), 0x0800)
    whole = packet.Packet()
    for layer in (ethernet.ethernet("02:00:00:00:00:01", "02:00:00:00:00:02", ethertype), *layers):
        whole.add_protocol(layer)
    whole.serialize()
    return bytes(whole.data)


def ip(proto: int, **fields: Any) -> ipv4.ipv4:
    return ipv4.ipv4(proto=proto, src="10.1.0.10", dst="10.2.0.10", **fields)


SYN = frame(ip(6), tcp.tcp(40_000, 5001))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SYN, FiveTuple(6, 5001, 40_000)),
        (frame(ip(17), udp.udp(40_000, 5002)), FiveTuple(17, 5002, 40_000)),
        (frame(ip(1), icmp.icmp()), FiveTuple(1, 0)),
        (frame(vlan.vlan(vid=5, ethertype=0x0800), ip(6), tcp.tcp(1, 2)), FiveTuple(6, 2, 1)),
        (frame(ip(6, option=b"\1" * 8, header_length=7), tcp.tcp(1, 2)), FiveTuple(6, 2, 1)),
    ],
)
def test_the_connection_of_a_first_packet(data: bytes, expected: FiveTuple) -> None:
    assert first_packet(PacketIn(LEARN_COOKIE, 1, data)) == (expected, "10.1.0.10", "10.2.0.10")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SYN[:20],
        SYN[:36],
        frame(ip(6, offset=5), tcp.tcp(1, 2)),
        SYN[:12] + b"\x08\x06" + SYN[14:],
        SYN[:14] + b"\x65" + SYN[15:],
        SYN[:14] + b"\x44" + SYN[15:],
    ],
    ids=[
        "empty",
        "half an IP header",
        "no ports",
        "later fragment",
        "ARP",
        "IP version 6",
        "header of 4 words",
    ],
)
def test_what_is_no_first_packet_is_none(data: bytes) -> None:
    assert first_packet(PacketIn(LEARN_COOKIE, 1, data)) is None


@pytest.mark.parametrize("number", [0, 5, cookie(Kind.FLOW_INGRESS, 17), 0xAD77 << 48])
def test_only_learning_rules_may_send_packets(number: int) -> None:
    assert first_packet(PacketIn(number, 1, SYN)) is None


def test_a_tcp_option_of_length_zero_does_not_stop_us() -> None:
    """os-ken's own TCP parser never comes back from this packet."""
    endless = SYN[:46] + bytes([0x60]) + SYN[47:54] + b"\xfe\x00\x00\x00" + b"x" * 40
    ip_header = bytearray(endless)
    struct.pack_into("!H", ip_header, 16, len(endless) - 14)
    assert read_ends(bytes(ip_header)) == (FiveTuple(6, 5001, 40_000), *ENDS)


@given(st.binary(max_size=160), st.integers(0, len(SYN)), st.lists(st.integers(0, len(SYN) - 1), max_size=6))
def test_no_packet_raises(noise: bytes, cut: int, flipped: list[int]) -> None:
    damaged = bytearray(SYN)
    for position in flipped:
        damaged[position] ^= 0xFF
    for data in (noise, SYN[:14] + noise, TCP6[:14] + noise, bytes(damaged[:cut]) + noise):
        found = read_ends(data)
        assert found is None or isinstance(found[0], FiveTuple)


def ip6(nxt: int) -> ipv6.ipv6:
    return ipv6.ipv6(nxt=nxt, src="2001:db8::1", dst="2001:db8::2")


TCP6 = frame(ip6(6), tcp.tcp(40_000, 5001))


def extended(first: int, *headers: bytes) -> bytes:
    """TCP behind extension headers, each of which names the next."""
    return TCP6[:20] + bytes([first]) + TCP6[21:54] + b"".join(headers) + TCP6[54:]


def header(following: int, size: int, words: int) -> bytes:
    """An extension header: what follows, its length as it says itself, zeros."""
    return bytes([following, words]) + bytes(size - 2)


FOUR = (header(60, 8, 0), header(51, 24, 2), header(44, 24, 4), bytes([6, 0, 0, 1, 0, 0, 0, 7]))
"""Hop-by-hop, destination options, authentication (in words of four bytes), the first fragment."""
LATER = bytes([6, 0, 1, 0, 0, 0, 0, 7])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (TCP6, FiveTuple(6, 5001, 40_000)),
        (frame(ip6(17), udp.udp(40_000, 5002)), FiveTuple(17, 5002, 40_000)),
        (frame(ip6(58), icmpv6.icmpv6()), FiveTuple(58, 0)),
        (frame(vlan.vlan(vid=5, ethertype=0x86DD), ip6(6), tcp.tcp(1, 2)), FiveTuple(6, 2, 1)),
        (extended(0, *FOUR), FiveTuple(6, 5001, 40_000)),
    ],
    ids=["tcp", "udp", "icmp", "tagged", "four extension headers"],
)
def test_the_connection_of_an_ipv6_packet(data: bytes, expected: FiveTuple) -> None:
    assert read_ends(data) == (expected, IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2"))


def with_headers(count: int) -> bytes:
    """As many hop-by-hop headers, one after the other, before TCP."""
    headers = [header(0 if left else 6, 8, 0) for left in range(count - 1, -1, -1)]
    return extended(0 if count else 6, *headers)


@pytest.mark.parametrize(
    ("data", "known"),
    [
        (with_headers(0), True),
        (with_headers(MAX_EXTENSION_HEADERS - 1), True),
        (with_headers(MAX_EXTENSION_HEADERS), False),
        (extended(44, LATER), False),
        (TCP6[:20] + bytes([59]) + TCP6[21:], False),
        (TCP6[:14] + b"\x45" + TCP6[15:], False),
        (TCP6[:56], False),
        (TCP6[:40], False),
    ],
    ids=["none", "most", "too many", "later fragment", "nothing follows", "IP version 4", "no ports", "cut"],
)
def test_extension_headers_are_gone_through_to_an_end(data: bytes, *, known: bool) -> None:
    assert (read_ends(data) is not None) is known


def test_the_service_of_a_packet_is_its_connection_without_the_source_port() -> None:
    found = Connection(*ENDS, 6, 5001)
    assert read_service(SYN) == (found, 40_000)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SYN[:37],
        frame(ip(6, offset=5), tcp.tcp(1, 2)),
        frame(ip(1), icmp.icmp()),
        frame(vlan.vlan(vid=5, ethertype=0x0800), ip(6), tcp.tcp(1, 2)),
    ],
    ids=["empty", "cut off", "later fragment", "no ports", "tagged"],
)
def test_what_is_no_packet_to_a_service_is_none(data: bytes) -> None:
    assert read_service(data) is None


@pytest.mark.parametrize("match", [{}, {"metadata": 9}])
def test_a_packet_in_has_cookie_port_and_frame(match: dict[str, int]) -> None:
    assert read_packet_in(packet_in(LEARN_COOKIE, b"frame", 3, **match)) == PacketIn(
        LEARN_COOKIE, 3, b"frame"
    )


def test_a_packet_in_that_does_not_begin_with_the_port_has_none() -> None:
    data = bytearray(packet_in(LEARN_COOKIE, b"frame"))
    data[28:32] = b"\x80\x00\x0a\x02"
    assert read_packet_in(bytes(data)) == PacketIn(LEARN_COOKIE, None, b"frame")


@given(st.binary(max_size=80))
def test_bytes_that_are_no_packet_in_are_refused(noise: bytes) -> None:
    with suppress(ValueError):
        read_packet_in(noise)
    with refused(ValueError):
        read_packet_in(packet_in(LEARN_COOKIE, noise)[:26] + b"\xff\xff" + noise)
