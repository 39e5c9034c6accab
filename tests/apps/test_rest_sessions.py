"""Sessions over the API: seen, and ended at one browser or at all others; nothing in them opens anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import Client as Browser

from adon.access.policy import Action
from adon.client import Client
from apps.rest.authentication import InsideTransport
from apps.rest.services import NAME
from tests.support.fake_collector import NOW
from tests.support.web_world import World


def sign_in(world: World, who: str, agent: str = "Mozilla/5.0 (X11; Linux) Firefox/140.0") -> Browser:
    browser = world.app.test_client()
    answer = browser.post("/sign-in", data={"token": world.tokens[who]}, headers={"User-Agent": agent})
    assert answer.status_code == 303
    return browser


def signed_in(browser: Browser) -> bool:
    return "You are signed in as" in browser.get("/sign-in").text


def sessions(world: World, who: str, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.ask("GET", f"/sessions{query}", who).json["items"]
    return found


def test_one_sees_where_one_is_signed_in_and_can_sign_out_there(world: World) -> None:
    first, second = sign_in(world, "researcher", "Firefox\x7f"), sign_in(world, "researcher")
    newest, oldest = sessions(world, "researcher")
    assert (newest["owner"], newest["how"], newest["address"]) == ("researcher", "token", "127.0.0.1")
    assert {one["browser"] for one in (newest, oldest)} == {
        "Mozilla/5.0 (X11; Linux) Firefox/140.0",
        "Firefox\\u007f",
    }
    mine = next(one for one in (newest, oldest) if one["browser"].startswith("Firefox"))
    assert world.ask("GET", f"/sessions/{mine['id']}", "researcher").json == mine
    stale = world.ask("DELETE", f"/sessions/{mine['id']}", "researcher", headers={"If-Match": '"x"'})
    assert stale.status_code == 412
    assert world.ask("DELETE", f"/sessions/{mine['id']}", "researcher").json == {"ended": 1}
    assert not signed_in(first)
    assert signed_in(second)
    assert world.ask("DELETE", f"/sessions/{mine['id']}", "researcher").status_code == 404


def test_what_is_shown_opens_nothing(world: World) -> None:
    sign_in(world, "researcher")
    (shown,) = sessions(world, "researcher")
    browser = world.app.test_client()
    for value in (shown["id"], json.dumps(shown)):
        browser.set_cookie("adon_session", value)
        assert not signed_in(browser)


def test_at_a_browser_one_signs_out_all_others(world: World) -> None:
    browsers = [sign_in(world, "researcher") for _ in range(3)]
    rival = sign_in(world, "operator")
    parts = world.app.extensions[NAME]
    here = browsers[1].get_cookie("adon_session")
    assert here is not None
    actor = parts.access.sessions.get(here.value, NOW + 10).actor
    page = Client(InsideTransport(world.app, actor))
    assert sorted(one.asking for one in page.sessions()) == [False, False, True]
    assert page.end_sessions().ended == 2
    assert [signed_in(one) for one in browsers] == [False, True, False]
    assert signed_in(rival)


def test_an_administrator_signs_somebody_out_and_an_auditor_looks_only(world: World) -> None:
    browser = sign_in(world, "researcher")
    (shown,) = sessions(world, "auditor", "?owner=researcher")
    assert world.ask("DELETE", f"/sessions/{shown['id']}", "auditor").status_code == 403
    assert world.ask("DELETE", "/sessions?owner=researcher", "auditor").status_code == 403
    assert world.ask("DELETE", "/sessions?owner=researcher", "operator").status_code == 403
    assert sessions(world, "operator", "?owner=researcher") == []
    assert signed_in(browser)
    assert world.ask("DELETE", "/sessions?owner=nobody").status_code == 404
    assert world.ask("DELETE", "/sessions?owner=researcher").json == {"ended": 1}
    assert not signed_in(browser)
    assert world.app.extensions[NAME].audit.flush()
    lines = [line.entry for line in world.access.audit.all() if line.entry.action == Action.SESSION_END]
    assert [(one.actor, one.outcome.value) for one in lines][-1] == ("admin", "done")
    assert {"1", "researcher"} <= {*lines[-1].detail.split()}
    assert {one.actor for one in lines if one.outcome.value == "refused"} == {"auditor", "operator"}


def test_sessions_come_in_pages(world: World) -> None:
    for _ in range(3):
        sign_in(world, "researcher")
    first = world.ask("GET", "/sessions?limit=2", "researcher").json
    rest = world.ask("GET", f"/sessions?limit=2&before={first['next']}", "researcher").json
    assert len(first["items"]) == 2
    assert len(rest["items"]) == 1
    assert rest["next"] is None
    assert len({one["id"] for one in (*first["items"], *rest["items"])}) == 3


@pytest.mark.parametrize("scope", ["read", "submit"])
def test_a_token_for_something_else_ends_nothing(world: World, scope: str) -> None:
    token = world.token("researcher", scope=(scope,))
    browser = sign_in(world, "researcher")
    assert world.ask("DELETE", "/sessions", token).status_code == 403
    assert signed_in(browser)


def test_a_new_sign_in_has_a_new_cookie_and_ends_what_was_there(world: World) -> None:
    """Session fixation: what somebody planted beforehand is worth nothing afterwards."""
    browser = world.app.test_client()
    browser.set_cookie("adon_session", "planted")
    browser.post("/sign-in", data={"token": world.tokens["researcher"]})
    before = browser.get_cookie("adon_session")
    browser.post("/sign-in", data={"token": world.tokens["operator"]})
    after = browser.get_cookie("adon_session")
    assert before is not None
    assert after is not None
    assert len({before.value, after.value, "planted"}) == 3
    assert sessions(world, "researcher") == []
    other = world.app.test_client()
    other.set_cookie("adon_session", before.value)
    assert not signed_in(other)
