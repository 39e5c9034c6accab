"""Replays and floods, compared with a set of all numbers and with the bound of a token bucket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes import replay_protection
from measurement.probes.replay_protection import (
    MAX_SOURCES,
    WINDOW,
    RateLimit,
    ReplayWindow,
    SourceLimiter,
    TokenBucket,
)


@given(st.lists(st.integers(0, 3 * WINDOW) | st.integers(0, 20), max_size=200))
def test_no_number_is_accepted_twice(numbers: list[int]) -> None:
    window, taken = ReplayWindow(), set[int]()
    for number in numbers:
        after = window.accept(number)
        old = bool(taken) and max(taken) - number >= WINDOW
        assert (after is None) == (number in taken or old)
        if after is not None:
            window = after
            taken.add(number)
            assert window.seen < 1 << WINDOW, "it does not grow"
        for known in (number, number - 1):
            recent = bool(taken) and max(taken) - known < WINDOW
            assert window.has(known) == (known in taken and recent)


def test_overtaking_packets_are_accepted() -> None:
    window = ReplayWindow()
    for number in (0, 3, 1, 2):
        found = window.accept(number)
        assert found is not None
        window = found
    assert window.accept(2) is None


def test_jump_clears_the_window() -> None:
    first = ReplayWindow().accept(5)
    assert first is not None
    far = first.accept(5 + 10 * WINDOW)
    assert far == ReplayWindow(5 + 10 * WINDOW, 1)


@given(
    st.lists(st.floats(0, 2), max_size=60),
    st.floats(0.1, 50),
    st.integers(1, 20),
)
def test_tokens_never_exceed_size_and_rate(waits: list[float], rate: float, size: int) -> None:
    """Between any two moments: at most size + rate · time."""
    allowance = RateLimit(rate, size)
    bucket, now, taken = TokenBucket(size, 0.0), 0.0, list[float]()
    for wait in waits:
        now += wait
        left = bucket.take(allowance, now)
        if left is not None:
            bucket = left
            taken.append(now)
    for begin in range(len(taken)):
        for end in range(begin, len(taken)):
            most = size + rate * (taken[end] - taken[begin])
            assert end - begin + 1 <= most + 1e-6


def test_bucket_fills_with_time() -> None:
    allowance = RateLimit(2.0, 1)
    spent = TokenBucket(1, 0.0).take(allowance, 0.0)
    assert spent is not None
    assert spent.take(allowance, 0.4) is None
    assert spent.take(allowance, 0.5) is not None


def test_clock_that_stands_still_gives_no_tokens() -> None:
    assert TokenBucket(0, 10.0).take(RateLimit(100, 5), 9.0) is None


class TestSources:
    def test_each_source_has_its_own_bucket(self) -> None:
        sources = SourceLimiter(RateLimit(1, 2), lambda: 0.0)
        assert [sources.take_token("a") for _ in range(3)] == [True, True, False]
        assert sources.take_token("b")

    def test_number_of_sources_is_bounded(self) -> None:
        now = [0.0]
        sources = SourceLimiter(RateLimit(1, 2), lambda: now[0])
        for number in range(MAX_SOURCES + 100):
            now[0] += 1e-6
            assert sources.take_token(str(number))
        assert len(sources._buckets) <= MAX_SOURCES

    @pytest.mark.parametrize("later", [0.0, 1000.0])
    def test_forgotten_source_has_a_full_bucket(self, later: float) -> None:
        now = [0.0]
        sources = SourceLimiter(RateLimit(1, 1), lambda: now[0])
        assert sources.take_token("a")
        for number in range(MAX_SOURCES):
            sources.take_token(str(number))
        now[0] = later
        assert sources.take_token("a")

    def test_sources_with_full_buckets_are_forgotten_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(replay_protection, "MAX_SOURCES", 3)
        now = [0.0]
        sources = SourceLimiter(RateLimit(1, 1), lambda: now[0])
        for now[0], source in ((0.0, "a"), (0.0, "b"), (1.2, "a"), (1.3, "c")):
            assert sources.take_token(source)
        now[0] = 1.4  # b, which came later than a, is full again
        assert not sources.take_token("a")
