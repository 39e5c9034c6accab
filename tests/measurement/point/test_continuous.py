"""Results that are pushed, results that go on, and starts kept to the second; real points on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from measurement.codec import observation_from_json
from measurement.model import Metric
from measurement.point import certificate
from measurement.pscheduler import specs
from measurement.pscheduler.client import Schedule
from measurement.pscheduler.readings import Reading
from measurement.pscheduler.results import read_result
from measurement.pscheduler.states import RunState
from tests.measurement.point.running import A, B, RunningPoint, start, stop

pytestmark = pytest.mark.integration


METRIC = "host"


class Collector(ThreadingHTTPServer):
    """Takes results, after as many failures as it is told to have."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        super().__init__((A, 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://{A}:{self.server_address[1]}/results"

    def wait(self, count: int) -> list[tuple[str, str, dict[str, str], Any]]:
        for _ in range(150):
            if len(self.asked) >= count:
                return list(self.asked)
            time.sleep(0.1)
        raise AssertionError(f"{len(self.asked)} of {count} came")


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null"
        headers = dict(self.headers.items())
        self.server.asked.append((self.command, self.path, headers, json.loads(body)))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_PUT = do_GET = do_POST  # noqa: N815  # the base class's way of naming

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


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


def archive(collector: Collector, **data: Any) -> list[dict[str, Any]]:
    retry = [{"attempts": 3, "wait": "PT0.1S"}]
    headers = {"Authorization": "Bearer EXAMPLE"}
    return [
        {
            "archiver": "http",
            "data": {"_url": collector.url, "_headers": headers, "retry-policy": retry, **data},
        }
    ]


def test_a_result_is_pushed_until_it_is_taken(
    points: tuple[RunningPoint, RunningPoint], collector: Collector
) -> None:
    collector.answers += [503, 302]
    task = posted(points[0], RTT, archives=archive(collector), reference={"id": "r"})
    asked = collector.wait(3)
    assert {path for _, path, _, _ in asked} == {"/results"}
    assert all(headers["Authorization"] == "Bearer EXAMPLE" for _, _, headers, _ in asked)
    sent = asked[-1][3]
    run = points[0].get(f"{task}/runs/first").json()
    assert sent["id"] == run["href"].rsplit("/", 1)[1]
    assert (sent["result"], sent["reference"]) == (run["result-merged"], {"id": "r"})
    for _ in range(50):
        (state,) = points[0].get(f"{task}/runs/first").json()["archivings"]
        if state["completed"]:
            break
        time.sleep(0.1)
    assert state["archived"] is True
    assert [attempt["return-code"] for attempt in state["diags"]] == [1, 1, 0]
    assert state["spec"]["data"]["_headers"] is None
    assert len(collector.asked) == 3


def test_without_a_policy_it_is_given_up_at_once_and_said(
    points: tuple[RunningPoint, RunningPoint], collector: Collector
) -> None:
    collector.answers += [500, 200]
    task = posted(points[0], RTT, archives=archive(collector, **{"retry-policy": [], "op": "put"}))
    assert collector.wait(1)[0][0] == "PUT"
    for _ in range(50):
        run = points[0].get(f"{task}/runs/first").json()
        if "archivings" in run:
            break
        time.sleep(0.1)
    assert (run["archivings"][0]["archived"], run["archivings"][0]["completed"]) == (False, True)
    assert run["archivings"][0]["diags"][0]["stderr"].startswith("HTTP 500")
    assert any("event=not_archived" in line for line in points[0].log)


def test_archivers_are_listed_and_their_data_checked(points: tuple[RunningPoint, RunningPoint]) -> None:
    point = points[0]
    assert [item["name"] for item in point.get("/archivers", expanded="1").json()] == ["http"]
    assert point.get("/archivers/http").json()["name"] == "http"
    assert point.get("/archivers/syslog").status_code == 404
    good, bad = ({"_url": "https://h.example/"}, {"_url": 5})
    valid = "/archivers/http/data-is-valid"
    assert point.get(valid, data=json.dumps(good)).json() == {"valid": True}
    assert "_url" in point.get(valid, data=json.dumps(bad)).json()["error"]


def test_latencybg_reports_period_after_period(
    points: tuple[RunningPoint, RunningPoint], collector: Collector
) -> None:
    spec = {
        "source": A, "dest": B, "source-node": points[0].node, "dest-node": points[1].node,
        "packet-count": 50, "packet-interval": 0.02, "bucket-width": 0.0001, "duration": "PT4S",
    }  # fmt: skip
    task = posted(points[0], {"type": "latencybg", "spec": spec}, archives=archive(collector))
    asked = collector.wait(3)
    detail = points[0].get(task, detail="1").json()["detail"]
    assert (detail["multi-result"], detail["anytime"]) == (True, True)
    parent = points[0].get(f"{task}/runs/first").json()
    assert parent["result-merged"] is None
    for _, _, _, sent in asked:
        assert sent["schedule"]["duration"] == "P0D"
        assert sent["id"] not in parent["href"]
        values = {r.metric: r for r in read_result("latencybg", spec, sent["result"], "a")}
        loss = values[Metric.LOSS]
        assert isinstance(loss, Reading)
        assert (loss.value, loss.parameters["packets"]) == (0.0, 50)
        assert isinstance(values[Metric.JITTER], Reading)
    for _ in range(80):
        if points[0].get(f"{task}/runs/first").json()["state"] == "finished":
            break
        time.sleep(0.1)
    runs = points[0].get(f"{task}/runs").json()
    assert len(runs) in (4, 5)  # the parent, and three or four periods of a second
    last = points[0].get(runs[-1].removeprefix(points[0].url)).json()
    assert (last["state"], last["start-time"]) == ("finished", last["end-time"])


def test_latencybg_that_nobody_receives_fails_and_says_so(points: tuple[RunningPoint, RunningPoint]) -> None:
    spec = {"source": A, "dest": B, "dest-node": f"{B}:9", "packet-count": 10, "duration": "PT5S"}
    task = posted(points[0], {"type": "latencybg", "spec": spec})
    for _ in range(80):
        run = points[0].get(f"{task}/runs/first", wait="3").json()
        if run["state"] not in ("pending", "running"):
            break
        time.sleep(0.1)
    assert run["state"] == "failed"
    assert "the other participant" in run["errors"]


def test_an_absolute_start_is_kept_to_the_second(points: tuple[RunningPoint, RunningPoint]) -> None:
    client = points[0].client()
    ends = specs.Ends(A, B, points[0].node, points[1].node)
    wanted = float(int(time.time()) + 4)
    task = client.post(specs.throughput(ends, 1), Schedule(slip=0, start_at=wanted))
    run = client.first_run(task)
    assert (run.start, run.end - run.start) == (wanted, 5.0)
    late = client.post(specs.throughput(ends, 1), Schedule(slip=0, start_at=wanted + 4))
    refused = client.first_run(late)
    assert refused.state is RunState.NONSTART
    assert refused.document.fields["errors"] == "no free slot within the slip"
    for one in (task, late):
        client.cancel(one)


def test_a_metric_of_the_host_is_sampled_and_pushed(
    points: tuple[RunningPoint, RunningPoint], collector: Collector
) -> None:
    spec = {"metric": METRIC, "interval": "PT0.5S", "duration": "PT2S"}
    task = posted(points[0], {"type": "adon-metric", "spec": spec}, archives=archive(collector))
    asked = collector.wait(2)
    for _, _, _, sent in asked:
        assert sent["test"] == {"type": "adon-metric", "spec": spec}
        observations = [observation_from_json(item) for item in sent["result"]["observations"]]
        assert all(one.observed_at > time.time() - 60 for one in observations)
    assert len({sent["id"] for _, _, _, sent in asked}) == len(asked)
    points[0].delete(task)


def test_a_metric_that_is_not_there_fails_and_names_those_that_are(
    points: tuple[RunningPoint, RunningPoint],
) -> None:
    spec = {"metric": "no.such", "duration": "PT2S"}
    task = posted(points[0], {"type": "adon-metric", "spec": spec})
    for _ in range(80):
        run = points[0].get(f"{task}/runs/first", wait="3").json()
        if run["state"] == "failed":
            break
        time.sleep(0.1)
    assert "no metric 'no.such' here; there are" in run["errors"]
    assert METRIC in run["errors"]
