"""Every operation of the API for everybody who may ask: generated from the OpenAPI document."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.config import SelfService
from adon.errors import AdonError
from apps.rest import guard
from apps.rest.backtests import Backtest, Backtests, State
from apps.rest.services import NAME
from measurement.archive import Archive
from tests.apps.measured import FELL, NOW
from tests.apps.web import ROLES, SOYKB, WISH
from tests.store.values import an_outcome
from tests.templates_catalog.experience import a_proposal
from tests.templates_catalog.experience import an_outcome as a_success

ALL = frozenset({*ROLES, "rival"})
STAFF = ALL - {"researcher", "rival"}
OWNER_OR_STAFF = ALL - {"rival"}
MEASURERS = {"admin", "operator", "performance_engineer"}

# Who may do it, about a flow or subscription of "researcher"; "anonymous" where anybody may.
ALLOWED = {
    ("get", "/templates"): ALL,
    ("post", "/templates"): {"admin", "performance_engineer"},
    ("get", "/templates/{name}"): ALL,
    ("get", "/template-drafts/questions"): ALL,
    ("post", "/template-drafts"): ALL,
    ("post", "/template-drafts/similar"): ALL,
    ("post", "/self-service"): {"admin", "performance_engineer", "researcher", "rival"},
    ("post", "/template-backtests"): {"admin", "performance_engineer"},
    ("get", "/template-backtests"): {"admin", "performance_engineer"},
    ("get", "/template-backtests/{id}"): {"admin", "performance_engineer"},
    ("get", "/template-backtests/{id}/picture"): {"admin", "performance_engineer"},
    ("delete", "/template-backtests/{id}"): {"admin", "performance_engineer"},
    ("get", "/proposals"): STAFF,
    ("post", "/proposals"): {"admin", "performance_engineer"},
    ("get", "/proposals/{id}"): STAFF,
    ("post", "/proposals/{id}/accept"): {"admin", "performance_engineer"},
    ("post", "/proposals/{id}/refuse"): {"admin", "performance_engineer"},
    ("get", "/templates/{name}/versions/{version}"): ALL,
    ("get", "/flows"): ALL,
    ("post", "/flows"): ALL - {"auditor"},
    ("get", "/flows/{id}"): OWNER_OR_STAFF,
    ("delete", "/flows/{id}"): {"admin", "operator", "researcher"},
    ("post", "/flows/{id}/reports"): {"admin", "operator", "researcher"},
    ("get", "/flows/{id}/history"): OWNER_OR_STAFF,
    ("get", "/flows/{id}/waiting"): OWNER_OR_STAFF,
    ("get", "/flows/{id}/decisions"): OWNER_OR_STAFF,
    ("get", "/decisions/{id}"): OWNER_OR_STAFF,
    ("get", "/flows/{id}/outcome"): OWNER_OR_STAFF,
    ("get", "/outcomes"): ALL,
    ("get", "/paths"): ALL,
    ("get", "/network"): STAFF,
    ("get", "/measurements"): ALL,
    ("get", "/rules"): OWNER_OR_STAFF,
    ("get", "/rules/diff"): STAFF,
    ("get", "/rules/explain"): OWNER_OR_STAFF,
    ("get", "/rules/sent"): STAFF,
    ("get", "/trace"): STAFF,
    ("post", "/rules/sync"): {"admin", "operator"},
    ("get", "/controllers"): STAFF,
    ("get", "/queue"): ALL,
    ("post", "/measurements"): MEASURERS,
    ("get", "/measurements/plot"): ALL,
    ("get", "/schedule"): ALL,
    ("get", "/schedule/gantt"): ALL,
    ("get", "/executions"): ALL,
    ("get", "/points"): STAFF,
    ("get", "/alarms"): ALL,
    ("get", "/alarms/{id}"): ALL,
    ("post", "/alarms/{id}/acknowledge"): MEASURERS,
    ("get", "/subscriptions"): ALL,
    ("post", "/subscriptions"): ALL,
    ("delete", "/subscriptions/{id}"): {"admin", "researcher"},
    ("get", "/maintenance"): ALL,
    ("post", "/maintenance"): {"admin", "performance_engineer"},
    ("delete", "/maintenance/{id}"): {"admin", "performance_engineer"},
    ("get", "/what-if"): STAFF,
    ("get", "/flows/{id}/advice"): OWNER_OR_STAFF,
    ("post", "/advice"): ALL,
    ("post", "/advice/accept"): {"admin", "performance_engineer"},
    ("get", "/sites"): ALL,
    ("get", "/sites/{name}"): ALL,
    ("get", "/jobs"): ALL,
    ("post", "/jobs"): ALL - {"auditor"},
    ("get", "/jobs/{id}"): OWNER_OR_STAFF,
    ("delete", "/jobs/{id}"): {"admin", "operator", "researcher"},
    ("get", "/resources"): ALL,
    ("get", "/forecasts/calibration"): STAFF,
    ("get", "/forecasts/calibration/plot"): STAFF,
    ("get", "/reservations"): ALL,
    ("post", "/reservations"): ALL - {"auditor"},
    ("get", "/reservations/{id}"): OWNER_OR_STAFF,
    ("delete", "/reservations/{id}"): {"admin", "operator", "researcher"},
    ("get", "/events"): ALL,
    ("get", "/metrics"): STAFF,
    ("get", "/healthz"): ALL | {"anonymous"},
    ("get", "/readyz"): ALL | {"anonymous"},
    ("get", "/openapi.json"): ALL | {"anonymous"},
}
WINDOW = {
    "scope": "path",
    "name": "al2s",
    "begins": "2099-11-21T02:00:00Z",
    "ends": "2099-11-21T04:00:00Z",
}
RESERVATION = {"compute": "osu-hpc", "worker_nodes": 1, "ends": "2025-10-10T00:00:00Z"}
BODIES = {
    "/templates": SOYKB,
    "/proposals": {"template": "soykb"},
    "/template-drafts/similar": SOYKB,
    "/proposals/{id}/accept": {},
    "/proposals/{id}/refuse": {"reason": "no"},
    "/template-drafts": {"application": "x", "kind": "session", "rate": "1 Mbps", "counts": ["speed"]},
    "/template-backtests": {"template": SOYKB, "since": "2025-10-09T08:00:00Z"},
    "/flows": WISH,
    "/flows/{id}/reports": {"status": "progress", "bytes": 1},
    "/rules/sync": {},
    "/measurements": {"path": "al2s", "source": "mu", "destination": "osu", "test": "rtt"},
    "/alarms/{id}/acknowledge": {},
    "/maintenance": WINDOW,
    "/advice": {"path": {"rate": "1 Gbps", "rtt": "30 ms"}},
    "/advice/accept": {"flow": "f-1", "applied_at": "2025-10-09T08:00:00Z"},
    "/reservations": RESERVATION,
    "/jobs": {"site": "osu-hpc", "job": "align"},
    "/subscriptions": {"channel": "mail", "target": "ann@example.edu"},
}
IDS = {
    "proposals": "p-1",
    "decisions": "d-1",
    "alarms": FELL.id,
    "flows": "f-1",
    "template-backtests": "b-1",
    "subscriptions": "s-1",
    "maintenance": "m-1",
    "jobs": "j-1",
    "reservations": "r-1",
}
QUERIES = {
    "/rules": "?flow=f-1",
    "/rules/explain": "?of=f-1",
    "/trace": "?from=mu-dtn&to=osu-dtn&port=5001",
    "/measurements/plot": "?source=mu&metric=host.cpu&since=2025-10-09T08:00:00Z&until=2025-10-09T09:00:00Z",
    "/events": "?seconds=0.01",
    "/what-if": "?failure=path-down&name=al2s",
}


def operations(world):
    paths = world.ask("GET", "/openapi.json", None).json["paths"]
    return [(method, path.removeprefix("/api/v1")) for path, item in paths.items() for method in item]


def call(world, method, path, who):
    address = path.replace("{name}", "osu-hpc" if path.startswith("/sites") else "soykb").replace(
        "{version}", "1"
    )
    kind = path.split("/")[1]
    address = address.replace("{id}", IDS.get(kind, "s-1"))
    address += QUERIES.get(path, "") if method == "get" else ""
    body = BODIES.get(path) if method == "post" else None
    if path == "/self-service":
        body = {**SOYKB, "name": f"of-{who}"[:20]}  # a name that somebody else has is not free
    return world.ask(method.upper(), address, who, json=body)


@pytest.fixture
def filled(world):
    world.fill(world.submit("researcher"))
    world.controller.store.save_outcome(an_outcome())
    subscribed = {"id": "s-1", "owner": "researcher", "channel": "mail", "target": "a@example.edu"}
    with Archive(world.archive) as archive:
        archive.put_document("subscription", "s-1", NOW, None, {**subscribed, "filter": {}}, is_open=True)
    world.ask("POST", "/maintenance", json=WINDOW)
    world.ask("POST", "/jobs", "researcher", json=BODIES["/jobs"])
    world.controller.put(a_proposal())
    world.ask("POST", "/reservations", "researcher", json=RESERVATION)
    return world


@pytest.fixture(autouse=True)
def generous(world, monkeypatch):
    """Self-service as the table has it; what the policy asks besides is tried elsewhere."""
    easy = SelfService(similarity=0.1, outcomes=1, kept=0.1)
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], self_service=easy)
    monkeypatch.setattr(Backtests, "_run", lambda *_: None)
    tried = Backtests(world.archive, world.archive.parent, world.url, lambda: NOW + 10)
    tried._kept["b-1"] = Backtest("b-1", "soykb", "eve", NOW, NOW - 60, NOW, State.DONE, NOW, None, b"<svg/>")
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], backtests=tried)
    monkeypatch.setattr(type(world.store), "experience", lambda *_: (a_success(), a_success(2)))


def test_every_operation_has_its_line_in_the_table(world):
    assert set(operations(world)) == set(ALLOWED)


@pytest.mark.parametrize("operation", ALLOWED, ids=" ".join)
def test_who_may(filled, operation):
    # Those who may not go first: one of those who may can end the flow, or the subscription.
    allowed = ALLOWED[operation]
    for who in sorted(ALL - allowed):
        assert call(filled, *operation, who).status_code == 403, who
    if "anonymous" not in allowed:
        for who in (None, filled.revoked, filled.expired, "adon_wrong"):
            answer = call(filled, *operation, who)
            assert (answer.status_code, answer.mimetype) == (401, "application/problem+json")
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    for who in sorted(allowed):
        answer = call(filled, *operation, None if who == "anonymous" else who)
        gone = operation == ("delete", "/subscriptions/{id}") and answer.status_code == 404
        assert answer.status_code < 300 or answer.status_code == 409 or gone, (who, answer.text)


@pytest.mark.parametrize("header", ["Basic YWRtaW46eA==", "Bearer", "Bearer ", "adon_x", "Bearer \xff"])
def test_another_way_to_prove_who_one_is_is_refused(world, header):
    answer = world.client.get("/api/v1/flows", headers={"Authorization": header})
    assert answer.status_code == 401


def test_the_page_s_cookie_opens_nothing_here(world):
    world.client.post("/sign-in", data={"token": world.tokens["admin"]})
    assert world.client.get("/").status_code == 200
    assert world.ask("GET", "/flows", None).status_code == 401


def test_a_view_that_no_rule_covers_does_not_start(world):
    view = world.app.view_functions["flows.list_flows"]
    bare = lambda **_: ""  # noqa: E731
    world.app.view_functions["flows.list_flows"] = bare
    with pytest.raises(AdonError, match=r"flows\.list_flows"):
        guard.require_actions(world.app)
    world.app.view_functions["flows.list_flows"] = view
    guard.require_actions(world.app)
