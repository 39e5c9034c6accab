"""A site that lies is corrected, never to its favour, and believed again when it keeps its word."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.sites.honesty import FADING, GRAIN_S, Honesty

TIMES = st.floats(0, 1e7)
HISTORIES = st.lists(st.tuples(TIMES, TIMES), max_size=30)


def after(*history: tuple[float, float]) -> Honesty:
    known = Honesty()
    for said, waited in history:
        known = known.observe(said, waited)
    return known


def test_without_a_job_the_word_stands() -> None:
    assert (Honesty().factor, Honesty().spread) == (1.0, 0.0)
    assert Honesty().correct(300.0).interval(2.0) == (300.0, 300.0)


def test_one_late_job_counts_as_one_of_two() -> None:
    # It said "at once" and took nine minutes: (540 + 60) / (0 + 60) = 10, and half of ln 10 is ln sqrt(10).
    known = after((0.0, 540.0))
    assert known.factor == pytest.approx(math.sqrt(10))
    assert known.correct(0.0).mean == pytest.approx(GRAIN_S * (math.sqrt(10) - 1))
    assert known.spread == pytest.approx(math.log(10) / 2)


def test_a_site_that_always_lies_by_the_same_factor_is_nearly_seen_through() -> None:
    known = after(*[(600.0, 10 * 660.0 - GRAIN_S)] * 30)
    share = 1 / (1 - FADING) / (1 + 1 / (1 - FADING))
    assert known.factor == pytest.approx(10**share, rel=1e-2)


@given(HISTORIES, TIMES)
def test_a_corrected_wait_is_never_below_what_was_said(
    history: list[tuple[float, float]], said: float
) -> None:
    corrected = after(*history).correct(said)
    assert corrected.mean >= said
    assert corrected.deviation >= 0


@given(HISTORIES, TIMES)
def test_every_honest_job_brings_its_word_nearer_to_face_value(
    history: list[tuple[float, float]], said: float
) -> None:
    before = after(*history)
    later = before.observe(said, said)
    assert later.factor <= before.factor
    assert later.factor < before.factor or before.factor == 1.0 or math.isclose(before.factor, 1.0)


@given(HISTORIES)
def test_it_recovers_when_it_becomes_honest(history: list[tuple[float, float]]) -> None:
    known = after(*history, *[(100.0, 100.0)] * 60)
    assert known.factor == pytest.approx(1.0, abs=1e-4)
    assert known.correct(600.0).mean == pytest.approx(600.0, rel=1e-4)


@given(HISTORIES, st.tuples(TIMES, TIMES), TIMES)
def test_early_jobs_do_not_pay_for_late_ones(
    history: list[tuple[float, float]], late: tuple[float, float], said: float
) -> None:
    early = after(*history, late).observe(said, 0.0)
    honest = after(*history, late).observe(said, said)
    assert early.factor == honest.factor


@given(HISTORIES, TIMES, TIMES)
def test_a_later_job_never_makes_it_look_better(
    history: list[tuple[float, float]], said: float, waited: float
) -> None:
    known = after(*history)
    assert known.observe(said, waited + 100.0).factor >= known.observe(said, waited).factor


@pytest.mark.parametrize(
    ("said", "waited"),
    [(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (1.0, math.inf), (-1.0, 5.0), (5.0, -1.0)],
)
def test_times_that_cannot_be_teach_nothing(said: float, waited: float) -> None:
    known = after((10.0, 100.0))
    assert known.observe(said, waited) == known


def test_even_a_job_that_never_seemed_to_start_has_a_bound() -> None:
    assert after(*[(0.0, 1e300)] * 100).factor <= 100.0


def test_an_infinite_wait_stays_infinite() -> None:
    assert math.isinf(after((0.0, 500.0)).correct(math.inf).mean)
