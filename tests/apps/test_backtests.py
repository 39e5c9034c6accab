"""Backtests by REST: a real web process's services, databases of a past, a process for each replay."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adon.access.identity import create_token
from adon.config import load
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from apps.rest.explanations import Backtests
from apps.rest.services import open_services
from apps.rest.web_app import create_app
from tests.apps.edge import eventually
from tests.support.backtests import EAGER, START, UNTIL
from tests.support.past_folder import fingerprints, to_iso, write_past

BODY: dict[str, Any] = {
    "template": EAGER.model_dump(mode="json", by_alias=True, exclude_unset=True),
    "since": to_iso(START),
    "until": to_iso(UNTIL),
}


@pytest.fixture
def folder(tmp_path: Path, empty_state: Path) -> Path:
    return write_past(tmp_path, empty_state)


class Web:
    """The application over the past's databases."""

    def __init__(self, client: Any, tokens: dict[str, str], made: Backtests) -> None:
        self.client, self.tokens, self.made = client, tokens, made

    def ask(self, method: str, path: str, role: str = "performance_engineer", **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[role]}"}
        return self.client.open(f"/api/v1{path}", method=method, headers=headers, **more)

    def over(self, where: str) -> Any:
        return eventually(
            lambda: found if (found := self.ask("GET", where).json)["state"] != "running" else None
        )


@pytest.fixture
def web(folder: Path) -> Iterator[Web]:
    tokens = {}
    url = access_url(folder, None)
    make_database(url, ACCESS)
    with Access.open(url) as access:
        for role in ("performance_engineer", "admin", "researcher", "operator", "auditor"):
            access.users.ensure(role, [role], time.time())
            tokens[role], saved = create_token(role, time.time())
            access.tokens.save(saved)
    config = folder / "network.yaml"
    with open_services(load(config), folder, None, config) as services:
        assert services.backtests is not None
        yield Web(create_app(services).test_client(), tokens, services.backtests)


def begun(web: Web, **changes: Any) -> str:
    asked = web.ask("POST", "/template-backtests", json={**BODY, **changes})
    assert (asked.status_code, asked.json["state"]) == (202, "running"), asked.json
    return str(asked.headers["Location"]).removeprefix("/api/v1")


@pytest.mark.integration
def test_it_runs_behind_the_request_and_touches_nothing(web: Web, folder: Path) -> None:
    before = fingerprints(folder)
    where = begun(web)
    found = web.over(where)
    assert (found["state"], found["cause"]) == ("done", "")
    assert (found["found"]["present"], found["found"]["proposed"]) == ("bulk@1", "bulk@2")
    flows = {one["flow"]: one for one in found["found"]["flows"]}
    assert flows["f-1"]["proposed"]["paths"] == ["al2s", "internet"]
    (listed,) = web.ask("GET", "/template-backtests").json["items"]
    assert (listed["state"], "found" in listed) == ("done", False)
    assert fingerprints(folder) == before


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """What is started instead of Python."""
    file = folder / "program.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(file))


@pytest.mark.integration
def test_one_at_a_time_and_it_can_be_ended(web: Web, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder, monkeypatch, "exec sleep 60")
    where = begun(web)
    again = web.ask("POST", "/template-backtests", json=BODY)
    assert (again.status_code, again.json["code"]) == (409, "conflict")
    process = eventually(lambda: web.made._process)
    ended = web.ask("DELETE", where)
    assert (ended.status_code, ended.json["state"]) == (200, "cancelled")
    assert process.wait(60) == -signal.SIGKILL
    assert web.ask("DELETE", where).status_code == 409


@pytest.mark.integration
@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("echo 'since: there are too many' >&2; exit 2", "since:"),
        ("echo Traceback >&2; echo MemoryError >&2; exit 1", "it took"),
        ("kill -XCPU $$", "it took"),
        ("echo no JSON", "it could"),
    ],
)
def test_what_goes_wrong_is_told(
    web: Web, folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, cause: str
) -> None:
    program(folder, monkeypatch, script)
    found = web.over(begun(web))
    assert (found["state"], found["found"]) == ("failed", None)
    assert found["cause"].startswith(cause)


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"since": to_iso(UNTIL)}, 422, "until"),
        ({"until": to_iso(time.time() + 3600)}, 422, "until"),
        ({"since": to_iso(START - 40 * 86_400)}, 422, "since"),
        ({"since": "yesterday"}, 422, "since"),
        ({"template": {**BODY["template"], "weights": {"beauty": 1}}}, 422, "template.weights"),
        ({"template": {**BODY["template"], "name": "none"}}, 404, None),
        ({"colour": "blue"}, 422, "colour"),
    ],
)
def test_a_wrong_question_starts_nothing(
    web: Web, change: dict[str, Any], status: int, field: str | None
) -> None:
    answer = web.ask("POST", "/template-backtests", json={**BODY, **change})
    assert answer.status_code == status, answer.json
    if field is not None:
        assert answer.json["problems"][0]["field"].startswith(field)
    assert web.made.listed == ()


@pytest.mark.parametrize("role", ["researcher", "operator", "auditor"])
def test_it_is_for_performance_engineers(web: Web, role: str) -> None:
    assert web.ask("POST", "/template-backtests", role, json=BODY).status_code == 403
    assert web.ask("GET", "/template-backtests", role).status_code == 403
    assert web.made.listed == ()
