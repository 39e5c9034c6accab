"""Messages that were packed once say the same as those that are packed each time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.openflow import Prepared, encode, with_xid
from adon.flowvisor.openflow.wire import V13, V14
from adon.flowvisor.rules.action import Output, PushVlan, SetEthDst
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Masked, Match
from adon.flowvisor.rules.rule import Change, Op, Rule

ACTIONS = (SetEthDst("02:00:00:00:0b:0a"), PushVlan(1701), Output(2))
MATCH = Match(in_port=1, eth_type=0x0800, ip_proto=17, ip_src="10.1.0.10", ip_dst="10.2.0.10", tp_dst=5001)
SINGLE = Rule(0xA01, 15_002, MATCH, ACTIONS, cookie(Kind.FLOW_CONNECTION, 7, 3), idle_timeout=60)
STAGED = replace(SINGLE, actions=ACTIONS[:1], metadata=Masked(3, 0xFFFFFF), goto=2)
V6 = replace(SINGLE, match=replace(MATCH, eth_type=0x86DD, ip_src="2001:db8::1", ip_dst="2001:db8::2"))
TABLE = 0xFFFF_FFF9
XID = 0x2000_0001


def packed(rule: Rule, version: int, port: int, frame: bytes, *, new: bool) -> bytes:
    """The same, message by message; an ordinary kind of rule in the place of the connection's."""
    ordinary = cookie(Kind.FLOW_DELIVERY, 7, 3)
    one = replace(rule, cookie=ordinary, match=replace(rule.match, tp_src=port), idle_timeout=0)
    flow_mod = bytearray(encode.change(Change(Op.ADD, one), version, XID))
    flow_mod[8:16] = rule.cookie.to_bytes(8)
    flow_mod[26:28] = rule.idle_timeout.to_bytes(2)
    flow_mod[44:46] = bytes(2)  # nobody is told when it goes
    actions = rule.actions if rule.goto is None else (Output(TABLE),)
    out = with_xid(encode.packet_out(actions, frame, version, 1), XID)
    return (bytes(flow_mod) if new else b"") + out


@pytest.mark.parametrize("version", [V13, V14])
@pytest.mark.parametrize("rule", [SINGLE, STAGED, V6])
@given(
    packets=st.lists(st.tuples(st.integers(0, 0xFFFF), st.binary(max_size=200), st.booleans()), max_size=4)
)
def test_every_connection_gets_what_it_would_get_alone(
    version: int, rule: Rule, packets: list[tuple[int, bytes, bool]]
) -> None:
    prepared = Prepared(rule, version, XID)
    found = prepared.messages((port.to_bytes(2), frame, new) for port, frame, new in packets)
    wanted = [packed(rule, version, port, frame, new=new) for port, frame, new in packets]
    assert found == b"".join(wanted)


def test_a_packet_that_no_message_holds_is_left_out() -> None:
    prepared = Prepared(SINGLE, V13, XID)
    assert prepared.messages([(b"\0\1", bytes(0xFFFF), False)]) == b""


@pytest.mark.parametrize(("op", "command"), [(Op.ADD, 1), (Op.MODIFY, 1), (Op.DELETE, 3)])
def test_what_stands_for_all_connections_changes_all_of_that_cookie_and_no_other(
    op: Op, command: int
) -> None:
    message = encode.change(Change(op, SINGLE), V13)
    assert message[25] == command  # OFPFC_MODIFY, OFPFC_DELETE: not strict
    assert message[8:16] == SINGLE.cookie.to_bytes(8)
    assert message[16:24] == b"\xff" * 8
