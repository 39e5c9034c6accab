from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.moments import LATEST, Moment, moment_text, parse_moment, time_text
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
    once = parse_moment(time_text(at))
    assert parse_moment(moment_text(once)) == once
    assert abs(once.seen_from(NOW) - at) <= 1e-5 * max(1.0, at / 1e10)
    span = Moment(after=after)
    assert parse_moment(moment_text(span)) == span
