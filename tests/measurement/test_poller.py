from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from measurement.errors import Stopped
from measurement.model import Measurement, Metric, PathKey, from_json, to_json
from measurement.poller import MeasurementFailed, PathTest, Point, Poller
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.iso8601 import format_timestamp, parse_timestamp
from measurement.pscheduler.transport import Timeouts
from tests.measurement.standin import RTT, TASK, StandIn, reply, stand_in
from tests.support.factories import make_measurement
from tests.support.refusals import refused

KEY = PathKey("al2s", "mu", "osu")
TEST = PathTest(
    KEY,
    specs.rtt(specs.Ends("192.0.2.1", "192.0.2.2", "mu-node", "osu-node"), 3),
    (Metric.RTT, Metric.LOSS),
)


def poller(server: StandIn, *others: StandIn, timeout: float = 60.0) -> Poller:
    def point(told: StandIn, node: str) -> Point:
        timeouts = Timeouts(60.0, timeout, timeout)
        return Point(PSchedulerClient(told.url, timeouts=timeouts, pause=lambda _: None), node)

    points = {"mu": point(server, "mu-node")}
    return Poller(points | {f"p{n}": point(other, f"p{n}-node") for n, other in enumerate(others)})


def test_a_good_run_becomes_measurements_of_the_path(server: StandIn) -> None:
    found = {outcome.metric: outcome for outcome in poller(server).run(TEST).outcomes}
    rtt = found[Metric.RTT]
    assert isinstance(rtt, Measurement)
    assert (rtt.key, rtt.value, rtt.tool) == (KEY, pytest.approx(0.0026), "ping")
    assert rtt.source.startswith(server.url)
    assert rtt.observed_at >= rtt.started_at
    assert from_json(Measurement, to_json(rtt)) == rtt
    assert server.cancelled == []


def test_values_that_nobody_asked_for_are_left_out(server: StandIn) -> None:
    only_rtt = PathTest(TEST.key, TEST.request, (Metric.RTT,))
    assert [outcome.metric for outcome in poller(server).run(only_rtt).outcomes] == [Metric.RTT]


def test_the_task_goes_to_the_lead_if_it_is_a_configured_point(server: StandIn) -> None:
    with stand_in() as other:
        server.lead = "p0-node"
        assert all(isinstance(o, Measurement) for o in poller(server, other).run(TEST).outcomes)
        assert len(other.posted) == 1
        assert server.posted == []
        server.lead = "stranger.example.net"
        failed = poller(server, other).run(TEST).outcomes
    assert all(isinstance(o, MeasurementFailed) and "stranger.example.net" in o.cause for o in failed)
    assert server.posted == []


@pytest.mark.parametrize(
    ("result", "run", "cause"),
    [
        ({**RTT, "mean": "PT-1S"}, {}, "mean"),
        ({**RTT, "loss": float("nan")}, {}, "loss:"),
        ({"succeeded": False, "error": "unknown host"}, {}, "unknown host"),
        (None, {"state": "nonstart", "errors": "no slot"}, "nonstart:"),
        (RTT, {"start-time": "2001-01-01T00:00:00Z", "end-time": "2001-01-01T00:00:09Z"}, "before"),
    ],
)
def test_a_run_without_a_usable_result_is_a_failure_of_every_metric(
    server: StandIn, result: Any, run: dict[str, Any], cause: str
) -> None:
    server.result, server.run = result, run
    outcomes = poller(server).run(TEST).outcomes
    assert [outcome.metric for outcome in outcomes] == [Metric.RTT, Metric.LOSS]
    assert all(isinstance(o, MeasurementFailed) and cause in o.cause for o in outcomes)


def test_every_way_to_misbehave_at_every_step_is_a_failure_and_no_more(server: StandIn) -> None:
    steps = ["GET /tests", "GET /clock", "POST /tasks", f"GET /tasks/{TASK}/runs", f"GET /tasks/{TASK}"]
    ways = {
        "hangs": lambda handler: server.released.wait(0.6),
        "HTML": lambda handler: reply(handler, 200, "<html>", "text/html"),
        "500": lambda handler: reply(handler, 500, "Traceback", "text/plain"),
        "null": lambda handler: reply(handler, 200, None),
        "list": lambda handler: reply(handler, 200, [1]),
    }
    for step in steps:
        for name, way in ways.items():
            server.misbehave = {step: way}  # type: ignore[dict-item]
            outcomes = poller(server, timeout=0.3).run(TEST).outcomes
            assert outcomes, (step, name)
            assert all(isinstance(outcome, MeasurementFailed) for outcome in outcomes), (step, name)


def test_a_task_that_is_given_up_is_cancelled_with_its_key(server: StandIn) -> None:
    server.misbehave = {f"GET /tasks/{TASK}/runs": lambda handler: reply(handler, 500, "x", "text/plain")}
    poller(server).run(TEST)
    assert server.cancelled == [server.posted[0]["_key"]]


def test_at_shutdown_open_tasks_are_cancelled(server: StandIn) -> None:
    server.run = {"state": "running"}

    def stop(_: float) -> None:
        assert asked.cancel_all() == []
        raise Stopped

    asked = Poller({"mu": Point(PSchedulerClient(server.url, pause=stop), "mu-node")})
    with pytest.raises(Stopped):
        asked.run(TEST)
    assert server.cancelled == [server.posted[0]["_key"]]


def test_half_a_round_trip_is_no_one_way_delay(server: StandIn) -> None:
    ends = specs.Ends("192.0.2.1", "192.0.2.2", "mu-node", "osu-node")
    server.result = {
        "succeeded": True,
        "packets-sent": 2,
        "packets-lost": 0,
        "histogram-latency": {"1.00": 2},
    }
    test = PathTest(KEY, specs.latency(ends, 2, 0.1), (Metric.ONE_WAY_DELAY, Metric.LOSS))
    found = {outcome.metric: outcome for outcome in poller(server).run(test).outcomes}
    assert isinstance(found[Metric.ONE_WAY_DELAY], Measurement)
    server.tool = "halfping"
    found = {outcome.metric: outcome for outcome in poller(server).run(test).outcomes}
    assert isinstance(found[Metric.ONE_WAY_DELAY], MeasurementFailed)
    assert isinstance(found[Metric.LOSS], Measurement)


def test_slot_is_what_the_server_keeps_free(server: StandIn) -> None:
    """A test in the background, such as a ping, keeps nothing free."""
    asked = poller(server)
    test = specs.latency(specs.Ends("192.0.2.1", "192.0.2.2", "mu-node", "osu-node"), 100, 0.01)
    assert asked.run(PathTest(KEY, test, ())).slot == 13.0
    assert asked.run(TEST).slot is None
    server.detail = False
    assert asked.run(PathTest(KEY, test, ())).slot is None


def test_a_planned_run_is_posted_ahead_with_its_absolute_start(server: StandIn) -> None:
    start = 2_000_000_010.0
    now = [start - 10]

    def pause(seconds: float) -> None:
        now[0] += seconds
        server.run["state"] = "finished"

    server.run = {
        "state": "pending",
        "start-time": format_timestamp(start + 100),
        "end-time": format_timestamp(start + 105),
    }
    server.misbehave["GET /clock"] = lambda handler: reply(
        handler, 200, {"time": format_timestamp(now[0] + 100, fraction=True), "synchronized": True}
    )
    client = PSchedulerClient(server.url, pause=pause, clock=lambda: now[0])
    test = PathTest(KEY, replace(TEST.request, lasts=5.0), TEST.metrics)
    found = Poller({"mu": Point(client, "mu-node")}, lambda: now[0]).run(test, start_at=start)
    schedule = server.posted[0]["schedule"]
    assert parse_timestamp(schedule["start"]) == start + 100  # by the server's clock
    assert schedule["slip"] == "PT1S"
    assert found.failure is None
    assert (found.started, found.ended) == (start, start + 5)
    assert all(isinstance(outcome, Measurement) for outcome in found.outcomes)


def planned(server: StandIn, **run: Any) -> tuple[Poller, float]:
    """A poller, and a start ten seconds ahead at which the stand-in plans the run unless told otherwise."""
    start = float(int(time.time()) + 10)
    server.run = {"start-time": format_timestamp(start), "end-time": format_timestamp(start + 5), **run}
    return poller(server), start


def test_a_run_that_the_point_plans_for_another_time_is_cancelled(server: StandIn) -> None:
    asked, start = planned(server, state="pending")
    server.run["start-time"] = format_timestamp(start + 4)
    found = asked.run(TEST, start_at=start)
    assert found.failure is not None
    assert "run.start-time:" in found.failure
    assert found.late
    assert asked.posting_time() == pytest.approx(4, abs=0.5)
    assert (found.started, found.ended) == (None, None)
    assert server.cancelled == [server.posted[0]["_key"]]


def test_a_planned_start_that_has_passed_is_not_posted(server: StandIn) -> None:
    found = poller(server).run(TEST, start_at=time.time() - 3)
    assert found.failure is not None
    assert re.search(r"[3-9]\.\d s", found.failure)
    assert server.posted == []


def test_poller_learns_how_long_posting_takes_and_says_what_was_posted_too_late(server: StandIn) -> None:
    """Four tests that start in the same second at a small server, which checks one task after the other."""
    now = [2_000_000_000.0]
    thread, together = threading.local(), threading.Barrier(4)

    def check_task() -> None:
        now[0] += 2.0

    def clock() -> float:
        read = now[0]
        if not hasattr(thread, "called"):  # all of a round are called before one of them posts
            thread.called = True
            together.wait(60)
        return read

    server.check_task = check_task
    point = Point(PSchedulerClient(server.url, timeouts=Timeouts(60.0, 60.0, 60.0)), "mu-node")
    asked = Poller({"mu": point}, clock)
    late = []
    for _ in range(5):
        start = now[0] + asked.posting_time() + 3.0
        with ThreadPoolExecutor(4) as pool:
            runs = list(pool.map(lambda _, at=start: asked.run(TEST, at), range(4)))
        late.append(sum(run.late for run in runs))
    assert late[0] > 0
    assert late[2:] == [0, 0, 0]
    assert 4.0 <= asked.posting_time() <= 8.0


@pytest.mark.parametrize(("availability", "said"), [(0.03, "3 %"), (None, None), (7, None)])
def test_run_without_a_time_names_how_busy_the_point_is(
    server: StandIn, availability: float | None, said: str | None
) -> None:
    """pScheduler 5.3 reports the part of the time that is free of exclusive tests; 5.2 does not."""
    server.run = {"state": "nonstart", "errors": "no times available"}
    server.availability = availability
    failure = poller(server).run(TEST).failure or ""
    assert "no times available" in failure
    assert ("%" in failure) is (said is not None)
    assert said is None or said in failure


def test_post_that_fails_teaches_nothing(server: StandIn) -> None:
    server.misbehave = {"POST /tasks": lambda handler: reply(handler, 400, "no", "text/plain")}
    asked = poller(server)
    assert asked.run(TEST, time.time() + 5).late is False
    assert asked.posting_time() == 0


def test_a_task_that_is_accepted_and_never_runs_is_given_up_and_cancelled(server: StandIn) -> None:
    now = [float(int(time.time()))]

    def pause(seconds: float) -> None:
        now[0] += seconds

    start = now[0] + 10
    server.run = {
        "state": "pending",
        "start-time": format_timestamp(start),
        "end-time": format_timestamp(start + 5),
    }
    client = PSchedulerClient(server.url, pause=pause, clock=lambda: now[0])
    found = Poller({"mu": Point(client, "mu-node")}, lambda: now[0]).run(TEST, start_at=start)
    assert found.failure is not None
    assert "pending" in found.failure
    assert now[0] - start < 120
    assert server.cancelled == [server.posted[0]["_key"]]
    assert found.started == pytest.approx(start, abs=1)  # it may have begun, for all that is known
    assert found.ended is None


def test_a_result_from_the_future_is_refused(server: StandIn) -> None:
    asked, _ = planned(server)
    server.run |= {"start-time": format_timestamp(time.time() + 300), "end-time": "2999-01-01T00:00:00Z"}
    found = asked.run(TEST)
    assert found.failure is not None
    assert "run.end-time:" in found.failure
    assert all(isinstance(each, MeasurementFailed) for each in found.outcomes)


def test_one_test_can_be_cancelled_among_several(server: StandIn) -> None:
    server.run = {"state": "running"}
    other = PathTest(KEY._replace(path="internet"), TEST.request, TEST.metrics)

    def interrupt(_: float) -> None:
        assert asked.cancel(other) == []
        assert server.cancelled == []
        assert asked.cancel(TEST) == []
        server.run = {"state": "canceled"}

    asked = Poller({"mu": Point(PSchedulerClient(server.url, pause=interrupt), "mu-node")})
    found = asked.run(TEST)
    assert found.failure is not None
    assert "canceled" in found.failure
    assert server.cancelled == [server.posted[0]["_key"]]


def test_a_test_that_is_not_read_gives_no_value(server: StandIn) -> None:
    server.result = {"succeeded": True, "record": ["192.0.2.7"]}
    found = poller(server).run(PathTest(KEY, specs.TestRequest("dns", {"query": "example.net"}, 1), ()))
    assert (found.outcomes, found.failure) == ((), None)


def test_a_specification_that_is_wrong_is_not_sent(server: StandIn) -> None:
    found = poller(server).run(
        PathTest(KEY, specs.TestRequest("rtt", {"dest": "b", "counts": 3}, 1), (Metric.RTT,))
    )
    assert found.failure.startswith("rtt.counts:")
    assert [outcome.metric for outcome in found.outcomes] == [Metric.RTT]
    assert server.asked == []


def test_a_test_without_an_end_of_its_own_is_not_for_the_poller(server: StandIn) -> None:
    endless = specs.latency_in_background(specs.Ends("a", "b", "c", "d"), 600, 0.1, 86_400)
    with refused(ValueError):
        poller(server).run(PathTest(KEY, endless, (Metric.LOSS,)))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"metric": "mood"}, "metric"),
        ({"value": -1}, "rtt"),
        ({"key": {}}, "key.path"),
        ({"value": None}, "value"),
    ],
)
def test_a_message_that_is_no_measurement_is_refused(change: dict[str, Any], field: str) -> None:
    good = to_json(make_measurement(metric=Metric.RTT, value=0.1))
    with refused(ValueError, field):
        from_json(Measurement, {**good, **change})
    del good["source"]
    with refused(ValueError, "source"):
        from_json(Measurement, good)


def test_throughput_test_of_three_seconds_fails_at_a_server(server: StandIn) -> None:
    """The reason why the configuration refuses it."""
    ends = specs.Ends("192.0.2.1", "192.0.2.2", "mu-node", "osu-node")
    test = PathTest(KEY, specs.throughput(ends, 3), (Metric.THROUGHPUT,))
    (outcome,) = poller(server).run(test).outcomes
    assert isinstance(outcome, MeasurementFailed)
    assert "idle" in outcome.cause
