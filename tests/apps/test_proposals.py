"""Proposals by the API, in the terminal and on the page."""

from __future__ import annotations

import pytest

from adon.templates_catalog.catalog import Catalog
from apps.rest.page.proposal_picture import HEIGHT, WIDTH, picture, ticks
from tests.apps.test_page import csrf, sign_in
from tests.templates_catalog import experience as planted
from tests.templates_catalog.experience import a_finding, a_proposal, a_template


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


# -- on the page ---------------------------------------------------------------------------------------


def test_the_page_learns_shows_and_decides(learned):
    browser, _ = sign_in(learned, "performance_engineer")
    page = browser.get("/proposals")
    assert "There is no proposal yet" in page.text
    made = browser.post("/proposals", data={"template": "soykb", "csrf": csrf(page)})
    assert (made.status_code, made.headers["Location"]) == (303, "/proposals/p-1")
    shown = browser.get("/proposals/p-1").text
    assert shown.count('class="outcome"') > 200
    assert "Accept: save as the next version" in shown
    refused = browser.post("/proposals/p-1/decide", data={"decision": "refuse", "csrf": csrf(page)})
    assert refused.status_code == 422
    accepted = browser.post("/proposals/p-1/decide", data={"decision": "accept", "csrf": csrf(page)})
    assert accepted.status_code == 303
    shown = browser.get("/proposals/p-1").text
    assert "it became soykb@3" in shown
    assert "Accept: save" not in shown
    assert "p-1" in browser.get("/proposals").text


def test_the_page_says_why_there_is_none(world):
    browser, _ = sign_in(world, "performance_engineer")
    page = browser.get("/proposals")
    answer = browser.post("/proposals", data={"template": "soykb", "csrf": csrf(page)})
    assert answer.status_code == 409
    assert "0 usable outcomes" in answer.text


def test_an_operator_looks_and_a_researcher_does_not(world):
    world.controller.put(a_proposal())
    browser, _ = sign_in(world, "operator")
    assert "Accept" not in browser.get("/proposals/p-1").text
    assert sign_in(world)[0].get("/proposals/p-1").status_code == 403


# -- the picture ---------------------------------------------------------------------------------------


def test_the_picture_has_both_tables_and_every_outcome_inside() -> None:
    (metric,) = a_finding().evidence.metrics
    drawn = picture(metric, "throughput")
    assert drawn is not None
    assert len(drawn.points) == 2
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in drawn.points)
    assert drawn.today != drawn.proposed
    assert [tick.text for tick in drawn.up] == ["1", "4", "7", "10"]
    assert [tick.text for tick in drawn.beside] == ["1 Gbps", "2 Gbps", "3 Gbps", "4 Gbps"]
    assert [tick.text for tick in drawn.across] == ["1 Gbps", "2 Gbps", "3 Gbps", "4 Gbps", "5 Gbps"]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (7e8, 1e10, [2e9, 4e9, 6e9, 8e9, 1e10]), (1e-5, 3e-5, None)],
)
def test_ticks_are_round(low, high, expected) -> None:
    found = ticks(low, high)
    assert expected is None or found == pytest.approx(expected)
    assert 3 <= len(found) <= 7
    assert all(low - 1e-12 <= at <= high + 1e-12 for at in found)
