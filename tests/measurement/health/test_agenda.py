"""The agenda: never a conflict, whoever is slow; never idle without need; all is done."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.health.agenda import Agenda
from measurement.health.model import Pair
from measurement.health.planning import Limits, rounds
from measurement.health.profiles import mesh
from tests.measurement.health.test_planning import disturbed, limits, some_pairs

A_B, A_C, C_D = Pair("a", "b"), Pair("a", "c"), Pair("c", "d")


def played(agenda: Agenda, lasts: Callable[[Pair], float], within: Limits) -> tuple[list[Pair], float, int]:
    """All of it, on a clock of its own: what was begun in which order, how long it took, how many at once."""
    order: list[Pair] = []
    ends: list[tuple[float, Pair]] = []
    now, most = 0.0, 0
    while True:
        for pair in agenda.begin():
            order.append(pair)
            heapq.heappush(ends, (now + lasts(pair), pair))
        assert not disturbed([tuple(pair for _, pair in ends)], within)
        most = max(most, len(ends))
        if not ends:
            return order, now, most
        now, pair = heapq.heappop(ends)
        agenda.done(pair)


@settings(max_examples=200)
@given(some_pairs, limits, st.none() | st.integers(1, 5), st.randoms(use_true_random=False))
def test_all_is_done_without_conflict(
    pairs: Sequence[Pair], within: Limits, at_once: int | None, chance
) -> None:
    agenda = Agenda(pairs, within, at_once)
    order, _, most = played(agenda, lambda pair: chance.expovariate(1.0), within)
    assert sorted(order) == sorted(pairs)
    assert at_once is None or most <= at_once


@given(some_pairs, limits)
def test_what_may_start_starts(pairs: Sequence[Pair], within: Limits) -> None:
    """Of what waits, each meets something that is under way."""
    agenda = Agenda(pairs, within)
    started = agenda.begin()
    for pair in {*pairs} - {*started}:
        assert disturbed([(*started, pair)], within)


def test_of_equal_length_a_mesh_takes_hardly_longer_than_its_rounds() -> None:
    names = [f"i{number:02}" for number in range(30)]
    order = [pair for its in rounds(mesh(names)) for pair in its]
    _, took, _ = played(Agenda(order), lambda pair: 1.0, Limits())
    assert 58.0 <= took <= 1.15 * 58.0


def test_nobody_waits_for_the_slowest_of_a_round() -> None:
    """Rounds would take 10 + 10 + ...: every round has a slow pair in it."""
    names = [f"i{number:02}" for number in range(20)]
    plan = rounds(mesh(names))

    def lasts(pair: Pair) -> float:
        return 10.0 if hash_of(pair) % 10 == 0 else 1.0

    by_rounds = sum(max(map(lasts, its)) for its in plan)
    _, took, _ = played(Agenda(pair for its in plan for pair in its), lasts, Limits())
    assert took < 0.8 * by_rounds


def hash_of(pair: Pair) -> int:
    return sum(map(ord, "".join(pair)))


def test_so_many_at_once_and_no_more() -> None:
    agenda = Agenda([A_B, C_D], at_once=1)
    assert agenda.begin() == [A_B]
    agenda.done(A_B)
    assert agenda.begin() == [C_D]


def test_what_is_not_under_way_cannot_end() -> None:
    with pytest.raises(ValueError, match="a > b is not under way"):
        Agenda([A_B]).done(A_B)


def test_nothing_at_once_is_refused() -> None:
    with pytest.raises(ValueError, match="at_once: with 0"):
        Agenda([A_B], at_once=0)
