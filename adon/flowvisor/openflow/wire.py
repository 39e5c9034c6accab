"""Common parts of all messages of OpenFlow 1.3 and 1.4: header, version negotiation, padding.

Numbers that are the same in all versions are those of :mod:`os_ken.ofproto.ofproto_v1_3` (section 7 and
appendix of each OpenFlow Switch Specification).

Version negotiation (OpenFlow Switch Specification 1.3.5, 6.3.1, 7.5.1): both sides send a HELLO at once and
use the highest version in both bitmaps, or the smaller version field if one side sends no bitmap.  ADON
instead answers a switch's HELLO with one that offers a single version, so that both rules lead to this
version.  It chooses 1.3, with which ADON was measured, whenever the switch offers it.

A version is its number on the wire: 1.3 is 4.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping

from os_ken.ofproto import ofproto_v1_3, ofproto_v1_4

V13, V14 = ofproto_v1_3.OFP_VERSION, ofproto_v1_4.OFP_VERSION

HEADER = struct.Struct("!BBHI")
"""Version, type, length, transaction id (7.1)."""
MULTIPART = struct.Struct("!HH4x")
"""Type and flags of a multipart message, after the header (7.3.5)."""
BODY = HEADER.size + MULTIPART.size
"""Offset of the body of a multipart message."""

MAX_LENGTH = 0xFFFF
"""The length of a message is a 16-bit number."""


def message(version: int, kind: int, body: bytes, xid: int = 0) -> bytes:
    """Return a message of a type with a body.

    :raises ValueError: if it exceeds the maximum length.
    """
    length = HEADER.size + len(body)
    if length > MAX_LENGTH:
        raise ValueError(f"a message of {length} bytes is longer than OpenFlow allows")
    return HEADER.pack(version, kind, length, xid) + body


def with_xid(packed: bytes, xid: int) -> bytes:
    """Return the message with another transaction id."""
    return packed[:4] + xid.to_bytes(4) + packed[8:]


def pad_length(length: int) -> int:
    """Return a length rounded up to OpenFlow's alignment of 8 bytes."""
    return length + 7 & ~7


def entries(
    data: bytes, start: int, end: int, *, at: int = 0, least: int = 8, aligned: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield start and end of consecutive entries, each of which states its own length.

    :param at: offset of the 16-bit length in an entry.
    :param least: length of the shortest possible entry.
    :param aligned: whether padding follows that the length does not include.
    :raises ValueError: for a length that is too short, or exceeds the end.
    """
    while start < end:
        if start + at + 2 > end:
            raise ValueError("an entry ends in the middle")
        length = int.from_bytes(data[start + at : start + at + 2])
        if length < least or start + length > end:
            raise ValueError(f"an entry of length {length}, {end - start} bytes before the end")
        yield start, start + length
        start += pad_length(length) if aligned else length


OFPT_HELLO, OFPT_ERROR = 0, 1
OFPHET_VERSIONBITMAP = 1
OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE = 0, 0

VERSION_NUMBERS: Mapping[str, int] = {"1.0": 1, "1.1": 2, "1.2": 3, "1.3": 4, "1.4": 5, "1.5": 6}
PREFERRED = VERSION_NUMBERS["1.3"]


def version_text(number: int) -> str:
    """Return the text of a version: ``1.3`` for 4; an unknown number in hexadecimal."""
    names = {value: name for name, value in VERSION_NUMBERS.items()}
    return names.get(number, f"0x{number:02x}")


def read_versions(version: int, body: bytes) -> frozenset[int]:
    """Return the versions that a HELLO offers.

    :param version: of its header.
    :param body: the elements after the header; unknown ones are skipped.
    :raises ValueError: for an element shorter than its own header, or longer than the message.
    """
    elements = [body[start:end] for start, end in entries(body, 0, len(body), at=2, least=4, aligned=True)]
    bitmaps = [each[4:] for each in elements if int.from_bytes(each[:2]) == OFPHET_VERSIONBITMAP]
    # Without a bitmap a side supports every version up to the one in its header.
    return frozenset().union(*map(_bits, bitmaps)) if bitmaps else frozenset(range(1, version + 1))


def _bits(bitmaps: bytes) -> set[int]:
    # Versions above 31 do not exist, so one bitmap is enough.
    if len(bitmaps) < 4:
        return set()
    (bits,) = struct.unpack_from("!I", bitmaps)
    return {number for number in range(32) if bits >> number & 1}


def choose_version(theirs: Collection[int], ours: Collection[int]) -> int | None:
    """Return the version to use: 1.3 if common, else the highest common version; None without one."""
    common = set(theirs) & set(ours)
    if not common:
        return None
    return PREFERRED if PREFERRED in common else max(common)


def hello(versions: Collection[int], xid: int) -> bytes:
    """Return a HELLO that offers these versions."""
    bitmap = sum(1 << number for number in versions)
    element = struct.pack("!HHI", OFPHET_VERSIONBITMAP, 8, bitmap)
    return message(max(versions), OFPT_HELLO, element, xid)


def hello_failed(version: int, text: str, xid: int) -> bytes:
    """Return the error that refuses a HELLO (7.4.4), in the version of the other side."""
    body = struct.pack("!HH", OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE) + text.encode("ascii", "replace")
    return message(version, OFPT_ERROR, body, xid)
