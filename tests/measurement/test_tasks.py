from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.errors import AnswerTooLarge, BadAnswer, PointError, Rejected
from measurement.pscheduler import history, specs
from measurement.pscheduler.client import Options, PSchedulerClient, Schedule, ScheduledRun
from measurement.pscheduler.iso8601 import parse_timestamp
from measurement.pscheduler.leftovers import sweep
from measurement.pscheduler.states import RunState
from tests.measurement.standin import TASK, StandIn, reply, stand_in

TEST = specs.rtt(specs.Ends("127.0.0.1", "127.0.0.2", "a", "b"), 3)
SECRET = b"0123456789abcdef"


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as running:
        yield running


def client(server: StandIn, **more: Any) -> PSchedulerClient:
    return PSchedulerClient(server.url, attempts=1, pause=lambda _: None, **more)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), {"schema": 1}),
        (Options(tools=("iperf3", "nuttcp")), {"schema": 1, "tools": ["iperf3", "nuttcp"]}),
        (Options(lead_bind="192.0.2.1"), {"schema": 1, "lead-bind": "192.0.2.1"}),
        (Options(priority=5), {"schema": 3, "priority": 5}),
    ],
)
def test_options_declare_the_smallest_schema_that_carries_them(
    server: StandIn, options: Options, expected: dict[str, Any]
) -> None:
    client(server).post(TEST, Schedule(), options)
    (body,) = server.posted
    assert {name: body.get(name) for name in expected} == expected
    assert set(body) == {*expected, "test", "schedule", "reference", "_key"}


def test_a_planned_start_is_absolute_and_on_the_nearest_second(server: StandIn) -> None:
    client(server).post(TEST, Schedule(slip=1, start_at=2_000_000_000.6))
    schedule = server.posted[0]["schedule"]
    assert parse_timestamp(schedule["start"]) == 2_000_000_001
    assert schedule["slip"] == "PT1S"
    with pytest.raises(ValueError, match="given twice"):
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


@pytest.mark.parametrize(
    "line",
    [
        {"href": "https://x/tasks"},
        {"state": "dreaming"},
        {"end-time": "2001-01-01T00:00:00Z"},
        {"start-time": None},
    ],
)
def test_a_line_of_the_schedule_that_makes_no_sense_is_refused(server: StandIn, line: dict[str, Any]) -> None:
    server.ran(TASK, "33333333-3333-4333-8333-333333333333", 2e9, None)
    server.runs[0] |= line
    server.misbehave["GET /schedule"] = lambda handler: reply(handler, 200, server.runs)
    with pytest.raises(BadAnswer, match=r"schedule\[0\]"):
        client(server).scheduled(2e9 - 1, 2e9 + 1)


def runs_at(*starts: float, lasts: float = 0) -> list[ScheduledRun]:
    return [
        ScheduledRun(f"run-{n}", "task", RunState.FINISHED, start, start + lasts)
        for n, start in enumerate(starts)
    ]


@settings(max_examples=60)
@given(
    st.lists(st.floats(0, 20_000), max_size=40),
    st.floats(0, 8000),
    st.floats(60, 7000),
    st.integers(1, 40),
)
def test_a_history_is_read_whole_and_each_run_once_however_large_an_answer_may_be(
    starts: list[float], lasts: float, window: float, most: int
) -> None:
    known = runs_at(*starts, lasts=lasts)
    refused = False

    def ask(start: float, end: float) -> list[ScheduledRun]:
        found = [run for run in known if run.end >= start and run.start <= end]
        if len(found) > most:
            raise AnswerTooLarge("h", "too large")
        return found

    try:
        read = [run.run for run in history.runs(ask, 0, 20_000, window)]
    except AnswerTooLarge:
        refused = True
    if not refused:
        assert sorted(read) == sorted(run.run for run in known)
    else:
        assert len(known) > most
