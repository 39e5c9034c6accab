from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.step_function import Span, StepFunction, round_down, round_up, sum_of_spans

SPANS = st.lists(st.builds(Span, st.integers(0, 20), st.integers(0, 20), st.integers(0, 5)), max_size=8)


@given(SPANS, st.integers(-1, 21))
def test_value_is_the_sum_of_the_spans_at_that_time(spans: list[Span], when: int) -> None:
    found = sum_of_spans(spans)
    assert found.at(when) == sum(one.amount for one in spans if one.begins <= when < one.ends)
    assert all(a != b for a, b in zip(found.values, found.values[1:], strict=False))


@given(SPANS, st.integers(0, 20), st.integers(0, 20))
def test_most_is_the_maximum_over_the_interval(spans: list[Span], begins: int, ends: int) -> None:
    found = sum_of_spans(spans)
    assert found.most(begins, ends) == max((found.at(when) for when in range(begins, ends)), default=0)


@given(SPANS, st.integers(0, 6), st.integers(1, 6), st.integers(0, 20))
def test_earliest_begin_is_the_first_that_fits(
    spans: list[Span], amount: int, lasts: int, since: int
) -> None:
    found = sum_of_spans(spans)
    fits = (begin for begin in range(since, 31 - lasts) if found.most(begin, begin + lasts) + amount <= 6)
    assert found.earliest(amount, 6, lasts, since, 30) == next(fits, None)


def test_times_that_do_not_rise_are_refused() -> None:
    with pytest.raises(ValueError, match="times"):
        StepFunction((0.0, 0.0), (1.0, 2.0))


@pytest.mark.parametrize("wrong", [math.inf, math.nan])
def test_amounts_are_finite(wrong: float) -> None:
    for rounded in (round_up, round_down):
        with pytest.raises(ValueError, match="finite"):
            rounded(wrong)
