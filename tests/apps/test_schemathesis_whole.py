"""The API of ``adon serve`` itself, nothing stood in for: what it answers is what its description says.

Every GET about things that are there; every other operation with the example of the description; and all
GETs again when the controller and the collector are gone, when 503 is the only failure of the server's that
may be.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.openapi import from_dict

from benchmarks import web_operations
from benchmarks.web_operations import Api, each_operation
from tests.apps.edge import PATIENCE_S, eventually
from tests.apps.whole import PREFIX, RUNNING, Whole, whole
from tests.support.schema_checks import CHECKS

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def _text(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


NOW = datetime.now(UTC)
NAMES = {
    "mu-dtn": "mu-dtn1",
    "osu-dtn": "osu-dtn1",
    "al2s": "mu-osu-0",
    "f-17": RUNNING,
    "2026-11-21T02:00:00Z": _text(NOW + timedelta(hours=1)),
    "2026-11-21T04:00:00Z": _text(NOW + timedelta(hours=3)),
}
"""What the examples name, and what is called so, or lies ahead, here."""
CHANGED: Mapping[str, Mapping[str, Any]] = {
    "start_backtest": {"since": _text(NOW - timedelta(days=1))},
}
"""What else differs from an example."""
REFUSED = {
    "acknowledge": (404, "the alarms are of a past that this collector has not seen"),
}
"""What is refused, and why; everything else succeeds."""
ALSO = ("/events?seconds=0.01&kinds=flow",)
"""What :mod:`benchmarks.web_operations` leaves out."""


class Described:
    """Asks as the description says, and holds each answer against it."""

    def __init__(self, running: Whole) -> None:
        self.document = running.get("/openapi.json")
        self._schema = from_dict(self.document)
        self._running = running

    def ask(self, method: str, path: str, address: str, body: Any = None, *, away: bool = False) -> Any:
        """Ask an operation at this address; the answer.

        :param away: 503 may be; what it looks like is described.  Otherwise a GET is asked again after it:
            what another process works out takes its time where much else runs.
        :raises FailureGroup: if it is not as described.
        """
        parts = urlsplit(address)
        found = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path), parts.path)
        assert found is not None, (path, address)
        case = self._schema[PREFIX + path][method].Case(
            path_parameters={name: unquote(value) for name, value in found.groupdict().items()},
            query=dict(parse_qsl(parts.query)),
            **({} if body is None else {"body": body, "media_type": "application/json"}),
        )
        head = {"Authorization": f"Bearer {self._running.token}"}

        def asked() -> Any:
            return case.call(self._running.url, headers=head, timeout=PATIENCE_S)

        deadline = time.monotonic() + PATIENCE_S
        again = method == "GET" and not away
        while (answer := asked()).status_code == 503 and again and time.monotonic() < deadline:
            time.sleep(1)
        checks = [
            one for one in CHECKS if one is not not_a_server_error or not away or answer.status_code != 503
        ]
        case.validate_response(answer, checks=checks)
        return answer

    def changes(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Operations that are no GET; what makes something comes first, what takes it away last."""
        for method in ("post", "patch", "put", "delete"):
            for path, item in self.document["paths"].items():
                if method in item:
                    yield method.upper(), path.removeprefix(PREFIX), item[method]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with whole(tmp_path_factory.mktemp("whole")) as built:
        yield built


@pytest.fixture(scope="module")
def described(running: Whole) -> Described:
    return Described(running)


def example(operation: Mapping[str, Any]) -> Any:
    """The body that the description shows, about what is here; None if it takes none."""
    if "requestBody" not in operation:
        return None
    text = json.dumps(operation["requestBody"]["content"]["application/json"]["example"])
    for name, here in NAMES.items():
        text = text.replace(f'"{name}"', f'"{here}"')
    return {**json.loads(text), **CHANGED.get(operation["operationId"], {})}


@pytest.fixture(scope="module")
def backtest(running: Whole) -> str:
    """The id of one that is done."""
    kept = running.make(
        "/template-backtests", {"template": _template(running), "since": _text(NOW - timedelta(days=2))}
    )["id"]
    eventually(lambda: running.get(f"/template-backtests/{kept}")["state"] == "done", "the backtest ends")
    return str(kept)


@pytest.fixture
def reads(running: Whole, backtest: str) -> list[tuple[str, str]]:
    """Each GET with some addresses of things that are there, in the order of the description.

    For one test: the examples take things away, also some that they do not name (every session of theirs).
    """
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web_operations, "MANY", 3)
        patch.setattr(web_operations, "PAUSE_S", 0)
        for one in each_operation(Api(running.url, running.token), random.Random(1), backtest):
            found += [(one.name, address) for address in one.paths]
    found += [(re.sub("f-[0-9]+", "{id}", urlsplit(address).path), address) for address in ALSO]
    return found


def _template(running: Whole) -> Mapping[str, Any]:
    kept = running.get("/templates/genomics-transfer")
    fields = ("name", "title", "qspec", "weights", "tables", "selection")
    return {name: kept[name] for name in fields}


def told(failure: FailureGroup) -> str:
    return "; ".join(f"{one.title}: {one.message}" for one in failure.exceptions)


def held(described: Described, asked: list[tuple[str, str]], *, away: bool = False) -> list[tuple[int, str]]:
    """The statuses of the answers, all of which are as described."""

    def one(path: str, address: str) -> tuple[int, str] | str:
        try:
            return described.ask("GET", path, address, away=away).status_code, address
        except FailureGroup as error:
            return f"{address}: {told(error)}"

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(one, *zip(*asked, strict=True)))
    assert not (wrong := [line for line in found if isinstance(line, str)]), "\n".join(wrong)
    return [answer for answer in found if not isinstance(answer, str)]


def test_what_is_there_is_answered_as_described(described: Described, reads: list[tuple[str, str]]) -> None:
    assert {path for path, _ in reads} == {
        path.removeprefix(PREFIX) for path, item in described.document["paths"].items() if "get" in item
    }
    assert {status for status, _ in held(described, reads)} == {200}


def test_the_examples_do_what_they_are_examples_of(running: Whole, described: Described) -> None:
    made = {
        "/alarms": running.get("/alarms?open=true")["items"][0]["id"],
        "/sessions": running.get("/sessions")["items"][0]["id"],
    }
    wrong = []
    for method, path, operation in described.changes():
        name, kind = operation["operationId"], "/" + path.split("/")[1]
        about = quote(str(made.get(kind, "")), safe="")
        address = path.replace("{id}", about).replace("{name}", about)
        try:
            answer = described.ask(method, path, address, example(operation))
        except FailureGroup as error:
            wrong.append(f"{name}: {told(error)}")
            continue
        status, _ = REFUSED.get(name, (answer.status_code, ""))
        if answer.status_code != status or (answer.status_code >= 300 and name not in REFUSED):
            wrong.append(f"{name}: {answer.status_code} {answer.text}")
        elif method == "POST" and path == kind and answer.status_code < 300:
            made[kind] = answer.json().get("id") or answer.json().get("name")
    assert not wrong, "\n".join(wrong)
    assert "Traceback" not in running.log


def test_without_controller_and_collector_503_is_all_that_fails(
    running: Whole, described: Described, reads: list[tuple[str, str]]
) -> None:
    asked = list(dict(reads).items())  # one of each
    running.process.send_signal(signal.SIGSTOP)  # so that it starts nothing anew
    try:
        for part in ("controller", "collector"):
            os.kill(running.pid(part), signal.SIGKILL)
        eventually(lambda: running.ask("GET", "/readyz").status_code == 503, "it does not notice")
        time.sleep(2)  # what was read a moment ago is not asked for again
        found = held(described, asked, away=True)
    finally:
        running.process.send_signal(signal.SIGCONT)
    assert not (others := [answer for answer in found if answer[0] not in {200, 503}]), others
    away = {urlsplit(address).path for status, address in found if status == 503}
    assert {"/network", "/queue", "/schedule"} <= away
    assert not away & {"/flows", "/decisions", "/templates", "/measurements", "/users", "/audit"}
    eventually(lambda: running.answers("/readyz"), "they do not come back")
