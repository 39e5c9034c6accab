"""What a worker node really processes: learnt from jobs beside the configured rate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.sites.rates import Rate, Rates

RATES = st.floats(1e3, 1e12)


def learnt(*rates: float, prior: float = 8e6) -> float:
    known = Rates()
    for rate in rates:
        known = known.with_job("hpc", "soykb", rate)
    found = known.expected_rate("hpc", "soykb", prior)
    assert found is not None
    return found.mean


def test_nothing_is_known_without_a_job() -> None:
    assert Rates().expected_rate("hpc", "soykb", 8e6) is None
    known = Rates().with_job("hpc", "soykb", 4e6)
    assert known.expected_rate("hpc", "other", 8e6) is None
    assert known.expected_rate("other", "soykb", 8e6) is None


def test_one_job_counts_as_much_as_the_configured_rate() -> None:
    assert learnt(2e6) == pytest.approx(4e6)  # the geometric mean of 2 and 8
    found = Rates().with_job("hpc", "soykb", 2e6).expected_rate("hpc", "soykb", 8e6)
    assert found is not None
    assert found.cov == pytest.approx(math.log(2))


@given(st.lists(RATES, min_size=1, max_size=20), RATES)
def test_it_lies_between_the_lowest_and_the_highest_that_was_seen(rates: list[float], prior: float) -> None:
    expected = learnt(*rates, prior=prior)
    assert min(*rates, prior) * (1 - 1e-9) <= expected <= max(*rates, prior) * (1 + 1e-9)


@given(st.lists(RATES, max_size=20), RATES)
def test_a_slower_job_never_raises_it_above_what_a_faster_one_would(rates: list[float], rate: float) -> None:
    assert learnt(*rates, rate) <= learnt(*rates, 2 * rate)


def test_a_site_that_was_slow_and_is_not_any_more_recovers() -> None:
    assert learnt(*[1e5] * 20) < 5e5
    assert learnt(*[1e5] * 20, *[8e6] * 60) == pytest.approx(8e6, rel=1e-3)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_a_rate_that_cannot_be_is_no_observation(rate: float) -> None:
    assert Rate().observe(rate) == Rate()
    assert Rates().with_job("hpc", "soykb", rate).expected_rate("hpc", "soykb", 8e6) is None
