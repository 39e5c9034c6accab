from __future__ import annotations

import pytest

from adon.broker.installer import Installer
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.reconcile import Phase
from adon.flowvisor.rules.rule import Change, Op, Rule
from tests.support.refusals import refused

NEAR, FAR = 1, 2


def change(dpid: int, op: Op = Op.ADD) -> Change:
    return Change(op, Rule(dpid, 30_000, Match(in_port=dpid), (Output(9),), cookie(Kind.FLOW_INGRESS, 1)))


def phase(*dpids: int, drain: bool = False, op: Op = Op.ADD) -> Phase:
    return Phase("some", {dpid: (change(dpid, op),) for dpid in dpids}, drain_before=drain)


def test_a_plan_without_phases_is_done_at_once() -> None:
    installer = Installer(0.2)
    assert installer.start("f-1", (), "e1", 0.0).done == "f-1"
    assert not installer.busy("f-1")


def test_the_next_phase_waits_for_every_barrier_of_the_one_before() -> None:
    installer = Installer(0.2)
    first, second = installer.start("f-1", [phase(NEAR, FAR), phase(NEAR)], "e1", 0.0).effects
    assert {first.dpid, second.dpid} == {NEAR, FAR}
    assert first.cause == "e1"
    half = installer.confirm_batch(first.batch, 1.0)
    assert (half.effects, half.done, half.changes) == ((), None, first.changes)
    (third,) = installer.confirm_batch(second.batch, 1.0).effects
    assert third.dpid == NEAR
    assert installer.confirm_batch(third.batch, 1.0).done == "f-1"


def test_a_drain_is_waited_out() -> None:
    installer = Installer(0.2)
    (shift,) = installer.start("f-1", [phase(NEAR), phase(FAR, drain=True)], "e1", 0.0).effects
    assert installer.confirm_batch(shift.batch, 10.0).effects == ()
    assert installer.next_wake() == pytest.approx(10.2)
    assert installer.wake(10.1) == ()
    (progress,) = installer.wake(10.3)
    assert [batch.dpid for batch in progress.effects] == [FAR]
    assert installer.next_wake() is None


def test_no_drain_configured_means_no_wait() -> None:
    assert len(Installer(0.0).start("f-1", [phase(NEAR, drain=True)], "e1", 0.0).effects) == 1


def test_a_failure_drops_the_plan_and_names_what_is_not_known_to_be_done() -> None:
    installer = Installer(0.2)
    first, second = installer.start("f-1", [phase(NEAR, FAR), phase(NEAR, op=Op.DELETE)], "e1", 0.0).effects
    installer.confirm_batch(first.batch, 0.0)
    progress = installer.fail_batch(second.batch)
    assert progress.failed == "f-1"
    assert progress.dropped == (change(FAR), change(NEAR, Op.DELETE))
    assert not installer.busy("f-1")
    assert installer.slots() == frozenset()


@pytest.mark.parametrize("give_up", ["failed", "abandon"])
def test_answers_to_batches_of_dropped_plans_are_ignored(give_up: str) -> None:
    installer = Installer(0.2)
    first, second = installer.start("f-1", [phase(NEAR, FAR)], "e1", 0.0).effects
    if give_up == "failed":
        installer.fail_batch(first.batch)
    else:
        installer.abandon("f-1")
    assert installer.confirm_batch(second.batch, 0.0).done is None
    assert installer.fail_batch(second.batch).failed is None


def test_plans_of_several_owners_do_not_meet() -> None:
    installer = Installer(0.2)
    (mine,) = installer.start("f-1", [phase(NEAR)], "e1", 0.0).effects
    (other,) = installer.start("f-2", [phase(NEAR)], "e2", 0.0).effects
    assert mine.batch != other.batch
    assert installer.batches_to(NEAR) == (mine.batch, other.batch)
    assert installer.confirm_batch(other.batch, 0.0).done == "f-2"
    assert installer.busy("f-1")


def test_one_plan_per_owner() -> None:
    installer = Installer(0.2)
    installer.start("f-1", [phase(NEAR)], "e1", 0.0)
    with refused(ValueError):
        installer.start("f-1", [phase(NEAR)], "e1", 0.0)


def test_slots_are_those_sent_and_those_ahead() -> None:
    installer = Installer(0.2)
    installer.start("f-1", [phase(NEAR), phase(FAR)], "e1", 0.0)
    assert installer.slots() == {change(NEAR).rule.slot, change(FAR).rule.slot}
