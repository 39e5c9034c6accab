"""Frames as they stand on the wire, for tests."""

from __future__ import annotations

import struct
from ipaddress import ip_address

MACS = bytes.fromhex("020000000a01020000000a0a")


def frame(
    source_port: int,
    port: int = 5001,
    source: str = "10.1.0.10",
    destination: str = "10.2.0.10",
    protocol: int = 6,
    *,
    options: bytes = b"",
    fragment: int = 0,
) -> bytes:
    """An untagged frame of one connection; checksums are nobody's business here."""
    ends = ip_address(source), ip_address(destination)
    upper = struct.pack("!HH", source_port, port)
    upper += struct.pack("!IIBB6x", 0, 0, 5 << 4, 2) if protocol == 6 else struct.pack("!H14x", 20)
    if ends[0].version == 6:
        header = struct.pack("!IHBB", 6 << 28, len(upper), protocol, 64)
        return MACS + b"\x86\xdd" + header + ends[0].packed + ends[1].packed + upper
    first = 0x40 | 5 + len(options) // 4
    length = 20 + len(options) + len(upper)
    header = struct.pack("!BBHHHBBH", first, 0, length, 0, fragment, 64, protocol, 0)
    return MACS + b"\x08\x00" + header + ends[0].packed + ends[1].packed + options + upper


def lldp_frame(*tlvs: bytes) -> bytes:
    """Return an LLDP frame of another sender."""
    return bytes.fromhex("0180c200000e02000000000188cc") + b"".join(tlvs)


def tlv(kind: int, value: bytes) -> bytes:
    """Return one field of an LLDP frame."""
    return struct.pack("!H", kind << 9 | len(value)) + value


CHASSIS, PORT, TTL, END = tlv(1, b"\x07sw"), tlv(2, b"\x07p1"), tlv(3, b"\x00\x78"), tlv(0, b"")
