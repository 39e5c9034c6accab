"""What a switch refuses of a batch costs one owner; what is there already, or is not, is put right."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.effects import RuleState
from adon.broker.events import BatchFailed, RuleRemoved
from adon.broker.flow import Flow, FlowState
from adon.broker.network import Outcome
from adon.broker.refusals import RETRY_S, Refusals, replacement_for
from adon.config.policy import LadderPolicy
from adon.flowvisor.rules.pipeline import METER_FIRST
from adon.flowvisor.rules.rule import Bucket, Change, Entry, GroupEntry, MeterEntry, Op
from adon.values import FrozenMap
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, Stage, make_stage
from tests.support.switch_answers import FAR, Wire, connect_both, make_rule, saved_rules, sent_batches

METER = MeterEntry(MU_EDGE, METER_FIRST, 1_000_000, 100_000)
GROUP = GroupEntry(MU_EDGE, 1, "fast_failover", (Bucket((), 2),))
OUT_OF_METERS = "OFPET_METER_MOD_FAILED(12) OFPMMFC_OUT_OF_METERS(10)"


@pytest.mark.parametrize(
    ("op", "entry", "words", "instead"),
    [
        (Op.ADD, METER, "OFPET_METER_MOD_FAILED(12) OFPMMFC_METER_EXISTS(1)", Op.MODIFY),
        (Op.MODIFY, METER, "OFPET_METER_MOD_FAILED(12) OFPMMFC_UNKNOWN_METER(3)", Op.ADD),
        (Op.ADD, GROUP, "OFPET_GROUP_MOD_FAILED(6) OFPGMFC_GROUP_EXISTS(0)", Op.MODIFY),
        (Op.MODIFY, GROUP, "OFPET_GROUP_MOD_FAILED(6) OFPGMFC_UNKNOWN_GROUP(8)", Op.ADD),
        (Op.ADD, METER, OUT_OF_METERS, None),
        (Op.ADD, METER, "OFPET_METER_MOD_FAILED(12) OFPMMFC_UNKNOWN_METER(3)", None),
        (Op.DELETE, GROUP, "OFPET_GROUP_MOD_FAILED(6) OFPGMFC_UNKNOWN_GROUP(8)", None),
        (Op.ADD, FAR, "OFPET_FLOW_MOD_FAILED(5) OFPFMFC_TABLE_FULL(1)", None),
    ],
)
def test_what_is_sent_in_the_place_of_what_was_refused(
    op: Op, entry: Entry, words: str, instead: Op | None
) -> None:
    found = replacement_for(Change(op, entry), words)
    assert found == (None if instead is None else Change(instead, entry))


def test_what_is_refused_again_and_again_is_tried_ever_more_rarely() -> None:
    refusals, now = Refusals(), 1000.0
    pauses = []
    for _ in range(12):
        until = refusals.record_refusal([METER.slot], now)
        assert refusals.held_slots(MU_EDGE, until - 0.1) == {METER.slot}
        assert refusals.held_slots(MU_EDGE, until) == frozenset()
        pauses.append(until - now)
        now = until
    assert pauses[:4] == [RETRY_S, 2 * RETRY_S, 4 * RETRY_S, 8 * RETRY_S]
    assert pauses[-1] == pauses[-2] == 3600.0
    refusals.forgive(0xA02)
    refusals.record_refusal([METER.slot], now)
    assert refusals.held_slots(MU_EDGE, now)
    refusals.forgive(MU_EDGE)
    assert not refusals.held_slots(MU_EDGE, now)


# -- the network ---------------------------------------------------------------------------------------------


def refuse(wire: Wire, outcome: Outcome, *entries: Entry, words: str = "no") -> Outcome:
    (batch,) = sent_batches(outcome)
    places = [n for n, change in enumerate(batch.changes) if change.rule in entries]
    assert len(places) == len(entries)
    event = BatchFailed(*wire.stamp(), batch.dpid, batch.batch, words, tuple((n, words) for n in places))
    return wire.network.batch_failed(event)


OWNERS = {n: make_rule(MU_EDGE, owner=n, slot=n) for n in (1, 2, 3)}


def repairing() -> tuple[Wire, Outcome]:
    """A switch comes back empty, and three flows' rules are put in by one repair."""
    wire = Wire(*OWNERS.values())
    return wire, wire.connect(MU_EDGE)


def test_a_repair_goes_on_without_the_rule_that_was_refused() -> None:
    wire, outcome = repairing()
    done = refuse(wire, outcome, OWNERS[2])
    assert [owner for owner, _ in done.failed] == ["f-2"]
    assert set(done.installed) == {"f-1", "f-3"}
    assert (RuleState.FAILED, (OWNERS[2],)) in saved_rules(done)
    assert (RuleState.INSTALLED, (OWNERS[1], OWNERS[3])) in saved_rules(done)
    assert not wire.network.changing()


def test_what_was_refused_is_left_alone_for_a_while_and_then_tried_again() -> None:
    wire, outcome = repairing()
    refuse(wire, outcome, OWNERS[2])
    told = (OWNERS[1], OWNERS[3])
    at = wire.now
    wire.now = at + RETRY_S - 10.1  # an event takes ten seconds here
    assert sent_batches(wire.report(MU_EDGE, *told)) == []
    assert wire.network.next_wake() == at + RETRY_S
    wire.now = at + RETRY_S - 10.0
    wire.network.wake("e", at + RETRY_S)
    again = wire.report(MU_EDGE, *told)
    assert [change.rule for batch in sent_batches(again) for change in batch.changes] == [OWNERS[2]]
    assert refuse(wire, again, OWNERS[2]).failed
    assert wire.network.next_wake() == pytest.approx(wire.now + 2 * RETRY_S)


def test_an_operator_who_asks_for_it_need_not_wait() -> None:
    wire, outcome = repairing()
    refuse(wire, outcome, OWNERS[2])
    wire.now += 2.5 - 10.0
    wire.network.recheck("e")
    assert [c.rule for b in sent_batches(wire.report(MU_EDGE, OWNERS[1], OWNERS[3])) for c in b.changes] == [
        OWNERS[2]
    ]


def test_a_flow_has_all_of_its_rules_or_none() -> None:
    wire = connect_both()
    one, other = make_rule(MU_EDGE, slot=1), make_rule(MU_EDGE, slot=2)
    done = refuse(wire, wire.want(one, other), other)
    assert [owner for owner, _ in done.failed] == ["f-1"]
    assert done.installed == []


def test_a_meter_that_is_there_already_is_changed_instead() -> None:
    wire = connect_both()
    outcome = wire.want(METER)
    again = refuse(wire, outcome, METER, words="OFPET_METER_MOD_FAILED(12) OFPMMFC_METER_EXISTS(1)")
    (batch,) = sent_batches(again)
    assert batch.changes == (Change(Op.MODIFY, METER),)
    assert again.failed == []
    assert wire.confirm(batch).installed == ["f-1"]


def test_a_switch_that_says_both_is_not_asked_for_ever() -> None:
    wire = connect_both()
    again = refuse(wire, wire.want(METER), METER, words="METER_EXISTS")
    done = refuse(wire, again, METER, words="UNKNOWN_METER")
    assert sent_batches(done) == []
    assert [owner for owner, _ in done.failed] == ["f-1"]


@given(st.sets(st.sampled_from(sorted(OWNERS))))
def test_whatever_is_refused_everything_else_is_installed(refused: set[int]) -> None:
    wire, outcome = repairing()
    bad = [OWNERS[n] for n in refused]
    done = refuse(wire, outcome, *bad) if bad else wire.confirm(sent_batches(outcome)[0])
    assert {owner for owner, _ in done.failed} == {f"f-{n}" for n in refused}
    assert set(done.installed) == {f"f-{n}" for n in OWNERS.keys() - refused}


# -- flows with meters ---------------------------------------------------------------------------------------


def metered(refuse_one: Callable[[Change], str] = lambda _: "") -> Stage:
    stage = make_stage(make_configuration(ladder=LadderPolicy(mode="meters")))
    stage.refuse_changes(refuse_one)
    return stage


def meters(entries: Iterable[Entry]) -> list[MeterEntry]:
    return [entry for entry in entries if isinstance(entry, MeterEntry)]


def bad(number: int) -> Callable[[Change], str]:
    """A switch that has no room for this meter."""

    def answer(change: Change) -> str:
        wanted = isinstance(change.rule, MeterEntry) and change.rule.number == number
        return OUT_OF_METERS if wanted and change.op is not Op.DELETE else ""

    return answer


def carrying(stage: Stage, seconds: int) -> None:
    """Let time pass while every flow's packets pass too."""
    for _ in range(seconds // 10):
        stage.pass_time(10.0)
        for flow in stage.broker.flows.running():
            stage.carry(flow, 15_000)


def test_a_meter_that_is_refused_fails_its_flow_and_no_path() -> None:
    stage = metered(bad(METER_FIRST))
    first: Flow = stage.flow(stage.submit())
    assert first.state is FlowState.QUEUED
    stage.expect(first, why={"al2s": "given-up"})
    second = stage.flow(stage.submit())
    assert (second.state, second.path) == (FlowState.ACTIVE, "al2s")
    assert stage.is_installed(second)


def test_a_flow_whose_meter_is_refused_on_its_only_path_has_failed() -> None:
    read = make_configuration(ladder=LadderPolicy(mode="meters"))
    tests = tuple(test for test in read.measurements.tests if test.path == "al2s")
    only = {
        "paths": FrozenMap({"al2s": read.paths["al2s"]}),
        "measurements": read.measurements.model_copy(update={"tests": tests}),
    }
    stage = make_stage(read.model_copy(update=only), internet=0.0)
    stage.refuse_changes(bad(METER_FIRST))
    flow = stage.flow(stage.submit())
    assert flow.state is FlowState.FAILED
    assert flow.reason.endswith(OUT_OF_METERS)


def test_a_bad_meter_in_a_repair_costs_only_its_flow() -> None:
    stage = metered()
    flows = [stage.submit() for _ in range(3)]
    lost = meters(stage.desired_of(flows[1]))[0]
    stage.refuse_changes(bad(lost.number))
    stage.disconnect(MU_EDGE)
    stage.switches[MU_EDGE].table.clear()  # it restarted
    stage.connect(MU_EDGE)
    assert [stage.is_installed(flow) for flow in flows] == [True, False, True]
    assert ("repair-refused", "error", None) in stage.announcements()
    before = len(stage.batches)
    carrying(stage, 600)
    repairs = [batch for batch in stage.batches[before:] if batch.batch.startswith("sync-")]
    tried = [batch for batch in repairs if any(change.rule == lost for change in batch.changes)]
    assert 2 <= len(tried) <= 7, "tried again, and ever more rarely"
    assert [stage.is_installed(flow) for flow in flows] == [True, False, True]
    stage.refuse_changes(lambda _: "")
    stage.sync()
    assert stage.is_installed(flows[1])


def test_a_meter_that_was_sent_and_never_confirmed_heals() -> None:
    stage = metered()
    stage.silence(MU_EDGE)
    flow = stage.submit()
    (meter,) = {c.rule for b in stage.batches for c in b.changes if isinstance(c.rule, MeterEntry)}
    stage.put_in(meter)  # it did it, and said nothing
    stage.end_faults()
    carrying(stage, 60)
    assert stage.flow(flow).state is FlowState.ACTIVE
    assert meters(stage.installed(MU_EDGE)) == [meter]


def test_what_was_taken_at_last_is_no_repeated_offender() -> None:
    wire, outcome = repairing()
    refuse(wire, outcome, OWNERS[2])
    wire.now += 2 * RETRY_S
    wire.network.wake("e", wire.now)
    (batch,) = sent_batches(wire.report(MU_EDGE, OWNERS[1], OWNERS[3]))
    wire.confirm(batch)
    wire.now += 2 * RETRY_S
    wire.network.rule_removed(RuleRemoved(*wire.stamp(), MU_EDGE, OWNERS[2], "delete", 0, 0))
    wire.now += 0.01
    refuse(wire, wire.network.wake("e", wire.now), OWNERS[2])
    at = wire.now
    wire.now = at + RETRY_S - 10.1  # an event takes ten seconds here
    assert sent_batches(wire.report(MU_EDGE, OWNERS[1], OWNERS[3])) == []
    wire.now = at + RETRY_S - 10.0
    wire.network.wake("e", at + RETRY_S)
    (again,) = sent_batches(wire.report(MU_EDGE, OWNERS[1], OWNERS[3]))
    assert [change.rule for change in again.changes] == [OWNERS[2]]
