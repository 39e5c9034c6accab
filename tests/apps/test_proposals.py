"""Proposals by the API, and in the terminal."""

from __future__ import annotations

import pytest

from adon.templates_catalog.catalog import Catalog
from tests.templates_catalog import experience as planted
from tests.templates_catalog.experience import a_template


@pytest.fixture
def learned(world, monkeypatch):
    """A catalog with a template, and flows of it that got what their hosts can do."""
    template = a_template(version=2)
    world.controller.store.save_template(template, "admin", 0.0)
    world.controller.catalog = Catalog.of(one.template for one in world.store.templates())
    got = planted.outcomes(planted.saturated)
    store = type(world.store)
    monkeypatch.setattr(
        store, "experience", lambda self, name, limit=0: tuple(got) if name == "soykb" else ()
    )
    return world


# -- by the API ----------------------------------------------------------------------------------------


def test_the_api_learns_and_an_engineer_accepts(learned):
    made = learned.ask("POST", "/proposals", json={"template": "soykb"})
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == "/api/v1/proposals/p-1"
    evidence = made.json["evidence"]
    assert (evidence["outcomes"], evidence["unit"]) == (240, "bps")
    assert evidence["error"] < evidence["error_today"] / 2
    assert evidence["metrics"][0]["table_today"]["points"][0] == ["700000000.0 bps", 1.0]
    assert learned.ask("GET", "/proposals/p-1").json == made.json
    accepted = learned.ask("POST", "/proposals/p-1/accept", "performance_engineer", json={})
    assert (accepted.json["state"], accepted.json["saved"]) == ("accepted", "soykb@3")
    saved = learned.ask("GET", "/templates/soykb").json
    assert saved["version"] == 3
    assert saved["weights"] == made.json["weights"]
    assert learned.store.template("soykb").author == "performance_engineer"
    assert "proposal p-1" in saved["notes"]
    assert learned.ask("POST", "/proposals/p-1/accept", json={}).status_code == 409


def test_a_refusal_needs_a_reason(learned):
    learned.ask("POST", "/proposals", json={"template": "soykb"})
    assert learned.ask("POST", "/proposals/p-1/refuse", json={"reason": ""}).status_code == 422
    refused = learned.ask("POST", "/proposals/p-1/refuse", json={"reason": "a path was rebuilt"})
    assert (refused.json["state"], refused.json["reason"]) == ("refused", "a path was rebuilt")


def test_proposals_are_listed_and_filtered(learned):
    learned.ask("POST", "/proposals", json={"template": "soykb"})
    ids = lambda query: [one["id"] for one in learned.ask("GET", f"/proposals{query}").json["items"]]  # noqa: E731
    assert ids("") == ["p-1"]
    assert ids("?state=accepted") == []
    assert ids("?template=soykb&state=open") == ["p-1"]
    assert ids("?template=rivvir") == []


@pytest.mark.parametrize(
    ("method", "address", "body", "status"),
    [
        ("POST", "/proposals", {"template": "nothing"}, 404),
        ("POST", "/proposals", {"template": "Soy KB"}, 422),
        ("GET", "/proposals/p-9", None, 404),
        ("GET", "/proposals/nine", None, 404),
        ("POST", "/proposals/nine/accept", {}, 404),
        ("POST", "/proposals/p-9/accept", {}, 404),
    ],
)
def test_what_is_not_there(world, method, address, body, status):
    assert world.ask(method, address, json=body).status_code == status


def test_too_few_outcomes_are_told(world):
    answer = world.ask("POST", "/proposals", json={"template": "soykb"})
    assert answer.status_code == 409
    assert "0 usable outcomes, and 60 are needed" in answer.json["detail"]


# -- in the terminal -----------------------------------------------------------------------------------


def test_the_command_learns_lists_accepts(learned, adon):
    found = adon("template", "learn", "soykb")
    assert found.exit_code == 0, found.output
    assert "p-1 open: new scoring for soykb@2" in found.stdout
    assert "(today" in found.stdout
    assert "240" in adon("template", "proposals").stdout
    assert "Explains by itself" in adon("template", "proposals", "p-1").stdout
    assert adon("template", "accept", "p-1").stdout == "p-1 is accepted: soykb@3 is in the catalog\n"
    assert "no proposal" in adon("template", "proposals").stdout
    assert "soykb@3" in adon("template", "proposals", "--all").stdout


def test_the_command_refuses(learned, adon):
    adon("template", "learn", "soykb")
    assert adon("template", "refuse", "p-1").exit_code == 2
    assert adon("template", "refuse", "p-1", "--reason", "no").stdout == "p-1 is refused\n"


def test_the_command_says_why_there_is_none(world, adon):
    found = adon("template", "learn", "soykb")
    assert found.exit_code == 1
    assert "nothing to propose for soykb@1: 0 usable outcomes" in found.stderr
