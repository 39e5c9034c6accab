from __future__ import annotations

import socket
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from measurement.errors import (
    BadAnswer,
    PointError,
    PointRefused,
    PointTimeout,
    PointUnavailable,
    Rejected,
    Stopped,
    shorten,
)
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient, Run, Schedule, ServerClock
from measurement.pscheduler.document import Document
from measurement.pscheduler.states import RunState
from measurement.pscheduler.transport import Timeouts
from tests.measurement.standin import RUN, TASK, Misbehave, StandIn, reply
from tests.support.refusals import refused

TEST = specs.rtt(specs.Ends("127.0.0.1", "127.0.0.2", "a", "b"), 3)
QUICK = Timeouts(connect=60.0, read=0.3, post=0.3)
"""For servers that hang; others get the time that a busy machine needs."""
PATIENT = Timeouts(connect=60.0, read=60.0, post=60.0)


def client(server: StandIn, timeouts: Timeouts = PATIENT, **more: Any) -> PSchedulerClient:
    return PSchedulerClient(server.url, timeouts=timeouts, pause=lambda _: None, **more)


def text(status: int, body: str, kind: str = "text/plain") -> Misbehave:
    return lambda handler: reply(handler, status, body, kind)


def test_the_probes(server: StandIn) -> None:
    asked = client(server)
    assert (asked.api(), asked.hostname()) == (6, "stand-in")
    assert asked.server_clock().synchronized
    assert abs(asked.server_clock().offset) < 60
    assert asked.lead(TEST) is None


def test_a_task_is_posted_whole_and_its_link_elsewhere_is_not_followed(server: StandIn) -> None:
    asked = client(server)
    task = asked.post(TEST, Schedule(slip=60))
    body = server.posted[0]
    assert body["schedule"] == {"slip": "PT60S"}
    assert body["schema"] == 1
    assert body["test"] == {"type": "rtt", "spec": dict(TEST.spec)}
    assert len(body["_key"]) >= 24
    assert task.url == f"{server.url}/tasks/{TASK}"
    assert task.key not in repr(task)
    run = asked.first_run(task)
    assert run.uuid == RUN
    assert run.url.startswith(server.url)
    asked.cancel(task)
    assert server.cancelled == [task.key]


def test_two_tasks_share_neither_key_nor_reference(server: StandIn) -> None:
    for _ in range(2):
        client(server).post(TEST, Schedule())
    first, second = server.posted
    assert first["_key"] != second["_key"]
    assert first["reference"] != second["reference"]


def hang(server: StandIn) -> Misbehave:
    return lambda handler: server.released.wait(60) and None


def test_after_a_lost_answer_the_task_is_looked_for_and_not_posted_again(server: StandIn) -> None:
    def lose_answer(handler: BaseHTTPRequestHandler) -> None:
        del server.misbehave["POST /tasks"]
        server.answer(_Mute(handler))  # type: ignore[arg-type]  # it happens, but nothing comes back
        server.released.wait(60)

    server.misbehave["POST /tasks"] = lose_answer
    lossy = Timeouts(connect=60.0, read=60.0, post=0.3)
    task = client(server, lossy).post(TEST, Schedule())
    assert len(server.posted) == 1
    assert task.key == server.posted[0]["_key"]


class _Mute:
    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.command, self.path = handler.command, handler.path
        self.headers, self.rfile, self.wfile = handler.headers, handler.rfile, self

    def write(self, _: bytes) -> None: ...
    def send_response(self, _: int) -> None: ...
    def send_header(self, *_: str) -> None: ...
    def end_headers(self) -> None: ...


def test_after_a_lost_request_it_is_posted_again_once(server: StandIn) -> None:
    def lose_request(_: BaseHTTPRequestHandler) -> None:
        del server.misbehave["POST /tasks"]
        server.released.wait(60)

    server.misbehave["POST /tasks"] = lose_request
    client(server, Timeouts(connect=60.0, read=60.0, post=2.0)).post(TEST, Schedule())
    assert len(server.posted) == 1
    assert server.asked.count("POST /tasks") == 2


@pytest.mark.parametrize(
    ("misbehave", "expected", "cause"),
    [
        (text(200, "<html><body>It works!</body></html>", "text/html"), BadAnswer, "<html>"),
        (text(200, "[" * 100_000), BadAnswer, "JSON"),
        (text(200, ""), BadAnswer, "JSON"),
        (text(200, '"six"'), BadAnswer, "API level"),
        (text(200, "true"), BadAnswer, "API level"),
        (text(404, "Resource not found."), Rejected, "HTTP 404:"),
        (text(403, "Task forbidden by limits:\nno"), Rejected, "limits: no"),
        (text(500, "Traceback\n" * 10_000), Rejected, "HTTP 500:"),
        (text(503, "busy"), PointUnavailable, "HTTP 503:"),
    ],
)  # fmt: skip
def test_a_bad_answer_is_one_short_line_with_the_host(
    server: StandIn, misbehave: Misbehave, expected: type[PointError], cause: str
) -> None:
    server.misbehave["GET /api"] = misbehave
    with pytest.raises(expected) as caught:
        client(server).api()
    assert cause in str(caught.value)
    assert caught.value.host in server.url
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_point_that_hangs_is_a_timeout(server: StandIn) -> None:
    server.misbehave["GET /api"] = hang(server)
    with pytest.raises(PointTimeout):
        client(server, QUICK).api()


def test_a_point_that_trickles_forever_is_a_timeout(server: StandIn) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not server.released.wait(0.05):
            handler.wfile.write(b" ")

    server.misbehave["GET /api"] = trickle
    with refused("point-timeout"):
        PSchedulerClient(server.url, timeouts=Timeouts(0.2, 0.3, 0.3), attempts=1).api()


def test_an_answer_cut_off_is_an_error_of_the_point(server: StandIn) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"half')

    server.misbehave["GET /api"] = cut
    with pytest.raises(PointError):
        client(server).api()


def test_a_huge_answer_is_not_read_to_its_end(server: StandIn) -> None:
    def flood(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not server.released.is_set():
            handler.wfile.write(b" " * 2**20)

    server.misbehave["GET /api"] = flood
    with refused("answer-too-large"):
        PSchedulerClient(server.url, attempts=1).api()


@pytest.mark.parametrize(
    "target", ["http://127.0.0.2:1/pscheduler/api", "//example.net/", "https://[", "file:///etc"]
)
def test_a_redirect_to_another_host_is_not_followed(server: StandIn, target: str) -> None:
    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", target)
        handler.end_headers()

    server.misbehave["GET /api"] = redirect
    with refused("redirect"):
        client(server).api()


def test_a_redirect_on_the_same_host_is_followed_but_not_for_ever(server: StandIn) -> None:
    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/pscheduler/hostname")
        handler.end_headers()

    server.misbehave["GET /clock"] = redirect
    with refused("bad-answer", "clock"):
        client(server).server_clock()
    server.misbehave["GET /hostname"] = redirect
    with refused("redirect"):
        client(server).hostname()


def test_nobody_there_is_refused_and_says_so() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = PSchedulerClient(f"http://127.0.0.1:{port}", attempts=1)
    with refused("point-refused"):
        asked.api()


def test_a_temporary_error_is_retried_and_a_refusal_is_not(server: StandIn) -> None:
    server.misbehave["GET /api"] = text(503, "restarting")
    server.misbehave["GET /hostname"] = text(400, "no")
    for call in (client(server, attempts=3).api, client(server, attempts=3).hostname):
        with pytest.raises(PointError):
            call()
    assert server.asked.count("GET /api") == 3
    assert server.asked.count("GET /hostname") == 1


def test_an_error_never_shows_a_key(server: StandIn) -> None:
    task = client(server).post(TEST, Schedule())
    server.misbehave["DELETE"] = text(403, f'not with ?key={task.key} nor {{"_key": "{task.key}"}}')
    with pytest.raises(Rejected) as caught:
        client(server).cancel(task)
    assert task.key not in str(caught.value)
    assert "***" in shorten("a?key=secret&b=1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        gone = PSchedulerClient(f"http://127.0.0.1:{closed.getsockname()[1]}", pause=lambda _: None)
        with pytest.raises(PointRefused) as caught:
            gone.cancel(task)
    assert task.key not in str(caught.value)
    assert caught.value.__cause__ is None


def test_cancelling_what_is_forgotten_is_no_error(server: StandIn) -> None:
    task = client(server).post(TEST, Schedule())
    server.misbehave["DELETE"] = text(404, "Resource not found.")
    client(server).cancel(task)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"state": "dreaming"}, "run.state"),
        ({"end-time": "2001-01-01T00:00:00Z"}, "run.end-time"),
        ({"start-time": "soon"}, "run.start-time"),
        ({"href": "https://x/pscheduler/tasks"}, "href"),
        ({"href": None}, "run.href"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(server: StandIn, change: dict[str, Any], field: str) -> None:
    server.run = change
    asked = client(server)
    with refused("bad-answer", field):
        asked.first_run(asked.post(TEST, Schedule()))


def test_no_run_ever_is_a_timeout(server: StandIn) -> None:
    server.misbehave[f"GET /tasks/{TASK}/runs/first"] = text(404, "No run yet.")
    now = iter(range(0, 10_000, 10))
    asked = PSchedulerClient(server.url, pause=lambda _: None, clock=lambda: float(next(now)))
    with refused("point-timeout"):
        asked.first_run(asked.post(TEST, Schedule()))


def test_a_run_that_never_ends_is_given_up_by_patience_whatever_it_plans(server: StandIn) -> None:
    server.run = {"state": "running", "end-time": "2999-01-01T00:00:00+00:00"}
    now = [2_000_000_000.0]

    def pause(seconds: float) -> None:
        now[0] += seconds

    asked = PSchedulerClient(server.url, pause=pause, clock=lambda: now[0])
    task = asked.post(TEST, Schedule())
    run = Run(RUN, "u", RunState.RUNNING, now[0] + 1, now[0] + 1e9, Document("h", "run", {}))
    with refused("point-timeout"):
        asked.wait_for_run(task, run, ServerClock(0.0, True), lasts=1e9, patience=100)
    assert now[0] == pytest.approx(2_000_000_100, abs=2)


def test_the_plan_is_followed_by_the_servers_clock(server: StandIn) -> None:
    pauses: list[float] = []
    asked = PSchedulerClient(server.url, pause=pauses.append, clock=lambda: 1000.0)
    task = asked.post(TEST, Schedule())
    an_hour_ahead = ServerClock(3600.0, True)
    run = Run(RUN, "u", RunState.PENDING, 4610.0, 4700.0, Document("h", "run", {}))
    assert asked.wait_for_run(task, run, an_hour_ahead, lasts=5, patience=600).state is RunState.FINISHED
    assert pauses == [15.0]


def test_a_stop_ends_a_wait(server: StandIn) -> None:
    def stop(_: float) -> None:
        raise Stopped

    server.misbehave["GET /api"] = text(503, "busy")
    with pytest.raises(Stopped):
        PSchedulerClient(server.url, pause=stop).api()


@pytest.mark.parametrize("repeat", [0.0, -1.0, float("nan")])
def test_a_zero_repeat_cannot_even_be_written(repeat: float) -> None:
    with refused(ValueError, "repeat"):
        Schedule(repeat=repeat)


@pytest.mark.parametrize(
    "url", ["", "ftp://a/", "https://", "a.example.net", "https://user:pw@a.example.net"]
)
def test_what_is_no_base_url_is_refused(url: str) -> None:
    with refused(ValueError):
        PSchedulerClient(url)


def test_a_certificate_file_that_is_not_there_is_refused() -> None:
    with refused(ValueError, "verify"):
        PSchedulerClient("https://a.example.net", verify="/nonexistent.pem")
