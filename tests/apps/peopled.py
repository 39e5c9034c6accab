"""A world in which everybody owns one of everything, and how each operation of the API is called there."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from adon.access.identity import Actor, create_token, digest_of
from adon.api.templates import BacktestState, BacktestView
from adon.broker.events import JobAsked
from adon.broker.sites.jobs import JobRequest
from apps.rest.examples import EXAMPLES
from apps.rest.explanations import Backtests
from apps.rest.services import NAME
from measurement.archive import Archive
from tests.support.fake_collector import FELL, NOW
from tests.support.web_world import ROLES, SOYKB, WISH, World

PREFIX = "/api/v1"
OTHER = "rival"
"""A researcher whose objects are others' to everybody else."""
WINDOW = {"scope": "path", "name": "al2s", "begins": "2099-11-21T02:00:00Z", "ends": "2099-11-21T04:00:00Z"}
RESERVATION = {"compute": "osu-hpc", "worker_nodes": 1, "ends": "2025-10-10T00:00:00Z"}
JOB = {"site": "osu-hpc", "job": "align"}

BODIES: Mapping[str, Any] = {
    "/templates": SOYKB,
    "/template-checks": {"text": "name: x\nweights: {rtt: 1}\n"},
    "/template-backtests": {"template": SOYKB, "since": "2025-10-09T08:00:00Z"},
    "/flows": WISH,
    "/flow-previews": WISH,
    "/flows/{id}/reports": {"status": "progress", "bytes": 1},
    "/rules/sync": {},
    "/measurements": {"path": "al2s", "source": "mu", "destination": "osu", "test": "rtt"},
    "/alarms/{id}/acknowledge": {},
    "/maintenance": WINDOW,
    "/advice": {"flow": "{flow}"},
    "/reservations": RESERVATION,
    "/jobs": JOB,
    "/studies": EXAMPLES["add_study"],
    "/subscriptions": {"channel": "mail", "target": "ann@example.edu"},
    "/users": {"name": "newcomer"},
    "/users/{name}": {"removed": []},
    "/tokens": {},
}
QUERIES: Mapping[str, Mapping[str, str]] = {
    "/rules": {"flow": "{flow}"},
    "/rules/explain": {"of": "{flow}"},
    "/measurements/plot": {
        "source": "mu",
        "metric": "host.cpu",
        "since": "2025-10-09T08:00:00Z",
        "until": "2025-10-09T09:00:00Z",
    },
    "/events": {"seconds": "0.01"},
    "/what-if": {"failure": "path-down", "name": "al2s"},
}
NOTED = ('INSERT INTO "access_tokens"', 'INSERT INTO "access_audit')
"""When a token was last used, and that somebody was refused, is noted of a refused request too."""
SHARED = {
    "alarms": FELL.id,
    "template-backtests": "b-1",
    "maintenance": "m-1",
    "templates": "soykb",
    "sites": "osu-hpc",
}
"""What belongs to nobody, by the first part of its address."""


@dataclass(frozen=True)
class Peopled:
    """The world, and the ids of what each owns, by owner and by the first part of an address."""

    world: World
    ids: dict[str, dict[str, str]] = field(default_factory=dict)

    def address(self, path: str, owner: str) -> str:
        """The address of an operation on something of this owner."""
        kind = "outcomes" if path.endswith("/outcome") else path.split("/")[1]
        name = self.ids[owner].get(kind, SHARED.get(kind, "none"))
        path = path.replace("{network}", self.world.configuration.network)
        return path.replace("{id}", name).replace("{name}", name).replace("{version}", "1")

    def call(self, method: str, path: str, who: str | None, owner: str) -> Any:
        """Call an operation, about something of this owner where it is about something."""
        flow, query = self.ids[owner]["flows"], QUERIES.get(path, {}) if method == "GET" else {}
        filled = _filled(BODIES.get(path) if method in ("POST", "PATCH") else None, flow, str(who))
        asked = {name: value.replace("{flow}", flow) for name, value in query.items()}
        return self.world.ask(method, self.address(path, owner), who, json=filled, query_string=asked)

    def state(self) -> str:
        """A digest of everything that is kept."""
        found = hashlib.sha256()
        for name in ("state.db", "measurements.db", "access.db"):
            with (
                closing(sqlite3.connect(self.world.folder / name)) as database,
                closing(_copy(database)) as kept,
            ):
                for line in kept.iterdump():
                    if not line.startswith(NOTED):
                        found.update(line.encode())
        return found.hexdigest()


def _copy(database: sqlite3.Connection) -> sqlite3.Connection:
    """As it is now, but for when somebody was here last."""
    copy = sqlite3.connect(":memory:")
    database.backup(copy)
    if copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'access_users'").fetchone():
        copy.execute("UPDATE access_users SET last_seen = NULL")
    return copy


def owned(path: str, method: str) -> bool:
    """Whether an operation is about an object that has an owner."""
    about = path.split("/")[1] in (
        "flows",
        "decisions",
        "jobs",
        "reservations",
        "subscriptions",
        "tokens",
        "users",
        "sessions",
    )
    flow = "{flow}" in str(BODIES.get(path)) if method == "POST" else "{flow}" in str(QUERIES.get(path))
    return (("{id}" in path or "{name}" in path) and about) or flow


def _filled(body: Any, flow: str, who: str) -> Any:
    if not isinstance(body, dict):
        return body
    known = {"{flow}": flow, "of-{who}": f"of-{who}"[:20]}
    return {
        name: known.get(value, value) if isinstance(value, str) else value for name, value in body.items()
    }


@contextmanager
def peopled(folder: Path, empty: Path) -> Iterator[Peopled]:
    """The world, until the end of the context."""
    built = World(folder, empty)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backtests, "_run", lambda *_: None)
        tried = Backtests(built.archive, built.archive.parent, built.url, lambda: NOW + 10)
        tried._kept["b-1"] = BacktestView(
            id="b-1",
            template="soykb",
            requester="eve",
            asked_at=NOW,
            since=NOW - 60,
            until=NOW,
            state=BacktestState.DONE,
            ended_at=NOW,
            cause="",
            found=None,
        )
        parts = replace(built.app.extensions[NAME], backtests=tried)
        built.app.extensions[NAME] = parts
        built.tokens["unknown"] = built.token("unknown", "astronaut")
        whole = Peopled(built)
        try:
            _fill(whole)
            yield whole
        finally:
            built.close()


def _spare_token(world: World, owner: str) -> str:
    """A token that nobody here signs in with: it may be revoked."""
    _, kept = create_token(owner, NOW)
    world.access.tokens.save(kept)
    return kept.id


def _spare_session(world: World, owner: str) -> str:
    """A session at a browser that nobody has open here."""
    cookie = world.access.sessions.start(Actor(owner, frozenset(), via="oidc"), "oidc", NOW)
    return digest_of(cookie)[:12]


def _fill(whole: Peopled) -> None:
    world = whole.world
    with Archive(world.archive) as archive:
        for owner in (*ROLES, OTHER, "unknown"):
            ended = world.stage.report(world.stage.submit(by=owner), "finished")
            flow = world.stage.submit(by=owner, size="25 GB")
            job = world.stage.command(JobAsked, JobRequest.model_validate(JOB), owner)
            subscribed = {"id": f"s-{owner}", "owner": owner, "channel": "mail", "target": "a@example.edu"}
            document = {**subscribed, "filter": {}}
            archive.put_document("subscription", f"s-{owner}", NOW, None, document, is_open=True)
            whole.ids[owner] = {
                "flows": flow.id,
                "outcomes": ended.id,
                "decisions": str(flow.decision),
                "jobs": job["id"],
                "reservations": world.stage.reserve(owner, compute="osu-hpc", worker_nodes=1),
                "subscriptions": f"s-{owner}",
                "users": owner,
                "tokens": _spare_token(world, owner),
                "sessions": _spare_session(world, owner),
            }
    world.ask("POST", "/maintenance", json=WINDOW)
    for owner, its in whole.ids.items():
        # Each of its own, though anybody may delete any: one that is gone cannot be deleted again.
        document = {**EXAMPLES["add_study"]["document"], "application": owner}
        made = world.ask("POST", "/studies", json={"kind": "placement", "document": document})
        its["studies"] = made.json["id"]
