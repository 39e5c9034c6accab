"""What a switch would report, as bytes: the half of OpenFlow that os-ken's classes do not write.

Rules, groups and meters are described by the very messages that made them; only the frames around them are
put together here, as the specification has them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from adon.flowvisor.openflow import encode
from adon.flowvisor.openflow.instructions import instructions_bytes
from adon.flowvisor.openflow.oxm import match_bytes
from adon.flowvisor.openflow.wire import V13, message
from adon.flowvisor.rules.rule import Change, GroupEntry, MeterEntry, Op, ReportedRule

MULTIPART_REPLY, FLOW_REMOVED = 19, 11


def report(kind: int, body: bytes, *, version: int = V13, more: bool = False) -> bytes:
    """A multipart reply (1.3.5, 7.3.5)."""
    return message(version, MULTIPART_REPLY, struct.pack("!HH4x", kind, more) + body)


def _split(duration: float) -> tuple[int, int]:
    return int(duration), round(duration % 1 * 1e9)


def flow_stats(
    reported: Iterable[ReportedRule], version: int = V13, instructions: bytes | None = None
) -> bytes:
    """Flow statistics (1.3.5, 7.3.5.2).

    :param instructions: instead of the rules' own.
    """
    found = b""
    for item in reported:
        rule = item.rule
        match = match_bytes(rule.match)
        does = instructions_bytes(rule) if instructions is None else instructions
        times = (rule.priority, rule.idle_timeout, rule.hard_timeout)
        counts = (rule.cookie, item.packets, item.bytes)
        head = (48 + len(match) + len(does), rule.table, *_split(item.duration), *times, 1, *counts)
        found += struct.pack("!HBxIIHHHH4xQQQ", *head) + match + does
    return found


def flow_removed(item: ReportedRule, reason: int, version: int = V13) -> bytes:
    """OFPT_FLOW_REMOVED (1.3.5, 7.4.2)."""
    rule, match = item.rule, match_bytes(item.rule.match)
    times = (*_split(item.duration), rule.idle_timeout, rule.hard_timeout)
    counts = (item.packets, item.bytes)
    head = struct.pack("!QHBBIIHHQQ", rule.cookie, rule.priority, reason, rule.table, *times, *counts)
    return message(version, FLOW_REMOVED, head + match)


def group_descriptions(groups: Iterable[GroupEntry], version: int = V13) -> bytes:
    """Group descriptions (1.3.5, 7.3.5.7)."""
    found = b""
    for group in groups:
        mod = encode._group_mod(Op.ADD, group, version)
        found += struct.pack("!HBxI", 8 + len(mod) - 16, mod[10], group.number) + mod[16:]
    return found


def meter_configurations(meters: Iterable[MeterEntry], version: int = V13) -> bytes:
    """Meter configurations (1.3.5, 7.3.5.10)."""
    mods = (encode.encode_change(Change(Op.ADD, meter), version) for meter in meters)
    return b"".join(struct.pack("!H", len(mod) - 8) + mod[10:] for mod in mods)
