"""What a switch can do, from its answers, and what it lacks; no network."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.flowvisor.openflow import capabilities
from adon.flowvisor.openflow.wire import message
from adon.flowvisor.rules.action import Output, SetQueue
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import MaskedNumber, Match
from adon.flowvisor.rules.pipeline import METER_FIRST, SINGLE, Pipeline, group_number
from adon.flowvisor.rules.rule import Bucket, GroupEntry, MeterEntry, Rule
from adon.flowvisor.rules.switch_features import (
    FeatureNeeds,
    PortQueue,
    SwitchFeatures,
    TableCapacity,
    entry_needs,
    find_missing_features,
)
from tests.flowvisor.osken import VERSIONS
from tests.flowvisor.reports import report

QUEUE_DESC = 15


def table_features(table: int, most: int, *headers: int) -> bytes:
    """One table with what it matches (1.3.5, 7.3.5.5.2), and a property that we do not read."""
    oxm = b"".join(header.to_bytes(4) for header in headers)
    match = struct.pack("!HH", ofp.OFPTFPT_MATCH, 4 + len(oxm)) + oxm
    instructions = struct.pack("!HHHH", ofp.OFPTFPT_INSTRUCTIONS, 8, 1, 4)
    properties = instructions + match + bytes(-len(match) % 8)
    length = 64 + len(properties)
    return struct.pack("!HB5x32sQQII", length, table, b"t", 0, 0, 0, most) + properties


def queue(version: int, port: int, number: int, *limits: tuple[int, int]) -> bytes:
    if version == 4:
        properties = b"".join(struct.pack("!HH4xH6x", kind, 16, rate) for kind, rate in limits)
        return struct.pack("!IIH6x", number, port, 16 + len(properties)) + properties
    properties = b"".join(struct.pack("!HHH2x", kind, 8, rate) for kind, rate in limits)
    return struct.pack("!IIH6x", port, number, 16 + len(properties)) + properties


def answers(version: int) -> list[bytes]:
    queues = queue(version, 2, 0, (1, 100)) + queue(version, 2, 1, (1, 0xFFFF), (2, 500))
    queues += queue(version, 3, 0)
    if version == 4:
        told = message(version, ofp.OFPT_QUEUE_GET_CONFIG_REPLY, struct.pack("!I4x", 0xFFFFFFFF) + queues)
    else:
        told = report(QUEUE_DESC, queues, version=version)
    experimenter = (0xFFFF_0008, 0x4F4E4600)
    headers = (ofp.OXM_OF_IN_PORT, *experimenter, ofp.OXM_OF_IPV6_SRC, ofp.OXM_OF_ARP_SPA)
    first = table_features(0, 1000, *headers)
    groups = struct.pack("!II8I", 0b1001, 0, 7, 8, 9, 10, *[0] * 4)
    return [
        report(ofp.OFPMP_TABLE_FEATURES, first, version=version, more=True),
        report(ofp.OFPMP_TABLE_FEATURES, table_features(1, 50), version=version),
        report(ofp.OFPMP_TABLE, struct.pack("!B3xIQQ", 0, 17, 5, 6), version=version),
        report(ofp.OFPMP_GROUP_FEATURES, groups, version=version),
        report(ofp.OFPMP_METER_FEATURES, struct.pack("!IIIBB2x", 60, 1 << 1, 0b1101, 1, 0), version=version),
        told,
        message(version, ofp.OFPT_ERROR, b"\0\1\0\2" + bytes(8)),
    ]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("order", [1, -1])
def test_the_answers_together_say_what_a_switch_can_do(version: int, order: int) -> None:
    assert capabilities.read_features(version, 254, answers(version)[::order]) == SwitchFeatures(
        version,
        254,
        {0: TableCapacity(17, 1000, frozenset({"in_port", "ip_src"})), 1: TableCapacity(0, 50, frozenset())},
        {"all": 7, "fast_failover": 10},
        60,
        {2: (PortQueue(0, 0.1), PortQueue(1, None, 0.5)), 3: (PortQueue(0),)},
    )


def test_what_is_not_answered_is_not_known() -> None:
    assert capabilities.read_features(4, 3, []) == SwitchFeatures(4, 3, {}, None, None, None)
    packets_only = struct.pack("!IIIBB2x", 60, 1 << 1, ofp.OFPMF_PKTPS, 1, 0)
    assert capabilities.read_features(4, 3, [report(ofp.OFPMP_METER_FEATURES, packets_only)]).meters == 0


@given(st.binary(max_size=150), st.sampled_from([3, 8, 11, 12, 15]), st.sampled_from(VERSIONS))
def test_answers_that_make_no_sense_are_a_value_error(noise: bytes, kind: int, version: int) -> None:
    try:
        capabilities.read_features(version, 1, [report(kind, noise, version=version), noise])
    except ValueError:
        return


def rule(number: int, table: int = 0, *actions: Any, **match: Any) -> Rule:
    return Rule(1, 30_000, Match(**match), actions, cookie(Kind.FLOW_INGRESS, number), table=table)


ENTRIES = [
    rule(1, 0, SetQueue(1), Output(2), Output(3), in_port=1),
    rule(2, 0, Output(2), vlan=5),
    rule(3, 2, metadata=MaskedNumber(1, 1)),
    GroupEntry(1, group_number(0), "fast_failover", (Bucket((Output(1),), 1),)),
    MeterEntry(1, METER_FIRST, 1000, 1000),
    MeterEntry(1, METER_FIRST + 1, 1000, 1000),
]


def test_what_entries_need() -> None:
    assert entry_needs(ENTRIES) == FeatureNeeds(
        {0: 2, 2: 1},
        {0: frozenset({"in_port", "vlan"}), 2: frozenset({"metadata"})},
        {"fast_failover": 1},
        2,
        frozenset({(2, 1), (3, 1)}),
    )


STAGED = Pipeline(staged=True, table_offset=2)
ABLE = SwitchFeatures(
    4,
    5,
    {0: TableCapacity(0, 2, frozenset({"in_port", "vlan"})), 2: TableCapacity()},
    {"fast_failover": 1},
    2,
    {2: (PortQueue(0), PortQueue(1)), 3: (PortQueue(1),)},
)


def test_a_queue_may_be_chosen_before_the_port_is() -> None:
    early = Rule(1, 1, Match(), (SetQueue(1),), cookie(Kind.FLOW_POLICY, 1), goto=4)
    wanted = entry_needs([early])
    assert wanted.queues == {(None, 1)}
    assert find_missing_features(STAGED, ABLE, wanted) == ()
    (lack,) = find_missing_features(STAGED, SwitchFeatures(4, 5, queues={2: (PortQueue(0),)}), wanted)
    assert lack.startswith("queues: ")


def test_a_switch_that_has_it_all_lacks_nothing() -> None:
    assert find_missing_features(STAGED, ABLE, entry_needs(ENTRIES)) == ()
    assert find_missing_features(STAGED, SwitchFeatures(4, 5), entry_needs(ENTRIES)) == ()
    assert find_missing_features(SINGLE, SwitchFeatures(4, 1)) == ()


@pytest.mark.parametrize(
    ("lacking", "field", "parts"),
    [
        ({"n_tables": 4}, "table_offset", ("table 4", "3")),
        ({"tables": {0: TableCapacity(0, 1)}}, "table 0", ("2 rules", "1")),
        ({"tables": {0: TableCapacity(0, 9, frozenset({"vlan"}))}}, "table 0", ("in_port",)),
        ({"groups": {"all": 5}}, "groups", ("fast_failover",)),
        ({"meters": 1}, "meters", ("2", "1")),
        ({"meters": 0}, "meters", ("2", "kbit/s")),
        ({"queues": {2: (PortQueue(1),)}}, "queues", ("queue 1 of port 3",)),
    ],
)
def test_missing_feature_names_its_field(lacking: dict[str, Any], field: str, parts: tuple[str, ...]) -> None:
    fields = {name: getattr(ABLE, name) for name in ABLE.__slots__}
    features = SwitchFeatures(**{**fields, **lacking})
    (reason,) = find_missing_features(STAGED, features, entry_needs(ENTRIES))
    assert reason.startswith(f"{field}: ")
    assert [part for part in parts if part not in reason] == []


def test_more_groups_than_there_can_be_and_a_staged_pipeline_in_a_switch_with_one_table() -> None:
    many = FeatureNeeds(groups={"all": 6})
    (lack,) = find_missing_features(SINGLE, SwitchFeatures(4, 1, groups={"all": 5}), many)
    assert lack.startswith("groups: ")
    (lack,) = find_missing_features(Pipeline(staged=True), SwitchFeatures(4, 1))
    assert lack.startswith("pipeline: ")
