"""A stand-in point that holds tasks: each one posted has a name, a run, and results when told so."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from measurement.point.views import contains
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.iso8601 import format_timestamp
from tests.measurement.standin import StandIn, reply, stand_in


class Holder:
    """See the module.

    :param now: tells the server's time.
    """

    def __init__(self, server: StandIn, now: Callable[[], float]) -> None:
        self.server = server
        self.now = now
        self.tasks: dict[str, dict[str, Any]] = {}
        self.cancelled: list[str] = []
        self.patterns: list[Any] = []
        server.misbehave["POST /tasks"] = self._post
        server.misbehave["DELETE /tasks/"] = self._delete
        server.misbehave["GET /clock"] = self._clock
        server.misbehave["GET /tasks/"] = self._get
        server.misbehave["GET /tasks"] = self._list

    @property
    def client(self) -> PSchedulerClient:
        return PSchedulerClient(self.server.url, attempts=1, pause=lambda _: None, clock=self.now)

    def hold(self, document: dict[str, Any]) -> str:
        """Hold a task, as if somebody had posted it."""
        name = str(uuid.uuid4())
        self.tasks[name] = {**document, "href": f"http://elsewhere.invalid/tasks/{name}"}
        return name

    def gives(self, task: str, result: Any) -> None:
        """A result of a task, of now."""
        self.server.ran(task, str(uuid.uuid4()), float(int(self.now())), result)

    def _post(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        name = self.hold(body)
        self.server.ran(name, str(uuid.uuid4()), self.now(), None, state="running", lasts=3600)
        reply(handler, 200, f"http://elsewhere.invalid/tasks/{name}")

    def _delete(self, handler: BaseHTTPRequestHandler) -> None:
        name = urlsplit(handler.path).path.split("/")[-1]
        self.cancelled.append(name)
        self.tasks.pop(name, None)
        reply(handler, 200, "OK")

    def _clock(self, handler: BaseHTTPRequestHandler) -> None:
        reply(handler, 200, {"time": format_timestamp(self.now(), fraction=True), "synchronized": True})

    def _list(self, handler: BaseHTTPRequestHandler) -> None:
        pattern = json.loads(parse_qs(urlsplit(handler.path).query)["json"][0])
        self.patterns.append(pattern)
        detail = {"detail": {"enabled": True, "participant": 0}}
        reply(handler, 200, [task for task in self.tasks.values() if contains({**detail, **task}, pattern)])

    def _get(self, handler: BaseHTTPRequestHandler) -> None:
        place = urlsplit(handler.path)
        parts = place.path.removeprefix("/pscheduler/tasks/").split("/")
        since = parse_qs(place.query).get("start", [""])[0]
        runs = [line for line in self.server.runs if f"/tasks/{parts[0]}/" in line["href"]]
        if len(parts) == 1:
            reply(handler, 200, {"tool": "adon-owd", "test": {}})
        elif len(parts) == 4:
            reply(handler, 200, self.server.results[parts[2]])
        elif len(parts) == 2:
            reply(handler, 200, [line["href"] for line in runs if line["start-time"] >= since])
        else:
            (line,) = (line for line in runs if line["href"].endswith(parts[2]))
            reply(handler, 200, {**line, "result-merged": self.server.results[parts[2]]})


@contextmanager
def holder(now: Callable[[], float]) -> Iterator[Holder]:
    """A running one."""
    with stand_in() as server:
        yield Holder(server, now)
