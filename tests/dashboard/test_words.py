"""Values as people read them."""

from __future__ import annotations

import pytest

from apps.dashboard import ui
from tests.dashboard.reading import text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "–"),
        (0, "0 s"),
        (18e-6, "18 µs"),
        (0.07586, "75.9 ms"),
        (73.55, "73.5 s"),
        (119.97, "2 min"),
        (163.14, "2 min 43 s"),
        (-163.14, "-2 min 43 s"),
        (7199.7, "2 h"),
        (7260, "2 h 1 min"),
        (86_400, "24 h"),
        (172_799.9, "2 d"),
        (176_400, "2 d 1 h"),
        (366 * 86_400, "366 d"),
        ("inf", "never"),
    ],
)
def test_a_span_is_told_in_the_units_of_a_clock(seconds: object, said: str) -> None:
    assert ui.span(seconds) == said


def test_a_share_has_three_digits() -> None:
    assert [ui.share(one) for one in (0.66667, 0.05009, 1, 0)] == ["66.7 %", "5.01 %", "100 %", "0 %"]


def test_what_is_to_stay_together_reads_the_same() -> None:
    glued = ui.together("≥ 7 Mbps")
    assert " " not in glued
    assert text(glued) == "≥ 7 Mbps"
