"""The two messages that a connection of an unannounced flow costs, packed once for all connections alike.

All connections of a flow get the same rule but for the port that they come from, and their packets leave by
the same actions.  So flow-mod (OpenFlow 1.3.5, 7.3.4.1) and packet-out (7.3.7) are packed once per flow, and
per connection two bytes and a length are put in their places.  To the byte they are what
:mod:`~adon.flowvisor.openflow.encode` would give for each; that is tested.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import replace

from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.flowvisor.openflow import encode
from adon.flowvisor.openflow.wire import LONGEST, with_xid
from adon.flowvisor.rules.action import Action, Output
from adon.flowvisor.rules.rule import Change, Op, Rule

_ONES, _ZEROS = 0xFFFF, 0
_MASK_AT, _COMMAND_AT = 16, 25
"""Where cookie mask and command are in a flow-mod."""
_LENGTH = struct.Struct("!H")


class Prepared:
    """See the module's text.

    :param rule: what each connection gets, without the port that it comes from.
    :param xid: the transaction id of both messages: an error names the flow by it.
    """

    __slots__ = ("_base", "_flow_mod", "_packet_out", "rule", "version")

    def __init__(self, rule: Rule, version: int, xid: int) -> None:
        self.rule, self.version = rule, version
        self._flow_mod = _split(rule, version, xid)
        head = with_xid(encode.packet_out(_release(rule), b"", version, rule.match.in_port), xid)
        self._base = len(head)
        self._packet_out = head[:2], head[4:]

    def messages(self, packets: Iterable[tuple[bytes, bytes, bool]]) -> bytes:
        """Let packets through, each with a rule for its connection if that is new.

        :param packets: the port that each comes from (two bytes), the frame, whether it is the first.
        """
        before, after = self._flow_mod
        out_head, out_tail = self._packet_out
        base, pack = self._base, _LENGTH.pack
        parts: list[bytes] = []
        for port, frame, new in packets:
            if new:
                parts += (before, port, after)
            if base + len(frame) <= LONGEST:
                parts += (out_head, pack(base + len(frame)), out_tail, frame)
        return b"".join(parts)


def _split(rule: Rule, version: int, xid: int) -> tuple[bytes, bytes]:
    """The flow-mod before and after the port that a connection comes from."""
    low, high = (_added(rule, port, version, xid) for port in (_ZEROS, _ONES))
    at = next(i for i, (one, other) in enumerate(zip(low, high, strict=True)) if one != other)
    return low[:at], low[at + 2 :]


def _added(rule: Rule, port: int, version: int, xid: int) -> bytes:
    """An add of one connection's rule, in the place of a change to all of them."""
    one = replace(rule, match=replace(rule.match, tp_src=port))
    packed = bytearray(encode.change(Change(Op.ADD, one), version, xid))
    packed[_MASK_AT : _MASK_AT + 8] = bytes(8)
    packed[_COMMAND_AT] = ofp.OFPFC_ADD
    return bytes(packed)


def _release(rule: Rule) -> tuple[Action, ...]:
    """What takes the packet where its rule takes the next: through the tables if need be."""
    plain = rule.goto is None and rule.meter is None
    return rule.actions if plain else (Output(ofp.OFPP_TABLE),)
