from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.queueing.turns import (
    HIGHEST,
    Phase,
    Rules,
    Waiter,
    hurries,
    next_change,
    phase,
    safe_from,
    turn,
)
from tests.broker.queueing.waiting import waiter, waiters

RULES = Rules(aging=60.0, hurry=240, slack=0.25)


def ordered(*those: Waiter, now: float, rules: Rules = RULES) -> list[int]:
    """The numbers in the order of their turns at a time."""
    return [one.number for one in sorted(those, key=lambda one: turn(one, phase(one, now, rules), rules))]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"priority": 700}, {"priority": 600}, [1, 2]),
        ({"priority": 600}, {"priority": 700}, [2, 1]),
        ({"arrived": 5.0}, {"arrived": 4.0}, [2, 1]),
        ({}, {}, [1, 2]),
        ({"priority": 500}, {"priority": 501, "arrived": 59.0}, [2, 1]),
        ({"priority": 500}, {"priority": 501, "arrived": 61.0}, [1, 2]),
    ],
    ids=["priority", "priority the other way", "age", "number", "not old enough", "old enough"],
)
def test_priority_then_age(first: dict[str, Any], second: dict[str, Any], expected: list[int]) -> None:
    assert ordered(waiter(1, **first), waiter(2, **second), now=100.0) == expected


def test_a_deadline_that_comes_near_goes_first_until_it_cannot_be_met() -> None:
    """Ten seconds of transfer, due at 100: in a hurry from 87.5, too late from 90 on."""
    plain, due = waiter(1), waiter(2, arrived=50.0, deadline=100.0)
    assert hurries(due, RULES) == (87.5, 90.0)
    assert [ordered(plain, due, now=now)[0] for now in (50.0, 87.4, 87.5, 89.9, 90.0, 200.0)] == [
        1,
        1,
        2,
        2,
        1,
        1,
    ]


def test_of_two_in_a_hurry_priority_and_age_decide_and_a_much_higher_priority_is_not_overtaken() -> None:
    hurried = waiter(1, deadline=12.0)
    urgent = waiter(2, priority=500 + RULES.hurry + 1)
    assert phase(hurried, 0.0, RULES) is Phase.HURRIED
    assert ordered(hurried, urgent, now=0.0) == [2, 1]
    assert ordered(hurried, waiter(2, priority=501, deadline=12.0), now=0.0) == [2, 1]


@pytest.mark.parametrize("fields", [{"deadline": math.inf}, {"deadline": 50.0, "lasts": math.inf}])
def test_without_a_deadline_or_an_expectation_nobody_hurries(fields: dict[str, Any]) -> None:
    assert {phase(waiter(1, **fields), now, RULES) for now in (0.0, 40.0, 60.0)} == {Phase.CALM}


def test_the_phases_of_a_reservation() -> None:
    booked = waiter(1, not_before=100.0, begins=200.0, until=300.0)
    found = [phase(booked, now, RULES) for now in (99.0, 100.0, 200.0, 299.0, 300.0)]
    assert found == [Phase.ASLEEP, Phase.CALM, Phase.DUE, Phase.DUE, Phase.CALM]


@given(waiters(), st.floats(0, 4e4), st.floats(0, 4e4))
def test_nothing_changes_between_two_announced_times(one: Waiter, now: float, later: float) -> None:
    if now <= later < next_change(one, now, RULES):
        assert phase(one, later, RULES) is phase(one, now, RULES)


@given(
    waiters(),
    st.lists(st.tuples(waiters(2), st.floats(1e-3, 1e5)), max_size=20),
    st.floats(0, 1e5),
    st.builds(Rules, st.floats(1.0, 1e4), st.integers(0, 2000), st.floats(0, 2)),
)
def test_nothing_starves(one: Waiter, rivals: list[tuple[Waiter, float]], later: float, rules: Rules) -> None:
    """The bound: whoever arrives after it, with any priority and deadline, gets ahead of nobody."""
    bound = safe_from(one, rules)
    crowd = [replace(rival, number=n, arrived=bound + gap) for n, (rival, gap) in enumerate(rivals, 2)]
    for now in (bound, bound + later):
        held = turn(one, phase(one, now, rules), rules)
        assert all(held < turn(rival, phase(rival, now, rules), rules) for rival in crowd)


def test_the_bound_is_tight() -> None:
    """A moment earlier the most urgent of all does get ahead."""
    one = waiter(1, priority=10)
    rival = waiter(2, priority=HIGHEST, arrived=safe_from(one, RULES) - 1.0, deadline=1e9, lasts=9e8)
    now = rival.deadline - rival.lasts * 1.1
    assert ordered(one, rival, now=now) == [2, 1]
