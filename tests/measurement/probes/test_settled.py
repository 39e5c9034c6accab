"""Trains behind a token bucket: simulated packet by packet, the rate is the bucket's, not the link's."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measurement.probes.train import (
    MSS,
    SEGMENT,
    Arrived,
    Shape,
    edges,
    estimate,
    joined,
    settled,
    tcp_payload,
)
from measurement.probes.train_sockets import Came, segmented
from measurement.probes.weighing import weighed

BITS = 1472 * 8


def through_bucket(
    shape: Shape,
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


def refined(shape: Shape, times: dict[int, float], segments: int = 8) -> float | None:
    return settled(segmented(shape, times, segments), shape.packet)


@pytest.mark.parametrize("rate", [50e6, 100e6, 300e6, 1e9])
@pytest.mark.parametrize("bucket", [1, 20, 100, 400])
@pytest.mark.parametrize("together", [1, 10])
def test_the_rate_behind_a_bucket(rate: float, bucket: int, together: int) -> None:
    shape = Shape(burst=800, bursts=5)
    times = through_bucket(shape, link=10e9, rate=rate, bucket=max(bucket, together), together=together)
    paper = estimate(shape, [joined(each) for each in segmented(shape, times, 8)], None).rate
    found = refined(shape, times)
    assert found == pytest.approx(rate, rel=0.05)
    assert paper is not None
    assert paper > 0.999 * found  # the paper's counts what the bucket let through


@pytest.mark.parametrize("rate", [50e6, 300e6])
@pytest.mark.parametrize("queue", [50, 300])
@pytest.mark.parametrize("together", [1, 16])
def test_a_full_queue_does_not_make_it_slower(rate: float, queue: int, together: int) -> None:
    """The paper's t is lengthened for the burst's end, which was lost in the queue."""
    shape = Shape(burst=800, bursts=4)
    times = through_bucket(shape, link=10e9, rate=rate, bucket=together, queue=queue, together=together)
    assert len(times) < 0.7 * shape.burst * shape.bursts
    assert refined(shape, times) == pytest.approx(rate, rel=0.12)


@given(st.floats(1e6, 1e10), st.integers(SEGMENT, 400), st.integers(1, 6), st.integers(1, 12))
def test_without_a_limit_and_without_loss_it_is_the_papers(
    rate: float, burst: int, bursts: int, segments: int
) -> None:
    shape = Shape(burst=burst, bursts=bursts)
    times = {place: place * BITS / rate for place in range(burst * bursts)}
    parts = segmented(shape, times, segments)
    paper = estimate(shape, [joined(each) for each in parts], None).rate
    assert settled(parts, shape.packet) == pytest.approx(paper, rel=1e-9)
    assert paper == pytest.approx(rate, rel=1e-6)


@given(st.integers(2, 5000), st.integers(1, 64))
def test_segments_are_the_whole_burst(burst: int, segments: int) -> None:
    found = edges(burst, segments)
    assert (found[0], found[-1]) == (0, burst)
    assert found == sorted({*found})
    assert len(found) - 1 <= segments
    assert len(found) == 2 or all(end - begin >= SEGMENT for begin, end in itertools.pairwise(found))


@given(st.sets(st.integers(0, 199)), st.integers(1, 6))
def test_segments_joined_are_the_burst(places: set[int], segments: int) -> None:
    shape = Shape(burst=200, bursts=1)
    times = {place: place * 1e-5 for place in places}
    whole = Arrived.of(times.items())
    (parts,) = segmented(shape, times, segments)
    assert joined(parts) == whole


def test_what_comes_at_one_moment_took_no_time_of_its_own() -> None:
    """Eight by eight every 8 ms: one a millisecond."""
    shape = Shape(packet=1250, burst=24, bursts=1)
    found = Arrived.of((place, (place // 8) * 0.008) for place in range(24))
    assert found is not None
    assert (found.count, found.together) == (24, 8)
    assert estimate(shape, [found], None).rate == pytest.approx(1e7)


def test_nothing_is_nothing() -> None:
    shape = Shape(burst=100, bursts=2)
    assert refined(shape, {}) is None
    assert refined(shape, {3: 0.5}) is None
    assert joined([None, None]) is None


def test_only_the_first_burst_came() -> None:
    shape = Shape(burst=96, bursts=4)
    assert refined(shape, {place: place * BITS / 1e8 for place in range(96)}) == pytest.approx(1e8)


@pytest.mark.parametrize("pause", [0.002, 0.010, 0.1])
def test_a_burst_in_which_the_sender_was_stopped_does_not_count(pause: float) -> None:
    """One of five is stopped in its middle; in the paper's equation its pause is the path's slowness."""
    shape = Shape(burst=200, bursts=5)
    times = {place: place * BITS / 1e9 + (pause if place >= 500 else 0.0) for place in range(1000)}
    paper = estimate(shape, [joined(each) for each in segmented(shape, times, 4)], None).rate
    assert paper is not None
    assert paper < 0.9e9
    assert refined(shape, times) == pytest.approx(1e9)


def test_of_two_bursts_none_is_told_from_most() -> None:
    shape = Shape(burst=200, bursts=2)
    times = {place: place * BITS / 1e9 + (0.010 if place >= 300 else 0.0) for place in range(400)}
    assert refined(shape, times, 4) == pytest.approx(2 * 199 * BITS / (2 * 199 * BITS / 1e9 + 0.010))


@pytest.mark.parametrize(("faster", "counts"), [(1.4, True), (1.6, False)])
def test_a_little_faster_at_the_beginning_counts(faster: float, counts: bool) -> None:
    shape = Shape(burst=200, bursts=1)
    half = 100 * BITS / (faster * 1e8)
    times = {n: n * BITS / (faster * 1e8) if n < 100 else half + (n - 100) * BITS / 1e8 for n in range(200)}
    assert refined(shape, times, 2) == pytest.approx(199 * BITS / times[199] if counts else 1e8)


@given(st.lists(st.floats(1e6, 1e10), min_size=3, max_size=9))
def test_the_rate_is_within_those_of_the_bursts(rates: list[float]) -> None:
    shape = Shape(burst=96, bursts=len(rates))
    times = {n * 96 + k: n * 100 + k * BITS / rate for n, rate in enumerate(rates) for k in range(96)}
    found = refined(shape, times, segments=1)
    assert found is not None
    assert 0.99 * min(rates) <= found <= 1.01 * max(rates)


def test_tcps_headers_are_longer() -> None:
    """Of a frame of 1514 bytes UDP has 1472 for data, TCP 1448."""
    assert tcp_payload(1472.0, 1472) == pytest.approx(MSS)
    assert tcp_payload(100.0, 500) < tcp_payload(100.0, 100)


class TestWeighed:
    shape = Shape(burst=100, bursts=2)
    times: ClassVar = {place: place * BITS / 1e8 for place in range(200)}

    def came(self, *lost: int, overflowed: int = 0) -> Came:
        times = {place: at for place, at in self.times.items() if place not in lost}
        return Came(segmented(self.shape, times, 2), overflowed, stepped=False)

    def test_as_the_paper_has_it_and_as_tcp_would(self) -> None:
        found = weighed(self.shape, self.came(), 0.001)
        assert (found.paper, found.rate) == (pytest.approx(1e8), pytest.approx(1e8 * 1448 / 1472))
        assert found.took == pytest.approx(199 * BITS / 1e8)

    def test_loss_limits_tcp(self) -> None:
        found = weighed(self.shape, self.came(50), 0.1)
        assert found.limited
        assert found.lost == pytest.approx(1 / 200)
        assert found.rate == pytest.approx(8 * 1448 * 1.5**0.5 / (0.1 * (1 / 200) ** 0.5))

    def test_what_our_own_socket_lost_does_not(self) -> None:
        found = weighed(self.shape, self.came(50, overflowed=1), 0.1)
        assert not found.limited
        assert found.overflowed == 1

    def test_nothing_came(self) -> None:
        found = weighed(self.shape, self.came(*range(200)), 0.001)
        assert (found.rate, found.lost, found.took) == (None, 1.0, 0.0)
        assert "two packets" in found.why


@given(st.data())
def test_no_arrivals_whatever_break_it(data: st.DataObject) -> None:
    shape = Shape(burst=data.draw(st.integers(2, 150)), bursts=data.draw(st.integers(1, 4)))
    places = st.integers(0, shape.burst * shape.bursts - 1)
    times = data.draw(st.dictionaries(places, st.floats(0, 10), max_size=60))
    found = weighed(shape, Came(segmented(shape, times, 4), 0, stepped=False), None)
    assume(found.rate is not None)
    assert found.rate is not None
    assert found.rate > 0
    assert replace(found, rate=None).paper is not None
