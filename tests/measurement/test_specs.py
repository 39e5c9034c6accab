from __future__ import annotations

import pytest

from measurement.errors import Rejected
from measurement.pscheduler import specs, validation
from measurement.pscheduler.client import PSchedulerClient, Schedule
from tests.measurement.standin import slot_of, stand_in
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
    [
        (specs.throughput(ENDS, 3), 12.0),
        (specs.rtt(ENDS, 25), 11.0),
        (specs.latency(ENDS, 100, 0.01), 13.102),
        (specs.latency(ENDS, 600, 0.1), 78.012),
        (specs.TestRequest("latency", {"dest": "192.0.2.2"}, 10.0), 22.002),
    ],
    ids=["3 s of iperf3", "5 s of ping", "1 s of owping", "1 min of owping", "owping's defaults"],
)
def test_a_slot_is_as_long_as_a_real_server_makes_it(test: specs.TestRequest, slot: float) -> None:
    assert test.slot == pytest.approx(slot)
    assert test.slot >= slot_of(test.document)


def test_control_traffic_stays_off_the_measured_path() -> None:
    spec = specs.throughput(ENDS, 10).spec
    assert (spec["source"], spec["source-node"]) == ("192.0.2.1", "a.example.net")
    for echoed in (specs.rtt(ENDS, 3), specs.trace(ENDS)):
        assert "dest-node" not in echoed.spec  # the far end needs no measurement point


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("throughput", "window-size", 0),
        ("throughput", "mss", 0),
        ("throughput", "buffer-length", 0),
        ("throughput", "flow-label", 0),
        ("throughput", "burst-size", 0),
        ("throughput", "congestion", ""),
        ("rtt", "length", 0),
        ("rtt", "ttl", 0),
        ("trace", "ip-tos", 0),
        ("trace", "first-ttl", 0),
        ("trace", "hops", 0),
        ("trace", "length", 0),
        ("trace", "flow-label", 0),
        ("latency", "data-ports", {}),
        ("latency", "data-ports", {"lower": 9000}),
        ("latencybg", "data-ports", {}),
    ],
)
def test_field_that_a_server_refuses_is_refused_before_it_is_posted(
    kind: str, field: str, value: object
) -> None:
    test = specs.TestRequest(kind, {"schema": 4, "dest": "192.0.2.2", field: value}, 1.0)
    with stand_in() as server, refused(Rejected):
        PSchedulerClient(server.url, pause=lambda _: None).post(test, Schedule())
    assert [problem.partition(":")[0] for problem in validation.problems(test)] == [f"{kind}.{field}"]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("throughput", "ip-tos", 0),
        ("throughput", "congestion", "bbr"),
        ("rtt", "flow-label", 0),
        ("rtt", "ttl", 1),
        ("trace", "dest-port", 0),
        ("latency", "packet-timeout", 0),
        ("latency", "data-ports", {"lower": 8760, "upper": 9960}),
    ],
)
def test_field_that_a_server_accepts_is_accepted(kind: str, field: str, value: object) -> None:
    test = specs.TestRequest(kind, {"dest": "192.0.2.2", field: value}, 1.0)
    with stand_in() as server:
        PSchedulerClient(server.url, pause=lambda _: None).post(test, Schedule())
    assert validation.problems(test) == []
