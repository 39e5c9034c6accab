"""The finer points of the network; the transcripts in test_broker.py and test_trouble.py show it at work."""

from __future__ import annotations

import pytest

from adon.broker.effects import Announce, ReadRules, RuleState, SaveRules
from adon.broker.events import (
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchDown,
    SwitchUp,
)
from adon.broker.network import RETRY_S
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Op, ReportedRule, Rule
from adon.flowvisor.topology.network_graph import PortState
from tests.support.stage import MU_EDGE, OSU_EDGE
from tests.support.switch_answers import FAR, NEAR, Wire, connect_both, make_rule, saved_rules, sent_batches


def test_rules_are_saved_before_they_are_sent_and_installed_when_all_have_answered() -> None:
    wire = connect_both()
    outcome = wire.want(NEAR, FAR)
    assert isinstance(outcome.effects[0], SaveRules)
    assert saved_rules(outcome) == [(RuleState.PENDING, (NEAR, FAR))]
    first, second = sent_batches(outcome)
    assert wire.confirm(first).installed == []
    assert wire.confirm(second).installed == ["f-1"]
    assert wire.network.complete("f-1")


def test_only_what_changes_is_saved_as_pending() -> None:
    wire = connect_both(NEAR, FAR, wanted=(NEAR, FAR))
    moved = make_rule(MU_EDGE, port=3)
    outcome = wire.want(moved, FAR)
    assert saved_rules(outcome) == [(RuleState.PENDING, (moved,))], "in the slot of NEAR, which it overwrites"
    (batch,) = sent_batches(outcome)
    assert [change.op for change in batch.changes] == [Op.MODIFY]


def test_what_was_refused_is_added_again_not_modified() -> None:
    wire = connect_both()
    first, _ = sent_batches(wire.want(NEAR, FAR))
    wire.fail(first)
    (near, far) = sent_batches(wire.want(make_rule(MU_EDGE, port=3), FAR))
    assert [change.op for batch in (near, far) for change in batch.changes] == [Op.ADD, Op.ADD]


def test_the_answer_to_a_plan_that_was_given_up_completes_nothing() -> None:
    wire = connect_both()
    (old,) = sent_batches(wire.want(NEAR))
    (new,) = sent_batches(wire.want(NEAR))
    assert wire.confirm(old).installed == []
    assert wire.confirm(new).installed == ["f-1"]


def test_a_confirmed_rule_that_is_not_wanted_any_more_is_not_saved_as_installed() -> None:
    wire = Wire(NEAR)
    (repair,) = sent_batches(wire.connect(MU_EDGE))
    wire.want()
    assert saved_rules(wire.confirm(repair)) == []


def test_a_refusal_is_saved_with_the_rules_that_are_not_known_to_be_there() -> None:
    wire = connect_both()
    first, second = sent_batches(wire.want(NEAR, FAR))
    wire.confirm(first)
    outcome = wire.fail(second)
    assert saved_rules(outcome) == [(RuleState.FAILED, (second.changes[0].rule,))]
    assert outcome.failed == [("f-1", f"switch {second.dpid:016x}: no")]


def test_a_refused_repair_fails_those_it_was_for_and_is_tried_again() -> None:
    wire = Wire(NEAR)
    (repair,) = sent_batches(wire.connect(MU_EDGE))
    outcome = wire.fail(repair)
    assert [owner for owner, _ in outcome.failed] == [repair.batch.split("/")[0], "f-1"]
    assert wire.network.next_wake() == pytest.approx(wire.now + RETRY_S)
    again = wire.network.wake("e9", wire.now + RETRY_S)
    assert again.effects == [ReadRules("e9", MU_EDGE)]
    assert wire.network.next_wake() is None, "it would be woken for ever"
    (retry,) = sent_batches(wire.report(MU_EDGE))
    assert wire.confirm(retry).installed == ["f-1"]


def test_a_switch_that_is_away_is_left_alone() -> None:
    wire = connect_both(NEAR, FAR, wanted=(NEAR, FAR))
    wire.network.switch_down(SwitchDown(*wire.stamp(), OSU_EDGE))
    outcome = wire.want()
    assert [batch.dpid for batch in sent_batches(outcome)] == [MU_EDGE]
    assert wire.confirm(sent_batches(outcome)[0]).removed == ["f-1"]
    (late,) = sent_batches(wire.connect(OSU_EDGE, FAR))
    assert [change.op for change in late.changes] == [Op.DELETE]


def test_why_we_left_a_switch_is_told() -> None:
    wire = connect_both()
    (told,) = wire.network.switch_down(SwitchDown(*wire.stamp(), OSU_EDGE, "another is master")).effects
    assert isinstance(told, Announce)
    assert (told.level, told.code) == ("error", "switch-refused")


def test_a_switch_that_goes_fails_what_it_had_not_answered() -> None:
    wire = connect_both()
    wire.want(NEAR, FAR)
    outcome = wire.network.switch_down(SwitchDown(*wire.stamp(), OSU_EDGE))
    assert [owner for owner, _ in outcome.failed] == ["f-1"]


def test_a_report_of_a_switch_that_is_away_says_nothing() -> None:
    wire = connect_both(NEAR, wanted=(NEAR,))
    wire.network.switch_down(SwitchDown(*wire.stamp(), MU_EDGE))
    assert wire.report(MU_EDGE).effects == []
    assert wire.network.complete("f-1")


def test_what_is_given_up_during_a_repair_is_looked_for_after_it() -> None:
    """The repair's later phases still put in what was wanted when it began."""
    delivery = Rule(MU_EDGE, 30_000, Match(in_port=5), (Output(1),), cookie(Kind.FLOW_DELIVERY, 1))
    wire = Wire(delivery, NEAR)
    (prepare,) = sent_batches(wire.connect(MU_EDGE, make_rule(MU_EDGE, owner=2, slot=9)))
    for batch in sent_batches(wire.want()):
        wire.confirm(batch)
    (shift,) = sent_batches(wire.confirm(prepare))
    assert [change.rule for change in shift.changes] == [NEAR]
    (retire,) = sent_batches(wire.confirm(shift))
    wire.confirm(retire)
    assert wire.network.next_wake() is not None
    (late,) = sent_batches(wire.report(MU_EDGE, NEAR))
    assert [change.op for change in late.changes] == [Op.DELETE]


def test_what_comes_to_be_wanted_while_a_repair_removes_it_is_put_back_at_once() -> None:
    """A leftover of another run is what a path's measurements want as soon as both its ends are there."""
    wire = Wire()
    (cleaning,) = sent_batches(wire.connect(MU_EDGE, NEAR))
    assert [change.op for change in cleaning.changes] == [Op.DELETE]
    outcome = wire.want(NEAR)
    assert outcome.installed == []
    (back,) = sent_batches(outcome)
    assert [(change.op, change.rule) for change in back.changes] == [(Op.ADD, NEAR)]
    wire.confirm(cleaning)
    assert not wire.network.complete("f-1")
    assert wire.confirm(back).installed == ["f-1"]
    assert sent_batches(wire.report(MU_EDGE, NEAR)) == []


def test_what_a_repair_has_still_to_remove_does_not_count_as_installed() -> None:
    """The delivery rule goes last: when it comes to be wanted its delete has not even been sent."""
    delivery = Rule(MU_EDGE, 30_000, Match(in_port=5), (Output(1),), cookie(Kind.FLOW_DELIVERY, 1))
    wire = Wire()
    (retire,) = sent_batches(wire.connect(MU_EDGE, make_rule(MU_EDGE, owner=2), delivery))
    (back,) = sent_batches(wire.want(delivery))
    assert wire.confirm(back).installed == []
    (clear,) = sent_batches(wire.confirm(retire))
    wire.confirm(clear)
    assert not wire.network.complete("f-1")
    (again,) = sent_batches(wire.report(MU_EDGE))
    assert wire.confirm(again).installed == ["f-1"]


def test_a_repair_that_a_foreign_rule_blocks_fails_the_owner() -> None:
    wire = Wire(NEAR)
    wire.network.switch_up(SwitchUp(*wire.stamp(), MU_EDGE, {}))
    report = RulesReported(*wire.stamp(), MU_EDGE, (), frozenset({NEAR.slot}))
    assert [owner for owner, _ in wire.network.rules_reported(report).failed] == ["f-1"]


def test_a_report_that_may_be_too_old_is_asked_for_again() -> None:
    """R4: what changed a moment ago is not judged, and not forgotten either."""
    wire = connect_both()
    for batch in sent_batches(wire.want(NEAR)):
        wire.confirm(batch)
    wire.network.recheck("e")
    early = RulesReported("e", wire.now + 0.5, MU_EDGE, ())
    assert sent_batches(wire.network.rules_reported(early)) == []
    assert wire.network.next_wake() is not None
    assert len(sent_batches(wire.report(MU_EDGE))) == 1


@pytest.mark.parametrize(("reason", "comes_back"), [("delete", True), ("group", True), ("idle", False)])
def test_a_removal_that_nobody_asked_for_is_undone_at_once_and_looked_into(
    reason: str, comes_back: bool
) -> None:
    """R20: the rule is put back before anything is read; what else was done is read when it can be told."""
    wire = connect_both(NEAR, wanted=(NEAR,))
    assert wire.network.rule_removed(removed(wire, NEAR, reason)).effects == []
    outcome = wire.gathered()
    assert [change.rule for batch in sent_batches(outcome) for change in batch.changes] == [NEAR] * comes_back
    assert any(isinstance(effect, Announce) for effect in outcome.effects) is comes_back
    assert (wire.network.next_wake() == pytest.approx(wire.now + 2.0)) is comes_back


def removed(wire: Wire, gone: Rule, reason: str = "delete") -> RuleRemoved:
    return RuleRemoved(*wire.stamp(), gone.dpid, gone, reason, 0, 0)  # type: ignore[arg-type]


def test_what_is_removed_while_a_repair_runs_is_put_back_by_the_next_one_all_of_it_at_once() -> None:
    """A switch that is wiped tells of each rule."""
    rules = tuple(make_rule(MU_EDGE, slot=number) for number in range(1, 6))
    wire = connect_both(*rules, wanted=rules)
    wire.network.rule_removed(removed(wire, rules[0]))
    (first,) = sent_batches(wire.gathered())
    for gone in rules[1:]:
        wire.network.rule_removed(removed(wire, gone))
    assert sent_batches(wire.gathered()) == []
    outcome = wire.confirm(first)
    (rest,) = sent_batches(outcome)
    assert tuple(change.rule for change in rest.changes) == rules[1:]
    (told,) = (e.code for e in outcome.effects if isinstance(e, Announce) and e.level == "warning")
    assert told == "rules-changed"
    assert wire.confirm(rest).installed == ["f-1"]


def test_our_own_delete_is_not_somebody_elses() -> None:
    """Given up and wanted again before the switch has told of the removal."""
    wire = connect_both(NEAR, wanted=(NEAR,))
    (delete,) = sent_batches(wire.want())
    (add,) = sent_batches(wire.want(NEAR))
    wire.network.rule_removed(removed(wire, NEAR))
    assert wire.gathered().effects == []
    wire.confirm(delete)
    outcome = wire.confirm(add)
    assert (outcome.installed, sent_batches(outcome)) == (["f-1"], [])
    assert not any(isinstance(effect, Announce) for effect in outcome.effects)


def test_a_rule_that_is_removed_while_it_is_changed_comes_back_after_the_change() -> None:
    """A modify of a rule that is not there does nothing."""
    wire = connect_both(NEAR, wanted=(NEAR,))
    moved = make_rule(MU_EDGE, port=3)
    (modify,) = sent_batches(wire.want(moved))
    wire.network.rule_removed(removed(wire, NEAR))
    assert sent_batches(wire.gathered()) == []
    (back,) = sent_batches(wire.confirm(modify))
    assert [(change.op, change.rule) for change in back.changes] == [(Op.ADD, moved)]
    assert wire.confirm(back).installed == ["f-1"]


def test_a_foreign_rule_in_the_way_changes_nothing() -> None:
    wire = connect_both(NEAR, wanted=(NEAR,))
    blocked = make_rule(MU_EDGE, slot=7)
    wire.network.rules_reported(
        RulesReported(*wire.stamp(), MU_EDGE, (ReportedRule(NEAR, 0, 0, 1.0),), frozenset({blocked.slot}))
    )
    outcome = wire.want(blocked)
    assert (outcome.effects, len(outcome.failed)) == ([], 1)
    assert wire.network.wanted_rules("f-1") == (NEAR,)
    assert wire.network.reconcile_totals["blocked"] == 1


def delivery(slot: int) -> Rule:
    return Rule(OSU_EDGE, 30_000, Match(in_port=slot), (Output(1),), cookie(Kind.FLOW_DELIVERY, 1))


def test_a_rule_whose_delete_was_not_sent_yet_is_saved_as_installed_when_it_is_wanted_again() -> None:
    wire = connect_both(NEAR, delivery(7), wanted=(NEAR, delivery(7)))
    moved = make_rule(MU_EDGE, port=3)
    (shift,) = sent_batches(wire.want(moved))  # the delivery rule goes after the shift
    assert [change.rule for change in shift.changes] == [moved]
    assert (RuleState.INSTALLED, (delivery(7),)) in saved_rules(wire.want(moved, delivery(7)))


def test_what_another_switch_refused_is_installed_where_it_was_not() -> None:
    wire = connect_both()
    near, _ = sent_batches(wire.want(NEAR, FAR))
    assert saved_rules(wire.fail(near)) == [(RuleState.FAILED, (NEAR, FAR))]
    assert (RuleState.INSTALLED, (FAR,)) in saved_rules(wire.report(OSU_EDGE, FAR))
    assert saved_rules(wire.report(OSU_EDGE, FAR)) == []


def test_a_port_that_says_nothing_new_is_no_reason_to_look_at_everything() -> None:
    """Open vSwitch announces a port that goes down with a message that says it is up still."""
    wire = connect_both()
    up, down = PortState(2, live=True), PortState(2, live=False)

    def news(state: PortState | None) -> bool:
        return wire.network.port_changed(PortChanged(*wire.stamp(), MU_EDGE, "mu-edge-al2s", state))

    assert [news(state) for state in (up, up, down, down, None, None)] == [True, False] * 3
