"""Tasks that go on: real points over TLS with trust files, read by the real collector process."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from adon.config import load
from adon.measurement_plan import plan_measurements
from apps.collector.background_tasks import in_background, of_hosts
from apps.collector.identity import FILE, Identity
from apps.collector.keeper import Value
from apps.collector.task_standing import Wanted
from apps.collector.watcher import Watcher
from measurement.archive import Appended, Archive
from measurement.errors import ArchiveError
from measurement.fleet import Fleet, Host, Watched
from measurement.model import Measurement, Metric, Observation, PathKey, host_key, to_json
from measurement.poller import PathTest
from measurement.pscheduler import specs, validation
from measurement.pscheduler.specs import PostedTask
from tests.apps.collecting import write_and_load
from tests.apps.edge import eventually
from tests.apps.lasting import Holder, holder
from tests.measurement.point.running import RunningPoint
from tests.support.measured_points import count_tasks, has_archive, run_points, start_collector, write_points
from tests.support.network_factories import NETWORK

KEY = PathKey("al2s", "mu", "osu")


def measured(data: Path, metric: Metric, since: float = 0.0) -> list[Measurement]:
    with Archive(data / "measurements.db", readonly=True) as archive:
        return archive.query(metric=metric, since=since)


def observed(data: Path, since: float = 0.0) -> set[tuple[str, str]]:
    with Archive(data / "measurements.db", readonly=True) as archive:
        return {(each.key.source, each.metric) for each in archive.observations(since=since)}


# -- the thread ------------------------------------------------------------------------------------------


class Observing:
    """Tasks of which there is always one at the stand-in, that observes the host of ``osu``."""

    def __init__(self, point: Holder) -> None:
        self.point, self.rested, self.closed, self.results = point, 0, 0, list[str]()
        self.task = point.hold({})

    @property
    def hosts(self) -> list[Host]:
        return [Host(self.point.client, ())]

    def refresh(self, fleet: Fleet) -> None:
        task = PostedTask(self.task, f"{self.point.server.url}/tasks/{self.task}", "")
        fleet.watch(0, [Watched(task, WANTED.test)], 0.0)

    def record_result(self, task: str, /) -> None:
        self.results.append(task)

    def place(self, task: str, /) -> str | None:
        return "osu" if task == self.task else None

    def rest(self, fleet: Fleet) -> None:
        self.rested += 1
        fleet.watch(0, (), 0.0)

    def close(self) -> None:
        self.closed += 1


WANTED = Wanted("osu", PathTest(PathKey("", "osu", ""), specs.host_metric("host", 1, 60), ()), 1.0)


class Keeping:
    """An archive that may refuse."""

    def __init__(self) -> None:
        self.kept: list[Value] = []
        self.refusal: ArchiveError | None = None

    def __call__(self, values: Sequence[Value]) -> Appended:
        if self.refusal is not None:
            raise self.refusal
        self.kept += values
        return Appended(len(values), 0, ())


def sample(host: str, at: float, **changes: Any) -> dict[str, Any]:
    item = to_json(Observation(host_key(host), "host.load_1m", 0.5, at, "here"))
    return {"succeeded": True, "observations": [{**item, **changes}]}


@pytest.fixture
def observing() -> Iterator[Observing]:
    with holder(time.time) as point:
        yield Observing(point)


def watcher(tasks: Observing, keep: Keeping, leads: Callable[[], bool] = lambda: True) -> Watcher:
    return Watcher("hosts", tasks, keep, leads, every=5.0)


@pytest.fixture
def points(tmp_path: Path) -> Iterator[dict[str, RunningPoint]]:
    with run_points(tmp_path) as running:
        yield running


def test_what_is_observed_is_of_the_point_that_was_asked_whatever_it_says(observing: Observing) -> None:
    keep, now = Keeping(), time.time()
    observing.point.gives(observing.task, sample("somebody.else.example", now))
    watcher(observing, keep).round()
    (value,) = keep.kept
    assert isinstance(value, Observation)
    assert (value.key, value.metric, value.value) == (host_key("osu"), "host.load_1m", 0.5)
    assert observing.results == [observing.task]


def test_values_that_cannot_be_are_refused_and_said_once(
    observing: Observing, caplog: pytest.LogCaptureFixture
) -> None:
    keep = Keeping()
    thread = watcher(observing, keep)
    for _ in range(3):
        observing.point.gives(observing.task, sample("osu", time.time() + 1e6))
        observing.point.gives(observing.task, sample("osu", time.time(), value="high"))
        thread.round()
    assert keep.kept == []
    assert caplog.text.count("event=no_value") == 1
    observing.point.gives(observing.task, sample("osu", time.time()))
    thread.round()
    assert caplog.text.count("event=value_again") == 0  # of level INFO, which is not captured here
    observing.point.gives(observing.task, sample("osu", time.time(), value="high"))
    thread.round()
    assert caplog.text.count("event=no_value") == 2


def test_one_that_stands_by_asks_nobody(observing: Observing) -> None:
    watcher(observing, Keeping(), lambda: False).round()
    assert observing.point.server.asked == []


# -- from the configuration ------------------------------------------------------------------------------


def test_what_the_configuration_wants(tmp_path: Path) -> None:
    background = {"path": "internet", "from": "osu", "to": "mu", "packets": 100, "interval": "20 ms"}
    metrics = {"mu": {"metrics": ["host", "soykb"], "period": "10 s"}}
    settings = write_and_load(tmp_path, background=[background], host_metrics=metrics)
    (test,) = in_background(settings)
    spec = test.test.request.spec
    assert (test.point, test.test.key, test.period) == ("osu", PathKey("internet", "osu", "mu"), 2.0)
    assert (spec["source"], spec["dest-node"], spec["duration"]) == ("10.2.0.12", "10.1.0.10", "PT3600S")
    assert validation.problems(test.test.request) == []
    assert [(each.point, each.test.request.spec) for each in of_hosts(settings)] == [
        ("mu", {"metric": name, "interval": "PT10S", "duration": "PT3600S"}) for name in ("host", "soykb")
    ]


def test_loss_is_kept_of_what_measures_it_best(tmp_path: Path) -> None:
    text = NETWORK.read_text().replace("      latency_period: 60 s\n", "")
    background = "  background: [{path: al2s, from: mu, to: osu}]\n"
    (tmp_path / "network.yaml").write_text(text.replace("measurements:\n", "measurements:\n" + background))
    settings = load(tmp_path / "network.yaml")
    pings = {t.key: t.metrics for t in plan_measurements(settings).tests.values() if t.request.kind == "rtt"}
    assert pings[KEY] == (Metric.RTT,)
    assert pings[PathKey("al2s", "osu", "mu")] == (Metric.RTT, Metric.LOSS)
    assert settings.measurements.one_way == {KEY}


# -- the process -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.integration
def test_what_goes_on_at_two_points_arrives_in_the_archive_and_ends_with_the_collector(
    points: dict[str, RunningPoint], tmp_path: Path
) -> None:
    file = write_points(
        tmp_path,
        points,
        background=[
            {"path": "al2s", "from": "mu", "to": "osu", "packets": 20, "interval": "50 ms"},
            {"path": "al2s", "from": "osu", "to": "mu", "packets": 20, "interval": "50 ms"},
        ],
        host_metrics={"mu": {"period": "1 s"}, "osu": {"period": "1 s"}},
    )
    data = tmp_path / "data"
    data.mkdir()

    def standing(which: int) -> int:
        """How many tasks without end there are of the collector's first, second, ... start."""
        held = json.loads((data / FILE).read_text())
        owner = Identity(held["name"], which, b"").owner
        return sum(count_tasks(point, owner, kind) for point in points.values() for kind in specs.WITHOUT_END)

    process = start_collector(file, data)
    try:
        eventually(lambda: has_archive(data), "no archive")
        eventually(lambda: len(measured(data, Metric.ONE_WAY_DELAY)) >= 4, "no delays")
        eventually(lambda: {host for host, _ in observed(data)} >= {"mu", "osu"}, "no metrics of hosts")
        assert standing(1) == 4
        process.kill()
        process.wait(60)
        assert standing(1) == 4
        killed = time.time()
        process = start_collector(file, data)
        eventually(lambda: measured(data, Metric.LOSS, killed + 2), "no losses after the restart")
        eventually(
            lambda: ("osu", "host.load_1m") in observed(data, killed + 2), "no metrics after the restart"
        )
        assert (standing(1), standing(2)) == (0, 4)
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
        log = (data / "log").read_text()
    assert process.returncode == 0, log
    assert "Traceback" not in log
    assert standing(2) == 0
    assert {value.key for value in measured(data, Metric.JITTER)} == {KEY, PathKey("al2s", "osu", "mu")}
    delay = measured(data, Metric.ONE_WAY_DELAY)[0]
    assert (delay.tool, delay.parameters["packets"]) == ("adon-owd", 20)
    assert ("mu", "host.cpu_utilization") in observed(data)
