"""Rule compilation, judged by what packets do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.action import Output, PushVlan, SetEthDst
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import FLOW_PRIORITY, Pipeline
from adon.flowvisor.rules.rule import Rule, rule_text
from adon.flowvisor.rules.rule_compiler import RuleInputs, flow_rules, learn_rules, measurement_rules
from adon.flowvisor.topology.path import CandidatePath, FiveTuple
from tests.flowvisor.network import AL2S, MU, PATHS, ROUTED, SECOND_VLAN, SOURCE, TARGET
from tests.support.fake_network import FakeNetwork
from tests.support.refusals import refused

DATA = FiveTuple(6, 5001)


def compiled(chosen: CandidatePath = AL2S, *tuples: FiveTuple) -> tuple[Rule, ...]:
    return flow_rules(RuleInputs(17, SOURCE, TARGET, chosen, PATHS), tuples or (DATA,), 500, 60)


def net_with(*rules: Rule) -> FakeNetwork:
    net = FakeNetwork(PATHS, (SOURCE, TARGET))
    net.put(rules)
    return net


def assert_delivered(net: FakeNetwork, path: CandidatePath, **fields: object) -> None:
    """There and back, by this path, addressed as each DTN expects it, without a tag."""
    for sender, receiver, flip in ((SOURCE, TARGET, False), (TARGET, SOURCE, True)):
        ports = {"tp_src": fields.get("tp_src", 40_000), "tp_dst": fields.get("tp_dst", 5001)}
        if flip:
            ports = {"tp_src": ports["tp_dst"], "tp_dst": ports["tp_src"]}
        received, taken = net.send(sender.host, receiver.host, **{**fields, **ports})
        assert taken == [path.key.path]
        assert len(received) == 1
        frame = received[0]
        assert (frame.eth_src, frame.eth_dst, frame.vlan) == (receiver.gateway_mac, receiver.mac, None)
        assert (frame.ip_src, frame.ip_dst) == (sender.address, receiver.address)


@given(
    st.sampled_from(PATHS),
    st.lists(
        st.builds(
            FiveTuple,
            st.sampled_from([6, 17]),
            st.integers(1, 65535),
            st.none() | st.integers(1, 65535),
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda t: (t.protocol, t.destination_port),
    ),
)
def test_packets_reach_the_other_dtn_whichever_path_is_chosen(
    chosen: CandidatePath, tuples: list[FiveTuple]
) -> None:
    net = net_with(*compiled(chosen, *tuples))
    for connection in tuples:
        source_port = 40_000 if connection.source_port is None else connection.source_port
        assert_delivered(
            net, chosen, ip_proto=connection.protocol, tp_src=source_port, tp_dst=connection.destination_port
        )


def test_other_packets_are_left_to_the_campus() -> None:
    net = net_with(*compiled())
    for fields in ({"tp_dst": 22}, {"ip_proto": 17}, {"ip_dst": "10.9.9.9"}, {"eth_type": 0x86DD}):
        assert net.send(SOURCE.host, TARGET.host, **fields) == ([], [])


def test_a_move_touches_one_ingress_rule_per_direction() -> None:
    """Delivery rules of all candidates are there before they are needed."""
    before, after = set(compiled(AL2S)), set(compiled(ROUTED))
    changed = after - before
    assert {rule.slot for rule in changed} == {rule.slot for rule in before - after}
    assert [cookie_owner(rule.cookie)[0] for rule in changed] == [Kind.FLOW_INGRESS] * 2
    assert {rule.dpid for rule in changed} == {SOURCE.dpid, TARGET.dpid}


def test_one_rule_field_by_field() -> None:
    first = compiled()[0]
    assert first == Rule(
        dpid=MU,
        priority=FLOW_PRIORITY + 500,
        match=Match(
            in_port=1, eth_type=0x0800, ip_proto=6, ip_src="10.1.0.10", ip_dst="10.2.0.10", tp_dst=5001
        ),
        actions=(SetEthDst("02:00:00:00:0b:10"), PushVlan(100), Output(2)),
        cookie=0xAD10_0000_0000_0011,
        idle_timeout=60,
    )
    assert rule_text(first) == (
        "cookie=0xad10000000000011, table=0, idle_timeout=60, "
        "priority=30500,tcp,in_port=1,nw_src=10.1.0.10,nw_dst=10.2.0.10,tp_dst=5001 "
        "actions=set_field:02:00:00:00:0b:10->eth_dst,push_vlan:0x8100,set_field:4196->vlan_vid,output:2"
    )


def test_only_ingress_rules_idle_out() -> None:
    for rule in compiled():
        kind, owner = cookie_owner(rule.cookie)
        assert owner == 17
        assert (rule.idle_timeout > 0) == (kind is Kind.FLOW_INGRESS)


def test_the_chosen_path_is_delivered_even_if_it_is_no_candidate_any_more() -> None:
    rules = flow_rules(RuleInputs(1, SOURCE, TARGET, AL2S, (ROUTED,)), (DATA,), 0, 60)
    assert_delivered(net_with(*rules), AL2S)


def test_a_protocol_without_ports_is_matched_without_them() -> None:
    rules = compiled(ROUTED, FiveTuple(1, 0))
    assert all(rule.match.tp_src is None and rule.match.tp_dst is None for rule in rules)
    assert_delivered(net_with(*rules), ROUTED, ip_proto=1)


@pytest.mark.parametrize("priority", [-1, 1000])
def test_a_priority_outside_its_band_is_refused(priority: int) -> None:
    with pytest.raises(ValueError, match="priority"):
        flow_rules(RuleInputs(1, SOURCE, TARGET, AL2S, ()), (DATA,), priority, 60)


@pytest.mark.parametrize("broken", [replace(AL2S, vlan=None), replace(ROUTED, source_end=AL2S.source_end)])
def test_a_path_that_leads_nowhere_is_refused(broken: CandidatePath) -> None:
    with refused(ValueError):
        flow_rules(RuleInputs(1, SOURCE, TARGET, broken, ()), (DATA,), 0, 60)


@pytest.mark.parametrize("path", PATHS)
def test_learning_forwards_and_shows_the_first_packets_of_one_direction(path: CandidatePath) -> None:
    net = net_with(*learn_rules(RuleInputs(17, SOURCE, TARGET, path, PATHS), 6))
    assert_delivered(net, path, tp_dst=31_337)
    assert [packet.ip_src for packet in net.copied] == [SOURCE.address]
    assert net.send(SOURCE.host, TARGET.host, ip_proto=17) == ([], [])


def test_a_learnt_connection_is_not_shown_again() -> None:
    """Its own rules are above the learning rules; the others' first packets still come."""
    rules = learn_rules(RuleInputs(17, SOURCE, TARGET, AL2S, PATHS), 6)
    net = net_with(*rules, *compiled(ROUTED, FiveTuple(6, 5001, 40_000)))
    assert_delivered(net, ROUTED)
    assert net.copied == []
    assert_delivered(net, AL2S, tp_src=40_001)
    assert len(net.copied) == 1


def test_learning_rules_stay_while_their_connections_have_rules_of_their_own() -> None:
    assert {rule.idle_timeout for rule in learn_rules(RuleInputs(17, SOURCE, TARGET, AL2S, PATHS), 6)} == {0}


@pytest.mark.parametrize("path", PATHS)
def test_a_measurement_address_is_pinned_whatever_flows_are_there(path: CandidatePath) -> None:
    near, far = replace(SOURCE, address="10.1.0.21"), replace(TARGET, address="10.2.0.21")
    rules = measurement_rules(near, far, path)
    net = net_with(*rules, *compiled(SECOND_VLAN))
    for protocol in (1, 6, 17):
        addresses = {"ip_src": near.address, "ip_dst": far.address, "ip_proto": protocol}
        received, taken = net.send(SOURCE.host, TARGET.host, **addresses)
        assert (taken, [frame.eth_dst for frame in received]) == ([path.key.path], [TARGET.mac])
        addresses |= {"ip_src": far.address, "ip_dst": near.address}
        received, taken = net.send(TARGET.host, SOURCE.host, **addresses)
        assert (taken, [frame.eth_dst for frame in received]) == ([path.key.path], [SOURCE.mac])
    assert {cookie_owner(rule.cookie) for rule in rules} == {(Kind.MEASUREMENT, path.index)}


def test_a_test_configured_from_both_ends_needs_the_same_rules_once() -> None:
    there = measurement_rules(SOURCE, TARGET, AL2S)
    assert set(there) == set(measurement_rules(TARGET, SOURCE, AL2S.reverse()))


def test_idle_rules_go_and_used_ones_stay() -> None:
    """The stand-in's own law: what a flow's end looks like to the broker."""
    net = net_with(*compiled())
    net.now = 50.0
    net.send(SOURCE.host, TARGET.host)
    net.now = 70.0
    gone = [rule for switch in net.switches.values() for rule in switch.expire(net.now)]
    assert [cookie_owner(rule.cookie)[0] for rule in gone] == [Kind.FLOW_INGRESS]
    assert gone[0].dpid == TARGET.dpid


def test_an_offset_shifts_every_band_alike() -> None:
    """R7: room for a switch's other tenants; the order of our bands stays."""
    ends = (SOURCE, TARGET)
    plain = [
        *flow_rules(RuleInputs(1, *ends, AL2S, PATHS), [FiveTuple(6, 5001)], 500, 60),
        *learn_rules(RuleInputs(1, *ends, AL2S, PATHS), 6),
        *measurement_rules(*ends, AL2S),
    ]
    lower = dict.fromkeys((MU, TARGET.dpid), Pipeline(priority_offset=-7))
    shifted = [
        *flow_rules(RuleInputs(1, *ends, AL2S, PATHS, pipelines=lower), [FiveTuple(6, 5001)], 500, 60),
        *learn_rules(RuleInputs(1, *ends, AL2S, PATHS, pipelines=lower), 6),
        *measurement_rules(*ends, AL2S, lower),
    ]
    assert [replace(rule, priority=rule.priority - 7) for rule in plain] == shifted
