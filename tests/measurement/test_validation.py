from __future__ import annotations

from typing import Any

import pytest

from measurement.pscheduler import specs
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.pscheduler.validation import problems, smallest_schema

ENDS = specs.Ends("192.0.2.1", "2001:db8::2", "a.example.net", "b.example.net:4443")


@pytest.mark.parametrize(
    "test",
    [
        specs.throughput(ENDS, 10, 4),
        specs.throughput(ENDS, 10, 1, 10_000_000),
        specs.rtt(ENDS, 5),
        specs.latency(ENDS, 100, 0.01),
        specs.latency_in_background(ENDS, 600, 0.1, 86_400),
        specs.trace(ENDS),
        TestRequest("dns", {"query": "example.net"}, 5),
    ],
    ids=lambda test: str(test.kind),
)
def test_what_we_write_ourselves_is_valid_in_the_smallest_schema(test: TestRequest) -> None:
    assert problems(test) == []
    assert test.slot > test.lasts
    assert smallest_schema(test) == 1


@pytest.mark.parametrize(
    ("kind", "fields", "cause"),
    [
        (Kind.THROUGHPUT, {"duration": "10"}, "throughput.duration: must be an ISO 8601 duration"),
        (Kind.THROUGHPUT, {"duration": 10}, "throughput.duration"),
        (Kind.THROUGHPUT, {"duration": "P0D"}, "must be longer than zero"),
        (Kind.THROUGHPUT, {"bandwidth": "10M"}, "throughput.bandwidth: must be a whole number"),
        (Kind.THROUGHPUT, {"parallel": 0}, "throughput.parallel"),
        (Kind.THROUGHPUT, {"parallel": True}, "throughput.parallel"),
        (Kind.THROUGHPUT, {"udp": 1}, "throughput.udp: must be true or false"),
        (Kind.THROUGHPUT, {"dest": "two words"}, "throughput.dest: must be the name"),
        (Kind.THROUGHPUT, {"streams": 4}, "throughput.streams: is no field"),
        (Kind.THROUGHPUT, {"fq-rate": 1000}, "throughput.schema: is 1, the fields need 7"),
        (Kind.RTT, {"count": 2.5}, "rtt.count"),
        (Kind.RTT, {"ip-version": 5}, "rtt.ip-version: must be one of"),
        (Kind.RTT, {"port": 7, "schema": 3}, "rtt.schema: is 3, the fields need 4"),
        (Kind.LATENCY, {"packet-interval": 0}, "latency.packet-interval"),
        (Kind.LATENCY, {"bucket-width": 1.0}, "latency.bucket-width"),
        (Kind.LATENCYBG, {"reverse": True}, "latencybg.reverse: is no field"),
        (Kind.TRACE, {"probe-type": "carrier pigeon"}, "trace.probe-type"),
        (Kind.TRACE, {"hops": 256}, "trace.hops"),
    ],
)
def test_a_wrong_field_is_named(kind: Kind, fields: dict[str, Any], cause: str) -> None:
    (found,) = problems(TestRequest(kind, {"dest": "b.example.net", **fields}, 1))
    assert cause in found


def test_a_destination_is_needed_and_a_comment_is_not_looked_at() -> None:
    assert problems(TestRequest(Kind.RTT, {"#": object()}, 1)) == ["rtt.dest: is missing"]


def test_the_schema_that_the_fields_need_is_enough() -> None:
    test = TestRequest(Kind.THROUGHPUT, {"dest": "b", "loopback": True, "schema": 5}, 1)
    assert problems(test) == []
    assert smallest_schema(test) == 5
