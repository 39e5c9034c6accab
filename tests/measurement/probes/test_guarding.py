"""Replays and floods: against a memory of everything, and against water in a bucket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes import sessions
from measurement.probes.guarding import WIDTH, Allowance, Bucket, Window
from measurement.probes.sessions import MOST_SOURCES, Allowances


@given(st.lists(st.integers(0, 3 * WIDTH) | st.integers(0, 20), max_size=200))
def test_no_number_is_taken_twice(numbers: list[int]) -> None:
    window, taken = Window(), set[int]()
    for number in numbers:
        after = window.accepting(number)
        old = bool(taken) and max(taken) - number >= WIDTH
        assert (after is None) == (number in taken or old)
        if after is not None:
            window = after
            taken.add(number)
            assert window.seen < 1 << WIDTH, "it does not grow"
        for known in (number, number - 1):
            recent = bool(taken) and max(taken) - known < WIDTH
            assert window.has(known) == (known in taken and recent)


def test_what_overtakes_is_taken_too() -> None:
    window = Window()
    for number in (0, 3, 1, 2):
        found = window.accepting(number)
        assert found is not None
        window = found
    assert window.accepting(2) is None


def test_a_jump_forgets_what_was_before() -> None:
    first = Window().accepting(5)
    assert first is not None
    far = first.accepting(5 + 10 * WIDTH)
    assert far == Window(5 + 10 * WIDTH, 1)


@given(
    st.lists(st.floats(0, 2), max_size=60),
    st.floats(0.1, 50),
    st.integers(1, 20),
)
def test_never_more_than_the_size_and_what_ran_in(waits: list[float], rate: float, size: int) -> None:
    """Between any two moments: at most size + rate · time."""
    allowance = Allowance(rate, size)
    bucket, now, taken = Bucket(size, 0.0), 0.0, list[float]()
    for wait in waits:
        now += wait
        left = bucket.taking(allowance, now)
        if left is not None:
            bucket = left
            taken.append(now)
    for begin in range(len(taken)):
        for end in range(begin, len(taken)):
            most = size + rate * (taken[end] - taken[begin])
            assert end - begin + 1 <= most + 1e-6


def test_who_waits_is_answered_again() -> None:
    allowance = Allowance(2.0, 1)
    spent = Bucket(1, 0.0).taking(allowance, 0.0)
    assert spent is not None
    assert spent.taking(allowance, 0.4) is None
    assert spent.taking(allowance, 0.5) is not None


def test_a_clock_that_does_not_move_gives_nothing() -> None:
    assert Bucket(0, 10.0).taking(Allowance(100, 5), 9.0) is None


class TestSources:
    def test_each_has_its_own(self) -> None:
        sources = Allowances(Allowance(1, 2), lambda: 0.0)
        assert [sources.taken("a") for _ in range(3)] == [True, True, False]
        assert sources.taken("b")

    def test_many_sources_do_not_fill_the_memory(self) -> None:
        now = [0.0]
        sources = Allowances(Allowance(1, 2), lambda: now[0])
        for number in range(MOST_SOURCES + 100):
            now[0] += 1e-6
            assert sources.taken(str(number))
        assert len(sources._buckets) <= MOST_SOURCES

    @pytest.mark.parametrize("later", [0.0, 1000.0])
    def test_who_is_forgotten_begins_anew(self, later: float) -> None:
        now = [0.0]
        sources = Allowances(Allowance(1, 1), lambda: now[0])
        assert sources.taken("a")
        for number in range(MOST_SOURCES):
            sources.taken(str(number))
        now[0] = later
        assert sources.taken("a")

    def test_who_has_all_tokens_again_is_forgotten_before_who_has_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions, "MOST_SOURCES", 3)
        now = [0.0]
        sources = Allowances(Allowance(1, 1), lambda: now[0])
        for now[0], source in ((0.0, "a"), (0.0, "b"), (1.2, "a"), (1.3, "c")):
            assert sources.taken(source)
        now[0] = 1.4  # b, which came later than a, is full again
        assert not sources.taken("a")
