from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.simulation.steps import Steps, combined, steady


@pytest.mark.parametrize(
    ("when", "value"), [(-5, 1.0), (0, 1.0), (9.99, 1.0), (10, 2.0), (20, 0.5), (1e9, 0.5)]
)
def test_a_value_holds_until_it_changes(when: float, value: float) -> None:
    assert Steps.of((0, 1.0), (10, 2.0), (20, 0.5)).at(when) == value


def test_what_changes_nothing_is_no_change() -> None:
    assert Steps.of((0, 1.0), (5, 1.0), (9, 3.0), (9, 2.0)).changes == (9,)


@pytest.mark.parametrize(
    ("times", "values"), [((), ()), ((0.0,), (1.0, 2.0)), ((1.0, 1.0), (1.0, 2.0)), ((0.0,), (float("nan"),))]
)
def test_what_is_no_function_is_refused(times: tuple[float, ...], values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"times|values"):
        Steps(times, values)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=6),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_integrals_add_up(changes: list[tuple[int, int]], a: int, b: int, c: int) -> None:
    steps, (a, b, c) = Steps.of(*((float(at), float(value)) for at, value in changes)), sorted((a, b, c))
    assert steps.integral(a, b) + steps.integral(b, c) == pytest.approx(steps.integral(a, c))
    assert steps.integral(a, b) == pytest.approx(sum(steps.at(at) for at in range(a, b)))


def test_parts_are_combined() -> None:
    one, other = Steps.of((0, 1.0), (10, 3.0)), Steps.of((0, 2.0), (5, 4.0))
    assert combined((one, other)) == Steps.of((0, 3.0), (5, 5.0), (10, 7.0))
    assert combined((one, steady(0.5)), by="product") == Steps.of((0, 0.5), (10, 1.5))
