"""What loss lets TCP have."""

from __future__ import annotations

import math

import pytest

from measurement.mathis import mathis


@pytest.mark.parametrize(
    ("rtt", "loss", "mss", "expected"),
    [
        (0.1, 0.0001, 1460, 14_305_020),  # 8 · 1460 · 1.2247449 / (0.1 · 0.01)
        (0.01, 0.0001, 1460, 143_050_200),
        (0.1, 0.0004, 1460, 7_152_510),
        (0.1, 0.0, 1460, math.inf),
        (0.0, 0.01, 1460, math.inf),
        (1e-200, 1e-300, 1460, math.inf),
    ],
)
def test_the_formula(rtt: float, loss: float, mss: int, expected: float) -> None:
    assert mathis(rtt, loss, mss) == pytest.approx(expected, rel=1e-6)
