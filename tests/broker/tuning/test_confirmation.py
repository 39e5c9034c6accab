"""Outcomes before and after: confirmed, not confirmed, too few."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.outcomes import FlowOutcome, Stay
from adon.broker.tuning.confirmation import FEWEST, MOST, Verdict, comparable, confirm
from adon.broker.tuning.prediction import Range

APPLIED = 10_000.0
BEFORE = (98e6, 101e6, 104e6, 99e6, 102e6, 95e6)
AFTER = tuple(1.5 * rate for rate in BEFORE)


def outcome(number: int, ended: float, rate: float | None, **changes: Any) -> FlowOutcome:
    made = FlowOutcome(
        flow=number,
        template="soykb@1",
        source="mu-dtn",
        destination="osu-dtn",
        state="finished",
        submitted_at=ended - 40,
        ended_at=ended,
        requested_bytes=10**9,
        transferred_bytes=10**9,
        admitted_at=ended - 35,
        started_at=ended - 30,
        throughput=rate,
        stays=(Stay("al2s", ended - 35, ended),),
    )
    return replace(made, **changes)


def outcomes(before: tuple[float, ...], after: tuple[float, ...]) -> list[FlowOutcome]:
    early = [outcome(1 + row, APPLIED - 1000 + row, rate) for row, rate in enumerate(before)]
    late = [outcome(101 + row, APPLIED + 100 + row, rate) for row, rate in enumerate(after)]
    return early + late


def test_a_clear_gain_is_confirmed() -> None:
    found = confirm(outcomes(BEFORE, AFTER), APPLIED, Range(1.2, 1.4, 1.6))
    assert found.verdict is Verdict.CONFIRMED
    assert (found.before, found.after) == (tuple(range(1, 7)), tuple(range(101, 107)))
    assert found.gain is not None
    assert found.gain.estimate == pytest.approx(1.5, rel=0.02)
    assert found.medians == (100e6, 150e6)
    assert (found.effect, found.as_predicted) == (1.0, True)
    assert found.p is not None
    assert found.p < 0.002
    assert "factor 1.50" in found.text
    assert "as predicted" in found.text


def test_no_difference_is_not_confirmed() -> None:
    found = confirm(outcomes(BEFORE, BEFORE[::-1]), APPLIED, None)
    assert found.verdict is Verdict.NOT_CONFIRMED
    assert found.as_predicted is None
    assert found.text.startswith("no gain is shown")


def test_slower_is_not_confirmed() -> None:
    assert confirm(outcomes(AFTER, BEFORE), APPLIED, None).verdict is Verdict.NOT_CONFIRMED


def test_a_gain_of_two_per_cent_is_not_worth_it() -> None:
    steady = tuple(100e6 + row for row in range(12))
    found = confirm(outcomes(steady, tuple(1.02 * rate for rate in steady)), APPLIED, None)
    assert found.p is not None
    assert found.p < 0.05
    assert found.verdict is Verdict.NOT_CONFIRMED


def test_another_gain_than_predicted_is_told() -> None:
    found = confirm(outcomes(BEFORE, AFTER), APPLIED, Range(4.0, 5.0, 6.0))
    assert (found.verdict, found.as_predicted) == (Verdict.CONFIRMED, False)
    assert "outside of what was predicted" in found.text


@pytest.mark.parametrize(("before", "after"), [(4, 6), (6, 4), (0, 6), (0, 0)])
def test_few_are_too_few(before: int, after: int) -> None:
    found = confirm(outcomes(BEFORE[:before], AFTER[:after]), APPLIED, None)
    assert (found.verdict, found.gain, found.p) == (Verdict.TOO_FEW, None, None)
    assert found.text == (
        f"{before} comparable transfers before and {after} after; {FEWEST} of each are needed"
    )


def test_what_was_under_way_is_on_neither_side() -> None:
    astride = [outcome(200 + row, APPLIED + 10, 1e9) for row in range(9)]
    assert confirm([*outcomes(BEFORE, AFTER), *astride], APPLIED, None).after == tuple(range(101, 107))


def test_the_latest_are_compared() -> None:
    found = confirm(outcomes(BEFORE * 40, AFTER * 40), APPLIED, None)
    assert len(found.before) == len(found.after) == MOST
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "failed"},
        {"state": "cancelled"},
        {"source": "elsewhere"},
        {"destination": "elsewhere"},
        {"throughput": None},
        {"throughput": 0.0},
        {"throughput": float("inf")},
        {"stays": ()},
        {"stays": (Stay("internet", 1, 2),)},
        {"stays": (Stay("al2s", 1, 2), Stay("internet", 2, 3))},
        {"admitted_at": None, "started_at": None},
        {"started_at": 96.0},
    ],
)
def test_what_cannot_be_compared_is_left_out(changes: dict[str, Any]) -> None:
    good, other = outcome(1, 100.0, 1e6), outcome(2, 100.0, 1e6, **changes)
    assert comparable([other, good], "al2s", "mu-dtn", "osu-dtn") == (good,)


def test_a_stay_on_one_path_may_be_in_parts() -> None:
    parted = outcome(1, 100.0, 1e6, stays=(Stay("al2s", 60, 70), Stay("al2s", 70, 100)))
    assert comparable([parted], "al2s", "mu-dtn", "osu-dtn") == (parted,)


RATES = st.lists(st.floats(1, 1e12), min_size=5, max_size=12).map(tuple)


@given(RATES, RATES, st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(before: tuple[float, ...], after: tuple[float, ...], by: float) -> None:
    found = confirm(outcomes(before, after), APPLIED, None)
    scaled = confirm(
        outcomes(tuple(by * rate for rate in before), tuple(by * rate for rate in after)), APPLIED, None
    )
    assert found.gain is not None
    assert scaled.gain is not None
    assert scaled.gain.estimate == pytest.approx(found.gain.estimate, rel=1e-6)
