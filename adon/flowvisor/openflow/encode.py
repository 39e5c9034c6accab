"""Encoder of OpenFlow messages with ``struct``, without objects of os-ken.

``version`` is OpenFlow's number on the wire: 4 for 1.3, 5 for 1.4.  Tests compare every message with the
bytes of os-ken's classes.  Messages have the transaction id 0 until
:func:`~adon.flowvisor.openflow.wire.with_xid` sets it; constant messages (barriers, requests) are cached.

======================  =============================  ==========================================
message                 section of 1.3.5               difference in 1.4
======================  =============================  ==========================================
flow-mod                7.3.4.1                        importance (ours: 0)
group-mod               7.3.4.2
meter-mod               7.3.4.4
packet-out              7.3.7
role request            7.3.9
flow statistics         7.3.5.2
queues                  7.3.6                          a multipart request
======================  =============================  ==========================================

Modifies and deletes are strict and filtered by the rule's full cookie (R1): if the slot has another owner by
now, the switch changes nothing.  Only changes of the rule that represents all connections of an unregistered
flow are not strict; they have the same filter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_4 as ofp14

from adon.flowvisor.openflow.instructions import actions_bytes, instructions_bytes
from adon.flowvisor.openflow.oxm import FULL, match_bytes
from adon.flowvisor.openflow.wire import MULTIPART, V13, message, with_xid
from adon.flowvisor.rules.action import Action, Output
from adon.flowvisor.rules.connections import is_soft, stands_for_connections
from adon.flowvisor.rules.cookie import FLOWS_MASK, FLOWS_PREFIX
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import is_ours
from adon.flowvisor.rules.rule import Bucket, Change, GroupEntry, MeterEntry, Op, Rule

PIECE = 512
"""Number of messages that are encoded together."""
LARGEST_FRAME = 0xFF00
"""Maximum bytes of a frame in a packet-out with any actions."""

_FLOW_MOD = struct.Struct("!BBHIQQBBHHHIIIHH")
_FLOW_CHANGES: Mapping[Op, tuple[int, int]] = {
    Op.ADD: (ofp.OFPFC_ADD, 0),
    Op.MODIFY: (ofp.OFPFC_MODIFY_STRICT, FULL),
    Op.DELETE: (ofp.OFPFC_DELETE_STRICT, FULL),
}
"""Command and cookie mask of a flow-mod."""
_CONNECTION_CHANGES: Mapping[Op, tuple[int, int]] = {
    Op.ADD: (ofp.OFPFC_MODIFY, FULL),
    Op.MODIFY: (ofp.OFPFC_MODIFY, FULL),
    Op.DELETE: (ofp.OFPFC_DELETE, FULL),
}
"""Command and cookie mask for the rule that represents all connections of an unregistered flow
(:mod:`adon.flowvisor.rules.connections`)."""
_COMMANDS: Mapping[Op, int] = {
    Op.ADD: ofp.OFPGC_ADD,
    Op.MODIFY: ofp.OFPGC_MODIFY,
    Op.DELETE: ofp.OFPGC_DELETE,
}
"""Command of a group-mod; a meter-mod has the same numbers."""

GroupKind = Literal["all", "select", "indirect", "fast_failover"]

_GROUP_MOD = struct.Struct("!HBxI")
_BUCKET = struct.Struct("!HHII4x")
GROUP_TYPES: Mapping[GroupKind, int] = {
    "all": ofp.OFPGT_ALL,
    "select": ofp.OFPGT_SELECT,
    "indirect": ofp.OFPGT_INDIRECT,
    "fast_failover": ofp.OFPGT_FF,
}

_METER_MOD = struct.Struct("!HHI")
_BAND = struct.Struct("!HHII4x")
METER_FLAGS = ofp.OFPMF_KBPS | ofp.OFPMF_BURST | ofp.OFPMF_STATS
"""Rate in kbit/s, with burst and counters (R13)."""

_PACKET_OUT = struct.Struct("!IIH6x")
_ROLE = struct.Struct("!I4xQ")
_FLOW_REQUEST = struct.Struct("!B3xII4xQQ")
_NUMBER = struct.Struct("!I4x")
_QUEUES = struct.Struct("!II")


def encode_change(wanted: Change, version: int, xid: int = 0) -> bytes:
    """Return the flow-mod, group-mod or meter-mod of one change.

    :param xid: its transaction id.
    :raises ValueError: for a foreign entry, or one that OpenFlow cannot encode; the text names it.
    """
    entry = wanted.rule
    if not is_ours(entry):
        raise ValueError(f"{entry} is not a rule of ADON, so it is not changed")
    try:
        if isinstance(entry, Rule):
            return _flow_mod(wanted.op, entry, version, xid)
        if isinstance(entry, GroupEntry):
            return _group_mod(wanted.op, entry, version, xid)
        return _meter_mod(wanted.op, entry, version, xid)
    except struct.error as error:
        raise ValueError(f"{entry}: a number does not fit its field: {error}") from error


def encode_batch(wanted: Sequence[Change], version: int, xids: Sequence[int]) -> Iterator[bytes]:
    """Yield the messages of some changes and a barrier, in pieces of :data:`PIECE` messages.

    A piece can be sent while the next one is encoded.

    :param xids: one more than changes: the last is the barrier's.
    :raises ValueError: as :func:`encode_change`; the earlier pieces stay valid.
    """
    for start in range(0, len(wanted) + 1, PIECE):
        changes = wanted[start : start + PIECE]
        piece = [
            encode_change(each, version, xid)
            for each, xid in zip(changes, xids[start : start + PIECE], strict=False)
        ]
        if start + PIECE > len(wanted):
            piece.append(with_xid(encode_barrier(version), xids[-1]))
        yield b"".join(piece)


# -- rules -------------------------------------------------------------------------------------------------


def _flow_mod(op: Op, rule: Rule, version: int, xid: int) -> bytes:
    deletes = op is Op.DELETE
    command, mask = (_CONNECTION_CHANGES if stands_for_connections(rule) else _FLOW_CHANGES)[op]
    body = match_bytes(rule.match)
    if not deletes:
        body += instructions_bytes(rule)
    head = _FLOW_MOD.pack(
        version,
        ofp.OFPT_FLOW_MOD,
        _FLOW_MOD.size + len(body),
        xid,
        rule.cookie,
        mask,
        rule.table,
        command,
        0 if deletes else rule.idle_timeout,
        0 if deletes else rule.hard_timeout,
        rule.priority,
        ofp.OFP_NO_BUFFER,
        ofp.OFPP_ANY,
        ofp.OFPG_ANY,
        # Report each removal at once (R20), except of soft state, of which thousands expire by themselves.
        0 if deletes or is_soft(rule) else ofp.OFPFF_SEND_FLOW_REM,
        0,  # padding in 1.3, importance since 1.4
    )
    return head + body


# -- groups and meters ---------------------------------------------------------------------------------------


def _group_mod(op: Op, group: GroupEntry, version: int, xid: int = 0) -> bytes:
    command, kind = _COMMANDS[op], GROUP_TYPES[group.kind]
    weight = 1 if group.kind == "select" else 0
    wanted = () if op is Op.DELETE else group.buckets
    buckets = b"".join(_bucket(bucket, weight) for bucket in wanted)
    head = _GROUP_MOD.pack(command, kind, group.number)
    return message(version, ofp.OFPT_GROUP_MOD, head + buckets, xid)


def _bucket(bucket: Bucket, weight: int) -> bytes:
    actions = actions_bytes(bucket.actions)
    port = ofp.OFPP_ANY if bucket.watch_port is None else bucket.watch_port
    return _BUCKET.pack(_BUCKET.size + len(actions), weight, port, ofp.OFPG_ANY) + actions


def _meter_mod(op: Op, meter: MeterEntry, version: int, xid: int) -> bytes:
    if meter.rate % 1000 or meter.burst % 1000:
        raise ValueError(f"{meter}: rate and burst must be whole kbit/s and kbit")
    body = _METER_MOD.pack(_COMMANDS[op], METER_FLAGS, meter.number)
    if op is not Op.DELETE:
        body += _BAND.pack(ofp.OFPMBT_DROP, _BAND.size, meter.rate // 1000, meter.burst // 1000)
    return message(version, ofp.OFPT_METER_MOD, body, xid)


# -- packets, roles ------------------------------------------------------------------------------------------


def encode_packet_out(
    actions: tuple[Action, ...], data: bytes, version: int, in_port: int | None = None
) -> bytes:
    """Return a packet-out (7.3.7).

    :param in_port: its ingress port; None for the controller.
    :raises ValueError: if the packet exceeds the maximum length of a message.
    """
    port, packed = ofp.OFPP_CONTROLLER if in_port is None else in_port, actions_bytes(actions)
    head = _PACKET_OUT.pack(ofp.OFP_NO_BUFFER, port, len(packed))
    return message(version, ofp.OFPT_PACKET_OUT, head + packed + data)


def encode_admission(rule: Rule, packets: Iterable[tuple[int, bytes, bool]], version: int, xid: int) -> bytes:
    """Return the messages that admit packets of an unregistered flow.

    :param rule: rule of each connection, without its source port.
    :param packets: source port, frame, and whether the connection is new and gets a rule.
    :param xid: of all messages; an error identifies the flow by it.
    """
    # A packet takes the path of the next ones by the rule: through the tables if necessary.
    plain = rule.goto is None and rule.meter is None
    actions = rule.actions if plain else (Output(ofp.OFPP_TABLE),)
    messages: list[bytes] = []
    for port, frame, new in packets:
        if new:
            one = replace(rule, match=replace(rule.match, tp_src=port))
            messages.append(encode_change(Change(Op.ADD, one), version, xid))
        if len(frame) <= LARGEST_FRAME:
            messages.append(with_xid(encode_packet_out(actions, frame, version, rule.match.in_port), xid))
    return b"".join(messages)


def encode_role_request(wanted: int, generation: int, version: int) -> bytes:
    """Return a role request (7.3.9; R21).

    :param wanted: OFPCR_ROLE_NOCHANGE, _EQUAL, _MASTER or _SLAVE: 0 to 3.
    :param generation: the generation id, 64 bits; a switch refuses an older one.
    """
    return message(version, ofp.OFPT_ROLE_REQUEST, _ROLE.pack(wanted, generation))


# -- requests ------------------------------------------------------------------------------------------------


@lru_cache
def encode_barrier(version: int) -> bytes:
    """Return a barrier request: the switch completes all earlier messages first (7.3.8)."""
    return message(version, ofp.OFPT_BARRIER_REQUEST, b"")


Request = Literal[
    "rules",
    "flow counters",
    "groups",
    "meters",
    "tables",
    "table features",
    "group features",
    "meter features",
    "queues",
]
"""Requests to a switch; the request for queues is a separate message in 1.3."""


def _rules_body(cookie: int, mask: int) -> bytes:
    body = _FLOW_REQUEST.pack(ofp.OFPTT_ALL, ofp.OFPP_ANY, ofp.OFPG_ANY, cookie, mask)
    return body + match_bytes(Match())


_REQUESTS: Mapping[Request, tuple[int, bytes]] = {
    "rules": (ofp.OFPMP_FLOW, _rules_body(0, 0)),
    "flow counters": (ofp.OFPMP_FLOW, _rules_body(FLOWS_PREFIX, FLOWS_MASK)),
    "groups": (ofp.OFPMP_GROUP_DESC, b""),
    "meters": (ofp.OFPMP_METER_CONFIG, _NUMBER.pack(ofp.OFPM_ALL)),
    "tables": (ofp.OFPMP_TABLE, b""),
    "table features": (ofp.OFPMP_TABLE_FEATURES, b""),
    "group features": (ofp.OFPMP_GROUP_FEATURES, b""),
    "meter features": (ofp.OFPMP_METER_FEATURES, b""),
    "queues": (ofp14.OFPMP_QUEUE_DESC, _QUEUES.pack(ofp.OFPP_ANY, ofp.OFPQ_ALL)),
}
"""Type and body of each multipart request (7.3.5; queues: 1.4.1, 7.3.5.16)."""


@lru_cache
def encode_request(wanted: Request, version: int) -> bytes:
    """Return a request for the state or features of a switch."""
    if wanted == "queues" and version == V13:
        return message(version, ofp.OFPT_QUEUE_GET_CONFIG_REQUEST, _NUMBER.pack(ofp.OFPP_ANY))
    kind, body = _REQUESTS[wanted]
    return message(version, ofp.OFPT_MULTIPART_REQUEST, MULTIPART.pack(kind, 0) + body)
