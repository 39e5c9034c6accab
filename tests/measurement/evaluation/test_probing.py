"""What a probe agent is asked for, and what its finding is worth as a test's value."""

from __future__ import annotations

import pytest

from measurement.evaluation.document import ProbeKind, Probing
from measurement.evaluation.probing import probe_of, value_of_finding
from measurement.probes.findings import RoundTrips, TransferResult
from measurement.probes.probe_types import Throughput, Train, UdpEcho
from tests.support.refusals import refused


@pytest.mark.parametrize(("duration", "count"), [(2.0, 20), (0.55, 5), (0.05, 1)])
def test_round_trips_fill_the_test(duration: float, count: int) -> None:
    found = probe_of(Probing(ProbeKind.ROUND_TRIP), duration)
    assert isinstance(found, UdpEcho)
    assert (found.count, found.interval) == (count, 0.1)


@pytest.mark.parametrize(("duration", "intervals"), [(10.0, 10), (2.5, 2), (0.5, 1)])
def test_a_transfer_lasts_as_long_as_the_test(duration: float, intervals: int) -> None:
    found = probe_of(Probing(ProbeKind.THROUGHPUT, 3), duration)
    assert isinstance(found, Throughput)
    assert (found.intervals, found.intervals * found.interval, found.connections) == (intervals, duration, 3)


def test_a_train_takes_its_own_time() -> None:
    assert probe_of(Probing(ProbeKind.TRAIN), 99.0) == Train()


def test_a_value_is_a_mean_and_of_nothing_there_is_none() -> None:
    assert value_of_finding(TransferResult(0.5, (62_500, 187_500))) == 2e6
    for nothing in (TransferResult(0.5, ()), RoundTrips((None, None))):
        with refused(ValueError):
            value_of_finding(nothing)
