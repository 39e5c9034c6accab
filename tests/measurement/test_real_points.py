"""The client, the poller and the fleet against two measurement points of ours: real tools, real TLS."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from measurement.fleet import Fleet, Host, Value, Watched
from measurement.model import Measurement, Metric, PathKey
from measurement.poller import PathTest, Point, Poller
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient, Schedule
from measurement.pscheduler.leftovers import sweep
from tests.measurement.point.running import RunningPoint, ends_of, run_peers

pytestmark = pytest.mark.integration
KEY = PathKey("p", "a", "b")


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningPoint, RunningPoint]]:
    with run_peers(tmp_path_factory.mktemp("points")) as running:
        yield running


def test_a_planned_test_starts_on_its_second(points: tuple[RunningPoint, RunningPoint]) -> None:
    named = {name: Point(point.client(), point.node) for name, point in zip("ab", points, strict=True)}
    planned = float(math.ceil(time.time()) + 5)
    test = PathTest(KEY, specs.throughput(ends_of(points), 1, rate=20e6), (Metric.THROUGHPUT,))
    found = Poller(named).run(test, start_at=planned)
    assert found.failure is None
    assert found.started == pytest.approx(planned, abs=1)
    assert found.ended is not None
    assert found.ended > planned
    (rate,) = found.outcomes
    assert isinstance(rate, Measurement)
    assert rate.parameters["bandwidth"] == 20_000_000
    assert rate.value < 30e6


def test_a_route_is_measured(points: tuple[RunningPoint, RunningPoint]) -> None:
    named = {"a": Point(points[0].client(), points[0].node)}
    (trip,) = Poller(named).run(PathTest(KEY, specs.trace(ends_of(points), 3), (Metric.RTT,))).outcomes
    assert isinstance(trip, Measurement)
    assert trip.parameters["hop_count"] == 1


def test_a_repeating_task_is_read_and_then_swept(
    points: tuple[RunningPoint, RunningPoint], tmp_path: Path
) -> None:
    def client() -> PSchedulerClient:
        return PSchedulerClient(points[0].url, str(points[0].certificate), owner=str(tmp_path), secret=b"s")

    since = time.time() - 5
    request = specs.rtt(ends_of(points), 1)
    task = client().post(request, Schedule(slip=1, repeat=3, max_runs=2))
    taken: list[Value] = []

    def take(values: Sequence[Value]) -> None:
        taken.extend(values)

    fleet = Fleet(
        [Host(client(), [Watched(task, PathTest(KEY, request, (Metric.RTT,)), "ping")])], take, since=since
    )
    give_up = time.monotonic() + 180
    while len(taken) < 2 and time.monotonic() < give_up:
        assert fleet.poll().errors == ()
        time.sleep(0.5)
    assert [type(value) for value in taken] == [Measurement] * 2
    assert len({value.source for value in taken if isinstance(value, Measurement)}) == 2
    assert sweep(client()).errors == ()
    assert client().own_tasks() == []
