"""Messages written to bytes and read back by os-ken's own parser; no network."""

from __future__ import annotations

import struct
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from os_ken.lib.packet import ethernet, icmp, ipv4, packet, tcp, udp, vlan
from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor import openflow
from adon.flowvisor.action import Output
from adon.flowvisor.cookie import Kind, cookie, is_ours
from adon.flowvisor.match import Match
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.reconcile import difference
from adon.flowvisor.rule import Change, Op, ReportedRule, Rule
from adon.flowvisor.rules import Steered, flow_rules, learn_rules, measurement_rules
from adon.flowvisor.topology import PortState
from tests.flowvisor.network import MU, PATHS, SOURCE, TARGET

DATAPATH = ProtocolDesc(version=ofp.OFP_VERSION)
LEARN_COOKIE = cookie(Kind.FLOW_LEARN, 17)


def read_back(message: Any) -> Any:
    """The message as the other side of the connection sees it."""
    message.serialize()
    version, kind, length, xid = ofproto_parser.header(message.buf)
    return ofproto_parser.msg(DATAPATH, version, kind, length, xid, bytes(message.buf))


def stat_of(mod: Any, **changed: Any) -> Any:
    """What a switch reports of a rule it got by this flow-mod."""
    fields = {
        "table_id": mod.table_id,
        "duration_sec": 3,
        "duration_nsec": 500_000_000,
        "priority": mod.priority,
        "idle_timeout": mod.idle_timeout,
        "hard_timeout": 0,
        "flags": mod.flags,
        "cookie": mod.cookie,
        "packet_count": 7,
        "byte_count": 9_000,
        "match": mod.match,
        "instructions": mod.instructions,
    }
    return SimpleNamespace(**{**fields, **changed})


def all_rules() -> list[Rule]:
    tuples = (FiveTuple(6, 5001), FiveTuple(17, 5002, 40_000), FiveTuple(132, 9), FiveTuple(1, 0))
    near, far = replace(SOURCE, address="10.1.0.21"), replace(TARGET, address="10.2.0.21")
    return [
        rule
        for path in PATHS
        for rule in (
            *flow_rules(Steered(17, SOURCE, TARGET, path, PATHS), tuples, 500, 60),
            *learn_rules(Steered(18, SOURCE, TARGET, path, PATHS), 6),
            *measurement_rules(near, far, path),
        )
    ]


@pytest.mark.parametrize("op", [Op.ADD, Op.MODIFY])
def test_every_rule_we_make_comes_back_the_same(op: Op) -> None:
    for rule in all_rules():
        mod = read_back(openflow.flow_mod(DATAPATH, Change(op, rule)))
        assert openflow.reported(rule.dpid, stat_of(mod)) == ReportedRule(rule, 7, 9_000, 3.5)


@pytest.mark.parametrize(
    ("op", "command", "mask"),
    [
        (Op.ADD, ofp.OFPFC_ADD, 0),
        (Op.MODIFY, ofp.OFPFC_MODIFY_STRICT, 2**64 - 1),
        (Op.DELETE, ofp.OFPFC_DELETE_STRICT, 2**64 - 1),
    ],
)
def test_a_flow_mod_is_strict_and_limited_to_its_cookie(op: Op, command: int, mask: int) -> None:
    rule = all_rules()[0]
    mod = read_back(openflow.flow_mod(DATAPATH, Change(op, rule)))
    assert (mod.command, mod.cookie, mod.cookie_mask) == (command, rule.cookie, mask)
    assert (mod.buffer_id, mod.out_port, mod.out_group) == (ofp.OFP_NO_BUFFER, ofp.OFPP_ANY, ofp.OFPG_ANY)
    assert (mod.priority, mod.table_id, mod.hard_timeout) == (rule.priority, 0, 0)
    assert bool(mod.instructions) == (op is not Op.DELETE)


def test_the_switch_tells_when_any_rule_goes() -> None:
    near = replace(SOURCE, address="10.1.0.21")
    learnt = {r for path in PATHS for r in learn_rules(Steered(18, SOURCE, TARGET, path, PATHS), 6)}
    for rule in (*all_rules(), *learnt, *measurement_rules(near, TARGET, PATHS[0])):
        flags = {op: read_back(openflow.flow_mod(DATAPATH, Change(op, rule))).flags for op in Op}
        tells = ofp.OFPFF_SEND_FLOW_REM
        assert flags == {Op.ADD: tells, Op.MODIFY: tells, Op.DELETE: 0}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"cookie": 0x5ADC15C0}, "is not ours"),
        ({"match": Match(eth_type=0x800, ip_proto=1, tp_dst=80)}, "IP protocol 1"),
        ({"match": Match(eth_type=0x800, tp_dst=80)}, "IP protocol None"),
    ],
)
def test_what_openflow_cannot_say_is_refused(broken: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        openflow.flow_mod(DATAPATH, Change(Op.ADD, replace(all_rules()[0], **broken)))


def test_statistics_of_all_rules_or_only_ours() -> None:
    for ours_only, expected in ((False, (0, 0)), (True, (0xAD << 56, 0xFF << 56))):
        message = openflow.stats_request(DATAPATH, ours_only=ours_only)
        message.serialize()
        kind, _, table, port, group, *cookie_filter = struct.unpack_from("!HH4xB3xII4xQQ", message.buf, 8)
        assert (kind, table) == (ofp.OFPMP_FLOW, ofp.OFPTT_ALL)
        assert (port, group) == (ofp.OFPP_ANY, ofp.OFPG_ANY)
        assert tuple(cookie_filter) == expected


ODD_MATCHES = [
    {"in_port": 1, "metadata": (5, 7)},
    {"eth_type": 0x0800, "ipv4_src": ("10.0.0.0", "255.0.0.0")},
    {"eth_type": 0x86DD, "ipv6_dst": "2001:db8::1"},
    {"eth_type": 0x0800, "ip_proto": 6, "tcp_dst": 5001, "ip_dscp": 46},
    {"vlan_vid": 0},
    {"vlan_vid": (0x1000, 0x1000)},
    {"eth_dst": ("01:00:00:00:00:00", "01:00:00:00:00:00")},
    {"eth_type": 0x0806, "arp_tpa": "10.1.0.1"},
]


@pytest.mark.parametrize("fields", ODD_MATCHES)
def test_a_rule_with_our_cookie_that_we_never_made_can_be_removed(fields: dict[str, Any]) -> None:
    """Its match is kept to the last field, so that the strict delete finds it."""
    mod = read_back(
        parser.OFPFlowMod(
            DATAPATH,
            cookie=LEARN_COOKIE,
            priority=7,
            match=parser.OFPMatch(**fields),
            instructions=[parser.OFPInstructionGotoTable(4)],
        )
    )
    found = openflow.reported(MU, stat_of(mod))
    assert isinstance(found, ReportedRule)
    assert found.rule.actions == ()
    assert difference([], [found]).extra == (found.rule,)
    deletion = read_back(openflow.flow_mod(DATAPATH, Change(Op.DELETE, found.rule)))
    assert dict(deletion.match.items()) == dict(mod.match.items())


def test_a_foreign_rule_is_a_slot_and_unlike_ours_if_it_matches_more() -> None:
    rule = all_rules()[0]
    mod = read_back(openflow.flow_mod(DATAPATH, Change(Op.ADD, rule)))
    assert openflow.reported(rule.dpid, stat_of(mod, cookie=5)) == rule.slot
    more = parser.OFPMatch(**dict(mod.match.items()), ip_dscp=46)
    other = openflow.reported(rule.dpid, stat_of(mod, cookie=5, match=more))
    assert isinstance(other, tuple)
    assert other != rule.slot
    assert difference([rule], [], foreign=frozenset({other})).missing == (rule,)


def test_an_ignored_cookie_is_foreign_whatever_its_prefix() -> None:
    """R2: another ADON's rules on the same switch are not ours to judge."""
    rule = all_rules()[0]
    stat = stat_of(read_back(openflow.flow_mod(DATAPATH, Change(Op.ADD, rule))))
    kind = (rule.cookie & 0xFFFF << 48, 0xFFFF << 48)
    assert openflow.reported(rule.dpid, stat, [kind]) == rule.slot
    assert isinstance(openflow.reported(rule.dpid, stat, [(0xEE << 56, 0xFF << 56)]), ReportedRule)


ODD_ACTIONS = [
    [parser.OFPActionGroup(1), parser.OFPActionOutput(2)],
    [parser.OFPActionSetField(ipv4_src="10.0.0.1")],
    [parser.OFPActionPushVlan(0x8100)],
    [parser.OFPActionPushVlan(0x8100), parser.OFPActionOutput(2)],
    [parser.OFPActionPushVlan(0x88A8), parser.OFPActionSetField(vlan_vid=0x1064)],
    [parser.OFPActionSetField(vlan_vid=0x1064)],
    [parser.OFPActionSetQueue(1), parser.OFPActionOutput(2)],
]


@pytest.mark.parametrize("actions", ODD_ACTIONS)
def test_actions_we_never_use_make_a_rule_of_ours_wrong_and_it_is_put_right(actions: list[Any]) -> None:
    rule = all_rules()[0]
    mod = read_back(openflow.flow_mod(DATAPATH, Change(Op.ADD, rule)))
    applied = [parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)]
    found = openflow.reported(rule.dpid, stat_of(mod, instructions=applied))
    assert isinstance(found, ReportedRule)
    assert found.rule == replace(rule, actions=())
    assert [wanted for wanted, _ in difference([rule], [found]).wrong] == [rule]
    for kind in (ofp.OFPIT_WRITE_ACTIONS, ofp.OFPIT_CLEAR_ACTIONS):
        written = [parser.OFPInstructionActions(kind, [parser.OFPActionOutput(2)])]
        found = openflow.reported(rule.dpid, stat_of(mod, instructions=written))
        assert isinstance(found, ReportedRule)
        assert found.rule.actions == ()


oxm_fields = st.fixed_dictionaries(
    {},
    optional={
        "in_port": st.integers(0, 2**32 - 1),
        "vlan_vid": st.integers(0, 0x1FFF) | st.tuples(st.integers(0, 0x1FFF), st.integers(0, 0x1FFF)),
        "eth_type": st.sampled_from([0x0800, 0x0806, 0x86DD]),
        "ip_proto": st.sampled_from([1, 6, 17, 132]),
        "ipv4_src": st.ip_addresses(v=4).map(str),
        "ipv4_dst": st.tuples(st.ip_addresses(v=4).map(str), st.ip_addresses(v=4).map(str)),
        "tcp_dst": st.integers(0, 65535),
        "udp_src": st.integers(0, 65535),
        "metadata": st.integers(0, 2**64 - 1),
        "ipv6_src": st.ip_addresses(v=6).map(str),
    },
)


@settings(max_examples=80)
@given(oxm_fields, st.integers(0, 2**64 - 1), st.sampled_from([*ODD_ACTIONS, []]))
def test_whatever_a_switch_reports_is_reported_and_its_match_survives(
    fields: dict[str, Any], number: int, actions: list[Any]
) -> None:
    applied = [parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)]
    mod = read_back(
        parser.OFPFlowMod(DATAPATH, cookie=number, match=parser.OFPMatch(**fields), instructions=applied)
    )
    found = openflow.reported(MU, stat_of(mod))
    assert isinstance(found, ReportedRule) == is_ours(number)
    match = found.rule.match if isinstance(found, ReportedRule) else found[3]
    ours = Rule(MU, 0, match, (Output(1),), LEARN_COOKIE)
    again = read_back(openflow.flow_mod(DATAPATH, Change(Op.DELETE, ours)))
    assert dict(again.match.items()) == dict(mod.match.items())


def test_ports_by_name_without_the_reserved_ones() -> None:
    def port(number: int, name: bytes, config: int = 0, state: int = 0) -> Any:
        return parser.OFPPort(number, "02:00:00:00:00:AA", name, config, state, 0, 0, 0, 0, 0, 0)

    descriptions = [
        port(1, b"up"),
        port(2, b"blocked", state=ofp.OFPPS_BLOCKED),
        port(3, b"switched-off", config=ofp.OFPPC_PORT_DOWN),
        port(4, b"no-link", state=ofp.OFPPS_LINK_DOWN),
        port(5, b"not \xff text\0\0"),
        port(ofp.OFPP_LOCAL, b"local"),
    ]
    mac = "02:00:00:00:00:aa"
    assert openflow.ports(descriptions) == {
        "up": PortState(1, True, mac),
        "blocked": PortState(2, True, mac),
        "switched-off": PortState(3, False, mac, admin=False),
        "no-link": PortState(4, False, mac, oper=False),
        "not \ufffd text": PortState(5, True, mac),
    }


def frame(*layers: Any) -> bytes:
    ethertype = 0x8100 if any(isinstance(layer, vlan.vlan) for layer in layers) else 0x0800
    whole = packet.Packet()
    for layer in (ethernet.ethernet("02:00:00:00:00:01", "02:00:00:00:00:02", ethertype), *layers):
        whole.add_protocol(layer)
    whole.serialize()
    return bytes(whole.data)


def ip(proto: int, **fields: Any) -> ipv4.ipv4:
    return ipv4.ipv4(proto=proto, src="10.1.0.10", dst="10.2.0.10", **fields)


SYN = frame(ip(6), tcp.tcp(40_000, 5001))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SYN, FiveTuple(6, 5001, 40_000)),
        (frame(ip(17), udp.udp(40_000, 5002)), FiveTuple(17, 5002, 40_000)),
        (frame(ip(1), icmp.icmp()), FiveTuple(1, 0)),
        (frame(vlan.vlan(vid=5, ethertype=0x0800), ip(6), tcp.tcp(1, 2)), FiveTuple(6, 2, 1)),
        (frame(ip(6, option=b"\1" * 8, header_length=7), tcp.tcp(1, 2)), FiveTuple(6, 2, 1)),
    ],
)
def test_the_connection_of_a_first_packet(data: bytes, expected: FiveTuple) -> None:
    message = SimpleNamespace(cookie=LEARN_COOKIE, data=data)
    assert openflow.first_packet(message) == (expected, "10.1.0.10", "10.2.0.10")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SYN[:20],
        SYN[:36],
        frame(ip(6, offset=5), tcp.tcp(1, 2)),
        SYN[:12] + b"\x08\x06" + SYN[14:],
        SYN[:14] + b"\x65" + SYN[15:],
        SYN[:14] + b"\x44" + SYN[15:],
    ],
    ids=[
        "empty",
        "half an IP header",
        "no ports",
        "later fragment",
        "ARP",
        "IP version 6",
        "header of 4 words",
    ],
)
def test_what_is_no_first_packet_is_none(data: bytes) -> None:
    assert openflow.first_packet(SimpleNamespace(cookie=LEARN_COOKIE, data=data)) is None


@pytest.mark.parametrize("number", [0, 5, cookie(Kind.FLOW_INGRESS, 17), 0xAD77 << 48])
def test_only_learning_rules_may_send_packets(number: int) -> None:
    assert openflow.first_packet(SimpleNamespace(cookie=number, data=SYN)) is None


def test_a_tcp_option_of_length_zero_does_not_stop_us() -> None:
    """os-ken's own TCP parser never comes back from this packet."""
    endless = SYN[:46] + bytes([0x60]) + SYN[47:54] + b"\xfe\x00\x00\x00" + b"x" * 40
    ip_header = bytearray(endless)
    struct.pack_into("!H", ip_header, 16, len(endless) - 14)
    assert openflow.five_tuple(bytes(ip_header)) == (
        FiveTuple(6, 5001, 40_000),
        "10.1.0.10",
        "10.2.0.10",
    )


@settings(max_examples=100)
@given(st.binary(max_size=160), st.integers(0, len(SYN)), st.lists(st.integers(0, len(SYN) - 1), max_size=6))
def test_no_packet_raises(noise: bytes, cut: int, flipped: list[int]) -> None:
    damaged = bytearray(SYN)
    for position in flipped:
        damaged[position] ^= 0xFF
    for data in (noise, SYN[:14] + noise, bytes(damaged[:cut]) + noise):
        found = openflow.five_tuple(data)
        assert found is None or isinstance(found[0], FiveTuple)


@pytest.mark.parametrize(
    ("kind", "code", "text"),
    [
        (ofp.OFPET_FLOW_MOD_FAILED, ofp.OFPFMFC_TABLE_FULL, "OFPET_FLOW_MOD_FAILED(5) OFPFMFC_TABLE_FULL(1)"),
        (ofp.OFPET_BAD_MATCH, ofp.OFPBMC_BAD_PREREQ, "OFPET_BAD_MATCH(4) OFPBMC_BAD_PREREQ(9)"),
        (999, 7, "Unknown(999) Unknown(7)"),
    ],
)
def test_errors_by_their_names(kind: int, code: int, text: str) -> None:
    message = read_back(parser.OFPErrorMsg(DATAPATH, kind, code, b"\0" * 8))
    assert openflow.error_text(message) == text


def test_an_experimenters_error_has_no_code() -> None:
    message = parser.OFPErrorMsg(DATAPATH, ofp.OFPET_EXPERIMENTER, exp_type=1, experimenter=2, data=b"")
    assert openflow.error_text(read_back(message)) == "OFPET_EXPERIMENTER(65535) (experimenter)"


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (ofp.OFPRR_IDLE_TIMEOUT, "idle"),
        (ofp.OFPRR_HARD_TIMEOUT, "hard"),
        (ofp.OFPRR_DELETE, "delete"),
        (ofp.OFPRR_GROUP_DELETE, "group"),
        (77, "delete"),
    ],
)
def test_a_removed_rule_and_the_reason(reason: int, word: str) -> None:
    rule = all_rules()[0]
    match = bytearray()
    openflow.flow_mod(DATAPATH, Change(Op.ADD, rule)).match.serialize(match, 0)
    # os-ken cannot write what only switches send: OpenFlow 1.3, 7.4.2.
    body = struct.pack("!QHBBIIHHQQ", rule.cookie, rule.priority, reason, 0, 1, 0, 60, 0, 7, 9_000)
    length = ofp.OFP_HEADER_SIZE + len(body) + len(match)
    header = struct.pack("!BBHI", ofp.OFP_VERSION, ofp.OFPT_FLOW_REMOVED, length, 1)
    message = ofproto_parser.msg(DATAPATH, *ofproto_parser.header(header), header + body + match)
    assert openflow.removed_rule(MU, message) == replace(rule, actions=())
    assert openflow.removed_reason(message) == word
    message.cookie = 5
    assert openflow.removed_rule(MU, message) is None


def test_a_frame_of_ours_leaves_by_one_port_past_the_tables() -> None:
    message = openflow.packet_out(DATAPATH, 7, b"frame")
    message.serialize()
    buffer, port, actions = struct.unpack_from("!IIH", message.buf, 8)
    assert (buffer, port, actions) == (ofp.OFP_NO_BUFFER, ofp.OFPP_CONTROLLER, 16)
    assert struct.unpack_from("!HHI", message.buf, 24) == (ofp.OFPAT_OUTPUT, 16, 7)
    assert bytes(message.buf).endswith(b"frame")


@pytest.mark.parametrize(("config", "state"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_switched_off_and_without_carrier_are_two_things(config: int, state: int) -> None:
    found = openflow.port_state(SimpleNamespace(port_no=1, config=config, state=state, hw_addr="02:00"))
    assert (found.admin, found.oper) == (not config, not state)
    assert found.live == (found.admin and found.oper)
