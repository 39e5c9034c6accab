"""Numbers with a spread: sums, quotients, intervals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.uncertain import Uncertain

means = st.floats(min_value=1e-3, max_value=1e12)
deviations = st.floats(min_value=0.0, max_value=1e9)


def test_deviations_of_a_sum_add_in_quadrature() -> None:
    assert Uncertain(10.0, 3.0) + Uncertain(5.0, 4.0) == Uncertain(15.0, 5.0)


def test_a_quotient_keeps_the_coefficient_of_variation() -> None:
    time = Uncertain(100.0, 20.0).under(8000.0)
    assert time == Uncertain(80.0, 16.0)


@pytest.mark.parametrize(
    ("numerator", "expected"), [(0.0, Uncertain(0.0)), (5.0, Uncertain(math.inf))], ids=["nothing", "some"]
)
def test_at_no_rate_something_takes_for_ever_and_nothing_no_time(
    numerator: float, expected: Uncertain
) -> None:
    assert Uncertain(0.0, 1.0).under(numerator) == expected


@pytest.mark.parametrize("deviation", [-1.0, math.inf, math.nan])
def test_a_deviation_that_is_none_is_refused_by_name(deviation: float) -> None:
    with pytest.raises(ValueError, match="deviation"):
        Uncertain(1.0, deviation)


def test_a_mean_that_is_undefined_is_refused() -> None:
    with pytest.raises(ValueError, match="mean"):
        Uncertain(math.nan)


@given(means, deviations, st.floats(min_value=0.0, max_value=10.0))
def test_an_interval_holds_the_mean_and_never_less_than_nothing(
    mean: float, deviation: float, z: float
) -> None:
    low, high = Uncertain(mean, deviation).interval(z)
    assert 0.0 <= low <= mean <= high


@given(means, deviations, means, deviations)
def test_a_sum_is_no_steadier_than_its_parts_and_no_shakier_than_both(
    one: float, spread: float, other: float, spread_too: float
) -> None:
    total = (Uncertain(one, spread) + Uncertain(other, spread_too)).deviation
    assert max(spread, spread_too) <= total * (1 + 1e-12)
    assert total <= (spread + spread_too) * (1 + 1e-12)
