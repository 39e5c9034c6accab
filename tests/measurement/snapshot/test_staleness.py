"""How fast a measurement ages: by hand, beside a second writing of the rule, and what follows for max_age."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.snapshot.staleness import AGES, NEAR, Curve, Value, curves, max_age
from tests.support.refusals import refused


def every(seconds: float, *values: float) -> list[Value]:
    return [Value(1e9 + n * seconds, value) for n, value in enumerate(values)]


def test_by_hand() -> None:
    """100 now after 80 a minute ago is off by 20 %; 80 after 100, by 25 %."""
    (minute,) = curves([every(60, 100.0, 80.0, 100.0)], [60.0])
    assert minute == Curve(60.0, (0.2, 0.25))
    assert (minute.mean, minute.quantile(0.5), minute.quantile(1.0)) == (0.225, 0.2, 0.25)
    assert (minute.below(0.1), minute.below(0.2), minute.below(1.0)) == (0.0, 0.5, 1.0)


def test_the_ages_of_the_paper_and_those_no_series_reaches() -> None:
    assert AGES == (60.0, 300.0, 600.0, 1800.0)
    found = curves([every(10, *[5.0] * 61), every(10, *[7.0] * 7)])
    assert [curve.age for curve in found] == [60.0, 300.0, 600.0]
    assert [len(curve.errors) for curve in found] == [
        55 + 1,
        31 + 3,
        1 + 6,
    ]  # a tenth less old is as old, too
    assert curves([]) == ()


def test_a_path_that_carries_nothing_now_has_no_error_and_then_had_one() -> None:
    (found,) = curves([every(60, 0.0, 10.0, 0.0)], [60.0])
    assert found.errors == (1.0,)


@pytest.mark.parametrize(("gap", "count"), [(60.0, 1), (66.0, 1), (67.0, 0), (54.0, 1), (53.0, 0)])
def test_a_value_counts_as_old_as_it_nearly_is(gap: float, count: int) -> None:
    found = curves([every(gap, 1.0, 2.0)], [60.0])
    assert sum(len(curve.errors) for curve in found) == count


@given(
    st.lists(st.tuples(st.floats(1, 300), st.floats(0.1, 1e3)), min_size=1, max_size=30),
    st.sampled_from([30.0, 60.0, 300.0]),
)
def test_beside_a_second_writing(steps: list[tuple[float, float]], age: float) -> None:
    at, series = 0.0, []
    for gap, value in steps:
        at += gap
        series.append(Value(at, value))
    expected = []
    for now in series:
        off = min(abs(each.at - (now.at - age)) for each in series)
        if off <= NEAR * age:
            old = [each for each in series if abs(each.at - (now.at - age)) == off and each.at < now.at]
            expected.append(abs(now.value - old[0].value) / now.value if old else None)
    wanted = sorted(each for each in expected if each is not None)
    found = curves([series], [age])
    assert [error for curve in found for error in curve.errors] == pytest.approx(wanted)


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0.001, 1))
def test_a_quantile_is_not_exceeded_by_its_share(errors: list[float], share: float) -> None:
    curve = Curve(1.0, tuple(sorted(errors)))
    assert curve.below(curve.quantile(share)) >= share - 1e-9


def test_a_network_that_drifts_may_be_asked_less_the_more_error_one_accepts() -> None:
    chance, level, series = random.Random(1), 100.0, []
    for n in range(2000):
        level *= 1 + chance.gauss(0, 0.003)
        series.append(Value(n * 10.0, level))
    found = curves([series])
    assert [curve.quantile(0.95) for curve in found] == sorted(curve.quantile(0.95) for curve in found)
    ages = [max_age(found, error) for error in (0.001, 0.03, 0.08, 0.5)]
    assert ages[0] is None
    assert ages[-1] == 1800.0
    assert [age or 0 for age in ages] == sorted(age or 0 for age in ages)


def test_an_age_does_not_count_behind_one_that_is_too_bad() -> None:
    found = (Curve(60.0, (0.01,)), Curve(300.0, (0.5,)), Curve(600.0, (0.01,)))
    assert max_age(found, 0.05) == 60.0
    assert max_age((), 0.05) is None


@pytest.mark.parametrize(
    ("series", "ages", "field"),
    [
        ([Value(2.0, 1.0), Value(1.0, 1.0)], [60.0], "series"),
        ([Value(1.0, 1.0), Value(1.0, 1.0)], [60.0], "series"),
        ([Value(1.0, -1.0)], [60.0], "series"),
        ([Value(1.0, float("nan"))], [60.0], "series"),
        ([], [0.0], "ages"),
    ],
)
def test_what_cannot_be_is_refused(series: list[Value], ages: list[float], field: str) -> None:
    with refused(ValueError, field):
        curves([series], ages)


@pytest.mark.parametrize("share", [0.0, 1.1])
def test_a_share_is_above_0(share: float) -> None:
    with refused(ValueError, "share"):
        Curve(1.0, (0.1,)).quantile(share)
