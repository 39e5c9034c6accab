"""What every message of OpenFlow 1.3 and 1.4 has in common: header, versions, padding.

Numbers that do not change from version to version are those of :mod:`os_ken.ofproto.ofproto_v1_3`
(section 7 and appendix of each OpenFlow Switch Specification).

Version of a connection (OpenFlow Switch Specification 1.3.5, 6.3.1, 7.5.1).

By the specification both sides send a HELLO at once and take the highest version in both bitmaps, or the
smaller of the two version fields where one side sends no bitmap.  We answer a switch's HELLO instead, with
one that offers the single version we chose from what it said: then both rules lead the switch to that
version, and 1.3, which everything here was measured with, is chosen whenever the switch offers it, though
it could speak a higher one too.

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


def pad_length(length: int) -> int:
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
        start += pad_length(length) if aligned else length


OFPT_HELLO, OFPT_ERROR = 0, 1
OFPHET_VERSIONBITMAP = 1
OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE = 0, 0

VERSION_NUMBERS: Mapping[str, int] = {"1.0": 1, "1.1": 2, "1.2": 3, "1.3": 4, "1.4": 5, "1.5": 6}
PREFERRED = VERSION_NUMBERS["1.3"]


def version_text(number: int) -> str:
    """``1.3`` for 4; a number that stands for no version of OpenFlow in hexadecimal."""
    names = {value: name for name, value in VERSION_NUMBERS.items()}
    return names.get(number, f"0x{number:02x}")


def read_versions(version: int, body: bytes) -> frozenset[int]:
    """The versions that a HELLO offers.

    :param version: of its header.
    :param body: what follows the header: elements, of which unknown ones are skipped.
    :raises ValueError: for an element shorter than its own header, or longer than the message.
    """
    elements = [body[start:end] for start, end in entries(body, 0, len(body), at=2, least=4, aligned=True)]
    bitmaps = [each[4:] for each in elements if int.from_bytes(each[:2]) == OFPHET_VERSIONBITMAP]
    # Without a bitmap a side means every version up to the one in its header.
    return frozenset().union(*map(_bits, bitmaps)) if bitmaps else frozenset(range(1, version + 1))


def _bits(bitmaps: bytes) -> set[int]:
    # Versions above 31 do not exist; one bitmap says all there is.
    if len(bitmaps) < 4:
        return set()
    (bits,) = struct.unpack_from("!I", bitmaps)
    return {number for number in range(32) if bits >> number & 1}


def choose(theirs: Collection[int], ours: Collection[int]) -> int | None:
    """The version to speak: 1.3 where both can, else the highest of both; None if there is none."""
    common = set(theirs) & set(ours)
    if not common:
        return None
    return PREFERRED if PREFERRED in common else max(common)


def hello(versions: Collection[int], xid: int) -> bytes:
    """A HELLO that offers these versions."""
    bitmap = sum(1 << number for number in versions)
    element = struct.pack("!HHI", OFPHET_VERSIONBITMAP, 8, bitmap)
    return message(max(versions), OFPT_HELLO, element, xid)


def hello_failed(version: int, text: str, xid: int) -> bytes:
    """The error that refuses a HELLO (7.4.4), in the version that the other side spoke."""
    body = struct.pack("!HH", OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE) + text.encode("ascii", "replace")
    return message(version, OFPT_ERROR, body, xid)
