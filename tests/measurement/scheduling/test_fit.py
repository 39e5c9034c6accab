from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.scheduling import Agreement, Flexible, HyperperiodTooLong, NoSchedule, Schedule, fit_periods
from tests.measurement.scheduling.sets import agreements, task, tasks, wrong
from tests.support.refusals import refused


def periods(found: Schedule | NoSchedule) -> dict[str, float]:
    assert isinstance(found, Schedule)
    assert list(wrong(found)) == []
    return {name: each.period for name, each in found.tasks.items()}


def test_wished_periods_that_fit_are_taken() -> None:
    assert periods(fit_periods([Flexible(task("a", 60), 600), Flexible(task("b", 120), 120)])) == {
        "a": 60,
        "b": 120,
    }


def test_where_they_do_not_all_are_lengthened_and_none_beyond_its_range() -> None:
    wished = [Flexible(task(f"t{number}", 60, 20), 600) for number in range(6)]
    found = periods(fit_periods(wished))
    assert len(set(found.values())) == 1
    assert 120 <= found["t0"] <= 200  # six times 20 s need 120 s; the longest would be 600 s


def test_a_rigid_task_keeps_its_period_while_others_give_way() -> None:
    found = periods(fit_periods([Flexible(task("rigid", 60, 30), 60), Flexible(task("soft", 30, 20), 600)]))
    assert found["rigid"] == 60
    assert 30 < found["soft"] <= 600


def test_a_range_without_a_divisor_of_the_round_keeps_the_wished_period() -> None:
    assert periods(fit_periods([Flexible(task("a", 7.001, 1), 7.001)])) == {"a": 7.001}


def test_the_agreement_counts() -> None:
    wished = [Flexible(task(name, 30, 20, points=name, load={"core": 6e8}), 300) for name in "abc"]
    assert set(periods(fit_periods(wished)).values()) == {30}
    limited = periods(fit_periods(wished, Agreement({"core": 1e9})))
    assert 60 <= limited["a"] <= 300


def test_what_not_even_the_longest_periods_allow_is_explained() -> None:
    found = fit_periods([Flexible(task(name, 60, 40), 60) for name in "ab"])
    assert isinstance(found, NoSchedule)
    assert found.infeasible is not None
    assert "a, b" in found.infeasible.text


def test_periods_are_chosen_on_the_grid() -> None:
    wished = [Flexible(task(f"t{number}", 7, 1.55), 11) for number in range(6)]
    assert any(period % 1 for period in periods(fit_periods(wished)).values())
    assert not any(period % 1 for period in periods(fit_periods(wished, grid=1.0)).values())


def test_short_periods_with_too_many_runs_give_way_too() -> None:
    wished = [Flexible(task("a", 1, 0.1), 100), Flexible(task("b", 3600, 1), 3600)]
    assert periods(fit_periods(wished, most_jobs=1000))["a"] > 3


def test_limits_hold_for_the_longest_periods() -> None:
    with pytest.raises(HyperperiodTooLong):
        fit_periods([Flexible(task("a", 60), 90_000)])
    with refused(ValueError):
        Flexible(task("a", 60), 30)


@given(tasks(5), agreements, st.integers(1, 20))
def test_what_fits_is_within_its_ranges(known: list[object], agreement: Agreement, factor: int) -> None:
    wished = [Flexible(each, each.period * factor) for each in known]  # type: ignore[attr-defined,arg-type]
    found = fit_periods(wished, agreement)
    if isinstance(found, Schedule):
        assert list(wrong(found)) == []
        for each in wished:
            assert each.task.period <= found.tasks[each.task.id].period <= each.longest_period
