"""Every message we pack is to the byte what os-ken's own classes give; no network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adon.flowvisor.openflow import encode
from adon.flowvisor.openflow.wire import V13, with_xid
from adon.flowvisor.rules.action import Output, SetDscp, SetEthDst, SetVlan, UnknownAction
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import MaskedNumber, Match
from adon.flowvisor.rules.pipeline import METER_FIRST
from adon.flowvisor.rules.rule import Change, GroupEntry, MeterEntry, Op, Rule
from tests.flowvisor import values
from tests.flowvisor.osken import DATAPATHS, VERSIONS, action, mod, oxm, packed, request
from tests.support.refusals import refused

RULE = Rule(1, 30_500, Match(in_port=1), (Output(2),), cookie(Kind.FLOW_INGRESS, 17))
V4, V6 = 0x0800, 0x86DD
FULL_MATCHES = [
    Match(1, 2, V4, 6, "10.0.0.0/8", "10.0.0.1", 3, 4, MaskedNumber(1, 1)),
    Match(1, 2, V6, 17, "2001:db8::/32", "2001:db8::1", 3, 4, MaskedNumber(1, 2**64 - 1)),
]


@example(Change(Op.ADD, replace(RULE, match=FULL_MATCHES[0])), V13, 1)
@example(Change(Op.ADD, replace(RULE, match=FULL_MATCHES[1])), V13, 1)
@given(values.changes, st.sampled_from(VERSIONS), st.integers(0, 2**32 - 1))
def test_a_change_is_what_os_ken_writes(change: Change, version: int, xid: int) -> None:
    ours = encode.encode_change(change, version, xid)
    assert ours == with_xid(encode.encode_change(change, version), xid)
    assert len(ours) == int.from_bytes(ours[2:4])
    assert ours.hex(" ") == packed(mod(change, DATAPATHS[version]), xid).hex(" ")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", get_args(encode.Request))
def test_a_request_is_what_os_ken_writes_and_packed_once(name: encode.Request, version: int) -> None:
    found = encode.encode_request(name, version)
    assert found.hex(" ") == packed(request(name, DATAPATHS[version])).hex(" ")
    assert encode.encode_request(name, version) is found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_barrier_is_what_os_ken_writes(version: int) -> None:
    datapath = DATAPATHS[version]
    assert encode.encode_barrier(version) == packed(datapath.ofproto_parser.OFPBarrierRequest(datapath))


@pytest.mark.parametrize("count", [0, 1, encode.PIECE - 1, encode.PIECE, encode.PIECE + 1, 3 * encode.PIECE])
def test_a_batch_is_its_changes_and_a_barrier_in_pieces(count: int) -> None:
    wanted = [Change(Op.ADD, replace(RULE, priority=number)) for number in range(count)]
    xids = range(1000, 1001 + count)
    pieces = list(encode.encode_batch(wanted, V13, xids))
    messages = [*(encode.encode_change(each, V13) for each in wanted), encode.encode_barrier(V13)]
    assert b"".join(pieces) == b"".join(map(with_xid, messages, xids))
    assert len(pieces) == (count + encode.PIECE) // encode.PIECE
    assert all(pieces)


def test_a_rule_that_cannot_be_said_stops_its_piece() -> None:
    wanted = [Change(Op.ADD, RULE)] * encode.PIECE + [Change(Op.ADD, replace(RULE, priority=70_000))]
    pieces = encode.encode_batch(wanted, V13, range(len(wanted) + 1))
    assert next(pieces)
    with refused(ValueError):
        next(pieces)


@pytest.mark.parametrize("version", VERSIONS)
@given(values.action_lists.filter(bool), st.binary(max_size=200), st.none() | values.ports)
def test_a_packet_out_is_what_os_ken_writes(
    version: int, actions: Any, data: bytes, port: int | None
) -> None:
    """With at least one action: without, os-ken 4.2 writes its header over the packet."""
    datapath = DATAPATHS[version]
    number = datapath.ofproto.OFPP_CONTROLLER if port is None else port
    theirs = datapath.ofproto_parser.OFPPacketOut(
        datapath,
        buffer_id=datapath.ofproto.OFP_NO_BUFFER,
        in_port=number,
        actions=[item for one in actions for item in action(one, datapath)],
        data=data,
    )
    assert encode.encode_packet_out(actions, data, version, port) == packed(theirs)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("wanted", "generation"), [(1, 0), (2, 5), (3, 2**64 - 1)])
def test_a_role_request_is_what_os_ken_writes(version: int, wanted: int, generation: int) -> None:
    datapath = DATAPATHS[version]
    theirs = datapath.ofproto_parser.OFPRoleRequest(datapath, role=wanted, generation_id=generation)
    assert encode.encode_role_request(wanted, generation, version) == packed(theirs)


@given(values.matches(), st.sampled_from(VERSIONS))
def test_what_a_switch_reports_beyond_our_fields_keeps_its_place(match: Match, version: int) -> None:
    """Fields stand in the order of their numbers, whoever brought them."""
    other = "80000606" + "020000000001"  # OXM_OF_ETH_DST
    extended = replace(match, other=other)
    change = Change(Op.DELETE, replace(RULE, match=extended))
    assert encode.encode_change(change, version) == packed(mod(change, DATAPATHS[version]))
    assert "eth_dst" in oxm(extended, DATAPATHS[version])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"cookie": 0x5ADC15C0}, "is not ours"),
        ({"match": Match(eth_type=V4, ip_proto=1, tp_dst=80)}, "IP protocol 1"),
        ({"match": Match(eth_type=V4, tp_dst=80)}, "IP protocol None"),
        ({"match": Match(ip_src="10.0.0.1")}, "EtherType None"),
        ({"match": Match(eth_type=V6, ip_src="10.0.0.1")}, "10.0.0.1 is not the usual text"),
        ({"match": Match(eth_type=V4, ip_src="2001:db8::1")}, "2001:db8::1 is not the usual text"),
        ({"match": Match(eth_type=V6, ip_src="2001:DB8::1")}, "2001:DB8::1 is not the usual text"),
        ({"match": Match(eth_type=V4, ip_src="10.1.0.5/24")}, "host bits"),
        ({"match": Match(eth_type=V4, ip_src="10.1.0.5/32")}, "prefix of this length"),
        ({"match": Match(eth_type=V4, ip_src="0.0.0.0/0")}, "prefix of this length"),
        ({"match": Match(eth_type=V4, ip_src="10.1.0.256")}, "10.1.0.256"),
        ({"match": Match(eth_type=V4, ip_src="10.1.0.007")}, "10.1.0.007"),
        ({"match": Match(vlan=4096)}, "VLAN id 4096"),
        ({"match": Match(in_port=2**32)}, "does not fit"),
        ({"match": Match(metadata=MaskedNumber(3, 1))}, "outside the mask"),
        ({"match": Match(metadata=MaskedNumber(0, 0))}, "outside the mask"),
        ({"metadata": MaskedNumber(3, 1)}, "outside the mask"),
        ({"priority": 70_000}, "does not fit"),
        ({"actions": (SetVlan(5000),)}, "VLAN id 5000"),
        ({"actions": (SetDscp(64),)}, "DSCP 64"),
        ({"actions": (SetEthDst("02:00"),)}, "02:00 is no MAC address"),
        ({"actions": (UnknownAction("00"),)}, "never asked for"),
    ],
)
def test_what_openflow_cannot_say_is_refused(broken: dict[str, Any], message: str) -> None:
    with refused(ValueError):
        encode.encode_change(Change(Op.ADD, replace(RULE, **broken)), V13)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (GroupEntry(1, 5, "all", ()), "is not ours"),
        (MeterEntry(1, 5, 1000, 1000), "is not ours"),
        (MeterEntry(1, METER_FIRST, 1500, 1000), "whole kbit/s"),
        (MeterEntry(1, METER_FIRST, 2**32 * 1000, 1000), "does not fit"),
    ],
)
def test_a_group_or_meter_that_cannot_be_is_refused(entry: GroupEntry | MeterEntry, message: str) -> None:
    with refused(ValueError):
        encode.encode_change(Change(Op.ADD, entry), V13)


def test_a_packet_longer_than_a_message_is_refused() -> None:
    with refused(ValueError):
        encode.encode_packet_out((), bytes(65_530), V13)


@pytest.mark.parametrize("kind", [Kind.FLOW_INGRESS, Kind.FLOW_DELIVERY, Kind.MEASUREMENT, Kind.TRANSIT])
def test_the_switch_tells_when_any_rule_goes(kind: Kind) -> None:
    rule = replace(RULE, cookie=cookie(kind, 17))
    flags = {op: int.from_bytes(encode.encode_change(Change(op, rule), V13)[44:46]) for op in Op}
    assert flags == {Op.ADD: 1, Op.MODIFY: 1, Op.DELETE: 0}


CONNECTIONS = Rule(
    1,
    15_002,
    Match(in_port=1, eth_type=V4, ip_proto=17, ip_src="10.1.0.10", ip_dst="10.2.0.10", tp_dst=5001),
    (SetEthDst("02:00:00:00:0b:0a"), Output(2)),
    cookie(Kind.FLOW_CONNECTION, 7, 3),
    idle_timeout=60,
)


@pytest.mark.parametrize(("op", "command"), [(Op.ADD, 1), (Op.MODIFY, 1), (Op.DELETE, 3)])
def test_the_rule_of_all_connections_changes_all_of_that_cookie_and_no_other(op: Op, command: int) -> None:
    message = encode.encode_change(Change(op, CONNECTIONS), V13)
    assert message[25] == command  # OFPFC_MODIFY, OFPFC_DELETE: not strict
    assert message[8:16] == CONNECTIONS.cookie.to_bytes(8)
    assert message[16:24] == b"\xff" * 8


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("goto", [None, 2])
@given(
    packets=st.lists(st.tuples(st.integers(0, 0xFFFF), st.binary(max_size=200), st.booleans()), max_size=4)
)
def test_each_packet_of_an_admission_is_sent_on_and_each_new_connection_has_a_rule(
    version: int, goto: int | None, packets: list[tuple[int, bytes, bool]]
) -> None:
    rule, datapath = replace(CONNECTIONS, goto=goto), DATAPATHS[version]
    wanted = b""
    for port, frame, new in packets:
        one = replace(rule, match=replace(rule.match, tp_src=port))
        flow_mod = mod(Change(Op.ADD, one), datapath)
        flow_mod.flags = 0  # the controller is not told when it goes
        actions = rule.actions if goto is None else (Output(datapath.ofproto.OFPP_TABLE),)
        wanted += packed(flow_mod, 9) if new else b""
        wanted += with_xid(encode.encode_packet_out(actions, frame, version, 1), 9)
    assert encode.encode_admission(rule, packets, version, 9) == wanted


def test_a_packet_that_no_message_holds_is_left_out() -> None:
    assert encode.encode_admission(CONNECTIONS, [(1, bytes(0xFFFF), False)], V13, 9) == b""
