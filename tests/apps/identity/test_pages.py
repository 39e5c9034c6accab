"""The pages of signing in and out, without any provider."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from adon.access.audit import Outcome
from adon.config.access import Access
from adon.config.controller import WebLimits
from adon.errors import InvalidInput, NotAuthenticated
from adon.yamlfile import check_model
from apps.rest.identity.openid.pending import LIFETIME, Pending, PendingSignIns
from apps.rest.identity.ways import open_ways
from apps.rest.rate_windows import Rates
from apps.rest.services import NAME, Services
from tests.support.refusals import refused
from tests.support.web_world import World, signed_in

CAMPUS = {"title": "Missouri & friends", "issuer": "https://login.missouri.edu", "client_id": "adon"}
ACCESS = {
    "public_url": "https://adon.example.edu",
    "openid": {"campus": CAMPUS},
    "default_roles": ["researcher"],
}


def test_without_providers_there_is_only_the_form(world: World) -> None:
    page = world.app.test_client().get("/sign-in")
    assert page.status_code == 200
    assert "adon serve" in page.text
    assert 'class="ways"' not in page.text
    assert "script-src" not in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-store"
    style = world.app.test_client().get("/sign-in/static/sign-in.css")
    assert style.status_code == 200
    assert style.mimetype == "text/css"


def test_a_ways_title_is_text(world: World) -> None:
    world.app.extensions["adon_sign_in"] = open_ways(check_model(ACCESS, Access), lambda: 0.0, {})
    page = world.app.test_client().get("/sign-in?next=/templates").text
    assert "Missouri &amp;" in page
    assert 'href="/sign-in/campus?next=/templates"' in page


@pytest.mark.parametrize("path", ["/sign-in/nobody", "/sign-in/nobody/callback", "/sign-in/shibboleth"])
def test_a_way_that_is_not_configured(world: World, path: str) -> None:
    answer = world.app.test_client().get(path)
    assert answer.status_code == 404


def test_a_token_leads_where_one_wanted_to_go_and_nowhere_else(world: World) -> None:
    for wanted, reached in (("/templates", "/templates"), ("//evil.org", "/"), ("https://evil.org", "/")):
        sent = {"token": world.tokens["researcher"], "next": wanted}
        answer = world.app.test_client().post("/sign-in", data=sent)
        assert (answer.status_code, answer.headers["Location"]) == (303, reached)


@pytest.mark.parametrize(
    "said",
    [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}],
    ids=str,
)
def test_another_site_signs_nobody_in(world: World, said: dict[str, str]) -> None:
    """A person must not end up in an attacker's account."""
    sent = {"token": world.tokens["researcher"]}
    answer = world.app.test_client().post("/sign-in", data=sent, headers=said)
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers
    # A page with no-referrer would have its own forms come from "null".
    assert answer.headers["Referrer-Policy"] == "same-origin"


def test_attempts_are_counted_by_address_and_a_valid_token_is_let_in(world: World) -> None:
    few = Rates(WebLimits.model_validate({"sign_in": {"requests": 2, "per": "600 s"}}))
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], rates=few)

    def enter(token: str, address: str = "192.0.2.1") -> Any:
        there = {"REMOTE_ADDR": address}
        return world.app.test_client().post("/sign-in", data={"token": token}, environ_base=there)

    answers = [enter("adon_guess") for _ in range(3)]
    assert [one.status_code for one in answers] == [401, 401, 429]
    assert 1 <= int(answers[2].headers["Retry-After"]) <= 600
    assert enter("adon_guess", "192.0.2.2").status_code == 401
    assert enter(world.tokens["researcher"]).status_code == 303
    # By a provider: counted before it is asked.
    world.app.extensions["adon_sign_in"] = open_ways(check_model(ACCESS, Access), lambda: 0.0, {})
    there = {"REMOTE_ADDR": "192.0.2.1"}
    assert world.app.test_client().get("/sign-in/campus", environ_base=there).status_code == 429


def test_no_address_writes_a_line_of_its_own_into_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    path = "/sign-in/x%0aevent=signin.done user='admin'"
    assert world.app.test_client().get(path).status_code == 404
    assert any("signin.refused" in one.getMessage() for one in caplog.records)
    assert not [one for one in caplog.records if "\n" in one.getMessage()]


def test_what_was_typed_is_not_shown_again(world: World) -> None:
    mean = "<script>alert(1)</script>"
    answer = world.app.test_client().post("/sign-in", data={"token": mean, "next": mean})
    assert answer.status_code == 401
    assert "alert(1)" not in answer.text
    assert world.app.test_client().get(f"/sign-in?next={quote(mean)}").text.count("alert") == 0


def test_signing_out_by_a_link_asks_first(world: World) -> None:
    browser = world.app.test_client()
    assert browser.get("/sign-out").headers["Location"] == "/sign-in"
    browser.post("/sign-in", data={"token": world.tokens["researcher"]})
    page = browser.get("/sign-out").text
    assert "as researcher" in page
    assert signed_in(browser), "still"
    csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
    assert browser.post("/sign-out").status_code == 403
    assert browser.post("/sign-out", data={"csrf": csrf}).status_code == 200
    assert not signed_in(browser)


def test_who_is_signed_in_already_is_told(world: World) -> None:
    browser = world.app.test_client()
    browser.post("/sign-in", data={"token": world.tokens["operator"]})
    assert "as operator" in browser.get("/sign-in").text


def test_the_cookie_is_for_https_only_where_browsers_reach_us_so(world: World) -> None:
    parts: Services = world.app.extensions[NAME]
    configuration = parts.configuration.model_copy(update={"access": check_model(ACCESS, Access)})
    world.app.extensions[NAME] = replace(parts, configuration=configuration)
    sent = {"token": world.tokens["researcher"]}
    through = world.app.test_client().post("/sign-in", data=sent, headers={"Host": "adon.example.edu"})
    assert through.headers["Set-Cookie"].startswith("__Host-adon_session=")
    assert "Secure" in through.headers["Set-Cookie"]
    direct = world.app.test_client().post("/sign-in", data=sent)
    assert direct.headers["Set-Cookie"].startswith("adon_session=")


def test_what_is_refused_and_tried_is_audited(world: World) -> None:
    browser = world.app.test_client()
    browser.get("/sign-in/shibboleth", headers={"Shib-Identity-Provider": "https://idp", "eppn": "ann@x.edu"})
    browser.post("/sign-in", data={"token": "adon_wrong"})
    assert world.app.extensions[NAME].audit.flush()
    seen = {(line.entry.action, line.entry.outcome) for line in world.access.audit.all()}
    assert ("identity.spoof", Outcome.REFUSED) in seen
    assert ("session.begin", Outcome.REFUSED) in seen


def test_pending_sign_ins_are_bound_used_once_and_end() -> None:
    kept = PendingSignIns()
    pending = Pending("campus", "/flows")
    cookie = kept.seal(pending, 1000.0)
    assert pending.state not in cookie
    for wrong in ((None, "campus", pending.state), (cookie, "hub", pending.state), (cookie, "campus", "x")):
        with pytest.raises(NotAuthenticated):
            kept.finish(*wrong, 1001.0)
    with pytest.raises(NotAuthenticated):
        PendingSignIns().finish(cookie, "campus", pending.state, 1001.0)  # sealed by another process
    with pytest.raises(NotAuthenticated):
        kept.finish(cookie[:-2] + "AA", "campus", pending.state, 1001.0)
    assert kept.finish(cookie, "campus", pending.state, 1000.0 + LIFETIME) == pending
    with pytest.raises(NotAuthenticated):
        kept.finish(cookie, "campus", pending.state, 1001.0)
    late = kept.seal(Pending("campus", "/"), 1000.0)
    with pytest.raises(NotAuthenticated):
        kept.finish(late, "campus", "x", 1001.0 + LIFETIME)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"client_secret_variable": "NOT_SET"}, "access.openid.campus.client_secret_variable"),
        ({"client_secret_file": "/nowhere/secret"}, "access.openid.campus.client_secret_file"),
    ],
)
def test_a_secret_that_is_not_there_is_told_at_the_start(changes: dict[str, str], field: str) -> None:
    settings = check_model({**ACCESS, "openid": {"campus": {**CAMPUS, **changes}}}, Access)
    with refused(InvalidInput, field):
        open_ways(settings, lambda: 0.0, {})


def test_an_empty_secret_of_the_proxy_is_told(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("\n")
    shibboleth = {"proxies": ["127.0.0.1"], "secret_file": str(tmp_path / "secret")}
    settings = check_model({"shibboleth": shibboleth, "default_roles": ["researcher"]}, Access)
    with refused(InvalidInput, field="access.shibboleth.secret_file"):
        open_ways(settings, lambda: 0.0, {})
