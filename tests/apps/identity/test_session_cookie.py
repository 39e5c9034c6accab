"""The session at a browser: its cookie, when it ends, and errors that a browser shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.web_world import NOW, World, signed_in


def sign_in(world: World, who: str = "researcher") -> tuple[Any, Any]:
    """A browser, and the answer to its sign-in with this role's token."""
    browser = world.app.test_client()
    return browser, browser.post("/sign-in", data={"token": world.tokens.get(who, who)})


def csrf(browser: Any) -> str:
    return str(browser.get("/sign-out").text.partition('name="csrf" value="')[2].partition('"')[0])


def test_the_cookie_holds_no_token_and_no_script_can_read_it(world: World) -> None:
    _, answer = sign_in(world)
    assert answer.headers["Location"] == "/"
    cookie = answer.headers["Set-Cookie"]
    assert world.tokens["researcher"] not in cookie
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))


def test_a_wrong_token_is_refused_without_telling_it_back(world: World) -> None:
    browser, answer = sign_in(world, "adon_wrong")
    assert answer.status_code == 401
    assert "not known" in answer.text
    assert "adon_wrong" not in answer.text
    assert "Set-Cookie" not in answer.headers
    assert not signed_in(browser)


def test_a_sign_in_from_another_site_is_refused(world: World) -> None:
    sent = {"token": world.tokens["admin"]}
    answer = world.app.test_client().post("/sign-in", data=sent, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


def test_a_revoked_token_ends_its_sessions(world: World) -> None:
    browser, _ = sign_in(world)
    assert signed_in(browser)
    world.access.tokens.revoke(world.access.tokens.list("researcher")[0].id, NOW)
    assert not signed_in(browser)


def test_a_cookie_that_was_kept_is_worth_nothing_after_signing_out(world: World) -> None:
    browser, _ = sign_in(world)
    cookie = browser.get_cookie("adon_session").value
    browser.post("/sign-out", data={"csrf": csrf(browser)})
    browser.set_cookie("adon_session", cookie)
    assert not signed_in(browser)


@pytest.mark.parametrize("proof", ["", "guess", "ü", "another's"])
def test_nobody_is_signed_out_from_elsewhere(world: World, proof: str) -> None:
    browser, _ = sign_in(world)
    other, _ = sign_in(world, "rival")
    sent = csrf(other) if proof == "another's" else proof
    assert browser.post("/sign-out", data={"csrf": sent}).status_code == 403
    assert signed_in(browser)


def test_over_https_the_cookie_is_for_this_host_alone(world: World) -> None:
    browser = world.app.test_client()
    sent = {"token": world.tokens["admin"]}
    answer = browser.post("/sign-in", data=sent, base_url="https://localhost")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-adon_session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
    assert signed_in(browser, base_url="https://localhost")
    value = cookie.partition("=")[2].partition(";")[0]
    stranger = world.app.test_client()
    stranger.set_cookie("adon_session", value, domain="localhost", secure=True)
    assert not signed_in(stranger, base_url="https://localhost"), "a name that others can set"


def test_signing_in_again_ends_the_session_before(world: World) -> None:
    browser, _ = sign_in(world)
    before = world.access.sessions.list(NOW + 10, "researcher")
    browser.post("/sign-in", data={"token": world.tokens["admin"]})
    assert len(before) == 1
    assert world.access.sessions.list(NOW + 10, "researcher") == ()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/sign-nowhere", 404), ("DELETE", "/sign-in", 405), ("GET", "/sign-in/static/none.css", 404)],
)
def test_a_browser_is_told_in_a_page_what_a_program_is_told_in_json(
    world: World, method: str, path: str, status: int
) -> None:
    def ask(path: str, accept: str) -> Any:
        return world.app.test_client().open(path, method=method, headers={"Accept": accept})

    page = ask(path, "text/html,*/*;q=0.8")
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert ask(path, "application/json").mimetype == "application/problem+json"
    assert ask(f"/api/v1{path}", "text/html").mimetype == "application/problem+json"


def test_what_was_not_foreseen_is_a_page_without_a_trace(world: World, monkeypatch: Any) -> None:
    def fails() -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr("apps.rest.identity.views.current_actor", fails)
    answer = world.app.test_client().get("/sign-in", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.mimetype) == (500, "text/html")
    assert "secret" not in answer.text
