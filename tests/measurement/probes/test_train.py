"""Rate of packet trains by the equation of the paper, from arrivals at a known rate."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measurement.mathis import mathis
from measurement.probes.findings import SegmentArrivals
from measurement.probes.probe_types import TrainShape
from measurement.probes.sequence_analysis import MSS, RateEstimate, estimate_rate
from tests.support.refusals import refused

SHAPE = TrainShape(packet=1250, burst=11, bursts=2)
"""10 000 bits a packet."""


def burst(
    rate: float, *, size: int = 11, begin: float = 0.0, without: frozenset[int] = frozenset()
) -> SegmentArrivals:
    """A burst that came at so many bits/s."""
    packets = [(n, begin + n * 10_000 / rate) for n in range(size) if n not in without]
    found = SegmentArrivals.from_packets(packets)
    assert found is not None
    return found


class TestByHand:
    def test_pauses_do_not_count(self) -> None:
        found = estimate_rate(SHAPE, [burst(1e9), burst(1e9, begin=5.0)], rtt=0.01)
        assert found.rate == pytest.approx(1e9)
        assert (found.lost, found.limited) == (0.0, False)

    def test_bursts_are_weighted_by_their_time(self) -> None:
        """20 gaps of 10 000 bits in 100 + 300 us."""
        found = estimate_rate(SHAPE, [burst(1e9), burst(1e9 / 3)], rtt=None)
        assert found.rate == pytest.approx(0.5e9)

    @pytest.mark.parametrize("ends", [{0}, {10}, {0, 1, 2}, {0, 10}, {8, 9, 10}])
    def test_loss_at_an_end_lengthens_the_time(self, ends: set[int]) -> None:
        arrived = burst(1e9, without=frozenset(ends))
        assert arrived.lasted(11) == pytest.approx(100e-6)
        found = estimate_rate(TrainShape(1250, 11, 1), [arrived], rtt=None)
        assert found.rate == pytest.approx(1e9 * (10 - len(ends)) / 10)
        assert found.lost == pytest.approx(len(ends) / 11)

    def test_loss_limits_tcp(self) -> None:
        found = estimate_rate(SHAPE, [burst(1e9, without=frozenset({5})), burst(1e9)], rtt=0.1)
        limit = 8 * 1448 * math.sqrt(1.5) / (0.1 * math.sqrt(1 / 22))
        assert (found.rate, found.limited) == (pytest.approx(limit), True)

    def test_missing_burst_counts_as_lost(self) -> None:
        found = estimate_rate(SHAPE, [burst(1e9), None], rtt=None)
        assert (found.rate, found.lost) == (pytest.approx(1e9), pytest.approx(0.5))

    def test_reordered_and_doubled_packets_do_not_matter(self) -> None:
        packets = [(n, n * 1e-5) for n in range(11)]
        shuffled = [*random.Random(1).sample(packets, 11), (3, 9.0)]
        assert SegmentArrivals.from_packets(shuffled) == SegmentArrivals.from_packets(packets)


@pytest.mark.parametrize(
    ("arrived", "why"),
    [
        ([None, None], "two packets arrived"),
        ([SegmentArrivals(4, 4, 1.0, 1.0, 1), None], "two packets arrived"),
        ([SegmentArrivals(0, 10, 1.0, 1.0, 11)], "clock"),
    ],
)
def test_too_few_arrivals_give_no_rate(arrived: list[SegmentArrivals | None], why: str) -> None:
    found = estimate_rate(SHAPE, arrived, rtt=0.01)
    assert found.rate is None
    assert why in found.why


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"packet": 8}, "packet"), ({"burst": 1}, "burst"), ({"bursts": 0}, "bursts"), ({"pause": -1}, "pause")],
)
def test_invalid_shape_is_refused(wrong: dict[str, int], named: str) -> None:
    with refused(ValueError, named):
        TrainShape(**wrong)


@pytest.mark.parametrize(
    ("arrived", "rtt", "named"),
    [
        ([burst(1e9)] * 3, 0.01, "arrived"),
        ([burst(1e9, size=12)], 0.01, "arrived"),
        ([burst(1e9)], 0.0, "rtt"),
    ],
)
def test_impossible_arrivals_are_refused(arrived: list[SegmentArrivals], rtt: float, named: str) -> None:
    with refused(ValueError, named):
        estimate_rate(SHAPE, arrived, rtt)


def train(chance: random.Random, shape: TrainShape, rate: float, lost: float) -> list[SegmentArrivals | None]:
    step, at, found = shape.packet * 8 / rate, 0.0, []
    for _ in range(shape.bursts):
        packets = [(n, at + n * step) for n in range(shape.burst) if chance.random() >= lost]
        found.append(SegmentArrivals.from_packets(packets))
        at += shape.burst * step + shape.pause
    return found


@given(st.integers(0, 10**6), st.floats(1e6, 1e11), st.floats(0, 0.3), st.integers(20, 200))
def test_rate_is_the_sent_rate_less_the_loss(seed: int, rate: float, lost: float, size: int) -> None:
    """Without a round trip nothing limits it: the rate, less what was lost."""
    shape = TrainShape(burst=size)
    arrived = train(random.Random(seed), shape, rate, lost)
    useful = [one.count - 1 for one in arrived if one is not None and one.count > 1]
    found = estimate_rate(shape, arrived, rtt=None)
    assert found.rate == pytest.approx(rate * sum(useful) / (len(useful) * (size - 1)), rel=1e-4)
    assert found.rate == pytest.approx(rate * (1 - found.lost), rel=1 / (size * (1 - lost)))


@given(st.integers(0, 10**6), st.floats(1e6, 1e10), st.floats(0, 0.5), st.floats(1e-4, 1.0))
def test_longer_round_trip_never_gives_a_higher_rate(seed: int, rate: float, lost: float, rtt: float) -> None:
    arrived = train(random.Random(seed), TrainShape(), rate, lost)
    near, far = estimate_rate(TrainShape(), arrived, rtt), estimate_rate(TrainShape(), arrived, 2 * rtt)
    assume(near.rate is not None)
    assert isinstance(near, RateEstimate)
    assert (far.rate or 0) <= (near.rate or 0)
    if far.lost > 0:
        assert (far.rate or 0) <= mathis(2 * rtt, far.lost, MSS) * (1 + 1e-12)
