"""A pScheduler server for tests: real HTTP on loopback, well-behaved until told otherwise."""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from measurement.pscheduler.iso8601 import format_timestamp, parse_duration, parse_timestamp

TASK = "11111111-1111-4111-8111-111111111111"
RUN = "22222222-2222-4222-8222-222222222222"

RTT = {
    "schema": 1, "succeeded": True, "sent": 3, "received": 3, "lost": 0, "loss": 0.0,
    "min": "PT0.0021S", "max": "PT0.0034S", "mean": "PT0.0026S", "stddev": "P0D", "roundtrips": [],
}  # fmt: skip

CARDINALS = {
    "throughput": (
        "parallel", "bandwidth", "window-size", "mss", "buffer-length", "flow-label", "burst-size", "fq-rate",
    ),
    "rtt": ("count", "length", "ttl"),
    "trace": ("first-ttl", "flow-label", "hops", "ip-tos", "length", "queries"),
    "latency": ("packet-count",),
    "latencybg": ("packet-count",),
}  # fmt: skip
"""The fields that pScheduler's schemas call cardinals, by test: whole numbers from 1 on."""

Misbehave = Callable[[BaseHTTPRequestHandler], None]


def bad_field(test: dict[str, Any]) -> str | None:
    """The first field of a test's specification that pScheduler 5.2.5 refuses."""
    spec = test["spec"]
    for name in CARDINALS.get(test["type"], ()):
        if name in spec and not (type(spec[name]) is int and spec[name] >= 1):
            return name
    if spec.get("congestion") == "":
        return "congestion"
    ports = spec.get("data-ports", {"lower": 1, "upper": 2})
    return None if {*ports} == {"lower", "upper"} else "data-ports"


class StandIn:
    """Answers like pScheduler; ``misbehave`` maps "METHOD PATH-PREFIX" to another way to answer."""

    def __init__(self) -> None:
        self.result: dict[str, Any] | None = dict(RTT)
        self.run: dict[str, Any] = {}
        self.misbehave: dict[str, Misbehave] = {}
        self.lead: str | None = None
        self.tool = "ping"
        self.posted: list[dict[str, Any]] = []
        self.cancelled: list[str] = []
        self.asked: list[str] = []
        self.released = threading.Event()
        self.url = ""
        self.runs: list[dict[str, Any]] = []
        self.results: dict[str, Any] = {}
        self.authorizations: list[str | None] = []
        self.context: ssl.SSLContext | None = None
        self.connections = 0
        self.at_once = 0
        self.most_at_once = 0
        self.detail = True
        self.check_task: Callable[[], None] = lambda: None
        self.availability: float | None = None  # as pScheduler 5.3 reports it
        self._posting = threading.Lock()
        self.booked: list[tuple[float, float, str]] | None = None  # a list: refuse what does not fit

    def ran(
        self,
        task: str,
        run: str,
        at: float,
        result: Any,
        *,
        state: str = "finished",
        lasts: float = 0,
        **more: Any,
    ) -> None:
        """Put a run of a task on the schedule."""
        line = {
            "href": f"http://elsewhere.invalid/pscheduler/tasks/{task}/runs/{run}", "state": state,
            "start-time": format_timestamp(at), "end-time": format_timestamp(at + lasts), **more,
        }  # fmt: skip
        self.runs.append(line)
        self.results[run] = result

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """One request."""
        place = urlsplit(handler.path)
        path = place.path.removeprefix("/pscheduler")
        what = f"{handler.command} {path}"
        self.asked.append(what)
        self.authorizations.append(handler.headers.get("Authorization"))
        for prefix, misbehave in self.misbehave.items():
            if what.startswith(prefix):
                misbehave(handler)
                return
        length = int(handler.headers.get("Content-Length", "0"))
        body = json.loads(handler.rfile.read(length).decode("ascii")) if length else None
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        if what == "POST /tasks" and (wrong := bad_field(body["test"])) is not None:
            # A wrong specification of a throughput test is a traceback there.
            status = 500 if body["test"]["type"] == "throughput" else 400
            reply(handler, status, f"At /{wrong}: not valid under any of the given schemas", "text/plain")
            return
        if path == "/schedule/availability" and (self.availability is None or "next" not in query):
            reply(handler, 404, "Resource not found.", "text/plain")
            return
        reply(handler, 200, self._value(handler.command, path, query, body))

    def _value(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        task = f"http://elsewhere.invalid/pscheduler/tasks/{TASK}"
        if (method, path) == ("POST", "/tasks"):
            with self._posting:  # a small server checks one task at a time
                self.check_task()
            self.posted.append(body)
            self._book(body["test"], body["schedule"].get("start", ""))
            return task
        if method == "DELETE":
            self.cancelled.append(query.get("key", ""))
            return "OK"
        if path == "/tasks":
            wanted = json.loads(query["json"])["reference"].items()
            found = [body for body in self.posted if wanted <= body["reference"].items()]
            return [
                {"href": task, "reference": b["reference"]} if "expanded" in query else task for b in found
            ]
        if path == "/schedule/availability":
            return {"availability": self.availability, "start": "", "end": ""}
        if path == "/schedule":
            return [line for line in self.runs if _overlaps(line, query)]
        if path.endswith("/result"):
            return self.results[path.split("/")[-2]]
        if re.fullmatch(r"/tasks/[^/]+/runs", path):
            return [line["href"] for line in self.runs if line["start-time"] >= query["start"]]
        if re.fullmatch(r"/tasks/[^/]+", path):
            return {"tool": self.tool, "test": {}} | (
                self._detail() if self.detail and "detail" in query else {}
            )
        if path.endswith("/participants"):
            return {"participants": [self.lead]}
        if "/runs/" in path:
            known = [line for line in self.runs if line["href"].endswith(path)]
            return {**known[0], "result-merged": self.results[path[-36:]]} if known else self._run()
        return {
            "/api": 6,
            "/hostname": "stand-in",
            "/clock": {"time": format_timestamp(time.time(), fraction=True), "synchronized": True},
        }[path]

    def _detail(self) -> dict[str, Any]:
        test = self.posted[-1]["test"]
        anytime = test["type"] not in ("latency", "throughput")
        return {"detail": {"duration": f"PT{slot_of(test):d}S", "anytime": anytime}}

    def _book(self, test: dict[str, Any], start: str) -> None:
        """Keep the host free for a planned run; without room for it the run is a nonstart."""
        if self.booked is None or test["type"] not in ("latency", "throughput"):
            return
        begin = parse_timestamp(start)
        end = begin + slot_of(test)
        for other_begin, other_end, other in self.booked:
            if "throughput" in (test["type"], other) and begin < other_end and other_begin < end:
                self.run = {"state": "nonstart", "errors": "no times available", "result-merged": None}
                return
        self.run = {}
        self.booked.append((begin, end, test["type"]))

    def _run(self) -> dict[str, Any]:
        now = format_timestamp(time.time())
        known = {
            "href": f"http://elsewhere.invalid/pscheduler/tasks/{TASK}/runs/{RUN}",
            "state": "finished", "start-time": now, "end-time": now, "result-merged": self.result,
        }  # fmt: skip
        if self.posted and _is_too_short(self.posted[-1]["test"]):
            known |= {"state": "failed", "result-merged": {"succeeded": False, "error": "idle time-out"}}
        return {**known, **self.run}


def slot_of(test: dict[str, Any]) -> int:
    """The seconds that pScheduler 5.2.5 keeps its host free for a test, as observed."""
    spec = test["spec"]
    if test["type"] == "latency":
        count = spec.get("packet-count", 100)
        length = 1.1 * count * spec.get("packet-interval", 0.1) + count / 50_000
        return int(length + spec.get("packet-timeout", 0) + 11)
    if test["type"] == "throughput":
        return int(parse_duration(spec.get("duration", "PT10S")) + 9)
    return 11


def _is_too_short(test: dict[str, Any]) -> bool:
    """Whether the server of a throughput test gives up before the data arrive: it waits for the duration."""
    return test["type"] == "throughput" and parse_duration(test["spec"].get("duration", "PT10S")) <= 3


def _overlaps(line: dict[str, Any], query: dict[str, str]) -> bool:
    times = (
        parse_timestamp(text) for text in (line["start-time"], line["end-time"], query["start"], query["end"])
    )
    starts, ends, earliest, latest = times
    return ends >= earliest and starts <= latest


def reply(handler: BaseHTTPRequestHandler, status: int, value: Any, kind: str = "application/json") -> None:
    """Answer with JSON, or with text as it is."""
    text = value if kind != "application/json" else json.dumps(value)
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(text.encode())))
    handler.end_headers()
    handler.wfile.write(text.encode())


@contextmanager
def stand_in(context: ssl.SSLContext | None = None, *, keep_alive: bool = False) -> Iterator[StandIn]:
    """A running stand-in on a port of its own, with TLS if a context is given."""
    told = StandIn()
    told.context = context
    counting = threading.Lock()

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def get_request(self) -> tuple[Any, Any]:
            connection, address = super().get_request()
            told.connections += 1
            if told.context is not None:  # as it is now: a test may change the certificate
                connection = told.context.wrap_socket(
                    connection, server_side=True, do_handshake_on_connect=False
                )
            return connection, address

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Say nothing of a client that went away, or whose TLS failed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keep_alive else "HTTP/1.0"

        def answer(self) -> None:
            with counting:
                told.at_once += 1
                told.most_at_once = max(told.most_at_once, told.at_once)
            try:
                told.answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client had enough, as it should
            finally:
                with counting:
                    told.at_once -= 1

        do_GET = do_POST = do_DELETE = answer  # noqa: N815  # http.server's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    told.url = f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_address[1]}/pscheduler"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
