"""What switches report comes back as our values, exactly; no network."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser

from adon.flowvisor.openflow import decode, encode
from adon.flowvisor.openflow.wire import V13, message
from adon.flowvisor.rules.action import Output, UnknownAction
from adon.flowvisor.rules.cookie import Kind, cookie, is_our_cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.reconcile import compare_entries
from adon.flowvisor.rules.rule import Bucket, Change, GroupEntry, MeterEntry, Op, ReportedRule, Rule
from tests.flowvisor import values
from tests.flowvisor.osken import DATAPATHS, VERSIONS
from tests.flowvisor.reports import (
    flow_removed,
    flow_stats,
    group_descriptions,
    meter_configurations,
    report,
)
from tests.support.refusals import refused

DPID = values.DPID
RULE = Rule(DPID, 30_500, Match(in_port=1), (Output(2),), cookie(Kind.FLOW_INGRESS, 17))
counts = st.tuples(
    st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**31).map(lambda n: n / 2)
)


def reported(item: ReportedRule, version: int = V13, instructions: bytes | None = None) -> ReportedRule:
    data = report(ofp.OFPMP_FLOW, flow_stats([item], version, instructions), version=version)
    (ours,), foreign = decode.read_rules(item.rule.dpid, data)
    assert not foreign
    return ours


@given(st.lists(st.tuples(values.rules, counts), max_size=4), st.sampled_from(VERSIONS))
def test_every_rule_we_make_comes_back_the_same(items: list[Any], version: int) -> None:
    wanted = [ReportedRule(rule, *numbers) for rule, numbers in items]
    data = report(ofp.OFPMP_FLOW, flow_stats(wanted, version), version=version, more=bool(items))
    part = decode.read_part(DPID, data)
    assert (part.rules, part.foreign, part.more) == (wanted, set(), bool(items))


@given(values.rules, counts, st.sampled_from(VERSIONS))
def test_a_removed_rule_is_told_without_its_actions(rule: Rule, numbers: Any, version: int) -> None:
    packets, octets, duration = numbers
    gone = decode.parse_flow_removed(DPID, flow_removed(ReportedRule(rule, *numbers), 0, version))
    bare = replace(rule, actions=(), meter=None, metadata=None, goto=None)
    assert gone == decode.RemovedRule(bare, "idle", packets, octets, duration)
    stranger = replace(rule, cookie=5)
    assert decode.parse_flow_removed(DPID, flow_removed(ReportedRule(stranger, *numbers), 0, version)) is None


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
def test_why_a_rule_was_removed(reason: int, word: str) -> None:
    gone = decode.parse_flow_removed(DPID, flow_removed(ReportedRule(RULE, 0, 0, 0.0), reason))
    assert gone is not None
    assert gone.reason == word


@given(st.lists(values.groups, max_size=3), st.lists(values.meters, max_size=3), st.sampled_from(VERSIONS))
def test_every_group_and_meter_we_make_comes_back_the_same(
    groups: list[GroupEntry], meters: list[MeterEntry], version: int
) -> None:
    body = group_descriptions(groups, version)
    part = decode.read_part(DPID, report(ofp.OFPMP_GROUP_DESC, body, version=version))
    assert part.equipment == groups
    body = meter_configurations(meters, version)
    part = decode.read_part(DPID, report(ofp.OFPMP_METER_CONFIG, body, version=version))
    assert part.equipment == meters


def test_groups_and_meters_of_others_are_no_part_of_a_report() -> None:
    body = group_descriptions([GroupEntry(DPID, 7, "all", (Bucket((Output(1),)),))])
    data = report(ofp.OFPMP_GROUP_DESC, body)
    assert decode.read_part(DPID, data).equipment == []
    assert [group.number for group in decode.read_groups(DPID, data)] == [7]


GROUP = GroupEntry(DPID, 0xAD000001, "select", (Bucket((Output(1),)), Bucket((Output(2),))))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_group_that_is_not_as_ours_are_equals_none_of_ours(version: int) -> None:
    body = group_descriptions([GROUP], version)
    heavier = body[:10] + b"\0\x07" + body[12:]
    strange_kind = body[:2] + b"\x09" + body[3:]
    for changed in (heavier, strange_kind):
        (found,) = decode.read_groups(DPID, report(ofp.OFPMP_GROUP_DESC, changed, version=version))
        assert (found.number, found.buckets) == (GROUP.number, ())


def test_a_meter_that_is_not_as_ours_are_has_no_rate() -> None:
    band = struct.pack("!HHII4x", ofp.OFPMBT_DROP, 16, 5, 7)
    remark = struct.pack("!HHIIB3x", ofp.OFPMBT_DSCP_REMARK, 16, 5, 7, 1)
    ours = encode.METER_FLAGS
    for flags, bands in ((ours, b""), (ours, band * 2), (ofp.OFPMF_PKTPS, band), (ours, remark)):
        body = struct.pack("!HHI", 8 + len(bands), flags, 0xA000) + bands
        (found,) = decode.read_meters(DPID, report(ofp.OFPMP_METER_CONFIG, body))
        assert 0 in (found.rate, found.burst)


def test_a_foreign_rule_is_a_slot_and_unlike_ours_if_it_matches_more() -> None:
    foreign = replace(RULE, cookie=5)
    other = "800010012e"  # OXM_OF_IP_DSCP
    more = replace(foreign, match=replace(RULE.match, other=other))
    data = report(ofp.OFPMP_FLOW, flow_stats(ReportedRule(rule, 0, 0, 0.0) for rule in (foreign, more)))
    ours, slots = decode.read_rules(DPID, data)
    assert (ours, slots) == ([], {RULE.slot, more.slot})
    assert compare_entries([RULE], [], foreign=frozenset({more.slot})).missing == (RULE,)


def test_an_ignored_cookie_is_foreign_whatever_its_prefix() -> None:
    """R2: another ADON's rules on the same switch are not ours to judge."""
    data = report(ofp.OFPMP_FLOW, flow_stats([ReportedRule(RULE, 0, 0, 0.0)]))
    kind = (RULE.cookie & 0xFFFF << 48, 0xFFFF << 48)
    assert decode.read_rules(DPID, data, [kind]) == ([], {RULE.slot})
    assert len(decode.read_rules(DPID, data, [(0xEE << 56, 0xFF << 56)])[0]) == 1


ODD_ACTIONS = [
    [parser.OFPActionSetField(ipv4_src="10.0.0.1")],
    [parser.OFPActionPushVlan(0x8100)],
    [parser.OFPActionPushVlan(0x8100), parser.OFPActionOutput(2)],
    [parser.OFPActionPushVlan(0x88A8), parser.OFPActionSetField(vlan_vid=0x1064)],
    [parser.OFPActionSetField(vlan_vid=0)],
    [parser.OFPActionDecNwTtl()],
]
ODD_INSTRUCTIONS = [
    *([parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)] for actions in ODD_ACTIONS),
    [parser.OFPInstructionActions(ofp.OFPIT_WRITE_ACTIONS, [parser.OFPActionOutput(2)])],
    [parser.OFPInstructionActions(ofp.OFPIT_CLEAR_ACTIONS, [])],
    [parser.OFPInstructionWriteMetadata(3, 1)],
    [parser.OFPInstructionMeter(1), parser.OFPInstructionMeter(2)],
]


def written(instructions: list[Any]) -> bytes:
    found = bytearray()
    for each in instructions:
        each.serialize(found, len(found))
    return bytes(found)


@pytest.mark.parametrize("instructions", ODD_INSTRUCTIONS, ids=str)
def test_what_our_rules_never_do_makes_a_rule_wrong_and_it_is_put_right(instructions: list[Any]) -> None:
    drop = replace(RULE, actions=())
    for rule in (RULE, drop):
        found = reported(ReportedRule(rule, 0, 0, 0.0), instructions=written(instructions))
        assert isinstance(found.rule.actions[0], UnknownAction)
        assert [wanted for wanted, _ in compare_entries([rule], [found]).wrong] == [rule]
        with refused(ValueError):
            encode.encode_change(Change(Op.ADD, found.rule), V13)


def test_no_instruction_and_no_action_are_the_same() -> None:
    empty = struct.pack("!HH4x", ofp.OFPIT_APPLY_ACTIONS, 8)
    drop = ReportedRule(replace(RULE, actions=()), 0, 0, 0.0)
    assert reported(drop, instructions=empty) == reported(drop, instructions=b"") == drop


oxm_fields = st.fixed_dictionaries(
    {},
    optional={
        "in_port": st.integers(0, 2**32 - 1),
        "vlan_vid": st.integers(0, 0x1FFF) | st.tuples(st.integers(0, 0x1FFF), st.integers(0, 0x1FFF)),
        "eth_type": st.sampled_from([0x0800, 0x0806, 0x86DD]),
        "eth_dst": st.just(("01:00:00:00:00:00", "01:00:00:00:00:00")),
        "ip_proto": st.sampled_from([1, 6, 17, 132]),
        "ip_dscp": st.integers(0, 63),
        "ipv4_src": st.ip_addresses(v=4).map(str),
        "ipv4_dst": st.tuples(st.ip_addresses(v=4).map(str), st.ip_addresses(v=4).map(str)),
        "tcp_dst": st.integers(0, 65535),
        "udp_src": st.integers(0, 65535) | st.tuples(st.integers(0, 65535), st.integers(0, 65535)),
        "metadata": st.integers(0, 2**64 - 1) | st.tuples(*[st.integers(0, 2**64 - 1)] * 2),
        "ipv6_src": st.ip_addresses(v=6).map(str),
        "ipv6_dst": st.tuples(st.ip_addresses(v=6).map(str), st.ip_addresses(v=6).map(str)),
        "arp_tpa": st.ip_addresses(v=4).map(str),
        "tunnel_id": st.integers(0, 2**64 - 1),
    },
)


@given(oxm_fields, st.sampled_from([5, RULE.cookie]), st.sampled_from(VERSIONS))
@example({"ipv4_dst": ("10.1.2.3", "255.0.255.0"), "eth_type": 0x0800}, 5, V13)
@example({"ipv4_dst": ("10.1.0.0", "255.255.0.0"), "eth_type": 0x0800}, 5, V13)
def test_whatever_a_switch_matches_survives_to_the_last_bit(
    fields: dict[str, Any], number: int, version: int
) -> None:
    """So that a rule with our cookie that we never made is found by the strict delete."""
    oxm = bytearray()
    DATAPATHS[version].ofproto_parser.OFPMatch(**fields).serialize(oxm, 0)
    oxm += bytes(-len(oxm) % 8)
    head = struct.pack("!HBxIIHHHH4xQQQ", 48 + len(oxm), 0, 1, 0, 7, 0, 0, 0, number, 0, 0)
    ours, foreign = decode.read_rules(DPID, report(ofp.OFPMP_FLOW, head + oxm, version=version))
    assert bool(ours) == is_our_cookie(number)
    match = ours[0].rule.match if ours else next(iter(foreign))[3]
    assert isinstance(match, Match)
    deletion = encode.encode_change(Change(Op.DELETE, replace(RULE, match=match)), version)
    assert deletion[48:].hex(" ") == oxm.hex(" ")
    assert compare_entries([], ours).extra == tuple(item.rule for item in ours)


def test_an_address_with_a_prefix_is_our_text_and_another_mask_is_kept_as_it_is() -> None:
    def match(**fields: Any) -> Match:
        oxm = bytearray()
        parser.OFPMatch(**fields).serialize(oxm, 0)
        head = struct.pack("!HBxIIHHHH4xQQQ", 48 + len(oxm), 0, 1, 0, 7, 0, 0, 0, RULE.cookie, 0, 0)
        return decode.read_rules(DPID, report(ofp.OFPMP_FLOW, head + oxm))[0][0].rule.match

    assert match(eth_type=0x0800, ipv4_dst=("10.1.0.0", "255.255.0.0")).ip_dst == "10.1.0.0/16"
    assert match(eth_type=0x86DD, ipv6_dst=("2001:db8::", "ffff:ffff::")).ip_dst == "2001:db8::/32"
    strange = match(eth_type=0x0800, ipv4_dst=("10.1.0.0", "255.0.255.0"))
    assert strange.ip_dst is None
    assert bytes([255, 0, 255, 0]).hex() in strange.other


def damaged(data: bytes, flipped: list[int], cut: int) -> bytes:
    found = bytearray(data)
    for position in flipped:
        found[8 + position % (len(data) - 8)] ^= 0xFF
    return bytes(found[: max(8, len(data) - cut)])


@given(
    st.lists(values.rules, min_size=1, max_size=2),
    st.sampled_from(VERSIONS),
    st.lists(st.integers(0, 400), max_size=4),
    st.integers(0, 60),
    st.binary(max_size=120),
)
def test_bytes_that_make_no_sense_are_a_value_error_and_nothing_else(
    rules: list[Rule], version: int, flipped: list[int], cut: int, noise: bytes
) -> None:
    items = [ReportedRule(rule, 0, 0, 0.0) for rule in rules]
    flows = report(ofp.OFPMP_FLOW, flow_stats(items, version), version=version)
    groups = report(ofp.OFPMP_GROUP_DESC, group_descriptions([GROUP], version), version=version)
    meters = meter_configurations([MeterEntry(DPID, 0xA000, 1000, 1000)], version)
    metered = report(ofp.OFPMP_METER_CONFIG, meters, version=version)
    noisy = [report(kind, noise, version=version) for kind in (1, 7, 10)]
    for data in [*(damaged(data, flipped, cut) for data in (flows, groups, metered)), *noisy]:
        try:
            decode.read_part(DPID, data)
        except ValueError:
            continue
    gone = flow_removed(items[0], 0, version)
    for data in (damaged(gone, flipped, cut), message(version, ofp.OFPT_FLOW_REMOVED, noise)):
        try:
            decode.parse_flow_removed(DPID, data)
        except ValueError:
            continue


@pytest.mark.parametrize("kind", [ofp.OFPMP_FLOW, ofp.OFPMP_GROUP_DESC, ofp.OFPMP_METER_CONFIG])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_entry_of_length_zero_is_refused(kind: int, version: int) -> None:
    with refused(ValueError):
        decode.read_part(DPID, report(kind, bytes(64), version=version))


def test_another_message_is_no_report() -> None:
    with refused(ValueError):
        decode.read_part(DPID, report(ofp.OFPMP_PORT_STATS, b""))
    with refused(ValueError):
        decode.read_part(DPID, message(V13, 19, b""))
