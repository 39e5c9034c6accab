from __future__ import annotations

import pytest

from tests.undisturbed import TRIES, undisturbed


@pytest.mark.parametrize(
    ("rates", "found", "measured"),
    [
        ([58.0], 58.0, 1),
        ([36.0, 44.0, 57.0], 57.0, 3),
        ([36.0] * TRIES, 36.0, TRIES),
        ([90.0, 58.0], 90.0, 1),  # too much is a fault of the network's, and not of the machine's
    ],
)
def test_too_little_is_measured_again(rates: list[float], found: float, measured: int) -> None:
    left = list(rates)
    assert undisturbed(lambda: left.pop(0), lambda rate: rate > 52, pause=0) == found
    assert len(rates) - len(left) == measured
