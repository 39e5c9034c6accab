"""Our values as OpenFlow messages, packed with ``struct``: no os-ken object is built on the way out.

For OpenFlow 1.3 and 1.4 (``version`` is its number on the wire: 4, 5).  Every message is to the byte
what os-ken's own classes would give; that is tested.  Messages have the transaction id 0 until
:func:`~adon.flowvisor.openflow.wire.with_xid` gives them one; those without content of their own
(barriers, requests) are packed once for ever.

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

Modifies and deletes are strict and filtered by the rule's full cookie (R1): should the slot belong to
somebody else by now, the switch does nothing.  Only the rule that stands for all connections of an
unannounced flow is changed without being strict, by the same filter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_4 as ofp14

from adon.flowvisor.openflow.instructions import actions_bytes, instructions_bytes
from adon.flowvisor.openflow.oxm import match_bytes
from adon.flowvisor.openflow.wire import MULTIPART, V13, message, with_xid
from adon.flowvisor.rules.action import Action
from adon.flowvisor.rules.connections import is_connections, is_soft
from adon.flowvisor.rules.cookie import COOKIE_MASK, COOKIE_PREFIX, FLOWS_MASK, FLOWS_PREFIX
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import is_ours
from adon.flowvisor.rules.rule import Bucket, Change, GroupEntry, MeterEntry, Op, Rule

FULL_COOKIE_MASK = (1 << 64) - 1

PIECE = 512
"""Messages that are packed before any of them is sent."""

_FLOW_MOD = struct.Struct("!BBHIQQBBHHHIIIHH")
_FLOW_CHANGES: Mapping[Op, tuple[int, int]] = {
    Op.MODIFY: (ofp.OFPFC_MODIFY_STRICT, FULL_COOKIE_MASK),
    Op.DELETE: (ofp.OFPFC_DELETE_STRICT, FULL_COOKIE_MASK),
}
"""Command and cookie mask."""
_ALL_CHANGES: Mapping[Op, int] = {
    Op.ADD: ofp.OFPFC_MODIFY,
    Op.MODIFY: ofp.OFPFC_MODIFY,
    Op.DELETE: ofp.OFPFC_DELETE,
}
"""What is done to all connections of an unannounced flow at once
(:mod:`adon.flowvisor.rules.connections`)."""

GroupKind = Literal["all", "select", "indirect", "fast_failover"]

_GROUP_MOD = struct.Struct("!HBxI")
_BUCKET = struct.Struct("!HHII4x")
_GROUP_COMMANDS: Mapping[Op, int] = {
    Op.ADD: ofp.OFPGC_ADD,
    Op.MODIFY: ofp.OFPGC_MODIFY,
    Op.DELETE: ofp.OFPGC_DELETE,
}
GROUP_TYPES: Mapping[GroupKind, int] = {
    "all": ofp.OFPGT_ALL,
    "select": ofp.OFPGT_SELECT,
    "indirect": ofp.OFPGT_INDIRECT,
    "fast_failover": ofp.OFPGT_FF,
}

_METER_MOD = struct.Struct("!HHI")
_BAND = struct.Struct("!HHII4x")
_METER_COMMANDS: Mapping[Op, int] = {
    Op.ADD: ofp.OFPMC_ADD,
    Op.MODIFY: ofp.OFPMC_MODIFY,
    Op.DELETE: ofp.OFPMC_DELETE,
}
METER_FLAGS = ofp.OFPMF_KBPS | ofp.OFPMF_BURST | ofp.OFPMF_STATS
"""Rate in kbit/s, with a burst, counted (R13)."""

_PACKET_OUT = struct.Struct("!IIH6x")
_ROLE = struct.Struct("!I4xQ")
_FLOW_REQUEST = struct.Struct("!B3xII4xQQ")
_NUMBER = struct.Struct("!I4x")
_QUEUES = struct.Struct("!II")


def change(wanted: Change, version: int, xid: int = 0) -> bytes:
    """The flow-mod, group-mod or meter-mod that carries out one change.

    :param xid: its transaction id.
    :raises ValueError: for an entry that is not ours, or that OpenFlow cannot say; the text names it.
    """
    entry = wanted.rule
    if not is_ours(entry):
        raise ValueError(f"{entry} is not ours: it is not touched")
    try:
        if isinstance(entry, Rule):
            return _flow_mod(wanted.op, entry, version, xid)
        if isinstance(entry, GroupEntry):
            return _group_mod(wanted.op, entry, version, xid)
        return _meter_mod(wanted.op, entry, version, xid)
    except struct.error as error:
        raise ValueError(f"{entry}: a number does not fit its field: {error}") from error


def batch(wanted: Sequence[Change], version: int, xids: Sequence[int]) -> Iterator[bytes]:
    """The messages of some changes and the barrier behind them, in pieces of :data:`PIECE` messages.

    A piece can be sent while the next is packed: the switch works on it meanwhile.

    :param xids: one more than changes: the last is the barrier's.
    :raises ValueError: as :func:`change`; the pieces before are as if the switch had refused the rest.
    """
    for start in range(0, len(wanted) + 1, PIECE):
        changes = wanted[start : start + PIECE]
        piece = [
            change(each, version, xid)
            for each, xid in zip(changes, xids[start : start + PIECE], strict=False)
        ]
        if start + PIECE > len(wanted):
            piece.append(with_xid(barrier(version), xids[-1]))
        yield b"".join(piece)


# -- rules -------------------------------------------------------------------------------------------------


def _flow_mod(op: Op, rule: Rule, version: int, xid: int) -> bytes:
    deletes = op is Op.DELETE
    if is_connections(rule):
        command, mask = _ALL_CHANGES[op], FULL_COOKIE_MASK
    else:
        command, mask = (ofp.OFPFC_ADD, 0) if op is Op.ADD else _FLOW_CHANGES[op]
    body = match_bytes(rule.match, version)
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
        # Whoever removes it, we hear of it at once (R20); not where thousands come and go by themselves.
        0 if deletes or is_soft(rule) else ofp.OFPFF_SEND_FLOW_REM,
        0,  # padding in 1.3, importance since 1.4
    )
    return head + body


# -- groups and meters ---------------------------------------------------------------------------------------


def _group_mod(op: Op, group: GroupEntry, version: int, xid: int = 0) -> bytes:
    command, kind = _GROUP_COMMANDS[op], GROUP_TYPES[group.kind]
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
    body = _METER_MOD.pack(_METER_COMMANDS[op], METER_FLAGS, meter.number)
    if op is not Op.DELETE:
        body += _BAND.pack(ofp.OFPMBT_DROP, _BAND.size, meter.rate // 1000, meter.burst // 1000)
    return message(version, ofp.OFPT_METER_MOD, body, xid)


# -- packets, roles ------------------------------------------------------------------------------------------


def packet_out(actions: tuple[Action, ...], data: bytes, version: int, in_port: int | None = None) -> bytes:
    """A packet of ours (7.3.7).

    :param in_port: the port it counts as received on; None for the controller.
    :raises ValueError: if the packet is longer than a message can be.
    """
    port, packed = ofp.OFPP_CONTROLLER if in_port is None else in_port, actions_bytes(actions)
    head = _PACKET_OUT.pack(ofp.OFP_NO_BUFFER, port, len(packed))
    return message(version, ofp.OFPT_PACKET_OUT, head + packed + data)


def role_request(wanted: int, generation: int, version: int) -> bytes:
    """A request for a role (7.3.9; R21).

    :param wanted: OFPCR_ROLE_NOCHANGE, _EQUAL, _MASTER or _SLAVE: 0 to 3.
    :param generation: the generation id, 64 bits; a switch refuses one older than it knows.
    """
    return message(version, ofp.OFPT_ROLE_REQUEST, _ROLE.pack(wanted, generation))


# -- requests ------------------------------------------------------------------------------------------------


@lru_cache
def barrier(version: int) -> bytes:
    """Everything before it is done first (7.3.8)."""
    return message(version, ofp.OFPT_BARRIER_REQUEST, b"")


def _multipart(version: int, kind: int, body: bytes = b"") -> bytes:
    return message(version, ofp.OFPT_MULTIPART_REQUEST, MULTIPART.pack(kind, 0) + body)


@lru_cache
def rules_request(version: int, *, ours_only: bool = False) -> bytes:
    """The request for all rules with their counters (7.3.5.2), or only for those with our cookie."""
    cookie, mask = (COOKIE_PREFIX, COOKIE_MASK) if ours_only else (0, 0)
    body = _FLOW_REQUEST.pack(ofp.OFPTT_ALL, ofp.OFPP_ANY, ofp.OFPG_ANY, cookie, mask)
    return _multipart(version, ofp.OFPMP_FLOW, body + match_bytes(Match(), version))


@lru_cache
def counters_request(version: int) -> bytes:
    """The request for the rules of flows with their counters: those whose cookie has a kind of flows."""
    body = _FLOW_REQUEST.pack(ofp.OFPTT_ALL, ofp.OFPP_ANY, ofp.OFPG_ANY, FLOWS_PREFIX, FLOWS_MASK)
    return _multipart(version, ofp.OFPMP_FLOW, body + match_bytes(Match(), version))


@lru_cache
def groups_request(version: int) -> bytes:
    """The request for all groups (7.3.5.7)."""
    return _multipart(version, ofp.OFPMP_GROUP_DESC)


@lru_cache
def meters_request(version: int) -> bytes:
    """The request for all meters (7.3.5.10)."""
    return _multipart(version, ofp.OFPMP_METER_CONFIG, _NUMBER.pack(ofp.OFPM_ALL))


@lru_cache
def group_features_request(version: int) -> bytes:
    """Which groups the switch can have (7.3.5.8)."""
    return _multipart(version, ofp.OFPMP_GROUP_FEATURES)


@lru_cache
def meter_features_request(version: int) -> bytes:
    """Which meters the switch can have (7.3.5.11)."""
    return _multipart(version, ofp.OFPMP_METER_FEATURES)


@lru_cache
def table_stats_request(version: int) -> bytes:
    """How full the tables are (7.3.5.4)."""
    return _multipart(version, ofp.OFPMP_TABLE)


@lru_cache
def table_features_request(version: int) -> bytes:
    """What the tables can hold (7.3.5.5); an empty body asks and changes nothing."""
    return _multipart(version, ofp.OFPMP_TABLE_FEATURES)


@lru_cache
def queues_request(version: int) -> bytes:
    """The queues of all ports: 7.3.6 in 1.3, a multipart request since 1.4 (1.4.1, 7.3.5.16)."""
    if version == V13:
        return message(version, ofp.OFPT_QUEUE_GET_CONFIG_REQUEST, _NUMBER.pack(ofp.OFPP_ANY))
    return _multipart(version, ofp14.OFPMP_QUEUE_DESC, _QUEUES.pack(ofp.OFPP_ANY, ofp.OFPQ_ALL))
