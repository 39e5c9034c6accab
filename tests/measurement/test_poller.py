from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from measurement import codec
from measurement.errors import Stopped
from measurement.model import Measurement, Metric, PathKey
from measurement.plan import PlannedTest
from measurement.poller import MeasurementFailed, Point, Poller
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.transport import Timeouts
from tests.measurement.standin import RTT, TASK, StandIn, reply, stand_in

KEY = PathKey("al2s", "mu", "osu")
TEST = PlannedTest(
    KEY,
    specs.rtt(specs.Ends("192.0.2.1", "192.0.2.2", "mu-node", "osu-node"), 3),
    (Metric.RTT, Metric.LOSS),
    frozenset({"mu", "osu"}),
    10.0,
)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as running:
        yield running


def poller(server: StandIn, *others: StandIn) -> Poller:
    def point(told: StandIn, node: str) -> Point:
        timeouts = Timeouts(1.0, 0.3, 0.3)
        return Point(PSchedulerClient(told.url, timeouts=timeouts, pause=lambda _: None), node)

    points = {"mu": point(server, "mu-node")}
    return Poller(points | {f"p{n}": point(other, f"p{n}-node") for n, other in enumerate(others)})


def test_a_good_run_becomes_measurements_of_the_path(server: StandIn) -> None:
    found = {outcome.metric: outcome for outcome in poller(server).run(TEST)}
    rtt = found[Metric.RTT]
    assert isinstance(rtt, Measurement)
    assert (rtt.key, rtt.value, rtt.tool) == (KEY, pytest.approx(0.0026), "ping")
    assert rtt.source.startswith(server.url)
    assert rtt.observed_at >= rtt.started_at
    assert codec.from_json(codec.to_json(rtt)) == rtt
    assert server.cancelled == []


def test_values_that_nobody_asked_for_are_left_out(server: StandIn) -> None:
    only_rtt = PlannedTest(TEST.key, TEST.request, (Metric.RTT,), TEST.points, 10.0)
    assert [outcome.metric for outcome in poller(server).run(only_rtt)] == [Metric.RTT]


def test_the_task_goes_to_the_lead_if_it_is_a_configured_point(server: StandIn) -> None:
    with stand_in() as other:
        server.lead = "p0-node"
        assert all(isinstance(o, Measurement) for o in poller(server, other).run(TEST))
        assert len(other.posted) == 1
        assert server.posted == []
        server.lead = "stranger.example.net"
        failed = poller(server, other).run(TEST)
    assert all("no configured point" in o.cause for o in failed if isinstance(o, MeasurementFailed))
    assert server.posted == []


@pytest.mark.parametrize(
    ("result", "run", "cause"),
    [
        ({**RTT, "mean": "PT-1S"}, {}, "mean"),
        ({**RTT, "loss": float("nan")}, {}, "loss: is nan"),
        ({"succeeded": False, "error": "unknown host"}, {}, "unknown host"),
        (None, {"state": "nonstart", "errors": "no slot"}, "nonstart: no slot"),
        (RTT, {"start-time": "2001-01-01T00:00:00Z", "end-time": "2001-01-01T00:00:09Z"}, "before the test"),
    ],
)
def test_a_run_without_a_usable_result_is_a_failure_of_every_metric(
    server: StandIn, result: Any, run: dict[str, Any], cause: str
) -> None:
    server.result, server.run = result, run
    outcomes = poller(server).run(TEST)
    assert [outcome.metric for outcome in outcomes] == [Metric.RTT, Metric.LOSS]
    assert all(isinstance(o, MeasurementFailed) and cause in o.cause for o in outcomes)


def test_every_way_to_misbehave_at_every_step_is_a_failure_and_no_more(server: StandIn) -> None:
    steps = ["GET /tests", "GET /clock", "POST /tasks", f"GET /tasks/{TASK}/runs", f"GET /tasks/{TASK}"]
    ways = {
        "hangs": lambda handler: server.released.wait(0.4),
        "HTML": lambda handler: reply(handler, 200, "<html>", "text/html"),
        "500": lambda handler: reply(handler, 500, "Traceback", "text/plain"),
        "null": lambda handler: reply(handler, 200, None),
        "list": lambda handler: reply(handler, 200, [1]),
    }
    for step in steps:
        for name, way in ways.items():
            server.misbehave = {step: way}  # type: ignore[dict-item]
            outcomes = poller(server).run(TEST)
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
    test = PlannedTest(
        KEY, specs.latency(ends, 2, 0.1), (Metric.ONE_WAY_DELAY, Metric.LOSS), TEST.points, 9.0
    )
    found = {outcome.metric: outcome for outcome in poller(server).run(test)}
    assert isinstance(found[Metric.ONE_WAY_DELAY], Measurement)
    server.tool = "halfping"
    found = {outcome.metric: outcome for outcome in poller(server).run(test)}
    assert isinstance(found[Metric.ONE_WAY_DELAY], MeasurementFailed)
    assert isinstance(found[Metric.LOSS], Measurement)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"metric": "mood"}, "mood"),
        ({"value": -1}, "measurable"),
        ({"key": {}}, "path"),
        ({"value": None}, "not a measurement"),
    ],
)
def test_a_message_that_is_no_measurement_is_refused(change: dict[str, Any], cause: str) -> None:
    good = codec.to_json(Measurement(KEY, Metric.RTT, 0.1, 1.0, 2.0, "run"))
    with pytest.raises(ValueError, match=cause):
        codec.from_json({**good, **change})
    del good["source"]
    with pytest.raises(ValueError, match="source: is missing"):
        codec.from_json(good)
