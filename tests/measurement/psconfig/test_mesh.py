from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.psconfig.mesh import FETCH, LONGEST_PERIOD, Need, longest_period


@given(st.floats(20.0, 2 * LONGEST_PERIOD), st.floats(0.1, 30.0))
def test_no_value_gets_older_than_it_may_and_the_period_is_the_longest(max_age: float, lasts: float) -> None:
    period = longest_period(max_age, lasts)
    assert 2 * period - lasts + FETCH <= max_age + 1e-6
    assert period == LONGEST_PERIOD or 2 * (period + 0.002) - lasts + FETCH > max_age
    assert math.isclose(period * 1000, round(period * 1000), abs_tol=1e-6)


@pytest.mark.parametrize(
    "fields", [{"max_age": 0.0}, {"max_age": float("nan")}, {"max_age": 9.0, "streams": 0}]
)
def test_a_need_is_checked(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"max_age|streams"):
        Need(**fields)  # type: ignore[arg-type]
