"""Rank statistics: against counting by hand, and against scipy where it is there."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.tuning.ranks import p_greater, ratio_shift, superiority, ways


def counted(m: int, n: int) -> tuple[int, ...]:
    """In how many orders U has each value: by trying them all."""
    counts = [0] * (m * n + 1)
    for places in itertools.combinations(range(m + n), n):
        counts[sum(places) - n * (n - 1) // 2] += 1
    return tuple(counts)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (2, 3), (3, 3), (4, 5), (6, 4)])
def test_the_distribution_of_u(m: int, n: int) -> None:
    assert ways(m, n) == counted(m, n)


def test_it_sums_to_all_orders() -> None:
    assert sum(ways(30, 30)) == math.comb(60, 30)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10), 1 / 252),
        ((6, 7, 8, 9, 10), (1, 2, 3, 4, 5), 1.0),
        ((1, 3), (2, 4), 1 / 3),
        ((1, 1), (1, 1), 4 / 6),
    ],
)
def test_p_values(first: tuple[float, ...], second: tuple[float, ...], p: float) -> None:
    assert p_greater(first, second) == pytest.approx(p)


def test_the_effect_is_a_probability() -> None:
    assert superiority((1, 2, 3), (4, 5, 6)) == 1
    assert superiority((4, 5, 6), (1, 2, 3)) == 0
    assert superiority((1, 2), (1, 2)) == 0.5


def test_the_factor_with_its_interval() -> None:
    before = [90.0, 95, 100, 105, 110, 98]
    found = ratio_shift(before, [1.5 * value for value in before])
    assert found.low < 1.5 < found.high
    assert found.estimate == pytest.approx(1.5, rel=0.02)
    many = [100 + (place * 37 % 21) for place in range(60)]
    found = ratio_shift(many, [2 * value for value in many])
    assert found.low < 2 < found.high
    assert found.high - found.low < 0.15


VALUES = st.lists(st.floats(1, 1e9), min_size=5, max_size=45)


@given(VALUES, VALUES)
def test_intervals_hold_the_estimate_and_p_is_a_probability(first: list[float], second: list[float]) -> None:
    found = ratio_shift(first, second)
    assert found.low <= found.estimate <= found.high
    assert 0 <= p_greater(first, second) <= 1
    assert superiority(first, second) == pytest.approx(1 - superiority(second, first))


@given(st.permutations(range(1, 61)), st.integers(5, 55))
def test_as_scipy_has_it(order: list[int], cut: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    first, second = order[:cut], order[cut:]
    method = "exact" if max(len(first), len(second)) <= 30 else "asymptotic"
    theirs = stats.mannwhitneyu(second, first, alternative="greater", method=method)
    assert p_greater(first, second) == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-9)
