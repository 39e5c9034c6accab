"""Every operation of the API for everybody who may ask: generated from the OpenAPI document."""

from __future__ import annotations

import pytest

from adon.errors import AdonError
from apps.rest import guard
from tests.apps.web import ROLES, SOYKB, WISH

ALL = frozenset({*ROLES, "rival"})
STAFF = ALL - {"researcher", "rival"}
OWNER_OR_STAFF = ALL - {"rival"}

# Who may do it, about a flow of "researcher" where it is about a flow; "anonymous" where anybody may.
ALLOWED = {
    ("get", "/templates"): ALL,
    ("post", "/templates"): {"admin", "performance_engineer"},
    ("get", "/templates/{name}"): ALL,
    ("get", "/templates/{name}/versions/{version}"): ALL,
    ("get", "/flows"): ALL,
    ("post", "/flows"): ALL - {"auditor"},
    ("get", "/flows/{id}"): OWNER_OR_STAFF,
    ("delete", "/flows/{id}"): {"admin", "operator", "researcher"},
    ("post", "/flows/{id}/reports"): {"admin", "operator", "researcher"},
    ("get", "/flows/{id}/history"): OWNER_OR_STAFF,
    ("get", "/flows/{id}/decisions"): OWNER_OR_STAFF,
    ("get", "/decisions/{id}"): OWNER_OR_STAFF,
    ("get", "/paths"): ALL,
    ("get", "/measurements"): ALL,
    ("get", "/rules"): OWNER_OR_STAFF,
    ("get", "/rules/diff"): STAFF,
    ("post", "/rules/sync"): {"admin", "operator"},
    ("get", "/queue"): ALL,
    ("get", "/metrics"): STAFF,
    ("get", "/healthz"): ALL | {"anonymous"},
    ("get", "/readyz"): ALL | {"anonymous"},
    ("get", "/openapi.json"): ALL | {"anonymous"},
}
BODIES = {
    "/templates": SOYKB,
    "/flows": WISH,
    "/flows/{id}/reports": {"status": "progress", "bytes": 1},
    "/rules/sync": {},
}


def operations(world):
    paths = world.ask("GET", "/openapi.json", None).json["paths"]
    return [(method, path.removeprefix("/api/v1")) for path, item in paths.items() for method in item]


def call(world, method, path, who):
    address = path.replace("{name}", "soykb").replace("{version}", "1")
    address = address.replace("{id}", "d-1" if "decisions/{id}" in path else "f-1")
    if path == "/rules":
        address += "?flow=f-1"
    return world.ask(method.upper(), address, who, json=BODIES.get(path) if method == "post" else None)


@pytest.fixture
def filled(world):
    world.fill(world.submit("researcher"))
    return world


def test_every_operation_has_its_line_in_the_table(world):
    assert set(operations(world)) == set(ALLOWED)


@pytest.mark.parametrize("operation", ALLOWED, ids=" ".join)
def test_who_may(filled, operation):
    # Those who may not go first: the last of those who may can end the flow.
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
        assert answer.status_code < 300 or answer.status_code == 409, (who, answer.text)


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
