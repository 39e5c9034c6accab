"""Majorisation: never worse than its beginning, exact where a plane allows it; no weight, no wish."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.majorisation import Matrix, distances, settled


def drawn(seed: int, count: int) -> tuple[Matrix, Matrix, Matrix]:
    """A beginning, distances that no plane need have, and weights."""
    chance = np.random.default_rng(seed)
    wanted, weights = chance.uniform(0.1, 9, (2, count, count))
    for its in (wanted, weights):
        its += its.T
        np.fill_diagonal(its, 0.0)
    return chance.normal(size=(count, 2)), wanted, weights


@given(st.integers(0, 999), st.integers(2, 8))
@settings(max_examples=40)
def test_no_more_stress_is_left_than_there_was(seed: int, count: int) -> None:
    points, wanted, weights = drawn(seed, count)
    left, found = settled(points, wanted, weights)
    stress = [float((weights * (distances(one) - wanted) ** 2).sum() / 2) for one in (points, found)]
    assert left == pytest.approx(stress[1])
    assert left <= stress[0]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_of_a_plane_stays_as_it_is(seed: int) -> None:
    points, _, weights = drawn(seed, 6)
    left, found = settled(points, distances(points), weights)
    assert left == pytest.approx(0, abs=1e-18)
    assert distances(found) == pytest.approx(distances(points))


def test_what_weighs_nothing_is_not_wanted() -> None:
    weights = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float64)
    wanted = np.array([[0, 3, 99], [3, 0, 4], [99, 4, 0]], dtype=np.float64)
    left, found = settled(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), wanted, weights)
    assert left < 1e-6
    assert distances(found)[0, 1] == pytest.approx(3, abs=1e-3)
    assert distances(found)[1, 2] == pytest.approx(4, abs=1e-3)
