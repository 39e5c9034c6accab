"""Results that go on, and starts kept to the second; real points on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from measurement.model import Metric, Observation, from_json
from measurement.point import certificate
from measurement.pscheduler import specs
from measurement.pscheduler.client import Schedule
from measurement.pscheduler.readings import Reading
from measurement.pscheduler.results import read_result
from measurement.pscheduler.states import RunState
from tests.apps.edge import eventually
from tests.measurement.point.running import A, B, RunningPoint, start, stop

pytestmark = pytest.mark.integration


METRIC = "host"


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningPoint, RunningPoint]]:
    folder = tmp_path_factory.mktemp("continuous")
    pem, key = certificate.ensure(folder, ["points", A, B])
    options = ("--certificate", str(pem), "--key", str(key), "--peer-verify", str(pem))
    running = []
    for name, address in (("a", A), ("b", B)):
        point = start(folder / name, address, *options)
        point.certificate = pem
        running.append(point)
    yield running[0], running[1]
    assert [stop(point) for point in running] == [0, 0]


def posted(point: RunningPoint, test: dict[str, Any], **more: Any) -> str:
    answer = point.post("/tasks", {"schema": 1, "test": test, "schedule": {}, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()).removeprefix(point.url)


RTT = {"type": "rtt", "spec": {"dest": B, "count": 1}}


def results(point: RunningPoint, task: str, count: int) -> list[dict[str, Any]]:
    """The first runs of a task that have a result, each with its own."""

    def found() -> list[dict[str, Any]]:
        urls = point.get(f"{task}/runs").json()
        runs = [point.get(url.removeprefix(point.url)).json() for url in urls]
        return [run for run in runs if run["result-merged"] is not None]

    return eventually(lambda: kept if len(kept := found()) >= count else None, "results are missing")


def first_run(point: RunningPoint, task: str) -> dict[str, Any]:
    """The first run of a task, when it has ended."""

    def ended() -> dict[str, Any] | None:
        answer = point.get(f"{task}/runs/first", wait="3")
        return answer.json() if answer.ok and RunState(answer.json()["state"]).terminal else None

    return eventually(ended, "the run does not end")


def test_a_task_that_names_an_archive_is_refused(points: tuple[RunningPoint, RunningPoint]) -> None:
    archives = [{"archiver": "http", "data": {"_url": f"http://{A}:9/results"}}]
    body = {"schema": 1, "test": RTT, "schedule": {}, "archives": archives}
    answer = points[0].post("/tasks", body)
    assert (answer.status_code, "archives:" in answer.text) == (422, True)
    assert posted(points[0], RTT, archives=[])
    assert points[0].get("/archivers").status_code == 404


def test_latencybg_reports_period_after_period(points: tuple[RunningPoint, RunningPoint]) -> None:
    spec = {
        "source": A, "dest": B, "source-node": points[0].node, "dest-node": points[1].node,
        "packet-count": 50, "packet-interval": 0.02, "bucket-width": 0.0001, "duration": "PT4S",
    }  # fmt: skip
    task = posted(points[0], {"type": "latencybg", "spec": spec})
    found = results(points[0], task, 2)
    detail = points[0].get(task, detail="1").json()["detail"]
    assert (detail["multi-result"], detail["anytime"]) == (True, True)
    parent = points[0].get(f"{task}/runs/first").json()
    assert parent["result-merged"] is None
    for run in found:
        assert run["duration"] == "P0D"
        assert run["href"] != parent["href"]
        values = {r.metric: r for r in read_result("latencybg", spec, run["result-merged"], "a")}
        loss = values[Metric.LOSS]
        assert isinstance(loss, Reading)
        assert loss.parameters["packets"] == 50
        assert 0 <= loss.value < 1
        assert isinstance(values[Metric.JITTER], Reading)
    assert first_run(points[0], task)["state"] == "finished"
    runs = points[0].get(f"{task}/runs").json()
    assert len(runs) in (3, 4, 5)  # the parent, and up to four periods, of at least a second
    last = points[0].get(runs[-1].removeprefix(points[0].url)).json()
    assert (last["state"], last["start-time"]) == ("finished", last["end-time"])


def test_latencybg_that_nobody_receives_fails_and_says_so(points: tuple[RunningPoint, RunningPoint]) -> None:
    spec = {"source": A, "dest": B, "dest-node": f"{B}:9", "packet-count": 10, "duration": "PT5S"}
    task = posted(points[0], {"type": "latencybg", "spec": spec})
    run = first_run(points[0], task)
    assert run["state"] == "failed"
    assert run["errors"]


def test_an_absolute_start_is_kept_to_the_second(points: tuple[RunningPoint, RunningPoint]) -> None:
    client = points[0].client()
    ends = specs.Ends(A, B, points[0].node, points[1].node)
    wanted = float(int(time.time()) + 30)
    task = client.post(specs.throughput(ends, 1), Schedule(slip=0, start_at=wanted))
    run = client.first_run(task)
    assert (run.start, run.end - run.start) == (wanted, 5.0)
    late = client.post(specs.throughput(ends, 1), Schedule(slip=0, start_at=wanted + 4))
    refused = client.first_run(late)
    assert refused.state is RunState.NONSTART
    assert "slip" in refused.document.fields["errors"]
    for one in (task, late):
        client.cancel(one)


def test_a_metric_of_the_host_is_sampled(points: tuple[RunningPoint, RunningPoint]) -> None:
    spec = {"metric": METRIC, "interval": "PT0.5S", "duration": "PT2S"}
    task = posted(points[0], {"type": "adon-metric", "spec": spec})
    found = results(points[0], task, 2)
    for run in found:
        observations = [from_json(Observation, item) for item in run["result-merged"]["observations"]]
        assert all(one.observed_at > time.time() - 60 for one in observations)
    assert len({run["href"] for run in found}) == len(found)
    points[0].delete(task)


def test_a_metric_that_is_not_there_fails_and_names_those_that_are(
    points: tuple[RunningPoint, RunningPoint],
) -> None:
    spec = {"metric": "no.such", "duration": "PT2S"}
    task = posted(points[0], {"type": "adon-metric", "spec": spec})
    run = first_run(points[0], task)
    assert run["state"] == "failed"
    assert "no.such" in run["errors"]
    assert METRIC in run["errors"]
