from __future__ import annotations

import pytest

from measurement.pscheduler import specs
from tests.support.refusals import refused

ENDS = specs.Ends("192.0.2.1", "192.0.2.2", "a.example.net", "b.example.net")


@pytest.mark.parametrize(
    ("streams", "rate", "sent"), [(1, None, None), (1, 50e6, 50e6), (4, 50e6, 50e6), (3, 100, 99)]
)
def test_a_rate_is_of_all_streams_together(streams: int, rate: float | None, sent: float | None) -> None:
    assert specs.throughput(ENDS, 10, streams, rate=rate).rate == sent


@pytest.mark.parametrize(("udp", "rate"), [(10_000_000, 1e6), (None, 0.5), (None, float("nan"))])
def test_a_rate_that_makes_no_sense_is_refused(udp: int | None, rate: float) -> None:
    with refused(ValueError, "rate"):
        specs.throughput(ENDS, 10, 1, udp, rate=rate)


@pytest.mark.parametrize(
    ("test", "slot"),
    [(specs.throughput(ENDS, 3), 12.0), (specs.rtt(ENDS, 25), 11.0)],
    ids=["3 s of iperf3", "5 s of ping"],
)
def test_a_slot_is_as_long_as_a_real_server_makes_it(test: specs.TestRequest, slot: float) -> None:
    assert test.slot == slot


def test_control_traffic_stays_off_the_measured_path() -> None:
    spec = specs.throughput(ENDS, 10).spec
    assert (spec["source"], spec["source-node"]) == ("192.0.2.1", "a.example.net")
    for echoed in (specs.rtt(ENDS, 3), specs.trace(ENDS)):
        assert "dest-node" not in echoed.spec  # the far end needs no measurement point
