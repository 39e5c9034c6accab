"""Sums that are kept are the sums of what is there."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.load import PathLoad
from adon.flowvisor.performance import Counters, FlowLoad, estimate_throughput
from measurement.model import Measurement, Metric, PathKey

FLOWS = st.dictionaries(
    st.integers(1, 30), st.tuples(st.integers(1, 8), st.floats(0, 100), st.floats(0, 1e6)), max_size=12
)
TESTED = Measurement(
    PathKey("a", "x", "y"), Metric.THROUGHPUT, 5e7, 40.0, 50.0, "t", "iperf3", {"streams": 2}
)


@settings(max_examples=100, deadline=None)
@given(flows=FLOWS, gone=st.sets(st.integers(1, 30)), counted=st.booleans(), tested=st.booleans())
def test_an_estimate_is_the_same_from_the_sums_as_from_every_flow(
    flows: dict[int, tuple[int, float, float]], gone: set[int], counted: bool, tested: bool
) -> None:
    load = PathLoad(lambda number: (1e5 * number, 60.0))
    for number, (streams, since, bound) in flows.items():
        load.put(number, streams, since, bound)
    for number in gone & flows.keys():
        load.drop(number, flows[number][1])
    left = {number: flow for number, flow in flows.items() if number not in gone}
    assert load.streams == sum(streams for streams, _, _ in left.values())
    assert abs(load.reserved - sum(bound for _, _, bound in left.values())) < 1e-3
    used = load.used() if counted else None
    assert (load.used() is None) is (not left)
    test = TESTED if tested else None
    times = ([40.0] if tested else []) + ([] if used is None else [used.observed_at])
    for asks in (None, *left):
        own = None if asks is None else (left[asks][1], left[asks][0])
        each = [FlowLoad(streams, since) for n, (streams, since, _) in left.items() if n != asks]
        assert estimate(test, load.without(own, *times), used) == estimate(test, each, used)


def estimate(tested: Measurement | None, loads: list[FlowLoad], used: Counters | None) -> object:
    return estimate_throughput(tested, 90.0, 300.0, 1e8, 3, loads, used)


def test_a_rate_that_changes_changes_the_use() -> None:
    rates = {1: (1e6, 10.0), 2: (2e6, 12.0)}
    load = PathLoad(rates.get)
    load.put(1, 1, 0.0, 0.0)
    load.put(2, 1, 0.0, 0.0)
    before = load.version
    assert load.used() == Counters(3e6, 10.0, "rule counters of our flows")
    rates[2] = (5e6, 15.0)
    load.counted()
    assert load.used() == Counters(6e6, 10.0, "rule counters of our flows")
    assert load.version > before
    load.put(3, 1, 0.0, 0.0)
    assert load.used() is None


def test_who_has_left_since_a_test_was_beside_it() -> None:
    load = PathLoad(lambda _: None)
    load.put(1, 4, 0.0, 0.0)
    load.put(2, 2, 12.0, 0.0)
    load.drop(1, 0.0, 15.0)
    assert load.average(10.0, 20.0) == (4 * 5 + 2 * 8) / 10
    assert load.average(14.0, 14.0) == 6
    assert load.average(15.0, 15.0) == 2


@settings(max_examples=100)
@given(
    stays=st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100), st.integers(1, 8)), max_size=12),
    begin=st.floats(0, 100),
    lasts=st.floats(0.01, 100),
)
def test_the_average_is_no_more_than_all_and_no_less_than_who_stayed(
    stays: list[tuple[float, float, int]], begin: float, lasts: float
) -> None:
    load, end = PathLoad(lambda _: None), begin + lasts
    for number, (since, stayed, streams) in enumerate(stays):
        load.put(number, streams, since, 0.0)
        load.drop(number, since, since + stayed)
    found = load.average(begin, end)
    always = sum(s for since, stayed, s in stays if since <= begin and since + stayed >= end)
    ever = sum(s for since, stayed, s in stays if since < end and since + stayed > begin)
    assert always - 1e-6 <= found <= ever + 1e-6
