from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.queueing.steps import Span, Steps, whole_down, whole_up

TIMES = st.integers(0, 30).map(float)
SPANS = st.lists(st.builds(Span, TIMES, TIMES | st.just(math.inf), st.integers(0, 9)), max_size=8)


def by_definition(spans: list[Span], at: float) -> int:
    return sum(span.amount for span in spans if span.begins <= at < span.ends)


@settings(max_examples=100)
@given(SPANS, TIMES)
def test_the_value_at_a_time_is_the_sum_of_the_spans_there(spans: list[Span], at: float) -> None:
    assert Steps.of(spans).at(at) == by_definition(spans, at)


@settings(max_examples=100)
@given(SPANS, TIMES, TIMES)
def test_the_most_between_two_times(spans: list[Span], begins: float, ends: float) -> None:
    halves = [begins + number / 2 for number in range(int(2 * max(0.0, ends - begins)))]
    assert Steps.of(spans).most(begins, ends) == max((by_definition(spans, at) for at in halves), default=0)


@settings(max_examples=100)
@given(SPANS, st.integers(0, 20), TIMES)
def test_the_first_time_above_a_limit(spans: list[Span], limit: int, since: float) -> None:
    found = Steps.of(spans).exceeds(limit, since)
    halves = [since + number / 2 for number in range(80)]
    expected = next((at for at in halves if by_definition(spans, at) > limit), math.inf)
    assert found == expected


@settings(max_examples=100)
@given(SPANS, st.integers(0, 12), st.integers(0, 20), st.integers(1, 12), TIMES, TIMES | st.just(math.inf))
def test_the_earliest_window_has_room_and_no_earlier_one_has(
    spans: list[Span], amount: int, limit: int, lasts: int, since: float, until: float
) -> None:
    steps = Steps.of(spans)
    found = steps.earliest(amount, limit, lasts, since, until)

    def fits(begins: float) -> bool:
        return begins + lasts <= until and steps.most(begins, begins + lasts) + amount <= limit

    candidates = [since + number / 2 for number in range(100)]
    expected = next((at for at in candidates if fits(at)), None)
    assert found == expected


@settings(max_examples=60)
@given(SPANS, st.randoms(use_true_random=False))
def test_the_order_of_spans_does_not_matter(spans: list[Span], chance: object) -> None:
    shuffled = list(spans)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Steps.of(shuffled) == Steps.of(spans)


def test_what_ends_leaves_its_place_to_what_begins_then() -> None:
    steps = Steps.of([Span(0.0, 5.0, 3), Span(5.0, 9.0, 3)])
    assert steps == Steps((0.0, 9.0), (3, 0))
    assert steps.most(0.0, 9.0) == 3


def test_amounts_beyond_any_double_are_exact() -> None:
    huge = 10**400
    assert Steps.of([Span(0.0, 1.0, huge), Span(0.0, 1.0, 1)]).at(0.5) == huge + 1


@pytest.mark.parametrize("wrong", [-1.0, math.inf, math.nan])
def test_what_is_no_amount_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="amount"):
        whole_up(wrong)


def test_needs_are_rounded_up_and_room_down() -> None:
    assert (whole_up(1.2), whole_down(1.8), whole_down(-3.0)) == (2, 1, 0)
    with pytest.raises(ValueError, match="room"):
        whole_down(math.inf)
    with pytest.raises(ValueError, match="less than nothing"):
        Steps.of([Span(0.0, 1.0, -1)])
