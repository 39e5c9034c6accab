"""What a switch does with a packet: the cases one by one, then random tables against Open vSwitch itself.

The stand-in switch of all unit tests rests on :mod:`tests.support.datapath`.  So its
word is held against ``ofproto/trace`` of a real Open vSwitch that holds the same entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adon.flowvisor.rules.action import (
    Action,
    Normal,
    Output,
    PopVlan,
    PushVlan,
    SetDscp,
    SetEthDst,
    SetEthSrc,
    SetQueue,
    SetVlan,
    ToController,
    ToGroup,
)
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, MaskedNumber, Match
from adon.flowvisor.rules.rule import Bucket, Entry, GroupEntry, MeterEntry, Rule, rule_text
from tests.apps.edge import Switches
from tests.flowvisor.ovs_trace import Control, numbers, ours, traced
from tests.support.datapath import CONTROLLER, NORMAL, Packet, forward, matches

T = TypeVar("T")

DPID, COOKIE = 0xA01, 0xAD10_0000_0000_0001
PORTS, DOWN = (1, 2, 3, 4), 4
MACS = ("02:00:00:00:0a:0a", "02:00:00:00:0b:0a", "02:00:00:00:0c:0a")
GROUPS, METERS = (0xAD000001, 0xAD000002), (0xA000, 0xA001)
ADDRESSES = {
    ETH_TYPE_IPV4: ("10.1.0.10", "10.1.0.11", "10.2.0.10"),
    ETH_TYPE_IPV6: ("2001:db8:1::10", "2001:db8:1::11", "2001:db8:2::10"),
}
NETWORKS = {ETH_TYPE_IPV4: ("10.1.0.0/24", "10.0.0.0/8"), ETH_TYPE_IPV6: ("2001:db8:1::/64", "2001:db8::/32")}
PACKET = Packet(MACS[0], MACS[1], "10.1.0.10", "10.2.0.10")


def rule(priority: int, match: Match, *actions: Action, table: int = 0, **more: object) -> Rule:
    return Rule(DPID, priority, match, actions, COOKIE, table=table, **more)  # type: ignore[arg-type]


IP = Match(eth_type=ETH_TYPE_IPV4)
FAILOVER = GroupEntry(
    DPID,
    GROUPS[0],
    "fast_failover",
    (Bucket((PushVlan(7), Output(DOWN)), DOWN), Bucket((SetEthDst(MACS[2]), Output(3)), 3)),
)
CASES: dict[str, tuple[list[Entry], list[tuple[int, Packet]]]] = {
    "no rule": ([], []),
    "no action": ([rule(1, Match())], []),
    "the highest priority": ([rule(1, Match(), Output(2)), rule(2, Match(), Output(3))], [(3, PACKET)]),
    "a prefix": (
        [rule(2, replace(IP, ip_src="10.2.0.0/16"), Output(2)), rule(1, replace(IP, ip_src="10.1.0.0/16"))],
        [],
    ),
    "each output as the packet is then": (
        [rule(1, Match(), Output(2), PushVlan(9), Output(3), SetEthSrc(MACS[2]), Output(DOWN))],
        [
            (2, PACKET),
            (3, replace(PACKET, vlan=9)),
            (DOWN, replace(PACKET, vlan=9, eth_src=MACS[2])),
        ],
    ),
    "not back where it came from": ([rule(1, Match(), Output(1), Output(2))], [(2, PACKET)]),
    "metadata and a later table": (
        [
            rule(1, IP, SetDscp(10), metadata=MaskedNumber(0x105, 0xFFF), goto=2),
            rule(2, Match(metadata=MaskedNumber(0x6, 0xF)), Output(2), table=2),
            rule(1, Match(metadata=MaskedNumber(0x5, 0xF)), Output(3), table=2),
        ],
        [(3, replace(PACKET, dscp=10))],
    ),
    "fast failover takes the first live bucket, and the rest goes on unchanged": (
        [FAILOVER, rule(1, Match(), ToGroup(GROUPS[0]), Output(2))],
        [(3, replace(PACKET, eth_dst=MACS[2])), (2, PACKET)],
    ),
    "controller and normal": (
        [rule(1, Match(), ToController(), Normal())],
        [(CONTROLLER, PACKET), (NORMAL, PACKET)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_packet_goes_where_the_specification_says(name: str) -> None:
    entries, outputs = CASES[name]
    assert list(forward(entries, 1, PACKET, lambda port: port != DOWN).outputs) == outputs


def test_a_version_of_ip_is_told_by_the_type_and_not_by_the_address() -> None:
    six = replace(PACKET, eth_type=ETH_TYPE_IPV6, ip_src="2001:db8:1::10", ip_dst="2001:db8:2::10")
    asked = Match(eth_type=ETH_TYPE_IPV6, ip_dst="2001:db8:2::/48")
    assert matches(asked, 1, six)
    assert not matches(asked, 1, PACKET)


# -- against Open vSwitch ---------------------------------------------------------------------------------


def seldom(*values: T) -> st.SearchStrategy[T | None]:
    """One of these, mostly none: a rule that asks for everything takes nothing."""
    return st.sampled_from([None] * 3 * len(values) + list(values))


@st.composite
def match_of(draw: st.DrawFn, table: int) -> Match:
    """A match with what each of its fields takes for granted (OpenFlow 1.3.5, 7.2.3.8)."""
    labels = st.sampled_from([None, MaskedNumber(0x5, 0xF), MaskedNumber(0x100, 0xF00)])
    found = Match(
        in_port=draw(seldom(*PORTS)),
        vlan=draw(seldom(100, 101)),
        metadata=draw(labels) if table else None,
    )
    kind = draw(st.sampled_from([None, None, ETH_TYPE_IPV4, ETH_TYPE_IPV6]))
    if kind is None:
        return found
    places = seldom(*ADDRESSES[kind], *NETWORKS[kind])
    found = replace(found, eth_type=kind, ip_src=draw(places), ip_dst=draw(places))
    protocol = draw(seldom(6, 17, 132))
    if protocol is None:
        return found
    return replace(found, ip_proto=protocol, tp_src=draw(seldom(5001)), tp_dst=draw(seldom(5001, 5002)))


REWRITING = st.one_of(
    st.sampled_from(MACS).map(SetEthDst),
    st.sampled_from(MACS).map(SetEthSrc),
    st.sampled_from([0, 1]).map(SetQueue),
)
PLAIN = st.one_of(st.sampled_from(PORTS).map(Output), REWRITING)


@st.composite
def actions_of(draw: st.DrawFn, match: Match) -> tuple[Action, ...]:
    """Actions that a switch takes with this match: no tag changed or taken off that need not be there."""
    if draw(st.integers(0, 9)) == 0:
        return (Normal(),)
    tagged, found = match.vlan is not None, list[Action]()
    for _ in range(draw(st.integers(0, 4))):
        can: list[st.SearchStrategy[Action]] = [
            PLAIN,
            st.just(ToController()),
            st.sampled_from(GROUPS).map(ToGroup),
        ]
        if match.eth_type is not None:
            can.append(st.sampled_from([0, 10, 46]).map(SetDscp))
        tags = [st.just(PopVlan()), st.just(SetVlan(102))] if tagged else [st.just(PushVlan(103))]
        action = draw(st.one_of(*can, *tags))
        tagged = isinstance(action, PushVlan) or (tagged and not isinstance(action, PopVlan))
        found.append(action)
    return tuple(found)


@st.composite
def rule_of(draw: st.DrawFn, priority: int) -> Rule:
    table = draw(st.sampled_from([0, 0, 1, 2]))
    match = draw(match_of(table))
    onward = draw(st.sampled_from([None, *range(table + 1, 4)])) if table < 3 else None
    written = st.sampled_from(
        [
            None,
            MaskedNumber(0x5, 0xF),
            MaskedNumber(0x100, 0xFFF),
            MaskedNumber(0x10_0000_0005, 0xF_FFFF_FFFF),
        ]
    )
    return rule(
        priority,
        match,
        *draw(actions_of(match)),
        table=table,
        meter=draw(st.sampled_from([None, None, *METERS])),
        goto=onward,
        metadata=None if onward is None else draw(written),
    )


@st.composite
def group_of(draw: st.DrawFn, number: int) -> GroupEntry:
    kind = draw(st.sampled_from(["fast_failover", "all", "indirect"]))
    buckets = []
    for _ in range(1 if kind == "indirect" else draw(st.integers(1, 3))):
        # A bucket is an action set (5.10): its one output comes last.
        way = (*draw(st.lists(REWRITING, max_size=2)), Output(draw(st.sampled_from(PORTS))))
        tag = (PushVlan(104),) if draw(st.booleans()) else ()
        watch = draw(st.sampled_from(PORTS)) if kind == "fast_failover" else None
        buckets.append(Bucket((*tag, *way), watch))
    return GroupEntry(DPID, number, kind, tuple(buckets))  # type: ignore[arg-type]


@st.composite
def packet_of(draw: st.DrawFn) -> Packet:
    kind = draw(st.sampled_from([ETH_TYPE_IPV4, ETH_TYPE_IPV6]))
    ends = st.sampled_from(ADDRESSES[kind])
    return Packet(
        eth_src=draw(st.sampled_from(MACS)),
        eth_dst=draw(st.sampled_from(MACS)),
        ip_src=draw(ends),
        ip_dst=draw(ends),
        ip_proto=draw(st.sampled_from([6, 17, 132])),
        tp_src=draw(st.sampled_from([5001, 40_000])),
        tp_dst=draw(st.sampled_from([5001, 5002])),
        vlan=draw(st.sampled_from([None, None, 100, 101])),
        eth_type=kind,
        dscp=draw(st.sampled_from([0, 46])),
    )


TABLES = st.integers(4, 14).flatmap(
    lambda count: st.tuples(*(rule_of(priority) for priority in range(1, count + 1)))
)
BOTH = st.tuples(*(group_of(number) for number in GROUPS))
ARRIVALS = st.lists(st.tuples(st.sampled_from(PORTS[:3]), packet_of()), min_size=4, max_size=8)


@pytest.fixture(scope="module")
def switches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switches]:
    """One bridge with four ports, the last of them down."""
    private = Switches(tmp_path_factory.mktemp("ovs"))
    with private.running():
        words = "add-br br0 -- set Bridge br0 datapath_type=dummy fail_mode=secure protocols=OpenFlow13"
        for number in PORTS:
            words += (
                f" -- add-port br0 p{number} -- set Interface p{number} type=dummy ofport_request={number}"
            )
        private.vsctl(*words.split())
        private.ofctl("mod-port", "br0", f"p{DOWN}", "down")
        for number in METERS:
            private.ofctl("add-meter", "br0", rule_text(MeterEntry(DPID, number, 10**6, 10**5)))
        yield private


def put(switches: Switches, entries: tuple[Entry, ...]) -> None:
    """Let the bridge hold these entries and no others, in one transaction."""
    file = switches.folder / "entries"
    added = (f"{'group' if isinstance(one, GroupEntry) else 'flow'} add {rule_text(one)}" for one in entries)
    file.write_text("\n".join(["flow delete", "group delete", *added, ""]))
    switches.ofctl("bundle", "br0", str(file))


def tags_once(entries: tuple[Entry, ...], packet: Packet, steps: object) -> bool:
    """Whether no second tag is put on a packet on its way: our values have room for one."""
    groups = {entry.number: entry for entry in entries if isinstance(entry, GroupEntry)}
    tagged = packet.vlan is not None
    for step in steps:  # type: ignore[attr-defined]
        for action in () if step.rule is None else step.rule.actions:
            match action:
                case PushVlan() if tagged:
                    return False
                case PushVlan() | PopVlan():
                    tagged = isinstance(action, PushVlan)
                case ToGroup(number) if tagged:
                    ways = (bucket.actions for bucket in groups[number].buckets)
                    if any(isinstance(one, PushVlan) for way in ways for one in way):
                        return False
    return True


@pytest.mark.integration
@given(rules=TABLES, groups=BOTH, arrivals=ARRIVALS)
@settings(suppress_health_check=list(HealthCheck))
def test_random_tables_forward_as_open_vswitch_does(
    switches: Switches,
    rules: tuple[Rule, ...],
    groups: tuple[GroupEntry, ...],
    arrivals: list[tuple[int, Packet]],
) -> None:
    entries: tuple[Entry, ...] = (*groups, *rules)
    put(switches, entries)
    control = Control(switches.folder / "vs.ctl")
    ports = numbers(control, "br0")
    for in_port, packet in arrivals:
        passage = forward(entries, in_port, packet, lambda port: port != DOWN)
        if not tags_once(entries, packet, passage.steps):
            continue
        said, expected = traced(control, "br0", in_port, packet, ports), ours(passage)
        assert said.steps == expected.steps
        if any(port == NORMAL for port, _ in expected.outputs):
            assert said.outputs[0][0] == NORMAL
            continue
        # Also to a port that is down, where it is lost: who follows a packet from switch to switch says so.
        assert said.outputs == expected.outputs
        assert not said.outputs or said.meters == expected.meters
