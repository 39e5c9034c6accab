"""What finished jobs teach, against the textbook formulas."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.cost.learning import PRIOR_SPREAD, Experience, Job, updated
from adon.variation import Moments, moments

JOB = Job("osu-hpc", "soykb", 10**9, 4, 20.0, 10**8)  # 100 Mbit/s per node, a tenth left


def after(*jobs: Job) -> Experience:
    found = Experience()
    for job in jobs:
        found.note(job)
    return found


def test_without_a_job_what_is_configured_is_told_exactly() -> None:
    found = after()
    assert (found.rate("osu-hpc", "soykb", 8e6).value.mean, found.ratio("soykb", 0.1).value.mean) == (
        8e6,
        0.1,
    )
    assert found.rate("osu-hpc", "soykb", 8e6).value.deviation == 0
    assert found.rate("osu-hpc", "soykb", 8e6).origin == "as configured"
    assert found.lateness("osu-hpc") is None


def test_one_job_counts_as_much_as_the_prior() -> None:
    found = after(JOB).rate("osu-hpc", "soykb", 400e6)
    assert found.value.mean == pytest.approx(math.sqrt(100e6 * 400e6)), "the mean of two logarithms"
    assert found.origin == "learnt from 1 finished job"


def test_many_jobs_drown_the_prior_and_their_own_spread_is_found() -> None:
    chance = random.Random(7)
    jobs = [replace(JOB, seconds=20.0 * chance.lognormvariate(0, 0.4)) for _ in range(400)]
    found = after(*jobs).rate("osu-hpc", "soykb", 1e9).value
    assert found.mean == pytest.approx(100e6, rel=0.05)
    assert found.cov == pytest.approx(math.sqrt(math.expm1(0.16)), rel=0.12)


def test_sites_and_templates_learn_apart_but_a_ratio_is_the_templates() -> None:
    found = after(JOB, replace(JOB, site="mu-hpc", result=3 * 10**8))
    assert found.rate("osu-hpc", "rivvir", 8e6).origin == "as configured"
    assert found.rate("isi", "soykb", 8e6).origin == "as configured"
    assert found.ratio("soykb", 0.1).origin == "learnt from 2 finished jobs"
    assert 0.1 < found.ratio("soykb", 0.1).value.mean < 0.3


def test_a_site_that_finishes_late_is_taken_at_its_record() -> None:
    late = [replace(JOB, waited=399.0, told=99.0) for _ in range(20)]
    factor = after(*late).lateness("osu-hpc")
    assert factor is not None
    assert factor.value.mean == pytest.approx(4.0, rel=0.08)


def test_what_teaches_nothing() -> None:
    wrong = [replace(JOB, size=0), replace(JOB, seconds=0.0), replace(JOB, nodes=0)]
    wrong += [replace(JOB, seconds=math.inf), replace(JOB, seconds=math.nan)]
    assert after(*wrong).rate("osu-hpc", "soykb", 8e6).origin == "as configured"
    assert after(replace(JOB, result=None)).ratio("soykb", 0.1).origin == "the template's"
    assert after(replace(JOB, result=0)).ratio("soykb", 0.1).value.mean > 0
    assert after(JOB).ratio("soykb", 0.0).value.mean == 0, "declared to be nothing"


def test_the_update_is_that_of_the_normal_inverse_gamma_prior() -> None:
    values, prior = [2.0, 3.0, 7.0], 1.0
    mean, variance = updated(moments(values), prior)
    assert mean == pytest.approx((1.0 + sum(values)) / 4)
    beta = math.log1p(PRIOR_SPREAD**2) + 14 / 2 + 1 * 3 * (4 - 1) ** 2 / (2 * 4)
    assert variance == pytest.approx(beta * 5 / ((2 + 1.5 - 1) * 4))


@settings(max_examples=60)
@given(st.lists(st.floats(-20, 20), max_size=12), st.integers(0, 12))
def test_moments_can_be_joined(values: list[float], cut: int) -> None:
    whole, joined = moments(values), moments(values[:cut]).joined(moments(values[cut:]))
    assert joined.count == whole.count
    assert joined.mean == pytest.approx(whole.mean, abs=1e-9)
    assert joined.squares == pytest.approx(whole.squares, abs=1e-6)
    if len(values) > 1:
        mean = sum(values) / len(values)
        variance = sum((one - mean) ** 2 for one in values) / (len(values) - 1)
        assert whole.deviation == pytest.approx(math.sqrt(variance), abs=1e-6)


def test_no_spread_of_nothing() -> None:
    assert (Moments().deviation, Moments().cov, moments([3.0]).cov) == (0.0, 0.0, 0.0)
