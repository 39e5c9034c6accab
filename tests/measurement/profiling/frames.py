"""Frames and sFlow datagrams for tests, put together byte by byte from the standards."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable

from measurement.profiling.packets import End

TCP, UDP, ICMP = 6, 17, 1


def ip(one: End, other: End, payload: int, kind: int = TCP, *, options: int = 0, offset: int = 0) -> bytes:
    """An IP packet without checksums (RFC 791, 8200, 9293, 768)."""
    ports = struct.pack("!HH", one.port, other.port)
    if kind == TCP:
        segment = (
            ports + struct.pack("!IIHHHH", 0, 0, (5 + options) << 12 | 0x10, 100, 0, 0) + bytes(4 * options)
        )
    elif kind == UDP:
        segment = ports + struct.pack("!HH", 8 + payload, 0)
    else:
        segment = bytes(8)
    segment = bytes(payload) if offset else segment + bytes(payload)
    source, destination = ipaddress.ip_address(one.address), ipaddress.ip_address(other.address)
    if source.version == 6:
        head = struct.pack("!IHBB", 6 << 28, len(segment), kind, 64)
    else:
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 1, offset, 64, kind, 0)
    return head + source.packed + destination.packed + segment


def ethernet(packet: bytes, *, vlan: int | None = None) -> bytes:
    """A frame of at least 60 bytes, without its checksum (IEEE 802.3, 802.1Q)."""
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    return (bytes(6) + b"\2" + bytes(5) + tag + struct.pack("!H", kind) + packet).ljust(60, b"\0")


def _padded(data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + data.ljust(-(-len(data) // 4) * 4, b"\0")


def part(form: int, data: bytes) -> bytes:
    return struct.pack("!I", form) + _padded(data)


def header(frame: bytes, *, keep: int = 128, protocol: int = 1) -> bytes:
    """A record of a sampled frame's beginning; the length counts the frame's checksum, which is stripped."""
    return part(1, struct.pack("!III", protocol, len(frame) + 4, 4) + _padded(frame[:keep]))


def sample(
    sequence: int,
    records: Iterable[bytes],
    *,
    rate: int = 100,
    drops: int = 0,
    origin: int = 7,
    expanded: bool = False,
) -> bytes:
    its = [*records]
    after = struct.pack("!I", len(its)) + b"".join(its)
    if expanded:
        numbers = (sequence, 0, origin, rate, sequence * rate % 2**32, drops, 0, 1, 0, 2)
    else:
        numbers = (sequence, origin, rate, sequence * rate % 2**32, drops, 1, 2)
    return part(3 if expanded else 1, struct.pack(f"!{len(numbers)}I", *numbers) + after)


def datagram(
    sequence: int,
    samples: Iterable[bytes],
    *,
    agent: str = "192.0.2.1",
    uptime: float = 10.0,
    version: int = 5,
) -> bytes:
    its = [*samples]
    address = ipaddress.ip_address(agent)
    kind = 1 if address.version == 4 else 2
    return (
        struct.pack("!II", version, kind)
        + address.packed
        + struct.pack("!IIII", 0, sequence, round(uptime * 1000), len(its))
        + b"".join(its)
    )
