"""Token buckets in the intervals of throughput tests: found where they are clear, and else not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adon.flowvisor.selection.token_bucket import find_token_bucket, refill_bucket
from measurement.model import Measurement
from measurement.token_bucket import Allowance
from tests.support.factories import make_measurement

MICRO, MEDIUM = Allowance(200e6, 80e6, 4.0), Allowance(1000e6, 200e6, 1.0)
"""[HEALTH] figure 4."""
M = 1e6


def a_test(rates: object, seconds: object = 10, value: float | None = None, **more: object) -> Measurement:
    """A test over TCP with these intervals."""
    mean = sum(rates) / len(rates) if value is None else value  # type: ignore[arg-type, call-overload]
    parameters: dict[str, Any] = {"protocol": "tcp", "streams": 1, "seconds": seconds, **more}
    found = {**parameters, "interval_bits": rates}
    return make_measurement(value=mean, lasted=10.0, parameters=found)


def through(bucket: Allowance, length: float, count: int, noise: float = 0.0, seed: int = 1) -> list[float]:
    """Bits/s per interval of a test that found the bucket full."""
    chance, ends = random.Random(seed), [length * (at + 1) for at in range(count)]
    parts = [min(1.0, max(0.0, (bucket.lasts - end + length) / length)) for end in ends]
    return [
        (bucket.burst * part + bucket.sustained * (1 - part)) * (1 + chance.uniform(-noise, noise))
        for part in parts
    ]


class TestByHand:
    def test_the_papers_small_instance_in_seconds(self) -> None:
        found = find_token_bucket(a_test(through(MICRO, 1.0, 10)))
        assert found is not None
        assert (found.burst, found.sustained, found.lasts) == pytest.approx((200e6, 80e6, 4.0))

    def test_the_papers_medium_instance_needs_shorter_intervals(self) -> None:
        assert find_token_bucket(a_test(through(MEDIUM, 1.0, 10))) is None
        found = find_token_bucket(a_test(through(MEDIUM, 0.25, 40)))
        assert found is not None
        assert (found.burst, found.sustained, found.lasts) == pytest.approx((1000e6, 200e6, 1.0))

    @pytest.mark.parametrize(
        ("rates", "why"),
        [
            ([50 * M] * 10, "constant"),
            ([50 * M] * 5 + [10 * M], "too short to see what follows"),
            ([50 * M] * 7 + [10 * M] * 3, "three intervals may be somebody passing by"),
            ([50 * M] + [10 * M] * 9, "one interval may be the sender's buffer"),
            ([10 * M] * 4 + [50 * M] * 6, "it rose"),
            ([50 * M] * 4 + [10 * M] * 3 + [50 * M] + [10 * M] * 2, "it came back"),
            ([50 * M] * 2 + [10 * M] + [50 * M] + [10 * M] * 6, "it was down before"),
            ([55 * M] * 4 + [50 * M] * 6, "less than a fifth"),
            ([50 * M, 30 * M] * 2 + [12 * M, 30 * M] * 3, "not clear of the noise"),
            ([], "no intervals"),
        ],
    )
    def test_what_is_no_bucket_is_none(self, rates: list[float], why: str) -> None:
        assert find_token_bucket(a_test(rates, value=None if rates else 1e6)) is None, why

    def test_of_a_slow_start_the_burst_is_told_without_it(self) -> None:
        found = find_token_bucket(a_test([20 * M] + [50 * M] * 4 + [10 * M] * 5))
        assert found is not None
        assert (found.burst, found.sustained) == pytest.approx((50 * M, 10 * M))

    def test_several_streams_share_one_bucket(self) -> None:
        rates = through(MICRO, 1.0, 10)
        assert find_token_bucket(a_test(rates, streams=8)) == find_token_bucket(a_test(rates))

    @pytest.mark.parametrize("more", [{"protocol": "udp"}, {"bandwidth": 100_000_000}])
    def test_a_test_that_had_a_pace_of_its_own_tells_nothing(self, more: dict[str, object]) -> None:
        assert find_token_bucket(a_test(through(MICRO, 1.0, 10), **more)) is None

    def test_what_arrived_counts_not_what_was_handed_over(self) -> None:
        found = find_token_bucket(a_test([260e6, *through(MICRO, 1.0, 10)[1:]], value=128e6))
        assert found is not None
        assert (found.burst, found.sustained, found.lasts) == pytest.approx((200e6, 80e6, 4.0))

    @pytest.mark.parametrize(
        ("length", "rates", "value", "truth"),
        [
            (
                0.25,
                [35.3, *[18.8] * 7, 25.1, *[18.8] * 5, 20.9, 18.8, *[6.2, 6.2, 6.3, 12.5] * 6],
                12.34,
                Allowance(19.3e6, 7.7e6, 4.0),
            ),
            (0.5, [27.0, *[18.8, 19.8] * 3, 19.8, *[6.2, 9.4] * 6], 12.34, Allowance(19.3e6, 7.7e6, 4.0)),
            (1.0, [22.9, 18.8, 20.3, 18.8, *[7.8] * 6], 12.35, Allowance(19.3e6, 7.7e6, 4.0)),
            (0.25, [129.9, 87.5, 100.1, 100.1, *[12.5, 25.1] * 18], 27.01, Allowance(96.5e6, 19.3e6, 1.0)),
        ],
    )
    def test_intervals_like_those_of_iperf3(
        self, length: float, rates: list[float], value: float, truth: Allowance
    ) -> None:
        """As behind a token bucket: few blocks per interval, and a buffer that fills in the first."""
        found = find_token_bucket(
            a_test([rate * M for rate in rates], value=value * M, interval_seconds=length)
        )
        assert found is not None
        assert found.burst == pytest.approx(truth.burst, rel=0.05)
        assert found.sustained == pytest.approx(truth.sustained, rel=0.05)
        assert found.lasts == pytest.approx(truth.lasts, rel=0.1)

    @pytest.mark.parametrize(("idle", "lasts"), [(0, 0.0), (-3, 0.0), (3, 2.0), (6, 4.0), (600, 4.0)])
    def test_a_bucket_fills_at_the_sustained_rate(self, idle: float, lasts: float) -> None:
        """480 Mbit at 80 Mbps are six seconds."""
        found = refill_bucket(MICRO, idle)
        assert (found.burst, found.sustained, found.lasts) == pytest.approx((200e6, 80e6, lasts))


buckets = st.builds(
    lambda sustained, ratio, lasts: Allowance(sustained * ratio, sustained, lasts),
    st.floats(1e5, 1e10),
    st.floats(1.6, 20),
    st.floats(2.2, 6.0),
)


@given(buckets, st.integers(1, 999), st.floats(1e3, 1e12))
def test_a_test_through_a_bucket_tells_it_and_no_rate_beyond(
    truth: Allowance, seed: int, size: float
) -> None:
    rates = through(truth, 1.0, 12, 0.03, seed)
    found = find_token_bucket(a_test(rates, 12))
    assert found is not None
    assert found.burst == pytest.approx(truth.burst, rel=0.05)
    assert found.sustained == pytest.approx(truth.sustained, rel=0.05)
    assert min(rates) <= found.mean_rate(size) * (1 + 1e-9)
    assert found.mean_rate(size) <= max(rates) * (1 + 1e-9)


@given(st.floats(1e5, 1e10), st.floats(0, 0.1), st.integers(6, 60), st.integers(0, 9999))
def test_a_constant_rate_is_none(level: float, noise: float, count: int, seed: int) -> None:
    rates = through(Allowance(level, level, 0.0), 1.0, count, noise, seed)
    assert find_token_bucket(a_test(rates, count)) is None


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=30), st.floats(0, 1e12))
def test_any_intervals_have_a_bucket_within_them_or_none(rates: list[float], value: float) -> None:
    found = find_token_bucket(a_test(rates, len(rates), value))
    if found is not None:
        assert found.throttled
        assert found.burst <= max(rates) * (1 + 1e-9)
        assert found.sustained >= min(rates) * (1 - 1e-9)
        whole = found.burst * found.lasts + found.sustained * (len(rates) - found.lasts)
        assert whole == pytest.approx(value * len(rates)), "what arrived in all"


@given(buckets, st.floats(0, 100), st.floats(0, 100))
def test_who_waits_longer_finds_no_less_in_the_bucket(bucket: Allowance, idle: float, more: float) -> None:
    sooner, later = refill_bucket(bucket, idle), refill_bucket(bucket, idle + more)
    assert sooner.lasts <= later.lasts * (1 + 1e-12)
    assert later.lasts <= bucket.lasts * (1 + 1e-12)
    assume(idle >= bucket.bucket / bucket.sustained * (1 + 1e-9))
    assert sooner.lasts == pytest.approx(bucket.lasts)
