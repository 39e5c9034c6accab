from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from measurement.errors import PointError, Rejected
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient, Schedule
from measurement.pscheduler.iso8601 import parse_timestamp
from measurement.pscheduler.leftovers import sweep
from tests.measurement.standin import StandIn, reply
from tests.support.refusals import refused

TEST = specs.rtt(specs.Ends("127.0.0.1", "127.0.0.2", "a", "b"), 3)
SECRET = b"0123456789abcdef"


def client(server: StandIn, **more: Any) -> PSchedulerClient:
    return PSchedulerClient(server.url, attempts=1, pause=lambda _: None, **more)


def test_a_planned_start_is_absolute_and_on_the_nearest_second(server: StandIn) -> None:
    client(server).post(TEST, Schedule(slip=1, start_at=2_000_000_000.6))
    schedule = server.posted[0]["schedule"]
    assert parse_timestamp(schedule["start"]) == 2_000_000_001
    assert schedule["slip"] == "PT1S"
    with refused(ValueError, "start"):
        Schedule(start=1, start_at=2)


def test_what_an_earlier_process_left_is_found_and_cancelled_with_its_keys(server: StandIn) -> None:
    client(server, owner="me", secret=SECRET).post(TEST, Schedule(repeat=60))
    client(server, owner="somebody else").post(TEST, Schedule(repeat=60))
    swept = sweep(client(server, owner="me", secret=SECRET))
    assert (swept.cancelled, swept.errors) == (1, ())
    assert server.cancelled == [server.posted[0]["_key"]]
    assert server.posted[0]["_key"] != server.posted[1]["_key"]


def test_a_sweep_goes_on_after_a_refusal_and_reports_it(server: StandIn) -> None:
    for _ in range(2):
        client(server, owner="me").post(TEST, Schedule())

    def refuse_once(handler: BaseHTTPRequestHandler) -> None:
        del server.misbehave["DELETE"]
        reply(handler, 403, "Forbidden", "text/plain")

    server.misbehave["DELETE"] = refuse_once
    swept = sweep(client(server, owner="me"))
    assert swept.cancelled == 1
    assert [type(error) for error in swept.errors] == [Rejected]
    server.misbehave["GET /tasks"] = lambda handler: reply(handler, 500, "x", "text/plain")
    assert len(sweep(client(server, owner="me")).errors) == 1


@pytest.mark.parametrize(
    ("status", "text", "posts"),
    [
        (400, "At /: not valid", 1),
        (403, "Task forbidden by limits:", 1),
        (422, "no tools in common", 1),
        (422, "Limit processor is not initialized", 1),
        (500, "Error getting tools from b: connection refused", 2),
        (500, "Traceback", 2),
        (503, "restarting", 2),
    ],
)
def test_a_refused_post_is_repeated_only_where_that_can_help(
    server: StandIn, status: int, text: str, posts: int
) -> None:
    server.misbehave["POST /tasks"] = lambda handler: reply(handler, status, text, "text/plain")
    with pytest.raises(PointError):
        client(server).post(TEST, Schedule())
    assert server.asked.count("POST /tasks") == posts
