"""The dashboard's door: who is let in, and from where."""

from __future__ import annotations

import dataclasses
import json
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from werkzeug.test import Client

from adon.access.audit import Outcome
from adon.config.controller import WebLimits
from apps.rest.rate_windows import Rates
from apps.rest.services import NAME
from apps.rest.web_app import Site
from tests.support.web_world import World

UPDATE = "/_dash-update-component"
GO = {
    "output": "..main.children...title.data..",
    "outputs": [{"id": "main", "property": "children"}, {"id": "title", "property": "data"}],
    "inputs": [
        {"id": "url", "property": "pathname", "value": "/"},
        {"id": "url", "property": "search", "value": ""},
    ],
    "changedPropIds": ["url.pathname"],
}


@pytest.fixture
def site(world: World) -> Client:
    return Client(Site(world.app.extensions[NAME]))


@pytest.fixture
def inside(site: Client, world: World) -> Client:
    assert site.post("/sign-in", data={"token": world.tokens["researcher"]}).status_code == 303
    return site


def test_nobody_sees_a_page_before_signing_in(site: Client) -> None:
    answer = site.get("/flows/f-1")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/sign-in?next=/flows/f-1"


def test_signing_in_leads_back_to_the_very_address(site: Client, world: World) -> None:
    wanted = "/series?path=al2s&from=mu&range=6+h"
    page = site.get(wanted, follow_redirects=True)
    assert page.status_code == 200
    target = unescape(page.text.partition('name="next" value="')[2].partition('"')[0])
    answer = site.post("/sign-in", data={"token": world.tokens["researcher"], "next": target})
    assert answer.headers["Location"] == wanted
    assert site.get("/").status_code == 200


@pytest.mark.parametrize("wanted", ["//evil.example/?a=1", "/?next=//evil.example", "/\\evil.example"])
def test_nobody_is_led_to_another_site(site: Client, world: World, wanted: str) -> None:
    answer = site.get("/", environ_overrides={"PATH_INFO": wanted.partition("?")[0], "QUERY_STRING": "a=1"})
    assert answer.status_code == 302
    assert urlsplit(answer.headers["Location"])[:3] == ("", "", "/sign-in")
    page = site.get(answer.headers["Location"])
    target = unescape(page.text.partition('name="next" value="')[2].partition('"')[0])
    assert target == "/" or (target.startswith("/") and not target.startswith(("//", "/\\")))


@pytest.mark.parametrize("path", ["/_dash-layout", "/_dash-dependencies"])
def test_nor_anything_of_what_it_is_made_of(site: Client, path: str) -> None:
    assert site.get(path).status_code == 401


def test_nor_calls_what_pages_call(site: Client) -> None:
    assert site.post(UPDATE, json=GO).status_code == 401


def test_signed_in_one_sees_it(inside: Client) -> None:
    assert inside.get("/").status_code == 200
    answer = inside.post(UPDATE, json=GO)
    assert answer.status_code == 200
    assert "New transfer" in answer.text


def test_a_page_that_the_api_refuses_has_its_title_and_one_notice(inside: Client) -> None:
    asked = {**GO, "inputs": [{**GO["inputs"][0], "value": "/flows/f-999"}, GO["inputs"][1]]}
    content = json.dumps(inside.post(UPDATE, json=asked).json)
    assert content.count('"type": "H1"') == 1
    assert content.count("Not found") == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
    ],
)
def test_a_page_of_another_site_cannot_use_the_session(
    inside: Client, world: World, headers: dict[str, str]
) -> None:
    answer = inside.post(UPDATE, json=GO, headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.text
    assert world.app.extensions[NAME].audit.flush()
    entry = list(world.access.audit.all())[-1].entry
    assert (entry.action, entry.actor, entry.outcome) == ("page.forged", "researcher", Outcome.REFUSED)


def test_what_a_form_can_send_changes_nothing(inside: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = inside.post(UPDATE, data=json.dumps(GO), content_type=kind)
        assert answer.status_code == 403, kind


@pytest.mark.parametrize("asked", ["/a%0d%0aSet-Cookie:%20a=b", "/a%26next=https://evil.example"])
def test_what_was_asked_for_stays_one_value_of_one_header(site: Client, asked: str) -> None:
    answer = site.get(asked)
    there = urlsplit(answer.headers["Location"])
    assert there.path == "/sign-in"
    assert len(parse_qs(there.query).get("next", [])) <= 1
    assert "Set-Cookie" not in answer.headers


def test_a_private_page_is_kept_by_no_cache_and_its_cookie_by_no_script(inside: Client) -> None:
    for path in ("/", "/_dash-layout", "/sign-in"):
        assert inside.get(path).headers["Cache-Control"] == "no-store", path
    cookie = inside.get_cookie("adon_session")
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site, cookie.path) == (True, "Lax", "/")


def test_a_browser_keeps_our_code_until_it_has_another_address(inside: Client) -> None:
    named = inside.get("/assets/refresh.js?m=1795370011.2")
    assert named.status_code == 200
    assert named.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "immutable" not in inside.get("/assets/refresh.js").headers.get("Cache-Control", "")
    assert "immutable" not in inside.get("/assets/none.js?m=1").headers.get("Cache-Control", "")


def test_no_other_site_has_a_hold_of_a_page_or_may_embed_it(inside: Client) -> None:
    for path in ("/", "/_dash-layout", "/sign-in", "/sign-out"):
        headers = inside.get(path).headers
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", path
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], path


def test_no_other_site_may_run_anything_in_a_page(inside: Client) -> None:
    policy = inside.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self' 'sha256-" in policy
    assert "unsafe-eval" not in policy
    assert "frame-ancestors 'none'" in policy


def test_what_cannot_be_drawn_says_so_without_a_trace(inside: Client, monkeypatch: Any) -> None:
    def fails(_here: object) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr("apps.dashboard.home._alarms", fails)
    answer = inside.post(UPDATE, json=GO)
    assert "notice bad" in answer.text
    assert "secret detail" not in answer.text
    assert "Traceback" not in answer.text


def test_unknown_file_of_a_component_is_404_for_a_client_without_identity(
    site: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for file in ("dash/nothing.js", "nothing/nothing.js"):
        assert site.get(f"/_dash-component-suites/{file}").status_code == 404, file
    assert caplog.records == []


def test_files_without_identity_are_counted_against_the_limit_for_anonymous_requests(world: World) -> None:
    few = WebLimits.model_validate({"anonymous": {"requests": 2, "per": "600 s"}})
    parts = dataclasses.replace(world.app.extensions[NAME], rates=Rates(few))
    site = Client(Site(parts))
    answers = [site.get("/_dash-component-suites/dash/nothing.js") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [404, 404, 429]
    assert 1 <= int(answers[2].headers["Retry-After"]) <= 600
