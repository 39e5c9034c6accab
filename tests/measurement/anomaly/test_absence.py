"""When silence is too long, and what period a series promised."""

from __future__ import annotations

import pytest

from measurement.anomaly.absence import is_absent, learnt_period


@pytest.mark.parametrize(
    ("now", "expected"), [(100.0, False), (280.0, False), (280.1, True), (1e9, True), (50.0, False)]
)
def test_absent_after_three_periods(now: float, expected: bool) -> None:
    assert is_absent(100.0, 60.0, now) is expected


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([60.0] * 8, 60.0),
        ([60.0] * 7, None),
        ([55.0, 65.0, 60.0, 58.0, 62.0, 61.0, 59.0, 86400.0], 60.5),
        ([60.0, 60.0, 60.0, 60.0, 60.0, 3600.0, 3600.0, 3600.0], None),
        ([5.0, 900.0, 20.0, 7200.0, 3.0, 60.0, 86400.0, 1.0], None),
        ([0.0] * 8, None),
        ([], None),
    ],
)
def test_the_learnt_period(intervals: list[float], expected: float | None) -> None:
    assert learnt_period(intervals) == expected
