"""Maintenance windows and rehearsals through the API and the command line."""

from __future__ import annotations

import pytest

from tests.apps.peopled import WINDOW
from tests.support.rest_answers import problem_fields


def test_a_window_is_announced_listed_and_cancelled(world):
    answer = world.ask("POST", "/maintenance", "performance_engineer", json={**WINDOW, "note": "splicing"})
    assert (answer.status_code, answer.headers["Location"]) == (201, "/api/v1/maintenance/m-1")
    assert answer.json == {
        "id": "m-1",
        "scope": "path",
        "name": "al2s",
        "begins": "2099-11-21T02:00:00.000Z",
        "ends": "2099-11-21T04:00:00.000Z",
        "lead_seconds": 600.0,
        "note": "splicing",
        "requester": "performance_engineer",
        "stage": "announced",
    }
    assert world.ask("GET", "/maintenance", "researcher").json["items"] == [answer.json]
    gone = world.ask("DELETE", "/maintenance/m-1")
    assert (gone.status_code, gone.json["stage"]) == (200, "cancelled")
    assert world.ask("GET", "/maintenance").json["items"] == []
    assert [one["id"] for one in world.ask("GET", "/maintenance?all=true").json["items"]] == ["m-1"]
    assert world.ask("DELETE", "/maintenance/m-1").status_code == 409


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "planet"}, "scope"),
        ({"name": "nowhere"}, "name"),
        ({"name": "../etc"}, "name"),
        ({"begins": "tomorrow"}, "begins"),
        ({"begins": "2099-11-21T02:00:00"}, "begins"),
        ({"ends": "2099-11-21T02:00:00Z"}, "ends"),
        ({"begins": "2001-01-01T00:00:00Z", "ends": "2001-01-02T00:00:00Z"}, "ends"),
        ({"lead": 600}, "lead"),
        ({"lead": "-5 s"}, "lead"),
        ({"note": "x" * 201}, "note"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_bad_window_is_refused_by_field_and_cause(world, change, field):
    answer = world.ask("POST", "/maintenance", json={**WINDOW, **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) and cause for name, cause in problem_fields(answer).items()), (
        answer.json
    )
    assert world.ask("GET", "/maintenance?all=true").json["items"] == []


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("DELETE", "/maintenance/m-9", 404),
        ("DELETE", "/maintenance/9", 404),
        ("DELETE", "/maintenance/m-0", 404),
        ("GET", "/what-if?failure=rain&name=al2s", 422),
        ("GET", "/what-if?failure=path-down", 422),
        ("GET", "/what-if?name=al2s", 422),
        ("GET", "/what-if?failure=path-down&name=nowhere", 422),
        ("GET", "/what-if?colour=blue", 422),
    ],
)
def test_what_cannot_be_is_refused(world, method, address, status):
    assert world.ask(method, address).status_code == status


def test_a_failure_is_rehearsed(world):
    world.submit()
    world.submit(qspec={"throughput": {"min": "1 Mbps"}}, priority=900)
    (report,) = world.ask("GET", "/what-if?failure=path-down&name=al2s").json["items"]
    assert (report["verdict"], report["broken"], report["paths"]) == ("broken", 1, ["al2s"])
    assert [(flow["flow"], flow["from"], flow["to"]) for flow in report["flows"]] == [
        ("f-2", "al2s", "internet"),
        ("f-1", "al2s", None),
    ]
    assert report["flows"][0]["estimate_bps"] == 6.5e6
    assert report["loads"][1]["after_bps"] == 1e6


def test_every_single_failure_is_ranked(world):
    world.submit()
    items = world.ask("GET", "/what-if").json["items"]
    assert len(items) == 10
    assert (items[0]["broken"], items[-1]["broken"]) == (1, 0)


# -- the command line ----------------------------------------------------------------------------------
