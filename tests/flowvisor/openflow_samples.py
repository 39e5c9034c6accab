"""One message of every kind that a switch sends, packed: what fuzzing starts from.

Written out with ``struct``: os-ken packs what a controller sends, not what a switch answers.
"""

from __future__ import annotations

import struct

from os_ken.ofproto import ofproto_v1_3_parser as parser

DPID = 0xA01
OURS = 0xAD12_0000_0000_0001


def message(kind: int, body: bytes = b"", xid: int = 7, version: int = 4) -> bytes:
    return struct.pack("!BBHI", version, kind, 8 + len(body), xid) + body


def report(kind: int, body: bytes = b"", flags: int = 0) -> bytes:
    return message(19, struct.pack("!HH4x", kind, flags) + body)


def _oxm(**fields: object) -> bytes:
    buffer = bytearray()
    parser.OFPMatch(**fields).serialize(buffer, 0)
    return bytes(buffer)


def _instructions() -> bytes:
    actions = [
        parser.OFPActionPushVlan(0x8100),
        parser.OFPActionSetField(vlan_vid=0x1000 | 1701),
        parser.OFPActionOutput(2),
    ]
    buffer = bytearray()
    for instruction in (parser.OFPInstructionActions(4, actions), parser.OFPInstructionGotoTable(1)):
        instruction.serialize(buffer, len(buffer))
    return bytes(buffer)


MATCH = _oxm(in_port=1, eth_type=0x0800, ip_proto=6, ipv4_src="10.0.0.1", tcp_dst=80)
PACKET = bytes.fromhex(
    "020000000a01020000000a0a08004500002800010000400600000a01000a0a02000a9c400afb" + "00" * 16
)


def _flow() -> bytes:
    rest = MATCH + _instructions()
    fixed = struct.pack("!HBxIIHHHH4xQQQ", 48 + len(rest), 0, 9, 0, 30_000, 0, 0, 0, OURS, 5, 500)
    return fixed + rest


def packet_in(cookie: int, frame: bytes, port: int = 3, **match: object) -> bytes:
    """A packet-in (7.4.1).

    :param match: fields beyond the port.
    """
    fixed = struct.pack("!IHBBQ", 0xFFFF_FFFF, len(frame), 1, 0, cookie)
    return message(10, fixed + _oxm(in_port=port, **match) + bytes(2) + frame)


def _port(number: int, name: bytes) -> bytes:
    return struct.pack("!I4x6s2x16s8I", number, bytes([2, 0, 0, 0, 0, number]), name, *[0] * 8)


def _bucket() -> bytes:
    action = struct.pack("!HHIH6x", 0, 16, 3, 128)
    return struct.pack("!HHII4x", 16 + len(action), 0, 1, 0xFFFF_FFFF) + action


def _table_features() -> bytes:
    instructions = struct.pack("!HHHHHH", 0, 12, 1, 4, 4, 4) + bytes(4)
    next_tables = struct.pack("!HHBB", 2, 6, 1, 2) + bytes(2)
    actions = struct.pack("!HHHHHH", 6, 12, 0, 4, 22, 4) + bytes(4)
    fields = struct.pack("!HHII", 8, 12, 0x8000_0004, 0x8000_0A02) + bytes(4)
    body = instructions + next_tables + actions + fields
    return struct.pack("!HB5x32sQQII", 64 + len(body), 0, b"classification", 0, 0, 0, 1000) + body


def _queue(number: int) -> bytes:
    limits = struct.pack("!HH4xH6x", 1, 16, 600) + struct.pack("!HH4xH6x", 2, 16, 1000)
    return struct.pack("!IIH6x", number, 2, 16 + len(limits)) + limits


_BUCKET = _bucket()
SAMPLES = {
    "error": message(1, struct.pack("!HH", 5, 1) + message(14)),
    "experimenter error": message(1, struct.pack("!HHI", 0xFFFF, 2, 0x4F4E4600) + bytes(8)),
    "echo request": message(2, b"are you there"),
    "echo reply": message(3),
    "role status": message(4, struct.pack("!IIIB3xQ", 0x4F4E4600, 1911, 3, 0, 9)),
    "features": message(6, struct.pack("!QIBBxxII", DPID, 0, 254, 0, 0, 0)),
    "config": message(8, struct.pack("!HH", 0, 128)),
    "packet in": packet_in(OURS, PACKET, 1),
    "flow removed": message(11, struct.pack("!QHBBIIHHQQ", OURS, 30_000, 2, 0, 1, 0, 0, 0, 1, 2) + MATCH),
    "port status": message(12, struct.pack("!B7x", 2) + _port(1, b"mu-edge-dtn")),
    "flows": report(1, _flow() + _flow(), flags=1),
    "tables": report(3, struct.pack("!B3xIQQ", 0, 1, 2, 3)),
    "group desc": report(7, struct.pack("!HBxI", 8 + 2 * len(_BUCKET), 3, 1) + 2 * _BUCKET),
    "group features": report(8, bytes(40)),
    "meter config": report(10, struct.pack("!HHI", 24, 1, 1) + struct.pack("!HHII4x", 1, 16, 1000, 100)),
    "meter features": report(11, bytes(16)),
    "table features": report(12, _table_features()),
    "port desc": report(13, _port(1, b"mu-edge-dtn") + _port(2, b"mu-edge-al2s")),
    "barrier": message(21),
    "queues": message(23, struct.pack("!I4x", 2) + _queue(1) + _queue(2)),
    "role": message(25, struct.pack("!I4xQ", 2, 1)),
}
