"""Generated series are what they claim to be."""

from __future__ import annotations

import random
import statistics

import pytest

from tests.reference import series as generate
from tests.reference.series import Diurnal, Drift, Noise, Plateau, Shape, Spread, Step


def values(shapes: list[Shape], length: int = 20, deviation: float = 0.0) -> list[float]:
    drawn = generate.series(1, length, shapes, level=100.0, deviation=deviation)
    return [sample.value for sample in drawn]


def flat(index: int, shape: Shape) -> float:
    return shape.apply(index, 0.0)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Step(2, -4.0), [0.0, 0.0, -4.0, -4.0]),
        (Plateau(1, 2, 3.0), [0.0, 3.0, 3.0, 0.0]),
        (Drift(1, 0.5), [0.0, 0.0, 0.5, 1.0]),
        (Diurnal(4, 2.0), [0.0, 2.0, 0.0, -2.0]),
        (Spread(0, 9.0), [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_shapes(shape: Shape, expected: list[float]) -> None:
    assert [flat(index, shape) for index in range(4)] == pytest.approx(expected)


def test_the_spread_changes_and_the_mean_does_not() -> None:
    after = values([Spread(5000, 3.0)], 10_000, 10.0)[5000:]
    assert statistics.stdev(after) == pytest.approx(30.0, rel=0.05)
    assert statistics.fmean(after) == pytest.approx(100.0, abs=2.0)


@pytest.mark.parametrize("noise", [generate.gaussian, generate.skewed])
def test_noise_has_mean_0_and_deviation_1(noise: Noise) -> None:
    drawn = noise(random.Random(3))
    many = [next(drawn) for _ in range(40_000)]
    assert statistics.fmean(many) == pytest.approx(0.0, abs=0.05)
    assert statistics.stdev(many) == pytest.approx(1.0, abs=0.15)


def test_skewed_noise_is_skewed_upwards() -> None:
    drawn = generate.skewed(random.Random(3))
    many = [next(drawn) for _ in range(10_000)]
    assert statistics.median(many) < -0.2
    assert max(many) > 5


def test_the_same_seed_gives_the_same_series() -> None:
    assert generate.series(7, 50, [Step(20, 1)]) == generate.series(7, 50, [Step(20, 1)])
    assert generate.series(7, 50) != generate.series(8, 50)
