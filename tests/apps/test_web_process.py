"""The real web process by itself: its limits, whom it believes, who is let go when, and how it ends.

At the far ends of its links are stand-ins, so that a request can be held under way.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from adon.access.identity import create_token
from adon.errors import Unavailable
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from apps.link import LinkServer, Peer
from tests.apps.edge import (
    DIES_WITH_US,
    PATIENCE_S,
    ROOT,
    SourceAddress,
    end,
    eventually,
    free_port,
    write_configuration,
)
from tests.support.authorisation_table import EXPECTED
from tests.support.stage import make_stage
from tests.support.web_world import ROLES

pytestmark = pytest.mark.integration

STRANGER = "127.0.0.2"
"""An address of loopback that is no proxy; 127.0.0.1 is one."""


WIDE = {name: {"requests": 100_000, "per": "1 s"} for name in ("reads", "writes", "anonymous", "sign_in")}


class FarEnd:
    """The controller, or the collector: answers nothing but ``snapshot``, and that when it is let to."""

    def __init__(self, path: Path) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()
        self.server = LinkServer(path, self.handle)

    def handle(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        if kind == "snapshot":
            self.asked.set()
            self.may_answer.wait(120)
            peer.answer(str(payload["command"]), make_stage().snapshot())
        elif kind != "hello":
            raise Unavailable("not here")


class Web:
    """See the module."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        self.folder = folder
        config = write_configuration(folder, free_port())
        document = yaml.safe_load(config.read_text())
        document["controller"] |= {
            "web_proxies": ["127.0.0.1/32"],
            "web_limits": {name: dict(rate) for name, rate in {**WIDE, **limits}.items()},
        }
        config.write_text(yaml.safe_dump(document))
        self.url = f"http://127.0.0.1:{document['controller']['web_port']}"
        make_database(f"sqlite:///{folder / 'state.db'}")
        make_database(access_url(folder, None), ACCESS)
        self.access = Access.open(access_url(folder, None))
        self.tokens = {role: self.token(role, role) for role in ROLES}
        self.controller, self.collector = (
            FarEnd(folder / f"{name}.sock") for name in ("controller", "collector")
        )
        self.log = folder / "web.log"
        command = [sys.executable, "-m", "apps.rest", "--config", str(config), "--data", str(folder)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        eventually(self.listens, "the web side does not answer")

    def token(self, name: str, *roles: str) -> str:
        self.access.users.ensure(name, roles, time.time())
        text, kept = create_token(name, time.time())
        self.access.tokens.save(kept)
        return text

    def listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])), timeout=60).close()
        except OSError:
            return False
        return True

    def ask(self, path: str, who: str | None = None, method: str = "GET", **more: Any) -> requests.Response:
        head = dict(more.pop("headers", {}))
        if who is not None:
            head["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        return requests.request(method, self.url + path, headers=head, timeout=PATIENCE_S, **more)

    def close(self) -> None:
        end(self.process)
        for one in (self.controller, self.collector):
            one.may_answer.set()
            one.server.close()
        self.access.close()


@pytest.fixture
def web(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Web]:
    built = Web(tmp_path, **getattr(request, "param", {}))
    yield built
    built.close()


def stranger(web: Web, path: str, **headers: str) -> requests.Response:
    with requests.Session() as session:
        session.mount("http://", SourceAddress(STRANGER))
        return session.get(web.url + path, headers=headers, timeout=60)


FEW = {"requests": 2, "per": "600 s"}


@pytest.mark.parametrize("web", [{"reads": FEW, "anonymous": FEW, "sign_in": FEW}], indirect=True)
def test_whoever_asks_too_often_is_told_when_to_come_again_and_nobody_else_is(web: Web) -> None:
    found = [web.ask("/api/v1/version", "researcher") for _ in range(3)]
    assert [one.status_code for one in found] == [200, 200, 429]
    assert found[0].headers["RateLimit-Policy"] == '"reads";q=2;w=600'
    assert found[0].headers["RateLimit"].startswith('"reads";r=1;t=')
    assert 1 <= int(found[2].headers["Retry-After"]) <= 600
    assert found[2].headers["Content-Type"] == "application/problem+json"
    assert web.ask("/api/v1/version", "operator").status_code == 200, "another user"
    # A refusal counts, too: whoever may not is not let to ask for ever.
    refused = [web.ask("/api/v1/audit", "performance_engineer").status_code for _ in range(3)]
    assert refused == [403, 403, 429]

    def behind(client: str) -> list[int]:
        asked = (web.ask("/api/v1/version", headers={"X-Forwarded-For": client}) for _ in range(3))
        return [one.status_code for one in asked]

    assert behind("192.0.2.1") == [401, 401, 429], "anonymous, by address"
    assert behind("192.0.2.2") == [401, 401, 429], "another behind the proxy"
    assert behind("192.0.2.2, 192.0.2.3") == [401, 401, 429], "the last that is no proxy"
    said = [stranger(web, "/api/v1/version", **{"X-Forwarded-For": f"192.0.2.{n}"}) for n in range(10, 13)]
    assert [one.status_code for one in said] == [401, 401, 429], "a stranger's word is nothing"

    def sign_in(token: str) -> int:
        sent = {"data": {"token": token}, "allow_redirects": False}
        return web.ask(
            "/sign-in", method="POST", headers={"X-Forwarded-For": "192.0.2.7"}, **sent
        ).status_code

    assert [sign_in("adon_guess") for _ in range(3)] == [401, 401, 429]
    guess = {"headers": {"X-Forwarded-For": "192.0.2.8"}}
    guessed = [web.ask("/api/v1/version", "adon_guess", **guess).status_code for _ in range(3)]
    assert guessed == [401, 401, 429], "tokens are guessed at the API as slowly as at the form"
    assert web.ask("/api/v1/version", "auditor", **guess).status_code == 200, "from the same address"
    assert sign_in(web.tokens["auditor"]) == 303, "who has a token is not kept out by others' guesses"
    eventually(lambda: "192.0.2.7" in {line.entry.address for line in web.access.audit.all()})


def test_it_ends_when_it_is_told_to_what_is_under_way_is_finished_and_listeners_go_home(web: Web) -> None:
    listener = web.ask("/api/v1/events", "admin", stream=True)
    lines = listener.iter_lines(chunk_size=1)
    assert next(lines) == b": listening"
    web.controller.may_answer.clear()
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(web.ask("/api/v1/network", "admin").status_code))
    asking.start()
    assert web.controller.asked.wait(60)
    web.process.terminate()
    # iter_lines raises for a stream that breaks off: it is ended as HTTP wants it.
    assert not [line for line in lines if line.startswith(b"data")]
    eventually(lambda: not web.listens(), "it takes more")
    web.controller.may_answer.set()
    asking.join(60)
    assert answers == [200]
    assert web.process.wait(60) == 0
    assert "Traceback" not in web.log.read_text()


@pytest.mark.parametrize("how", ["revoked", "disabled", "role lost"])
def test_a_stream_ends_with_the_right_to_listen_whoever_takes_it(web: Web, how: str) -> None:
    """Taken on the machine, beside the web process, as ``adon user disable --data`` does."""
    others = [web.ask("/api/v1/events", who, stream=True) for who in ("admin", "operator")]
    with web.ask("/api/v1/events", web.token("ann", "researcher", "auditor"), stream=True) as listener:
        lines = listener.iter_lines(chunk_size=1)
        assert next(lines) == b": listening"
        now = time.time()
        if how == "revoked":
            web.access.tokens.revoke(web.access.tokens.list("ann")[0].id, now)
        elif how == "disabled":
            web.access.users.change("ann", now, disabled=True)
        else:
            web.access.users.change("ann", now, removed=["auditor"])
        # The stream itself would go on for 300 s, with a heartbeat every 10 s.
        said = [line for line, _ in zip(lines, range(10), strict=False) if line]
        assert len(said) < 3, "it goes on"
        assert not [line for line in said if line.startswith(b"data")]
    eventually(lambda: web.log.read_text().count("event=events.revoked who='ann'") == 1, "it was not logged")
    assert web.log.read_text().count("events.revoked") == 1
    for one in others:
        one.close()


def test_who_may_what_holds_of_the_real_process(web: Web) -> None:
    """The gate of the authorisation matrix, without any stand-in of the web side's.

    Whoever may not is refused, whatever it is about; whoever may read is not.
    """
    wrong = []
    for (method, path), line in EXPECTED.items():
        address = path.replace("{id}", "x-1").replace("{name}", "x").replace("{version}", "1")
        query = {"seconds": "0.01"} if path == "/events" else {}
        for role, scope in line.items():
            who = None if role == "anonymous" else role
            if scope != "none" and (method != "GET" or "{" in path):
                continue
            status = web.ask(f"/api/v1{address}", who, method, params=query, json={}).status_code
            refused = status == (401 if who is None else 403)
            if refused is not (scope == "none") or status == 500:
                wrong.append((method, path, role, status))
    assert wrong == []
