from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.timestamps import LATEST, Moment, MonotoneClock, format_moment, format_time, parse_moment
from tests.support.refusals import refused

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21T06:00:00Z", 1_795_240_800.0),
        ("2026-11-21T07:00:00+01:00", 1_795_240_800.0),
        ("2026-11-21T06:00:00.5Z", 1_795_240_800.5),
        ("8 h", NOW + 8 * 3600),
        ("0 s", NOW),
    ],
)
def test_a_time_or_a_span(text: str, expected: float) -> None:
    assert parse_moment(text).seen_from(NOW) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2026-11-21T06:00:00", "no-offset"),
        ("2026-11-21", "no-offset"),
        ("2026-13-41T06:00:00Z", "malformed"),
        ("tomorrow", "malformed"),
        ("8", "no-unit"),
        (8, "no-unit"),
        ("-8 h", "out-of-range"),
        ("1e400 h", "out-of-range"),
        (None, "wrong-type"),
        ([], "wrong-type"),
    ],
)
def test_what_is_neither(text: object, code: str) -> None:
    with refused(code):
        parse_moment(text)


@given(st.floats(0, LATEST - 1) | st.integers(0, 2**31).map(float), st.floats(0, 1e12))
def test_what_is_written_reads_the_same(at: float, after: float) -> None:
    once = parse_moment(format_time(at))
    assert parse_moment(format_moment(once)) == once
    assert abs(once.seen_from(NOW) - at) <= 1e-5 * max(1.0, at / 1e10)
    span = Moment(after=after)
    assert parse_moment(format_moment(span)) == span


class Host:
    """The two clocks of a host."""

    def __init__(self) -> None:
        self.wall, self.steady = NOW, 50.0

    def clock(self, start: float = 0.0) -> MonotoneClock:
        return MonotoneClock(start, lambda: self.wall, lambda: self.steady)

    def pass_time(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


def test_clock_shows_the_wall_clock_and_follows_its_steps_forward() -> None:
    host = Host()
    clock = host.clock()
    assert clock() == NOW
    host.pass_time(10)
    assert clock() == NOW + 10
    host.wall += 3600
    assert clock() == NOW + 3610


def test_clock_runs_at_half_speed_until_a_wall_clock_that_was_set_back_has_caught_up() -> None:
    host = Host()
    clock = host.clock()
    host.wall -= 60
    assert clock() == NOW
    readings = []
    for _ in range(4):
        host.pass_time(40)
        readings.append(clock() - NOW)
    assert readings == [20, 40, 60, 100]


@pytest.mark.parametrize("how", ["start", "advance"])
def test_clock_begins_at_a_saved_time_that_is_ahead_of_the_wall_clock(how: str) -> None:
    host = Host()
    clock = host.clock(NOW + 60 if how == "start" else 0.0)
    assert clock.advance_to(NOW + 60) == 60
    assert clock() == NOW + 60
    host.pass_time(20)
    assert clock() == NOW + 70
    assert clock.advance_to(NOW) == 50, "an earlier time changes nothing"
    host.pass_time(100)
    assert (clock(), clock.advance_to(0.0)) == (NOW + 120, 0.0)


STEPS = st.lists(st.tuples(st.floats(0, 1e4), st.floats(-1e6, 1e6) | st.just(0.0)), max_size=30)


@given(start=st.floats(0, 2 * NOW), steps=STEPS)
def test_clock_never_falls_nor_is_behind_the_wall_clock(
    start: float, steps: list[tuple[float, float]]
) -> None:
    host = Host()
    clock = host.clock(start)
    before = clock()
    assert before >= start
    for seconds, step in steps:
        host.pass_time(seconds)
        host.wall += step
        now = clock()
        assert now >= max(before, host.wall)
        assert now == host.wall or now <= before + seconds / 2 + 1e-6
        before = now
