"""pScheduler's REST API (5.2) over an :class:`~measurement.point.engine.Engine`.

Statuses, waits and plain-text errors are those of real servers, except where those are faults: a task
without ``schedule``, an invalid throughput specification, a relative ``until`` are 400 with the reason, not
500; ``/result?wait`` waits; a zero ``repeat`` is refused.  Reading is open; only hosts on the allow list
may make this point do something.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import logging
import secrets
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Blueprint, Flask, Response, request
from werkzeug.exceptions import HTTPException

from measurement.point import owd, views
from measurement.point.children import ToolFailed
from measurement.point.engine import HORIZON, Engine, Refused
from measurement.point.model import TESTS, Run, Schedule, Task, TestType
from measurement.point.scheduler import Slot
from measurement.point.specs import (
    LOCAL,
    Spec,
    TaskBody,
    parse_schedule,
    parse_spec,
    parse_task,
    without_comments,
)
from measurement.point.store import Full
from measurement.pscheduler.iso8601 import format_duration, format_timestamp, parse_timestamp
from measurement.pscheduler.states import RunState

LOG = logging.getLogger(__name__)
API_LEVEL = 6
LARGEST_BODY = 1_000_000
LONGEST_WAIT = 60.0
_LONGEST_OWD = 8000.0

_T = TypeVar("_T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Settings:
    """What the API needs to know of its host.

    :param name: what this host calls itself.
    :param allow: networks whose hosts may make this point measure.
    """

    name: str
    allow: Sequence[Network]


class _Answer(Exception):  # it is an answer, only not a good one
    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text
        super().__init__(text)


def create_app(engine: Engine, settings: Settings) -> Flask:
    """The application."""
    app = Flask("measurement.point")
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    for routes in (
        _host(settings),
        _tests(),
        _tasks(engine, settings),
        _runs(engine),
        _schedule(engine),
        _peers(engine, settings),
        _owd(settings),
    ):
        app.register_blueprint(routes, url_prefix="/pscheduler")
    app.register_error_handler(_Answer, lambda error: _plain(error.text, error.status))
    app.register_error_handler(
        HTTPException, lambda error: _plain(error.description or "", error.code or 500)
    )
    app.register_error_handler(Exception, _fault)
    return app


def _host(settings: Settings) -> Blueprint:
    routes = Blueprint("host", __name__)

    @routes.get("/")
    def root() -> Response:
        _check_api_level()
        return _json(f"This is the pScheduler API server on {settings.name} (ADON measurement point).")

    @routes.get("/api")
    def api() -> Response:
        return _json(API_LEVEL)

    @routes.get("/hostname")
    def hostname() -> Response:
        return _json(settings.name)

    @routes.get("/schedule-horizon")
    def horizon() -> Response:
        return _json(format_duration(HORIZON))

    @routes.get("/clock")
    def clock() -> Response:
        # Whether anything disciplines the clock is not ours to know, so it is not claimed.
        return _json({"time": format_timestamp(time.time(), fraction=True), "synchronized": False})

    @routes.get("/status")
    def status() -> Response:
        now = format_timestamp(time.time()).replace("+00:00", "Z")
        service = {"last": now, "overdue": None}
        names = ("ticker", "scheduler", "runner", "archiver")
        return _json({"time": now, "limits": {"ok": True}, "services": dict.fromkeys(names, service)})

    @routes.get("/archivers")
    def archivers() -> Response:
        return _json([])

    return routes


def _tests() -> Blueprint:
    routes = Blueprint("tests", __name__)

    @routes.get("/tests")
    def tests() -> Response:
        return _json(_listed([views.test_view(test, _base()) for test in TESTS.values()]))

    @routes.get("/tests/<name>")
    def test(name: str) -> Response:
        return _json(views.test_view(_test(name), _base()))

    @routes.get("/tests/<name>/tools")
    def test_tools(name: str) -> Response:
        return _json([views.tool_view(_test(name), _base())])

    @routes.get("/tests/<name>/spec/is-valid")
    def is_valid(name: str) -> Response:
        _test(name)
        try:
            parse_spec(name, _argument("spec"))
        except ValueError as error:
            return _json({"valid": False, "error": str(error)})
        return _json({"valid": True})

    @routes.get("/tests/<name>/participants")
    def participants(name: str) -> Response:
        named = _participants(_test(name), _spec(name, _argument("spec")))
        answer: dict[str, Any] = {"participants": [found or None for found in named]}
        if named[0] == LOCAL:
            answer["null-reason"] = "No source specified"
        return _json(answer)

    @routes.get("/tools")
    def tools() -> Response:
        if "test" not in request.args:
            return _json(_listed([views.tool_view(test, _base()) for test in TESTS.values()]))
        wanted = _object(_argument("test"))
        known = _test(str(wanted.get("type")))
        _spec(known.name, wanted.get("spec"))
        return _json([views.tool_view(known, _base())])

    return routes


def _tasks(engine: Engine, settings: Settings) -> Blueprint:
    routes = Blueprint("tasks", __name__)
    store = engine.store

    def view(task: Task, *, detail: bool, reveal: bool = False) -> dict[str, Any]:
        return views.task_view(task, store.runs(task.uuid), _base(), detail=detail, reveal=reveal)

    @routes.post("/tasks")
    def post() -> Response:
        _check_api_level()
        _check_allowed(settings.allow)
        task = _new_task(_body(), str(uuid.uuid4()), participant=0)
        try:
            engine.accept(task)
        except Refused as error:
            raise _Answer(500, str(error)) from None
        except Full:
            raise _Answer(422, "Unable to complete request: too many tasks.") from None
        url = f"{_base()}/tasks/{task.uuid}"
        if not _flag("expanded"):
            return _json(url)
        moved = _plain("See the task.", 303)
        moved.headers["Location"] = url + ("?detail" if _flag("detail") else "")
        return moved

    @routes.get("/tasks")
    def tasks() -> Response:
        pattern = _argument("json") if "json" in request.args else {}
        found = [
            task for task in store.tasks() if not pattern or views.contains(view(task, detail=True), pattern)
        ]
        if _flag("expanded"):
            return _json([view(task, detail=_flag("detail")) for task in found])
        return _json([f"{_base()}/tasks/{task.uuid}" for task in found])

    @routes.get("/tasks/<name>")
    def task(name: str) -> Response:
        found = _task(engine, name)
        key = request.args.get("key")
        if key is not None and not _same(key, found.key):
            raise _Answer(403, "Key is incorrect.")
        return _json(view(found, detail=_flag("detail"), reveal=key is not None))

    @routes.delete("/tasks/<name>")
    def cancel(name: str) -> Response:
        found = _task(engine, name)
        alone = len(found.participants) == 1 and request.remote_addr == found.requester
        if not alone and not _same(request.args.get("key", ""), found.key):
            raise _Answer(403, "Forbidden by key or requester.")
        if found.enabled:
            engine.cancel(found)
        return _plain("OK\n", 200)

    return routes


def _runs(engine: Engine) -> Blueprint:
    routes = Blueprint("runs", __name__)
    store = engine.store

    @routes.get("/tasks/<name>/runs")
    def runs(name: str) -> Response:
        earliest, latest = _time("start"), _time("end")
        found = [
            run.uuid
            for run in store.runs(name)
            if (earliest is None or run.start >= earliest) and (latest is None or run.end <= latest)
        ]
        if "limit" in request.args:
            found = found[: max(1, _integer("limit", 1))]
        return _json([f"{_base()}/tasks/{name}/runs/{run}" for run in found])

    @routes.get("/tasks/<name>/runs/<any(first, next):which>")
    def some_run(name: str, which: str) -> Response:
        known = _task(engine, name)

        def candidates() -> list[Run]:
            not_before = time.time() if which == "next" else 0.0
            return [run for run in store.runs(name) if run.start >= not_before]

        store.wait(lambda: bool(candidates()), _wait(default=30))
        found = candidates()
        if not found:
            raise _Answer(404, "No run yet.")
        return _json(views.run_view(known, found[0], _base()))

    @routes.get("/tasks/<name>/runs/<run>")
    def run(name: str, run: str) -> Response:
        local, merged = _flag("wait-local"), _flag("wait-merged")
        if local and merged:
            raise _Answer(400, "wait-local and wait-merged exclude each other.")
        if local or merged:
            store.wait(lambda: _over(engine, name, run), _wait(default=30))
        return _json(views.run_view(*_found(engine, name, run), _base()))

    @routes.get("/tasks/<name>/runs/<run>/result")
    def result(name: str, run: str) -> Response:
        if request.args.get("format", "application/json") != "application/json":
            raise _Answer(400, "This point formats results as application/json only.")
        if _flag("wait"):
            store.wait(lambda: _over(engine, name, run), _wait(default=30))
        _, found = _found(engine, name, run)
        if found.merged is None:
            raise _Answer(404, "No result.")
        return _json(found.merged)

    return routes


def _schedule(engine: Engine) -> Blueprint:
    routes = Blueprint("schedule", __name__)
    store = engine.store

    @routes.get("/schedule")
    def schedule() -> Response:
        earliest, latest, only = _time("start"), _time("end"), request.args.get("task")
        found = [
            (run.start, views.schedule_view(task, run, _base()))
            for task in store.tasks()
            if only is None or task.uuid == only
            for run in store.runs(task.uuid)
            if (earliest is None or run.end >= earliest) and (latest is None or run.start <= latest)
        ]
        return _json([line for _, line in sorted(found, key=lambda item: item[0])])

    @routes.get("/tasks/<name>/runtimes")
    def runtimes(name: str) -> Response:
        earliest, latest = _time("start"), _time("end")
        if earliest is None or latest is None or not earliest < latest:
            raise _Answer(400, "start and end are needed, in this order.")
        return _json(views.slot_view(engine.free(_task(engine, name), Slot(earliest, latest))))

    return routes


def _peers(engine: Engine, settings: Settings) -> Blueprint:
    """What other points ask (:mod:`measurement.point.peers`)."""
    routes = Blueprint("peers", __name__)

    @routes.post("/tasks/<name>")
    def take_part(name: str) -> Response:
        _check_allowed(settings.allow)
        if request.args.get("participant") != "1":
            raise _Answer(400, "participant must be 1.")
        body = _body()
        participants = body.pop("participants", None)
        if not isinstance(participants, list) or len(participants) != 2:
            raise _Answer(400, "participants must be two.")
        task = _new_task(body, _uuid(name), participant=1, participants=tuple(map(str, participants)))
        try:
            engine.accept(task)
        except (ValueError, Full) as error:
            raise _Answer(409, f"Cannot take part: {error}") from None
        return _json(f"{_base()}/tasks/{name}")

    @routes.post("/tasks/<name>/runs")
    def reserve(name: str) -> Response:
        _check_allowed(settings.allow)
        task, body = _led_elsewhere(engine, name), _body()
        start = _checked(lambda: parse_timestamp(str(body.get("start-time"))))
        run = _uuid(str(body.get("uuid")))
        if not engine.reserve(task, run, start):
            raise _Answer(409, "The slot is taken, or the task is cancelled.")
        return _json(f"{_base()}/tasks/{name}/runs/{run}")

    @routes.delete("/tasks/<name>/runs/<run>")
    def drop(name: str, run: str) -> Response:
        _check_allowed(settings.allow)
        if not engine.drop_run(_task(engine, name), run):
            raise _Answer(404, "Resource not found.")
        return _plain("OK\n", 200)

    @routes.post("/tasks/<name>/runs/<run>/server")
    def serve(name: str, run: str) -> Response:
        _check_allowed(settings.allow)
        task, found = _led_elsewhere(engine, name), _found(engine, name, run)[1]
        if found.state is not RunState.PENDING:
            raise _Answer(409, f"The run is {found.state}.")
        try:
            return _json({"port": engine.serve(task, found)})
        except ToolFailed as error:
            raise _Answer(500, str(error)) from None

    return routes


def _owd(settings: Settings) -> Blueprint:
    """One-way delay sessions, for other points (:mod:`measurement.point.owd`)."""
    routes = Blueprint("owd", __name__)
    sessions = owd.Sessions()

    @routes.post("/owd")
    def open_session() -> Response:
        _check_allowed(settings.allow)
        body = _body()
        packets, lifetime = body.get("packets"), body.get("lifetime")
        if not isinstance(packets, int) or not 1 <= packets <= 100_000:
            raise _Answer(400, "packets: must be 1 to 100000")
        if not isinstance(lifetime, int | float) or not 0 < lifetime <= _LONGEST_OWD:
            raise _Answer(400, f"lifetime: must be above 0, at most {_LONGEST_OWD:.0f}")
        source = body.get("source")
        only = None if source is None else str(source)
        address = str(body.get("address"))
        name, receiver = _checked(lambda: sessions.open(address, only, 2 * packets, lifetime))
        token = base64.b64encode(receiver.token).decode("ascii")
        return _json({"session": name, "port": receiver.port, "token": token})

    @routes.post("/owd/<name>")
    def close_session(name: str) -> Response:
        packets = sessions.close(name)  # its name is a secret that only the opener has
        if packets is None:
            raise _Answer(404, "Resource not found.")
        return _json([list(packet) for packet in packets])

    return routes


def _new_task(
    body: dict[str, Any], name: str, *, participant: int, participants: tuple[str, ...] | None = None
) -> Task:
    document = without_comments(body)
    now = time.time()
    parsed: TaskBody = _checked(lambda: parse_task(document))
    test = _test(parsed.test.type)
    spec = _spec(test.name, parsed.test.spec)
    schedule: Schedule = _checked(lambda: parse_schedule(parsed.schedule, now))
    if parsed.tools is not None and test.tool not in parsed.tools:
        offered = ", ".join(parsed.tools)[:200]
        raise _Answer(
            422, f"Unable to complete request: no tool accepted: wanted {offered}, offered {test.tool}."
        )
    named = participants if participants is not None else _participants(test, spec)
    key = parsed.key if parsed.key is not None else secrets.token_urlsafe(24)
    return Task(
        name,
        _object(document),
        test,
        spec,
        schedule,
        named,
        participant,
        spec.lasts,
        now,
        request.remote_addr or "",
        key,
    )


def _participants(test: TestType, spec: Spec) -> tuple[str, ...]:
    named = spec.participants or (LOCAL,)
    if test.participants == 2 and named[0] == named[1]:
        raise _Answer(400, "source and dest are the same participant.")
    return named[: test.participants]


def _test(name: str) -> TestType:
    if name not in TESTS:
        raise _Answer(404, f'No test "{name[:40]}" is available.')
    return TESTS[name]


def _spec(test: str, value: object) -> Spec:
    return _checked(lambda: parse_spec(test, value))


def _task(engine: Engine, name: str) -> Task:
    found = engine.store.task(name)
    if found is None:
        raise _Answer(404, "Resource not found.")
    return found


def _led_elsewhere(engine: Engine, name: str) -> Task:
    found = _task(engine, name)
    if found.participant == 0:
        raise _Answer(400, "This host leads that task.")
    return found


def _found(engine: Engine, name: str, run: str) -> tuple[Task, Run]:
    task, found = _task(engine, name), engine.store.run(name, run)
    if found is None:
        raise _Answer(404, "Resource not found.")
    return task, found


def _over(engine: Engine, name: str, run: str) -> bool:
    found = engine.store.run(name, run)
    return found is None or found.state.terminal


def _checked(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except ValueError as error:
        raise _Answer(400, str(error)) from None


def _body() -> dict[str, Any]:
    try:
        return _object(json.loads(request.get_data().decode("ascii")))
    except (ValueError, RecursionError) as error:
        raise _Answer(400, f"Invalid JSON: {error}") from None


def _argument(name: str) -> object:
    if name not in request.args:
        raise _Answer(400, f"No {name} provided.")
    try:
        value: object = json.loads(request.args[name])
    except (ValueError, RecursionError) as error:
        raise _Answer(400, f"{name}: Invalid JSON: {error}") from None
    return value


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Answer(400, "Expected a JSON object.")
    return value


def _uuid(text: str) -> str:
    return _checked(lambda: str(uuid.UUID(text)))


def _flag(name: str) -> bool:
    return request.args.get(name, "no").lower() in ("", "1", "yes", "true")


def _integer(name: str, default: int) -> int:
    text = request.args.get(name, str(default))
    if not text.isascii() or not text.isdigit():
        raise _Answer(400, f"{name}: must be a number, not negative.")
    return int(text[:9])


def _wait(default: int) -> float:
    return min(_integer("wait", default), LONGEST_WAIT)


def _time(name: str) -> float | None:
    return _checked(lambda: parse_timestamp(request.args[name])) if name in request.args else None


def _same(given: str, key: str) -> bool:
    return secrets.compare_digest(given.encode(), key.encode())


def _check_api_level() -> None:
    if "api" in request.args and _integer("api", 1) > API_LEVEL:
        raise _Answer(501, f"No API above {API_LEVEL} is supported.")


def _check_allowed(allow: Sequence[Network]) -> None:
    address = ipaddress.ip_address(request.remote_addr or "0.0.0.0")  # noqa: S104  # no address: not allowed
    if not any(address in network for network in allow):
        raise _Answer(403, f"Task forbidden by limits:\nRequester {address} is not on the allow list.")


def _base() -> str:
    return request.host_url + "pscheduler"


def _listed(items: list[dict[str, Any]]) -> list[Any]:
    return items if _flag("expanded") else [item["href"] for item in items]


def _json(value: object) -> Response:
    text = json.dumps(value, indent=4 if _flag("pretty") else None)
    return Response(text + "\n", mimetype="application/json")


def _plain(text: str, status: int) -> Response:
    return Response(text, status, mimetype="text/plain")


def _fault(error: Exception) -> Response:
    LOG.error("event=fault path=%s", request.path, exc_info=error)
    return _plain("Internal error; see the point's log.", 500)
