from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.pscheduler import iso8601


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("P0D", 0), ("PT0.0021S", 0.0021), ("PT1M", 60), ("P1D", 86_400), ("P2W", 1_209_600),
        ("P1DT2H3M4.5S", 93_784.5), ("PT1,5S", 1.5), ("PT0S", 0), ("P0.5D", 43_200),
    ],
)  # fmt: skip
def test_durations_are_read(text: str, seconds: float) -> None:
    assert iso8601.parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "P1Y", "P1M", "-PT1S", "PT-1S", "PT1", "5", "PT1S ", "PT1e3S", "PT١S"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|length"):
        iso8601.parse_duration(text)


@settings(max_examples=100)
@given(st.floats(0, 1e9))
def test_a_duration_survives_to_the_microsecond(seconds: float) -> None:
    text = iso8601.format_duration(seconds)
    assert "e" not in text
    assert iso8601.parse_duration(text) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_no_duration_for_what_has_none(seconds: float) -> None:
    with pytest.raises(ValueError, match="no ISO 8601"):
        iso8601.format_duration(seconds)


@settings(max_examples=100)
@given(st.integers(0, 4_000_000_000))
def test_a_timestamp_survives(seconds: int) -> None:
    assert iso8601.parse_timestamp(iso8601.format_timestamp(seconds)) == seconds


def test_offsets_count_and_a_time_without_one_is_refused() -> None:
    assert iso8601.parse_timestamp("1970-01-01T02:00:00+02:00") == 0
    assert iso8601.parse_timestamp("1970-01-01T00:00:01Z") == 1
    for text in ("1970-01-01T00:00:00", "yesterday", ""):
        with pytest.raises(ValueError, match=r"."):
            iso8601.parse_timestamp(text)
