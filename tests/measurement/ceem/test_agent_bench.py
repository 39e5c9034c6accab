"""Tests by probe agents: the probe of a test, and the value of its finding."""

from __future__ import annotations

import pytest

from measurement.ceem.agent_bench import read_finding
from measurement.ceem.template import AgentTest
from measurement.probes.findings import RoundTrips, TransferResult
from measurement.probes.probe_types import Throughput, Train, UdpEcho
from tests.support.refusals import refused


@pytest.mark.parametrize(("duration", "count"), [(2.0, 20), (0.55, 5), (0.05, 1)])
def test_round_trips_fill_the_test(duration: float, count: int) -> None:
    found = AgentTest(kind="round-trip").probe(duration)
    assert isinstance(found, UdpEcho)
    assert (found.count, found.interval) == (count, 0.1)


@pytest.mark.parametrize(("duration", "intervals"), [(10.0, 10), (2.5, 2), (0.5, 1)])
def test_transfer_lasts_as_long_as_the_test(duration: float, intervals: int) -> None:
    found = AgentTest(kind="throughput", connections=3).probe(duration)
    assert isinstance(found, Throughput)
    assert (found.intervals, found.intervals * found.interval, found.connections) == (intervals, duration, 3)


def test_train_ignores_the_duration() -> None:
    assert AgentTest(kind="train").probe(99.0) == Train()


def test_value_is_a_mean_of_what_was_answered() -> None:
    assert read_finding(TransferResult(0.5, (62_500, 187_500))) == 2e6
    assert read_finding(RoundTrips((0.01, None, 0.03))) == pytest.approx(0.02)
    for nothing in (TransferResult(0.5, ()), RoundTrips((None, None))):
        with refused(ValueError):
            read_finding(nothing)
