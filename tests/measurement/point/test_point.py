"""Two real points over TLS on loopback, with real iperf3, ping, traceroute and one-way delay packets."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from measurement.model import Measurement, Metric, PathKey
from measurement.point import certificate
from measurement.poller import MeasurementFailed, PathTest, Point, Poller
from measurement.pscheduler import results, specs
from measurement.pscheduler.client import PSchedulerClient, Schedule
from measurement.pscheduler.states import RunState
from tests.apps.edge import eventually
from tests.measurement.point.running import (
    PATIENCE_S,
    A,
    B,
    RunningPoint,
    ends_of,
    run_peers,
    start,
    stop,
)
from tests.support.refusals import refused

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningPoint, RunningPoint]]:
    with run_peers(tmp_path_factory.mktemp("points")) as running:
        yield running


def poll(
    points: tuple[RunningPoint, RunningPoint], request: specs.TestRequest, *metrics: Metric
) -> dict[Metric, Measurement | MeasurementFailed]:
    named = {name: Point(point.client(), point.node) for name, point in zip("ab", points, strict=True)}
    test = PathTest(PathKey("p", "a", "b"), request, metrics)
    return {outcome.metric: outcome for outcome in Poller(named).run(test).outcomes}


def test_tcp_throughput_between_two_points(points: tuple[RunningPoint, RunningPoint]) -> None:
    found = poll(points, specs.throughput(ends_of(points), 1, 2), Metric.THROUGHPUT)[Metric.THROUGHPUT]
    assert isinstance(found, Measurement)
    assert found.value > 1e6
    assert (found.tool, found.parameters["streams"], found.parameters["side"]) == ("iperf3", 2, "receiver")


def test_udp_throughput_loss_and_jitter(points: tuple[RunningPoint, RunningPoint]) -> None:
    found = poll(
        points,
        specs.throughput(ends_of(points), 1, 1, 2_000_000),
        Metric.THROUGHPUT,
        Metric.LOSS,
        Metric.JITTER,
    )
    rate = found[Metric.THROUGHPUT]
    assert isinstance(rate, Measurement)
    assert 1e6 < rate.value < 4e6
    assert all(isinstance(outcome, Measurement) for outcome in found.values())


def test_round_trip_time(points: tuple[RunningPoint, RunningPoint]) -> None:
    found = poll(points, specs.rtt(ends_of(points), 3), Metric.RTT, Metric.LOSS)
    rtt, loss = found[Metric.RTT], found[Metric.LOSS]
    assert isinstance(rtt, Measurement)
    assert isinstance(loss, Measurement)
    assert rtt.value > 0
    assert 0 <= loss.value < 1


def test_one_way_delay_jitter_and_loss(points: tuple[RunningPoint, RunningPoint]) -> None:
    metrics = (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS)
    found = poll(points, specs.latency(ends_of(points), 20, 0.005), *metrics)
    delay = found[Metric.ONE_WAY_DELAY]
    assert isinstance(delay, Measurement)
    assert delay.value >= 0
    assert delay.tool == "adon-owd"
    jitter, loss = found[Metric.JITTER], found[Metric.LOSS]
    assert isinstance(jitter, Measurement)
    assert jitter.parameters["from"] == "raw packets"
    assert isinstance(loss, Measurement)
    assert loss.parameters["packets"] == 20
    assert 0 <= loss.value < 1


def test_the_hops_of_a_path(points: tuple[RunningPoint, RunningPoint]) -> None:
    url = posted(points[0], {"type": "trace", "spec": {"source": A, "dest": B, "hops": 3, "wait": "PT1S"}})
    run = wait_for(points[0], url)
    assert run["state"] == "finished"
    assert run["result-merged"]["paths"][0][0]["ip"] == B


def posted(point: RunningPoint, test: dict[str, Any], **more: Any) -> str:
    answer = point.post("/tasks", {"schema": 1, "test": test, "schedule": {"slip": "PT1M"}, **more})
    assert answer.status_code == 200, answer.text
    url = answer.json()
    assert url.startswith(point.url + "/tasks/")
    return str(url).removeprefix(point.url)


def wait_for(point: RunningPoint, task: str) -> dict[str, Any]:
    first = eventually(lambda: one if (one := point.get(f"{task}/runs/first", wait="8")).ok else None)
    path = first.json()["href"].removeprefix(point.url)

    def ended() -> dict[str, Any] | None:
        found: dict[str, Any] = point.get(path, **{"wait-merged": "1", "wait": "9"}).json()
        return found if RunState(found["state"]).terminal else None

    run: dict[str, Any] = eventually(ended, "the run does not end")
    return run


def test_a_throughput_test_to_a_point_that_is_down_is_refused_with_its_name(
    points: tuple[RunningPoint, RunningPoint],
) -> None:
    with socket.socket() as free:
        free.bind((B, 0))
        node = f"{B}:{free.getsockname()[1]}"
        found = poll(
            points, specs.throughput(ends_of(points)._replace(dest_node=node), 1), Metric.THROUGHPUT
        )[Metric.THROUGHPUT]
    assert isinstance(found, MeasurementFailed)
    assert node in found.cause


def test_exclusive_tests_take_turns_and_background_ignores_them(
    points: tuple[RunningPoint, RunningPoint],
) -> None:
    client = points[0].client()
    tests = [
        specs.throughput(ends_of(points), 2),
        specs.throughput(ends_of(points), 2),
        specs.rtt(ends_of(points), 1),
    ]
    tasks = [client.post(test, Schedule(slip=60)) for test in tests]
    one, two, light = (client.first_run(task) for task in tasks)
    assert one.end <= two.start or two.end <= one.start
    assert light.start < max(one.end, two.end)
    lines = points[1].get("/schedule").json()
    assert {one.uuid, two.uuid} <= {line["href"].rsplit("/", 1)[1] for line in lines}
    for task in tasks:
        client.cancel(task)


def test_without_slip_a_conflict_is_a_nonstart_with_its_reason(
    points: tuple[RunningPoint, RunningPoint],
) -> None:
    client = points[0].client()
    long = client.post(specs.throughput(ends_of(points), 30), Schedule(slip=60))
    client.first_run(long)
    second = client.post(specs.throughput(ends_of(points), 1), Schedule(slip=0))
    run = client.first_run(second)
    assert run.state is RunState.NONSTART
    assert "slip" in run.document.fields["errors"]
    with refused("run-failed"):
        results.successful_result(run)
    client.cancel(long)


def test_cancel_needs_the_key_and_ends_the_tools(points: tuple[RunningPoint, RunningPoint]) -> None:
    client = points[0].client()
    task = client.post(specs.throughput(ends_of(points), 30), Schedule(slip=60))
    run = client.first_run(task)
    path = f"/tasks/{task.uuid}"
    assert points[0].delete(path, key="wrong").status_code == 403
    assert points[0].get(path).json()["_key"] is None
    assert points[0].get(path, key="wrong").status_code == 403
    assert points[0].get(path, key=task.key).json()["_key"] == task.key
    eventually(lambda: len(children(points)) >= 2, "no tools run")
    client.cancel(task)
    client.cancel(task)
    assert client.run(task, run.uuid).state is RunState.CANCELED
    for point in points:
        assert point.get(path, detail="1").json()["detail"]["enabled"] is False
    eventually(lambda: children(points) == [], "tools are left")


def children(points: tuple[RunningPoint, RunningPoint]) -> list[str]:
    found: list[str] = []
    for point in points:
        for thread in Path(f"/proc/{point.process.pid}/task").iterdir():
            try:
                found += (thread / "children").read_text().split()
            except OSError:
                continue
    return found


def test_a_repeating_task_runs_again(points: tuple[RunningPoint, RunningPoint]) -> None:
    client = points[0].client()
    task = client.post(specs.rtt(ends_of(points), 1), Schedule(slip=1, repeat=2, max_runs=2))
    eventually(lambda: len(client.runs_since(task, 0)) == 2, "there are not two runs")
    first, second = (client.run(task, name) for name in client.runs_since(task, 0))
    assert second.start - first.start >= 1


def test_a_point_with_another_certificate_is_not_trusted(points: tuple[RunningPoint, RunningPoint]) -> None:
    with refused("point-untrusted"):
        PSchedulerClient(points[0].url, verify=str(points[1].certificate)).api()
    assert PSchedulerClient(points[0].url, verify=False).api() == 6


def test_what_a_client_asks_first(points: tuple[RunningPoint, RunningPoint]) -> None:
    point = points[0]
    assert isinstance(point.get("/").json(), str)
    assert point.get("/api").json() == 6
    assert point.get("/", api="7").status_code == 501
    assert point.get("/", api="x").status_code == 400
    assert point.get("/schedule-horizon").json() == "PT86400S"
    assert point.get("/status").json()["limits"]["ok"] is True
    assert point.get("/tests").json()[0] == f"{point.url}/tests/throughput"
    assert point.get("/tests", expanded="").json()[0]["scheduling-class"] == "exclusive"
    assert point.get("/tests/latency/tools").json()[0]["name"] == "adon-owd"
    assert {tool["name"] for tool in point.get("/tools", expanded="1").json()} >= {"iperf3", "ping"}
    named = point.get("/tests/rtt/participants", spec='{"dest": "192.0.2.1"}').json()
    assert named["participants"] == [None]
    assert "null-reason" in named
    assert point.get("/tests/rtt/spec/is-valid", spec='{"dest": "192.0.2.1"}').json() == {"valid": True}
    wrong = point.get("/tests/rtt/spec/is-valid", spec='{"dest": 5}').json()
    assert wrong["valid"] is False
    assert "dest" in wrong["error"]


RTT = {"type": "rtt", "spec": {"dest": B}}


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"schema": 1, "test": RTT}, 400, "schedule:"),
        ({"schema": 9, "test": RTT, "schedule": {}}, 400, "schema"),
        ({"test": {"type": "sing", "spec": {}}, "schedule": {}}, 404, '"sing"'),
        ({"test": {"type": "rtt", "spec": {}}, "schedule": {}}, 400, "dest:"),
        ({"test": RTT, "schedule": {"repeat": "P0D"}}, 400, "repeat"),
        ({"test": RTT, "schedule": {"until": "PT1H"}}, 400, "isoformat"),
        ({"test": RTT, "schedule": {}, "surprise": 1}, 400, "surprise"),
        ({"test": RTT, "schedule": {}, "tools": ["twping"]}, 422, "ping"),
        ([], 400, "JSON"),
    ],
)
def test_a_bad_task_is_refused_in_plain_text(
    points: tuple[RunningPoint, RunningPoint], body: Any, status: int, text: str
) -> None:
    answer = points[0].post("/tasks", body)
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert text in answer.text


def test_what_is_not_there_is_404_and_bad_waits_are_400(points: tuple[RunningPoint, RunningPoint]) -> None:
    point = points[0]
    missing = "/tasks/11111111-1111-4111-8111-111111111111"
    assert point.get(missing).status_code == 404
    assert point.get(f"{missing}/runs").json() == []
    assert point.get(f"{missing}/runs/first", wait="0").status_code == 404
    assert point.get("/tests/sing").status_code == 404
    task = posted(point, RTT)
    run = wait_for(point, task)["href"].removeprefix(point.url)
    assert point.get(run, **{"wait-merged": "1", "wait": "x"}).status_code == 400
    assert point.get(run, **{"wait-merged": "1", "wait-local": "1"}).status_code == 400
    assert point.get(f"{run}/result").json()["succeeded"] is True
    assert point.get(f"{run}/result", format="text/html").status_code == 400
    assert requests.post(
        f"{point.url}/tasks", data=b"{\xff", verify=str(point.certificate), timeout=PATIENCE_S
    ).status_code == 400  # fmt: skip


def test_who_is_not_on_the_allow_list_may_read_and_nothing_more(tmp_path: Path) -> None:
    point = start(tmp_path, A, "--allow", "192.0.2.0/24")
    try:
        client = point.client()
        assert client.api() == 6
        with refused("rejected") as caught:
            client.post(specs.rtt(specs.Ends(A, B, point.node, point.node), 1), Schedule())
        assert caught.error.status == 403
        assert point.post("/owd", {"address": A, "packets": 1, "lifetime": 1}).status_code == 403
        assert point.get("/tasks").json() == []
    finally:
        assert stop(point) == 0


def test_tools_die_with_a_point_that_is_killed(
    tmp_path: Path, points: tuple[RunningPoint, RunningPoint]
) -> None:
    point = start(tmp_path, A)
    client = point.client()
    task = client.post(specs.rtt(specs.Ends(A, B, point.node, point.node), 1000), Schedule())
    client.first_run(task)
    tools = eventually(lambda: children((point, point)), "no tools run")
    point.process.kill()
    point.process.wait(PATIENCE_S)
    eventually(lambda: not any(alive(int(tool)) for tool in tools), "tools are left")
    if point.process.stderr is not None:
        point.process.stderr.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_receiver_sends_nothing_and_hears_only_its_session(
    points: tuple[RunningPoint, RunningPoint],
) -> None:
    asked = {"address": B, "source": A, "packets": 10, "lifetime": 5}
    session = points[1].post("/owd", asked).json()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind((A, 0))
        stranger.settimeout(0.3)
        stranger.sendto(b"x" * 100, (B, session["port"]))
        with pytest.raises(TimeoutError):
            stranger.recv(100)
    assert points[1].post(f"/owd/{session['session']}", {}).json() == []
    assert points[1].post(f"/owd/{session['session']}", {}).status_code == 404
    assert points[1].post("/owd", {**asked, "address": "192.0.2.77"}).status_code == 400


def test_its_key_is_private_and_its_certificate_is_kept(tmp_path: Path) -> None:
    first = certificate.ensure(tmp_path, ["a.example.net", A])
    before = first[0].read_bytes()
    assert first[1].stat().st_mode & 0o077 == 0
    assert certificate.ensure(tmp_path, ["other"]) == first
    assert first[0].read_bytes() == before
