"""Whether a message from a switch adds up, before anybody parses it.

os-ken's parsers take the lengths inside a message at their word: an entry of length 0 in a report, an
action of length 0 in an instruction, and they never end; a length beyond the message, and they read on in
what follows.  So every list is walked here first: each element has room for its own header, ends inside
what holds it, and the last one ends exactly there.  What a field means is left to the parser.

Only what a controller may receive is let through, and of the reports only those whose layout is written
down below: nobody asks for others.  Layouts are of the OpenFlow Switch Specifications 1.3.5 and 1.4.1,
section 7; numbers are those of the wire.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adon.flowvisor.openflow.wire import V13, V14
from adon.flowvisor.rules.cookie import Kind

OFPT_MULTIPART_REPLY = 19
OFPT_PACKET_IN = 10
OFPT_QUEUE_GET_CONFIG_REPLY = 23
OFPAT_SET_FIELD = 25
ONF, ONF_ROLE_STATUS = 0x4F4E4600, 1911
"""The Open Networking Foundation as experimenter, and its role status for OpenFlow 1.3 (extension 191)."""

_NO_BODY_NEEDED = 8

_SMALLEST: Mapping[int, int] = {
    1: 12,  # ERROR
    2: _NO_BODY_NEEDED,  # ECHO_REQUEST
    3: _NO_BODY_NEEDED,  # ECHO_REPLY
    4: 16,  # EXPERIMENTER
    6: 32,  # FEATURES_REPLY
    8: 12,  # GET_CONFIG_REPLY
    OFPT_PACKET_IN: 32,
    11: 32,  # FLOW_REMOVED
    12: 16,  # PORT_STATUS
    OFPT_MULTIPART_REPLY: 16,
    21: _NO_BODY_NEEDED,  # BARRIER_REPLY
    OFPT_QUEUE_GET_CONFIG_REPLY: 16,
    25: 24,  # ROLE_REPLY
    30: 24,  # ROLE_STATUS
}
"""What a switch may send once versions are agreed on (see wire.py), and its size in bytes at least."""

_FIRST_OF_1_4 = 30
"""Messages from this one on came with OpenFlow 1.4; in 1.3, 30 means nothing."""

Walk = Callable[[bytes, int, int, int], None]
"""Checks ``data[begin:end]`` of a message of some version: ``walk(data, begin, end, version)``."""


@dataclass(frozen=True, slots=True)
class _Element:
    """Elements of a list that carry their own length.

    :param length_at: where in the element its length (16 bit) is.
    :param least: its smallest size.
    :param padded: to a multiple of so many bytes; the length may not count the padding.
    :param inside: checks what is between its first ``least`` bytes and its end.
    """

    length_at: int
    least: int
    padded: int = 1
    inside: Walk | None = None

    def __call__(self, data: bytes, begin: int, end: int, version: int) -> None:
        while begin < end:
            if begin + self.least > end:
                raise ValueError(f"{end - begin} bytes left where an element has {self.least} at least")
            (length,) = struct.unpack_from("!H", data, begin + self.length_at)
            if length < self.least or begin + length > end:
                raise ValueError(f"an element of length {length}")
            if self.inside is not None:
                self.inside(data, begin + self.least, begin + length, version)
            begin += -(-length // self.padded) * self.padded
        if begin > end:
            raise ValueError("an element whose padding is missing")


def _fixed(size: int) -> Walk:
    def walk(_data: bytes, begin: int, end: int, _version: int) -> None:
        if (end - begin) % size:
            raise ValueError(f"{end - begin} bytes where each element has {size}")

    return walk


def _fields(data: bytes, begin: int, end: int) -> None:
    """OXM fields (7.2.3.2): a header of 4 bytes whose last byte is the length of what follows."""
    while begin < end:
        if begin + 4 > end or begin + 4 + data[begin + 3] > end:
            raise ValueError("a match field that is cut off")
        begin += 4 + data[begin + 3]


def _match(data: bytes, begin: int, end: int) -> int:
    """A match (7.2.3), padded to 8 bytes; where it ends."""
    if begin + 4 > end:
        raise ValueError("no room for a match")
    kind, length = struct.unpack_from("!HH", data, begin)
    after: int = begin + (length + 7) // 8 * 8
    if kind != 1 or length < 4 or after > end:
        raise ValueError(f"a match of type {kind} and length {length}")
    _fields(data, begin + 4, begin + length)
    return after


def _action(data: bytes, begin: int, end: int, _version: int) -> None:
    (kind,) = struct.unpack_from("!H", data, begin - 4)
    if kind == OFPAT_SET_FIELD:
        if begin + 4 + data[begin + 3] > end:
            raise ValueError("a match field that is cut off")
    elif end - begin < 4:
        raise ValueError("an action that is cut off")


_actions = _Element(length_at=2, least=4, inside=_action)


def _instruction(data: bytes, begin: int, end: int, version: int) -> None:
    (kind,) = struct.unpack_from("!H", data, begin - 8)
    if kind in (3, 4, 5):  # WRITE_ACTIONS, APPLY_ACTIONS, CLEAR_ACTIONS (7.2.4)
        _actions(data, begin, end, version)
    elif kind == 2 and end - begin < 16:  # WRITE_METADATA
        raise ValueError("an instruction that is cut off")


_instructions = _Element(length_at=2, least=8, inside=_instruction)


def _rule(fixed: int) -> Walk:
    """The variable part of a reported rule: match, instructions; ``fixed`` bytes before the match."""

    def walk(data: bytes, begin: int, end: int, version: int) -> None:
        _instructions(data, _match(data, begin, end), end, version)

    return _Element(length_at=0, least=fixed, inside=walk)


_properties = _Element(length_at=2, least=4, padded=8)
_queues = _Element(length_at=8, least=16, inside=_properties)
"""What queues there are (1.3.5, 7.2.2; 1.4.1, 7.3.5.16)."""
_buckets = _Element(length_at=0, least=16, inside=_actions)


def _property_of_table(data: bytes, begin: int, end: int, version: int) -> None:
    (kind,) = struct.unpack_from("!H", data, begin - 4)
    if kind <= 1 or 4 <= kind <= 7:  # ids of instructions and of actions
        _Element(length_at=2, least=4)(data, begin, end, version)
    elif 8 <= kind <= 15:  # ids of fields: headers alone, and those of experimenters twice as long
        _fixed(4)(data, begin, end, version)


_table_properties = _Element(length_at=2, least=4, padded=8, inside=_property_of_table)


_SINCE_1_3: Mapping[int, Walk] = {
    0: _fixed(1056),  # DESC
    1: _rule(48),  # FLOW
    3: _fixed(24),  # TABLE
    4: _fixed(112),  # PORT_STATS
    5: _fixed(40),  # QUEUE
    6: _Element(length_at=0, least=40, inside=_fixed(16)),  # GROUP
    7: _Element(length_at=0, least=8, inside=_buckets),  # GROUP_DESC
    8: _fixed(40),  # GROUP_FEATURES
    9: _Element(length_at=4, least=40, inside=_fixed(16)),  # METER
    10: _Element(length_at=0, least=8, inside=_Element(length_at=2, least=12)),  # METER_CONFIG
    11: _fixed(16),  # METER_FEATURES
    12: _Element(length_at=0, least=64, inside=_table_properties),  # TABLE_FEATURES
    13: _fixed(64),  # PORT_DESC
}
_SINCE_1_4: Mapping[int, Walk] = {
    4: _Element(length_at=0, least=80, inside=_properties),  # PORT_STATS
    5: _Element(length_at=0, least=48, inside=_properties),  # QUEUE_STATS
    13: _Element(length_at=4, least=40, inside=_properties),  # PORT_DESC
    14: _Element(length_at=0, least=8, inside=_properties),  # TABLE_DESC
    15: _queues,  # QUEUE_DESC
}
_REPORTS: Mapping[int, Mapping[int, Walk]] = {
    V13: _SINCE_1_3,
    V14: {**_SINCE_1_3, **_SINCE_1_4},
}
"""The body of a multipart reply, by version and type (7.3.5)."""


def check(version: int, kind: int, data: bytes) -> None:
    """Refuse a message that a parser must not see.

    :param data: the whole message, header included.
    :raises ValueError: with what is wrong, in a few words.
    """
    least = _SMALLEST.get(kind)
    of_1_3 = kind == OFPT_QUEUE_GET_CONFIG_REPLY
    if least is None or (kind >= _FIRST_OF_1_4 and version < V14) or (of_1_3 and version > V13):
        raise ValueError(f"a message of type {kind}, which is not expected")
    if len(data) < least:
        raise ValueError(f"a message of type {kind} and length {len(data)}")
    match kind:
        case 4:  # EXPERIMENTER
            _experimenter(data)
        case 10:  # PACKET_IN: match, two bytes, the packet
            _match(data, 24, len(data) - 2)
        case 11:  # FLOW_REMOVED
            _match(data, 48, len(data))
        case 12:  # PORT_STATUS
            _REPORTS[version][13](data, 16, len(data), version)
        case 23:  # QUEUE_GET_CONFIG_REPLY
            _queues(data, 16, len(data), version)
        case 19:  # MULTIPART_REPLY
            (report,) = struct.unpack_from("!H", data, 8)
            walk = _REPORTS[version].get(report)
            if walk is None:
                raise ValueError(f"a report of type {report}, which nobody asks for")
            walk(data, 16, len(data), version)


def _experimenter(data: bytes) -> None:
    vendor, kind = struct.unpack_from("!II", data, 8)
    if vendor != ONF:
        raise ValueError(f"a message of experimenter 0x{vendor:08x}, whom nobody asks")
    if kind != ONF_ROLE_STATUS:
        raise ValueError(f"a message of type {kind} of the ONF, which is not expected")


_ONLY_IN_PORT = b"\x00\x01\x00\x0c\x80\x00\x00\x04"
"""A match of nothing but the port: 4 bytes of it and 4 of padding follow (7.2.3)."""


def packet_and_port(version: int, data: bytes) -> tuple[int, bytes]:
    """Checks an OFPT_PACKET_IN as :func:`check` does, and takes it apart: the port, and the packet.

    Thousands of these may come in a second; what every switch we know sends is seen at a glance.

    :raises ValueError: as :func:`check`, or if the match does not begin with the port.
    """
    if data[24:32] == _ONLY_IN_PORT and len(data) >= 42:
        return int.from_bytes(data[32:36]), data[42:]
    check(version, OFPT_PACKET_IN, data)
    _, in_port = packet_in(data)
    if in_port is None:
        raise ValueError("a packet whose port is not told")
    return in_port, data[_match(data, 24, len(data)) + 2 :]


_SHOWN = struct.Struct("!BBH12xH6x8sI")
"""Of a packet-in: version, type, length, the first half of the cookie's upper half, match, port."""
_SHOWN_BY = 0xAD00 | Kind.REACTIVE


def skimmed(buffer: bytearray, begin: int, version: int) -> tuple[list[tuple[int, bytes]], int]:
    """The packet-ins of reactive rules that come first, as :func:`packet_and_port`; where they end.

    Up to the first message that is another one, has another match, or is not whole.
    """
    found: list[tuple[int, bytes]] = []
    end = len(buffer)
    while begin + 42 <= end:
        spoken, kind, length, cookie, match, port = _SHOWN.unpack_from(buffer, begin)
        shown = kind == OFPT_PACKET_IN and cookie == _SHOWN_BY and match == _ONLY_IN_PORT
        if not shown or spoken != version or length < 42 or begin + length > end:
            break
        found.append((port, bytes(buffer[begin + 42 : begin + length])))
        begin += length
    return found, begin


def packet_in(data: bytes) -> tuple[int, int | None]:
    """The cookie of an OFPT_PACKET_IN (7.4.1) and the port it came in by, without parsing it.

    :param data: the whole message, checked before.
    :returns: the port is None if the match does not begin with it, as it does in every switch we know.
    """
    (cookie,) = struct.unpack_from("!Q", data, 16)
    header = data[28:32]
    in_port = struct.unpack_from("!I", data, 32)[0] if header == b"\x80\x00\x00\x04" else None
    return cookie, in_port
