"""Bursts and what follows: the paper's figure, profiles made by a token bucket with noise, and flat ones."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measurement.token_bucket import Allowance, fit
from tests.support.refusals import refused

MICRO, MEDIUM = Allowance(200e6, 80e6, 4.0), Allowance(1000e6, 200e6, 1.0)
"""[HEALTH] figure 4."""


def profile(truth: Allowance, count: int = 10, noise: float = 0.0, seed: int = 1) -> list[float]:
    """Bits/s per second of a transfer that never ends."""
    chance = random.Random(seed)
    return [
        (truth.burst * part + truth.sustained * (1 - part)) * (1 + chance.uniform(-noise, noise))
        for part in (min(1.0, max(0.0, truth.lasts - second)) for second in range(count))
    ]


class TestByHand:
    @pytest.mark.parametrize(("truth", "bucket"), [(MICRO, 480e6), (MEDIUM, 800e6)])
    def test_the_papers_instances(self, truth: Allowance, bucket: float) -> None:
        found = fit(profile(truth))
        assert found is not None
        assert (found.burst, found.sustained, found.lasts) == pytest.approx(
            (truth.burst, truth.sustained, truth.lasts)
        )
        assert (found.bucket, found.throttled) == (pytest.approx(bucket), True)

    @pytest.mark.parametrize(
        ("size", "seconds"), [(50e6, 2.0), (100e6, 4.0), (110e6, 5.0), (1100e6, 4 + 8000 / 80)]
    )
    def test_a_transfers_size_decides_what_it_has(self, size: float, seconds: float) -> None:
        assert MICRO.takes(size) == pytest.approx(seconds)
        assert MICRO.mean_rate(size) == pytest.approx(8 * size / seconds)

    def test_a_burst_that_ends_within_an_interval(self) -> None:
        found = fit([200e6, 200e6, 140e6, 80e6, 80e6, 80e6])
        assert found is not None
        assert found.lasts == pytest.approx(2.5)

    def test_intervals_of_another_length(self) -> None:
        found = fit([9e6] * 5 + [3e6] * 7, interval=0.1)
        assert found is not None
        assert (found.lasts, found.bucket) == pytest.approx((0.5, 3e6))

    def test_a_slow_start_is_no_throttling(self) -> None:
        found = fit([30e6, 80e6, 99e6, 100e6, 101e6, 100e6, 100e6, 99e6, 100e6, 101e6])
        assert found is not None
        assert not found.throttled
        assert found.mean_rate(1e9) == pytest.approx(100e6, rel=0.02)

    def test_one_interval_that_is_odd_does_not_move_the_levels(self) -> None:
        rates = profile(MICRO)
        rates[7] = 0.0
        found = fit(rates)
        assert found is not None
        assert (found.burst, found.sustained, found.lasts) == pytest.approx((200e6, 80e6, 4.0))

    @pytest.mark.parametrize("rates", [[], [1e6] * 3, [0.0] * 10])
    def test_of_too_little_nothing_is_said(self, rates: list[float]) -> None:
        assert fit(rates) is None


@given(
    st.floats(1.6, 20), st.floats(1e6, 1e10), st.floats(1.0, 6.0), st.integers(10, 30), st.integers(0, 999)
)
def test_a_token_bucket_is_found_again_under_noise(
    ratio: float, sustained: float, lasts: float, count: int, seed: int
) -> None:
    truth = Allowance(ratio * sustained, sustained, lasts)
    found = fit(profile(truth, count, noise=0.05, seed=seed))
    assert found is not None
    assert found.throttled
    assert found.sustained == pytest.approx(truth.sustained, rel=0.05)
    assert found.burst == pytest.approx(truth.burst, rel=0.06)
    # Noise of 5 % is in the interval where the burst ends and in both levels it is compared with.
    assert found.lasts == pytest.approx(truth.lasts, abs=0.2 * ratio / (ratio - 1) + 0.05)


@given(st.floats(1e6, 1e10), st.floats(0, 0.1), st.integers(6, 60), st.integers(0, 9999))
def test_what_is_flat_but_for_noise_is_not_throttled(
    level: float, noise: float, count: int, seed: int
) -> None:
    found = fit(profile(Allowance(level, level, 0.0), count, noise, seed))
    assert found is not None
    assert not found.throttled
    assert found.mean_rate(1e6) == pytest.approx(level, rel=0.1)


def test_a_fall_that_is_not_clear_of_the_noise_is_none() -> None:
    """The first interval is 40 % above the median of the others, and so are two of those."""
    rates = [140.0, 60.0, 100.0, 100.0, 140.0, 60.0, 60.0, 100.0, 100.0, 100.0, 140.0, 60.0]
    assert fit(rates) == Allowance(100.0, 100.0, 0.0)
    assert fit([140.0, *[100.0] * 11]) == Allowance(140.0, 100.0, 1.0)


@given(st.lists(st.floats(0, 1e11), max_size=30))
def test_any_profile_has_an_allowance_or_none(rates: list[float]) -> None:
    found = fit(rates)
    assert found is None or found.burst <= max(rates) * (1 + 1e-12)


@given(st.floats(1, 1e10), st.floats(1, 100), st.floats(0, 100), st.floats(1, 1e12), st.floats(1.01, 10))
def test_a_larger_transfer_takes_longer_and_its_rate_comes_down(
    sustained: float, ratio: float, lasts: float, size: float, more: float
) -> None:
    allowance = Allowance(sustained * ratio, sustained, lasts)
    assert allowance.takes(more * size) >= allowance.takes(size)
    assert allowance.mean_rate(more * size) <= allowance.mean_rate(size) * (1 + 1e-9)
    assert sustained * (1 - 1e-9) <= allowance.mean_rate(size) <= allowance.burst * (1 + 1e-9)


@given(st.floats(1, 1e9), st.floats(1.1, 50), st.floats(0.1, 60))
def test_what_the_bucket_gives_is_what_the_transfer_had_above_the_sustained_rate(
    sustained: float, ratio: float, lasts: float
) -> None:
    allowance = Allowance(sustained * ratio, sustained, lasts)
    size = 10 * allowance.burst * lasts / 8
    assume(math.isfinite(size))
    assert 8 * size - sustained * allowance.takes(size) == pytest.approx(allowance.bucket, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Allowance(1.0, 0.0, 1.0), "sustained"),
        (lambda: Allowance(1.0, 2.0, 1.0), "burst"),
        (lambda: Allowance(math.inf, 2.0, 1.0), "burst"),
        (lambda: Allowance(2.0, 1.0, -1.0), "lasts"),
        (lambda: MICRO.takes(-1), "size"),
        (lambda: MICRO.mean_rate(0), "size"),
        (lambda: fit([1.0] * 5, interval=0.0), "interval"),
        (lambda: fit([1.0] * 5 + [math.nan]), "rates"),
        (lambda: fit([1.0] * 7201), "rates"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make: object, field: str) -> None:
    with refused(ValueError, field):
        make()  # type: ignore[operator]
