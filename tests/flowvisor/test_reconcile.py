"""Differences and their order: values in, values out, and packets that must never meet a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import METER_FIRST
from adon.flowvisor.rules.reconcile import ORDER, Difference, compare_entries, order_changes, plan_restore
from adon.flowvisor.rules.rule import Change, MeterEntry, Op, Rule
from adon.flowvisor.rules.rule_compiler import (
    RuleInputs,
    Treatment,
    flow_rules,
    learn_rules,
    measurement_rules,
)
from adon.flowvisor.topology.path import CandidatePath, FiveTuple
from tests.flowvisor.network import AL2S, PATHS, ROUTED, SOURCE, TARGET
from tests.support.datapath import Packet
from tests.support.fake_network import FakeNetwork
from tests.support.refusals import refused

DATA = FiveTuple(6, 5001)


def flow(
    path: CandidatePath, priority: int = 500, candidates: Sequence[CandidatePath] = PATHS, number: int = 17
) -> tuple[Rule, ...]:
    return flow_rules(RuleInputs(number, SOURCE, TARGET, path, candidates), (DATA,), priority, 60)


INGRESS, BACK, DELIVERY = flow(AL2S)[:3]
FOREIGN = replace(INGRESS, cookie=0x5ADC15C0)
UNKNOWN_KIND = Rule(SOURCE.dpid, 7, Match(in_port=9), (Output(1),), 0xAD77 << 48)


@pytest.mark.parametrize(
    ("desired", "reported", "expected"),
    [
        ([], [], Difference()),
        ([INGRESS], [], Difference(missing=(INGRESS,))),
        ([INGRESS], [INGRESS], Difference()),
        ([INGRESS, INGRESS], [INGRESS], Difference()),
        ([], [INGRESS], Difference(extra=(INGRESS,))),
        ([], [UNKNOWN_KIND], Difference(extra=(UNKNOWN_KIND,))),
        (
            [INGRESS],
            [replace(INGRESS, actions=())],
            Difference(wrong=((INGRESS, replace(INGRESS, actions=())),)),
        ),
        ([], [FOREIGN], Difference()),
        ([INGRESS], [FOREIGN], Difference(blocked=(INGRESS,))),
        (
            [INGRESS, replace(INGRESS, actions=(Output(9),))],
            [],
            Difference(missing=(INGRESS,), blocked=(replace(INGRESS, actions=(Output(9),)),)),
        ),
    ],
)
def test_difference(desired: list[Rule], reported: list[Rule], expected: Difference) -> None:
    assert compare_entries(desired, reported) == expected


def test_a_slot_that_is_told_to_be_foreign_blocks() -> None:
    found = compare_entries([INGRESS], [], foreign=frozenset({INGRESS.slot}))
    assert found == Difference(blocked=(INGRESS,))
    assert found.is_settled
    assert order_changes(found) == ()


@pytest.mark.parametrize(("desired", "reported"), [([INGRESS], []), ([], [INGRESS]), ([INGRESS], [FOREIGN])])
def test_a_rule_changed_a_moment_ago_is_not_judged(desired: list[Rule], reported: list[Rule]) -> None:
    found = compare_entries(desired, reported, skip=frozenset({INGRESS.slot}))
    assert found.is_settled


@pytest.mark.parametrize(
    ("present", "op"),
    [
        (replace(INGRESS, actions=()), Op.MODIFY),
        (replace(INGRESS, idle_timeout=5), Op.ADD),
        (replace(INGRESS, cookie=cookie(Kind.FLOW_INGRESS, 99)), Op.ADD),
    ],
)
def test_modify_keeps_counters_but_changes_actions_only(present: Rule, op: Op) -> None:
    (phase,) = order_changes(compare_entries([INGRESS], [present]))
    assert [change.op for change in phase.batches[INGRESS.dpid]] == [op]


def test_the_order_is_a_table() -> None:
    assert [(step.name, step.removes, step.drain) for step in ORDER] == [
        ("equip", False, False),
        ("prepare", False, False),
        ("shift", False, False),
        ("retire", True, True),
        ("clear", True, True),
        ("strip", True, True),
    ]


def test_groups_and_meters_are_there_before_rules_name_them_and_after_nobody_does() -> None:
    meter = MeterEntry(SOURCE.dpid, METER_FIRST, 10_000_000, 1_000_000)
    steered = RuleInputs(17, SOURCE, TARGET, AL2S, PATHS, Treatment(meters=(meter,)))
    entries = flow_rules(steered, (DATA,), 500, 60)
    plan = order_changes(compare_entries(entries, []))
    assert [phase.name for phase in plan] == ["equip", "prepare", "shift"]
    assert [change.rule for change in plan[0].batches[SOURCE.dpid]] == [meter]
    gone = order_changes(compare_entries([], entries))
    assert [phase.name for phase in gone] == ["retire", "clear", "strip"]
    assert [(c.op, c.rule) for c in gone[-1].batches[SOURCE.dpid]] == [(Op.DELETE, meter)]


def test_a_group_or_meter_that_is_there_is_modified_never_added() -> None:
    meter = MeterEntry(SOURCE.dpid, METER_FIRST, 10_000_000, 1_000_000)
    (phase,) = order_changes(compare_entries([meter], [replace(meter, rate=5_000_000)]))
    assert phase.batches[SOURCE.dpid] == (Change(Op.MODIFY, meter),)


def test_groups_and_meters_of_others_are_left_alone_and_block_their_number() -> None:
    others = MeterEntry(SOURCE.dpid, 7, 10_000_000, 1_000_000)
    assert compare_entries([], [others]).is_settled
    assert compare_entries([replace(others, rate=1)], [others]).blocked == (replace(others, rate=1),)


def test_a_new_flow_is_delivered_before_it_enters_without_a_drain() -> None:
    plan = order_changes(compare_entries(flow(AL2S), []))
    assert [(phase.name, phase.drain_before) for phase in plan] == [("prepare", False), ("shift", False)]


def test_a_move_between_standby_paths_is_one_phase_of_two_modifies() -> None:
    (plan,) = order_changes(compare_entries(flow(ROUTED), flow(AL2S)))
    assert plan.name == "shift"
    changes = [change for batch in plan.batches.values() for change in batch]
    assert [change.op for change in changes] == [Op.MODIFY, Op.MODIFY]
    assert set(plan.batches) == {SOURCE.dpid, TARGET.dpid}


def test_a_move_to_a_new_path_drains_before_the_old_one_goes() -> None:
    found = compare_entries(flow(ROUTED, 500, (ROUTED,)), flow(AL2S, 500, (AL2S,)))
    plan = order_changes(found)
    assert [(phase.name, phase.drain_before) for phase in plan] == [
        ("prepare", False),
        ("shift", False),
        ("clear", True),
    ]


def test_a_flow_that_ends_loses_its_ingress_first() -> None:
    plan = order_changes(compare_entries([], flow(AL2S)))
    assert [(phase.name, phase.drain_before) for phase in plan] == [("retire", False), ("clear", True)]


def test_what_is_put_back_goes_out_together_delivery_first_and_meters_before() -> None:
    meter = MeterEntry(SOURCE.dpid, METER_FIRST, 1_000_000, 100_000)
    equip, restore = plan_restore(Difference(missing=(INGRESS, DELIVERY, BACK, meter)))
    assert [change.rule for change in equip.batches[SOURCE.dpid]] == [meter]
    put_back = [change.rule for changes in restore.batches.values() for change in changes]
    assert set(put_back) == {INGRESS, DELIVERY, BACK}
    assert put_back.index(DELIVERY) < put_back.index(BACK)
    assert plan_restore(Difference(missing=(meter,))) == (equip,)
    assert plan_restore(Difference()) == ()
    with refused(ValueError):
        plan_restore(Difference(extra=(INGRESS,)))


def test_difference_and_phases_take_one_pass_over_generators() -> None:
    found = compare_entries(iter(flow(AL2S)), iter(flow(ROUTED)))
    assert len(found.wrong) == 2


STATES = st.one_of(
    st.just(()),
    st.builds(
        flow,
        st.sampled_from(PATHS),
        st.integers(499, 501),
        st.lists(st.sampled_from(PATHS), unique=True),
        st.integers(1, 2),
    ),
    st.builds(
        lambda path, among: learn_rules(RuleInputs(17, SOURCE, TARGET, path, among), 6),
        st.sampled_from(PATHS),
        st.lists(st.sampled_from(PATHS), unique=True),
    ),
    st.builds(
        lambda path: measurement_rules(
            replace(SOURCE, address="10.1.0.9"), replace(TARGET, address="10.2.0.9"), path
        ),
        st.sampled_from(PATHS),
    ),
)
SPOILED = st.lists(
    st.sampled_from(
        [
            replace(INGRESS, actions=()),
            replace(DELIVERY, idle_timeout=3),
            UNKNOWN_KIND,
            replace(BACK, cookie=cookie(Kind.MEASUREMENT, 3)),
        ]
    ),
    unique=True,
)
BYSTANDER = Rule(SOURCE.dpid, 10, Match(in_port=1), (Output(7),), 0x5ADC15C0)


@given(STATES, SPOILED, STATES)
def test_from_any_state_the_plan_leads_to_what_is_desired_and_back_to_nothing(
    before: tuple[Rule, ...], spoiled: list[Rule], desired: tuple[Rule, ...]
) -> None:
    net = FakeNetwork(PATHS, (SOURCE, TARGET))
    net.put([BYSTANDER, *before, *spoiled])
    for target in (desired, ()):
        list(net.apply_phases(order_changes(compare_entries(target, net.report()))))
        assert net.rules() == {BYSTANDER, *target}
        assert compare_entries(target, net.report()).is_settled


@given(
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.integers(499, 501),
    st.lists(st.sampled_from(PATHS), unique=True),
    st.lists(st.sampled_from(PATHS), unique=True),
)
def test_make_before_break_every_packet_arrives_once_at_every_step_of_a_move(
    old: CandidatePath,
    new: CandidatePath,
    priority: int,
    old_candidates: list[CandidatePath],
    new_candidates: list[CandidatePath],
) -> None:
    net = FakeNetwork(PATHS, (SOURCE, TARGET))
    net.put(flow(old, 500, old_candidates))
    plan = order_changes(compare_entries(flow(new, priority, new_candidates), net.report()))
    for change in net.apply_phases(plan):
        there, way = net.send(SOURCE.host, TARGET.host)
        back, _ = net.send(TARGET.host, SOURCE.host, tp_src=5001, tp_dst=40_000)
        assert (len(there), len(back)) == (1, 1), f"lost after {change}"
        assert way in ([old.key.path], [new.key.path])
    assert net.send(SOURCE.host, TARGET.host)[1] == [new.key.path]


def test_a_packet_already_on_the_old_path_arrives_until_the_drain() -> None:
    """What is under way when the ingress shifts still finds its delivery rule; only `clear` removes it."""
    net = FakeNetwork(PATHS, (SOURCE, TARGET))
    net.put(flow(AL2S, 500, (AL2S,)))
    plan = order_changes(compare_entries(flow(ROUTED, 500, (ROUTED,)), net.report()))
    packet = Packet(SOURCE.mac, SOURCE.gateway_mac, SOURCE.address, TARGET.address)
    on_its_way = net.switches[SOURCE.dpid].forward(SOURCE.port, packet)[0][1]
    for phase in plan:
        arrived = net.switches[TARGET.dpid].forward(AL2S.destination_end.port, on_its_way)
        assert len(arrived) == 1
        list(net.apply_phases([phase]))
    assert plan[-1].drain_before
    assert net.switches[TARGET.dpid].forward(AL2S.destination_end.port, on_its_way) == []
