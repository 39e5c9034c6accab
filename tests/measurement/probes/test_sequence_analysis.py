"""Trains behind a token bucket: simulated packet by packet, the rate is the bucket's, not the link's."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measurement.probes.findings import (
    FailureCause,
    ProbeError,
    SandwichDelays,
    SegmentArrivals,
    TrainResult,
)
from measurement.probes.probe_types import SandwichBack, TrainShape
from measurement.probes.sequence_analysis import (
    MSS,
    SEGMENT,
    analyse_train,
    estimate_rate,
    join_segments,
    sandwich_delays,
    segment_edges,
    settled_rate,
    split_bursts,
    tcp_rate,
)

BITS = 1472 * 8


def through_bucket(
    shape: TrainShape,
    *,
    link: float,
    rate: float,
    bucket: int,
    queue: int | None = None,
    together: int = 1,
) -> dict[int, float]:
    """When packets come through a token bucket of so many packets, by place; a full queue loses them.

    The sender hands over bursts at the link's rate, the next one a pause after the last packet was sent.
    """
    tokens, at = float(bucket), 0.0
    times = dict[int, float]()
    waiting = list[float]()
    now = 0.0
    for place in range(shape.burst * shape.bursts):
        if place and place % shape.burst == 0:
            now += shape.pause
        if place % together == 0:
            now += together * BITS / link
            waiting = [gone for gone in waiting if gone > now]
            # What is lost is lost as it is sent, several packets at a time.
            full = queue is not None and len(waiting) >= queue
        if full:
            continue
        if place % together == 0:
            begin = max(now, at)
            tokens = min(bucket, tokens + (begin - at) * rate / BITS)
            leave = begin + max(0.0, together - tokens) * BITS / rate
            tokens = max(0.0, tokens - together)
            at = leave
        times[place] = leave
        waiting.append(leave)
    return times


def refined(shape: TrainShape, times: dict[int, float], segments: int = 8) -> float | None:
    return settled_rate(split_bursts(shape, times, segments), shape.packet)


@pytest.mark.parametrize("rate", [50e6, 100e6, 300e6, 1e9])
@pytest.mark.parametrize("bucket", [1, 20, 100, 400])
@pytest.mark.parametrize("together", [1, 10])
def test_rate_behind_a_bucket(rate: float, bucket: int, together: int) -> None:
    shape = TrainShape(burst=800, bursts=5)
    times = through_bucket(shape, link=10e9, rate=rate, bucket=max(bucket, together), together=together)
    paper = estimate_rate(shape, [join_segments(each) for each in split_bursts(shape, times, 8)], None).rate
    found = refined(shape, times)
    assert found == pytest.approx(rate, rel=0.05)
    assert paper is not None
    assert paper > 0.999 * found  # the paper's counts what the bucket let through


@pytest.mark.parametrize("rate", [50e6, 300e6])
@pytest.mark.parametrize("queue", [50, 300])
@pytest.mark.parametrize("together", [1, 16])
def test_full_queue_does_not_lower_the_rate(rate: float, queue: int, together: int) -> None:
    """The paper's t is lengthened for the burst's end, which was lost in the queue."""
    shape = TrainShape(burst=800, bursts=4)
    times = through_bucket(shape, link=10e9, rate=rate, bucket=together, queue=queue, together=together)
    assert len(times) < 0.7 * shape.burst * shape.bursts
    assert refined(shape, times) == pytest.approx(rate, rel=0.12)


@given(st.floats(1e6, 1e10), st.integers(SEGMENT, 400), st.integers(1, 6), st.integers(1, 12))
def test_rate_without_limit_and_loss_is_that_of_the_paper(
    rate: float, burst: int, bursts: int, segments: int
) -> None:
    shape = TrainShape(burst=burst, bursts=bursts)
    times = {place: place * BITS / rate for place in range(burst * bursts)}
    parts = split_bursts(shape, times, segments)
    paper = estimate_rate(shape, [join_segments(each) for each in parts], None).rate
    assert settled_rate(parts, shape.packet) == pytest.approx(paper, rel=1e-9)
    assert paper == pytest.approx(rate, rel=1e-6)


@given(st.integers(2, 5000), st.integers(1, 64))
def test_segments_cover_the_burst(burst: int, segments: int) -> None:
    found = segment_edges(burst, segments)
    assert (found[0], found[-1]) == (0, burst)
    assert found == sorted({*found})
    assert len(found) - 1 <= segments
    assert len(found) == 2 or all(end - begin >= SEGMENT for begin, end in itertools.pairwise(found))


@given(st.sets(st.integers(0, 199)), st.integers(1, 6))
def test_joined_segments_equal_the_burst(places: set[int], segments: int) -> None:
    shape = TrainShape(burst=200, bursts=1)
    times = {place: place * 1e-5 for place in places}
    whole = SegmentArrivals.from_packets(times.items())
    (parts,) = split_bursts(shape, times, segments)
    assert join_segments(parts) == whole


def test_packets_at_one_moment_take_no_time() -> None:
    """Eight by eight every 8 ms: one a millisecond."""
    shape = TrainShape(packet=1250, burst=24, bursts=1)
    found = SegmentArrivals.from_packets((place, (place // 8) * 0.008) for place in range(24))
    assert found is not None
    assert (found.count, found.together) == (24, 8)
    assert estimate_rate(shape, [found], None).rate == pytest.approx(1e7)


def test_no_arrivals_give_no_rate() -> None:
    shape = TrainShape(burst=100, bursts=2)
    assert refined(shape, {}) is None
    assert refined(shape, {3: 0.5}) is None
    assert join_segments([None, None]) is None


def test_first_burst_alone_gives_a_rate() -> None:
    shape = TrainShape(burst=96, bursts=4)
    assert refined(shape, {place: place * BITS / 1e8 for place in range(96)}) == pytest.approx(1e8)


@pytest.mark.parametrize("pause", [0.002, 0.010, 0.1])
def test_disturbed_burst_does_not_count(pause: float) -> None:
    """One of five is stopped in its middle; in the paper's equation its pause is the path's slowness."""
    shape = TrainShape(burst=200, bursts=5)
    times = {place: place * BITS / 1e9 + (pause if place >= 500 else 0.0) for place in range(1000)}
    paper = estimate_rate(shape, [join_segments(each) for each in split_bursts(shape, times, 4)], None).rate
    assert paper is not None
    assert paper < 0.9e9
    assert refined(shape, times) == pytest.approx(1e9)


def test_two_bursts_both_count() -> None:
    shape = TrainShape(burst=200, bursts=2)
    times = {place: place * BITS / 1e9 + (0.010 if place >= 300 else 0.0) for place in range(400)}
    assert refined(shape, times, 4) == pytest.approx(2 * 199 * BITS / (2 * 199 * BITS / 1e9 + 0.010))


@pytest.mark.parametrize(("faster", "counts"), [(1.4, True), (1.6, False)])
def test_slightly_faster_beginning_counts(faster: float, counts: bool) -> None:
    shape = TrainShape(burst=200, bursts=1)
    half = 100 * BITS / (faster * 1e8)
    times = {n: n * BITS / (faster * 1e8) if n < 100 else half + (n - 100) * BITS / 1e8 for n in range(200)}
    assert refined(shape, times, 2) == pytest.approx(199 * BITS / times[199] if counts else 1e8)


@given(st.lists(st.floats(1e6, 1e10), min_size=3, max_size=9))
def test_rate_is_within_those_of_the_bursts(rates: list[float]) -> None:
    shape = TrainShape(burst=96, bursts=len(rates))
    times = {n * 96 + k: n * 100 + k * BITS / rate for n, rate in enumerate(rates) for k in range(96)}
    found = refined(shape, times, segments=1)
    assert found is not None
    assert 0.99 * min(rates) <= found <= 1.01 * max(rates)


def test_tcp_headers_are_longer() -> None:
    """Of a frame of 1514 bytes UDP has 1472 for data, TCP 1448."""
    assert tcp_rate(1472.0, 1472) == pytest.approx(MSS)
    assert tcp_rate(100.0, 500) < tcp_rate(100.0, 100)


class TestAnalyseTrain:
    shape = TrainShape(burst=100, bursts=2)

    def analyse(self, *lost: int, rtt: float = 0.1, overflowed: int = 0) -> TrainResult:
        times = {place: place * BITS / 1e8 for place in range(200) if place not in lost}
        return analyse_train(self.shape, times, 2, rtt, overflowed)

    def test_rate_of_the_paper_and_of_tcp(self) -> None:
        found = self.analyse(rtt=0.001)
        assert (found.paper, found.rate) == (pytest.approx(1e8), pytest.approx(1e8 * 1448 / 1472))
        assert found.took == pytest.approx(199 * BITS / 1e8)

    def test_loss_limits_tcp(self) -> None:
        found = self.analyse(50)
        assert found.limited
        assert found.lost == pytest.approx(1 / 200)
        assert found.rate == pytest.approx(8 * 1448 * 1.5**0.5 / (0.1 * (1 / 200) ** 0.5))

    def test_loss_in_the_own_socket_does_not_limit_tcp(self) -> None:
        found = self.analyse(50, overflowed=1)
        assert not found.limited
        assert found.overflowed == 1

    def test_train_without_arrivals_has_no_rate(self) -> None:
        found = self.analyse(*range(200))
        assert (found.rate, found.lost, found.took) == (None, 1.0, 0.0)
        assert found.why


@given(st.data())
def test_rate_is_positive_for_any_arrivals(data: st.DataObject) -> None:
    shape = TrainShape(burst=data.draw(st.integers(2, 150)), bursts=data.draw(st.integers(1, 4)))
    places = st.integers(0, shape.burst * shape.bursts - 1)
    times = data.draw(st.dictionaries(places, st.floats(0, 10), max_size=60))
    found = analyse_train(shape, times, 4, None)
    assume(found.rate is not None)
    assert found.rate is not None
    assert found.rate > 0
    assert found.paper is not None


class TestSandwichDelays:
    @pytest.mark.parametrize(
        ("lost", "delays"),
        [
            ((), (120e-6, -10e-6)),
            ((0,), (None, -10e-6)),
            ((4,), (120e-6, None)),
            ((5,), (120e-6, None)),
            ((0, 3), (None, None)),
        ],
    )
    def test_delay_is_the_change_of_the_distance(
        self, lost: tuple[int, ...], delays: tuple[float | None, ...]
    ) -> None:
        """The first arrives 2.12 ms apart, sent 2 ms apart; the second 1.99 ms."""
        sent = (50, 2_000_000, 2_000_050, 10_000_000, 12_000_000, 12_000_000)
        times = (0, 2_100_000, 2_120_000, 10_000_000, 11_900_000, 11_990_000)
        arrived = {place: at for place, at in enumerate(times) if place not in lost}
        found = sandwich_delays(SandwichBack(count=2), 1472, sent, arrived)
        expected = tuple(None if one is None else pytest.approx(one) for one in delays)
        assert found == SandwichDelays(expected, 1472)

    def test_sandwich_that_was_not_sent_has_no_delay(self) -> None:
        found = sandwich_delays(SandwichBack(count=2), 1472, (0, 1, 2), {0: 0, 1: 1, 2: 3})
        assert found.by == (pytest.approx(1e-9), None)

    def test_large_packets_that_never_arrive_are_too_large(self) -> None:
        with pytest.raises(ProbeError) as caught:
            sandwich_delays(SandwichBack(count=1), 1472, (0, 1, 2), {0: 0, 2: 3})
        assert caught.value.why == FailureCause.TOO_LARGE
