"""What every message of OpenFlow 1.3 and 1.4 has in common: header, versions, padding.

Numbers that do not change from version to version are those of :mod:`os_ken.ofproto.ofproto_v1_3`
(section 7 and appendix of each OpenFlow Switch Specification).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from types import ModuleType

from os_ken.ofproto import ofproto_v1_3, ofproto_v1_4

V13, V14 = ofproto_v1_3.OFP_VERSION, ofproto_v1_4.OFP_VERSION

PROTOCOLS: Mapping[int, ModuleType] = {V13: ofproto_v1_3, V14: ofproto_v1_4}
"""os-ken's numbers and fields, by version on the wire."""

HEADER = struct.Struct("!BBHI")
"""Version, type, length, transaction id (7.1)."""
MULTIPART = struct.Struct("!HH4x")
"""Type and flags of a multipart message, after the header (7.3.5)."""
BODY = HEADER.size + MULTIPART.size
"""Where the body of a multipart message begins."""

LONGEST = 0xFFFF
"""The length of a message is a 16-bit number."""


def message(version: int, kind: int, body: bytes, xid: int = 0) -> bytes:
    """A message of this type around a body.

    :raises ValueError: if it would be longer than a message can be.
    """
    length = HEADER.size + len(body)
    if length > LONGEST:
        raise ValueError(f"a message of {length} bytes is longer than OpenFlow allows")
    return HEADER.pack(version, kind, length, xid) + body


def with_xid(packed: bytes, xid: int) -> bytes:
    """The same message with another transaction id."""
    return packed[:4] + xid.to_bytes(4) + packed[8:]


def padded(length: int) -> int:
    """The length with its padding: OpenFlow aligns to 8 bytes."""
    return length + 7 & ~7


def entries(
    data: bytes, start: int, end: int, *, at: int = 0, least: int = 8, aligned: bool = False
) -> Iterator[tuple[int, int]]:
    """Where each of the entries that follow one another begins and ends; each says its own length.

    :param at: where, in an entry, its 16-bit length is.
    :param least: the length of the shortest entry there can be.
    :param aligned: whether padding follows that the length does not count.
    :raises ValueError: for a length that is too short, or goes beyond the end.
    """
    while start < end:
        if start + at + 2 > end:
            raise ValueError("an entry ends in the middle")
        length = int.from_bytes(data[start + at : start + at + 2])
        if length < least or start + length > end:
            raise ValueError(f"an entry of length {length}, {end - start} bytes before the end")
        yield start, start + length
        start += padded(length) if aligned else length
