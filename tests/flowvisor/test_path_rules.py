"""What a path needs whatever its flows, judged by what packets do; the staged pipeline with it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.action import Output, ToGroup
from adon.flowvisor.rules.pipeline import METER_FIRST, Pipeline, group_number, owner_of, pipeline_rules
from adon.flowvisor.rules.rule import Entry, GroupEntry, MeterEntry, Rule, instructions_text
from adon.flowvisor.rules.rule_compiler import (
    RuleInputs,
    Treatment,
    flow_rules,
    forwarding_actions,
    learn_rules,
    measurement_rules,
    path_rules,
)
from adon.flowvisor.topology.path import CandidatePath, FiveTuple, Hop
from tests.flowvisor.network import AL2S, MU, OSU, PATHS, ROUTED, SECOND_VLAN, SOURCE, TARGET
from tests.support.fake_network import FakeNetwork
from tests.support.refusals import refused

DATA = FiveTuple(6, 5001)
STAGED = {MU: Pipeline(staged=True), OSU: Pipeline(staged=True)}
MIDDLE = Hop(0xC1, 1, 2), Hop(0xC2, 7, 8)
LONG = replace(AL2S, hops=MIDDLE)

pipelines = st.fixed_dictionaries(
    {dpid: st.builds(Pipeline, st.booleans(), st.just(0)) for dpid in (MU, OSU)}
)
treatments = st.builds(
    Treatment,
    tenant=st.integers(0, 4095),
    dscp=st.none() | st.integers(0, 63),
    queues=st.sampled_from([(), ((MU, 1),), ((MU, 1), (OSU, 2))]),
    meters=st.sampled_from([(), (MeterEntry(MU, METER_FIRST, 10_000_000, 1_000_000),)]),
)


def everything(flow: RuleInputs, *, among: tuple[CandidatePath, ...] = PATHS) -> tuple[Entry, ...]:
    """All that must be in the switches for one flow: table misses, paths, the flow."""
    misses = [
        rule
        for index, (dpid, pipeline) in enumerate(flow.pipelines.items())
        for rule in pipeline_rules(dpid, index, pipeline, "keep")
    ]
    paths = [entry for path in among for entry in path_rules(path, flow.pipelines)]
    return (*misses, *paths, *flow_rules(flow, (DATA,), 500, 60))


@given(st.sampled_from((LONG, *PATHS)), pipelines, treatments)
def test_packets_reach_the_other_dtn_in_both_forms_of_the_pipeline(
    chosen: CandidatePath, forms: dict[int, Pipeline], treatment: Treatment
) -> None:
    among = tuple(chosen if path.key == chosen.key else path for path in PATHS)
    net = FakeNetwork(among, (SOURCE, TARGET))
    net.put(everything(RuleInputs(17, SOURCE, TARGET, chosen, among, treatment, forms), among=among))
    for sender, receiver, ports in (
        (SOURCE, TARGET, {"tp_dst": 5001}),
        (TARGET, SOURCE, {"tp_src": 5001, "tp_dst": 40_000}),
    ):
        (frame,), taken = net.send(sender.host, receiver.host, **ports)
        assert taken == [chosen.key.path]
        assert (frame.eth_src, frame.eth_dst, frame.vlan) == (receiver.gateway_mac, receiver.mac, None)
        assert frame.dscp == (0 if treatment.dscp is None else treatment.dscp)


@pytest.mark.parametrize("path", PATHS)
def test_tests_are_pinned_and_first_packets_learnt_in_the_staged_form_too(path: CandidatePath) -> None:
    near, far = replace(SOURCE, address="10.1.0.99"), replace(TARGET, address="10.2.0.99")
    net = FakeNetwork(PATHS, (SOURCE, TARGET, replace(near, host="near"), replace(far, host="far")))
    learning = RuleInputs(18, SOURCE, TARGET, path, PATHS, pipelines=STAGED)
    net.put([entry for one in PATHS for entry in path_rules(one, STAGED)])
    net.put(measurement_rules(near, far, path, STAGED))
    net.put(learn_rules(learning, 6))
    assert net.send("near", "far", tp_dst=861)[1] == [path.key.path]
    assert net.send(SOURCE.host, TARGET.host, tp_dst=9000)[1] == [path.key.path]
    assert len(net.copied) == 1


def test_a_move_in_the_staged_form_changes_one_classification_rule_per_direction() -> None:
    before, after = (
        set(flow_rules(RuleInputs(17, SOURCE, TARGET, path, PATHS, pipelines=STAGED), (DATA,), 500, 60))
        for path in (AL2S, ROUTED)
    )
    changed = [rule for rule in after - before if isinstance(rule, Rule)]
    assert {(rule.dpid, rule.table) for rule in changed} == {(MU, 0), (OSU, 0)}
    assert len(changed) == len(after - before) == 2


def test_a_port_that_is_down_is_left_through_the_group_without_the_controller() -> None:
    """Whatever the two layers are: the backup's bucket addresses the frame anew."""
    for path, backup in (
        (AL2S, ROUTED),
        (ROUTED, AL2S),
        (AL2S, replace(SECOND_VLAN, source_end=ROUTED.source_end)),
    ):
        entries = [
            *path_rules(path, STAGED, {MU: backup}),
            *path_rules(backup, STAGED),
            *flow_rules(RuleInputs(17, SOURCE, TARGET, path, PATHS, pipelines=STAGED), (DATA,), 500, 60),
        ]
        net = FakeNetwork((path, backup), (SOURCE, TARGET))
        net.put(entries)
        assert net.send(SOURCE.host, TARGET.host)[1] == [path.key.path]
        net.switches[MU].dead.add(path.source_end.port)
        (frame,), taken = net.send(SOURCE.host, TARGET.host)
        assert taken == [backup.key.path]
        assert frame.eth_dst == TARGET.mac


def test_the_group_belongs_to_the_path_and_its_rule_names_it() -> None:
    group, rule = (e for e in path_rules(AL2S, STAGED, {MU: ROUTED}) if e.dpid == MU)
    assert isinstance(group, GroupEntry)
    assert isinstance(rule, Rule)
    assert (owner_of(group), owner_of(rule)) == ("path-0", "path-0")
    assert rule.actions == (ToGroup(group_number(0)),)


def test_in_the_single_form_only_switches_between_the_edges_need_rules() -> None:
    assert path_rules(AL2S, {}) == ()
    assert [
        (rule.dpid, rule.match.in_port, rule.match.vlan, rule.actions) for rule in path_rules(LONG, {})
    ] == [
        (0xC1, 1, 100, (Output(2),)),
        (0xC2, 7, 100, (Output(8),)),
        (0xC2, 8, 100, (Output(7),)),
        (0xC1, 2, 100, (Output(1),)),
    ]


def test_a_path_that_leads_nowhere_is_refused() -> None:
    with refused(ValueError):
        forwarding_actions(replace(AL2S, vlan=None))


@pytest.mark.parametrize(
    ("pipeline", "miss", "expected"),
    [
        (Pipeline(), "keep", []),
        (Pipeline(), "normal", [(0, "NORMAL")]),
        (Pipeline(table_offset=5), "drop", [(5, "drop")]),
        (Pipeline(staged=True), "keep", [(1, "goto_table:2")]),
        (Pipeline(staged=True, table_offset=5), "normal", [(5, "NORMAL"), (6, "goto_table:7")]),
    ],
)
def test_table_misses(pipeline: Pipeline, miss: str, expected: list[tuple[int, str]]) -> None:
    rules = pipeline_rules(MU, 0, pipeline, miss)  # type: ignore[arg-type]
    assert [(rule.table, instructions_text(rule)) for rule in rules] == expected
    assert {(rule.priority, owner_of(rule)) for rule in rules} <= {(0, "switch-0")}


def test_packets_of_nobody_are_left_to_the_campus() -> None:
    flow = RuleInputs(17, SOURCE, TARGET, AL2S, PATHS, pipelines=STAGED)
    net = FakeNetwork(PATHS, (SOURCE, TARGET))
    net.put(everything(flow))
    assert net.send(SOURCE.host, TARGET.host, tp_dst=22) == ([], [])


def test_hosts_with_both_versions_of_ip_have_rules_for_both() -> None:
    """R23."""
    ends = replace(SOURCE, address6="2001:db8:a::10"), replace(TARGET, address6="2001:db8:b::10")
    entries = flow_rules(RuleInputs(17, *ends, AL2S, PATHS), (DATA,), 500, 60)
    net = FakeNetwork(PATHS, ends)
    net.put(entries)
    for version in ({}, {"eth_type": 0x86DD, "ip_src": "2001:db8:a::10", "ip_dst": "2001:db8:b::10"}):
        assert net.send(SOURCE.host, TARGET.host, **version)[1] == ["al2s"]
    only = flow_rules(RuleInputs(17, ends[0], TARGET, AL2S, PATHS), (DATA,), 500, 60)
    assert {rule.match.eth_type for rule in only if isinstance(rule, Rule)} == {0x0800}


def test_both_directions_have_labels_of_their_own() -> None:
    there, back = (
        entry for entry in path_rules(AL2S, STAGED) if isinstance(entry, Rule) and entry.match.metadata
    )
    assert there.match.metadata != back.match.metadata
