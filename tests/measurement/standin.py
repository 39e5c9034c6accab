"""A pScheduler server for tests: real HTTP on loopback, well-behaved until told otherwise."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from measurement.pscheduler.iso8601 import format_timestamp

TASK = "11111111-1111-4111-8111-111111111111"
RUN = "22222222-2222-4222-8222-222222222222"

RTT = {
    "schema": 1, "succeeded": True, "sent": 3, "received": 3, "lost": 0, "loss": 0.0,
    "min": "PT0.0021S", "max": "PT0.0034S", "mean": "PT0.0026S", "stddev": "P0D", "roundtrips": [],
}  # fmt: skip

Misbehave = Callable[[BaseHTTPRequestHandler], None]


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

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """One request."""
        place = urlsplit(handler.path)
        path = place.path.removeprefix("/pscheduler")
        what = f"{handler.command} {path}"
        self.asked.append(what)
        for prefix, misbehave in self.misbehave.items():
            if what.startswith(prefix):
                misbehave(handler)
                return
        length = int(handler.headers.get("Content-Length", "0"))
        body = json.loads(handler.rfile.read(length).decode("ascii")) if length else None
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        reply(handler, 200, self._value(handler.command, path, query, body))

    def _value(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        task = f"http://elsewhere.invalid/pscheduler/tasks/{TASK}"
        if (method, path) == ("POST", "/tasks"):
            self.posted.append(body)
            return task
        if method == "DELETE":
            self.cancelled.append(query.get("key", ""))
            return "OK"
        if path == "/tasks":
            wanted = json.loads(query["json"])["reference"]
            return [task for body in self.posted if body["reference"] == wanted]
        if re.fullmatch(r"/tasks/[^/]+", path):
            return {"tool": self.tool, "test": {}}
        if path.endswith("/participants"):
            return {"participants": [self.lead]}
        if "/runs/" in path:
            return self._run()
        return {
            "/api": 6,
            "/hostname": "stand-in",
            "/clock": {"time": format_timestamp(time.time(), fraction=True), "synchronized": True},
        }[path]

    def _run(self) -> dict[str, Any]:
        now = format_timestamp(time.time())
        known = {
            "href": f"http://elsewhere.invalid/pscheduler/tasks/{TASK}/runs/{RUN}",
            "state": "finished", "start-time": now, "end-time": now, "result-merged": self.result,
        }  # fmt: skip
        return {**known, **self.run}


def reply(handler: BaseHTTPRequestHandler, status: int, value: Any, kind: str = "application/json") -> None:
    """Answer with JSON, or with text as it is."""
    text = value if kind != "application/json" else json.dumps(value)
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.end_headers()
    handler.wfile.write(text.encode())


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """A running stand-in on a port of its own."""
    told = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            try:
                told.answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client had enough, as it should

        do_GET = do_POST = do_DELETE = answer  # noqa: N815  # http.server's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    told.url = f"http://127.0.0.1:{server.server_address[1]}/pscheduler"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
