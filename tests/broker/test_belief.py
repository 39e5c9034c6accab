from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.belief import SETTLE_S, Belief
from adon.flowvisor.action import Output
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import owner_of
from adon.flowvisor.rule import Change, Op, Rule

RULE = Rule(1, 30_000, Match(in_port=1), (Output(2),), cookie(Kind.FLOW_INGRESS, 7))
NOTHING: frozenset[tuple[int, int, int, Match]] = frozenset()


@pytest.mark.parametrize(
    ("number", "owner"),
    [
        (cookie(Kind.FLOW_INGRESS, 7), "f-7"),
        (cookie(Kind.FLOW_LEARN, 7), "f-7"),
        (cookie(Kind.MEASUREMENT, 0), "path-0"),
        (0xAD7F << 48 | 5, "unknown-ad7f000000000005"),
    ],
)
def test_the_cookie_names_the_owner(number: int, owner: str) -> None:
    assert owner_of(replace(RULE, cookie=number)) == owner


def test_what_was_sent_is_believed_and_sure_only_when_confirmed() -> None:
    belief = Belief()
    add = Change(Op.ADD, RULE)
    belief.sent(add, 0.0)
    assert belief.of("f-7") == (RULE,)
    assert not belief.holds(RULE)
    belief.confirmed(add, 0.0)
    assert belief.holds(RULE)


def test_a_rule_that_is_to_go_is_believed_until_the_barrier() -> None:
    belief = Belief()
    belief.reported(1, [RULE], NOTHING)
    belief.sent(Change(Op.DELETE, RULE), 0.0)
    assert belief.of("f-7") == (RULE,)
    belief.confirmed(Change(Op.DELETE, RULE), 0.0)
    assert belief.of("f-7") == ()


def test_an_add_after_an_unanswered_delete_survives_its_answer() -> None:
    belief = Belief()
    belief.reported(1, [RULE], NOTHING)
    belief.sent(Change(Op.DELETE, RULE), 0.0)
    assert not belief.holds(RULE)
    belief.sent(Change(Op.ADD, RULE), 0.0)
    belief.confirmed(Change(Op.DELETE, RULE), 0.0)
    assert not belief.holds(RULE)
    belief.confirmed(Change(Op.ADD, RULE), 0.0)
    assert belief.holds(RULE)


def test_a_delete_after_an_unanswered_add_counts() -> None:
    belief = Belief()
    belief.reported(1, [RULE], NOTHING)
    for op in (Op.DELETE, Op.ADD, Op.DELETE):
        belief.sent(Change(op, RULE), 0.0)
    belief.confirmed(Change(Op.DELETE, RULE), 0.0)
    assert belief.of("f-7") == ()


def test_removing_an_owners_rule_leaves_the_one_that_took_its_slot() -> None:
    belief = Belief()
    newer = replace(RULE, cookie=cookie(Kind.FLOW_INGRESS, 8))
    belief.reported(1, [RULE], NOTHING)
    belief.sent(Change(Op.ADD, newer), 0.0)
    belief.confirmed(Change(Op.DELETE, RULE), 0.0)
    assert (belief.of("f-7"), belief.of("f-8")) == ((), (newer,))


def test_a_report_is_the_truth_but_for_what_changed_a_moment_ago() -> None:
    belief = Belief()
    belief.sent(Change(Op.ADD, RULE), 100.0)
    belief.reported(1, [], belief.unsettled(101.0))
    assert belief.of("f-7") == (RULE,)
    belief.reported(1, [], belief.unsettled(100.0 + SETTLE_S))
    assert belief.of("f-7") == ()


def test_after_a_reconnection_a_report_is_believed_at_once() -> None:
    belief = Belief()
    belief.sent(Change(Op.ADD, RULE), 100.0)
    belief.reconnected(1)
    assert belief.unsettled(100.0) == frozenset()


def test_a_clock_set_back_does_not_leave_slots_unsettled() -> None:
    belief = Belief()
    belief.sent(Change(Op.ADD, RULE), 1000.0)
    belief.clock_set_back(600.0)
    assert belief.unsettled(400.0 + SETTLE_S) == frozenset()


RULES = st.builds(
    lambda dpid, port, owner: Rule(dpid, 1, Match(in_port=port), (), cookie(Kind.FLOW_INGRESS, owner)),
    st.integers(1, 2),
    st.integers(1, 3),
    st.integers(1, 3),
)
STEPS = st.lists(st.tuples(st.sampled_from(["sent", "confirmed", "removed", "reported"]), RULES), max_size=30)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_both_ways_to_ask_give_one_answer(steps: list[tuple[str, Rule]]) -> None:
    belief = Belief()
    for step, rule in steps:
        if step == "reported":
            belief.reported(rule.dpid, [rule], NOTHING)
        elif step == "removed":
            belief.removed(rule)
        else:
            getattr(belief, step)(Change(Op.ADD, rule), 0.0)
        by_switch = {*belief.at(1), *belief.at(2)}
        assert by_switch == {held for owner in (1, 2, 3) for held in belief.of(f"f-{owner}")}
        assert len({held.slot for held in by_switch}) == len(by_switch)
