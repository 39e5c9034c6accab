"""What every resource needs: reading a request, and writing an answer as pScheduler does.

Whatever is wrong with a request is a :class:`Refusal`: a status and plain text.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from flask import Response, request

from measurement.point.engine import Engine
from measurement.point.model import TESTS, Run, Task, TestType
from measurement.point.specs import LOCAL, Spec, parse_spec
from measurement.pscheduler.iso8601 import parse_timestamp

API_LEVEL = 6
LONGEST_WAIT = 60.0
_T = TypeVar("_T")


class Refusal(Exception):
    """An answer that is not what was asked for."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text
        super().__init__(text)


def as_json(value: object) -> Response:
    """JSON, ending in a newline, indented if ``pretty`` is asked for."""
    text = json.dumps(value, indent=4 if flag("pretty") else None)
    return Response(text + "\n", mimetype="application/json")


def plain(text: str, status: int) -> Response:
    """Plain text, as errors are."""
    return Response(text, status, mimetype="text/plain")


def list_items(items: list[dict[str, Any]]) -> list[Any]:
    """Objects if ``expanded`` is asked for, else their URLs."""
    return items if flag("expanded") else [item["href"] for item in items]


def base() -> str:
    """The API's URL, with the host as the client names it."""
    return request.host_url + "pscheduler"


def read_or_refuse(read: Callable[[], _T]) -> _T:
    """What ``read`` gives; its ``ValueError`` is a 400 with the same text."""
    try:
        return read()
    except ValueError as error:
        raise Refusal(400, str(error)) from None


def body() -> dict[str, Any]:
    """The body, a JSON object in ASCII."""
    try:
        return an_object(json.loads(request.get_data().decode("ascii")))
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"Invalid JSON: {error}") from None


def argument(name: str) -> object:
    """A query parameter that is JSON."""
    if name not in request.args:
        raise Refusal(400, f"No {name} provided.")
    try:
        value: object = json.loads(request.args[name])
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"{name}: Invalid JSON: {error}") from None
    return value


def an_object(value: object) -> dict[str, Any]:
    """The value, if it is a JSON object."""
    if not isinstance(value, dict):
        raise Refusal(400, "Expected a JSON object.")
    return value


def flag(name: str) -> bool:
    """A query parameter that is a boolean."""
    return request.args.get(name, "no").lower() in ("", "1", "yes", "true")


def integer(name: str, default: int) -> int:
    """A query parameter that is a number, not negative."""
    text = request.args.get(name, str(default))
    if not text.isascii() or not text.isdigit():
        raise Refusal(400, f"{name}: must be a number, not negative.")
    return int(text[:9])


def wait(default: int) -> float:
    """How long the client lets its answer be held, in seconds."""
    return min(integer("wait", default), LONGEST_WAIT)


def instant(name: str) -> float | None:
    """A query parameter that is a time; None if it is not there."""
    return read_or_refuse(lambda: parse_timestamp(request.args[name])) if name in request.args else None


def a_uuid(text: str) -> str:
    """The text, if it is a UUID."""
    return read_or_refuse(lambda: str(uuid.UUID(text)))


def same(given: str, key: str) -> bool:
    """Whether a key is the one expected."""
    return secrets.compare_digest(given.encode(errors="replace"), key.encode())


def check_api_level() -> None:
    """Refuse a client that asks for more than there is."""
    if "api" in request.args and integer("api", 1) > API_LEVEL:
        raise Refusal(501, f"No API above {API_LEVEL} is supported.")


def test_named(name: str) -> TestType:
    """A test that is offered."""
    if name not in TESTS:
        raise Refusal(404, f'No test "{name[:40]}" is available.')
    return TESTS[name]


def spec_of(test: str, value: object) -> Spec:
    """A specification, checked."""
    return read_or_refuse(lambda: parse_spec(test, value))


def participants(test: TestType, spec: Spec) -> tuple[str, ...]:
    """Who takes part in a test."""
    named = spec.participants or (LOCAL,)
    if test.participants == 2 and named[0] == named[1]:
        raise Refusal(400, "source and dest are the same participant.")
    return named[: test.participants]


def task_named(engine: Engine, name: str) -> Task:
    """A task that is known."""
    found = engine.store.task(name)
    if found is None:
        raise Refusal(404, "Resource not found.")
    return found


def run_named(engine: Engine, task: str, run: str) -> Run:
    """A run that is known."""
    found = engine.store.run(task, run)
    if found is None:
        raise Refusal(404, "Resource not found.")
    return found
