"""Signing in at a real OpenID provider, and everything that must not work there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit, urlunsplit

import pytest
from joserfc.jwk import ECKey

from apps.rest.identity.openid.pending import LIFETIME
from tests.apps.identity.browser import Browser, forms
from tests.apps.identity.openid_provider import (
    SECRET,
    OpenIdProvider,
    client,
    log_in,
    openid_provider,
    signing_key,
)
from tests.apps.identity.site import SECRET_VARIABLE, Site, site
from tests.ports import free_port
from tests.support.web_world import World

pytestmark = pytest.mark.integration

PEOPLE = {
    "ann": {
        "name": "Ann",
        "eduperson_principal_name": "Ann@example.edu",
        "eduperson_entitlement": ["urn:geant:example.edu:group:soybean:lab:role=manager#idp.example.edu"],
        "eduperson_scoped_affiliation": ["faculty@example.edu"],
        "groups": ["soy"],
    },
    "bob": {"name": "Bob", "eduperson_principal_name": "bob@example.edu"},
    "eve": {"name": "Eve", "eduperson_principal_name": "ann@other.edu", "groups": ["soy"]},
    "248289": {"groups": ["soy"]},
}
RULES = [
    {
        "when": {"group": "urn:geant:example.edu:group:soybean"},
        "roles": ["performance_engineer"],
        "keep_groups": True,
    },
    {"when": {"group": "soy"}, "roles": ["researcher"], "groups": ["soybean"]},
]


def provider_settings(issuer: str, client_id: str = "adon", **more: Any) -> dict[str, Any]:
    return {
        "title": "Example University",
        "issuer": issuer,
        "client_id": client_id,
        "client_secret_variable": SECRET_VARIABLE,
        "scopes": ["profile", "groups"],
        "may_assert": ["example.edu"],
        **more,
    }


@pytest.fixture(scope="module")
def port() -> int:
    """Where the web side is; providers must know it beforehand."""
    return free_port()


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[OpenIdProvider]:
    base = f"http://127.0.0.1:{port}"
    clients = [
        client("adon", base),
        client("adon-short", base),
        client("adon-es", base, id_token_signed_response_alg="ES256"),  # noqa: S106
    ]
    keys = [signing_key("one"), signing_key("two", ECKey)]
    with openid_provider(tmp_path_factory.mktemp("campus"), clients, PEOPLE, keys) as running:
        yield running


@pytest.fixture
def here(world: World, campus: OpenIdProvider, port: int) -> Iterator[Site]:
    settings = {"openid": {"campus": provider_settings(campus.issuer)}, "rules": RULES}
    with site(world, settings, SECRET, port) as made:
        yield made


def answered(browser: Browser, here: Site, who: str = "ann", path: str = "/sign-in/campus") -> str:
    """The address that the provider sends the browser back to."""
    page = browser.get(here.base + path, timeout=60)
    assert page.status_code == 200, page.text
    back = log_in(browser, page, who)
    while not (address := urljoin(back.url, back.headers["Location"])).startswith(here.base):
        back = browser.get(address, allow_redirects=False, timeout=60)
    return address


def changed(address: str, **parameters: str | None) -> str:
    """An address with other parameters; None takes one away."""
    url = urlsplit(address)
    held = {name: values[0] for name, values in parse_qs(url.query).items()} | parameters
    query = urlencode({name: value for name, value in held.items() if value is not None})
    return urlunsplit(url._replace(query=query))


def test_somebody_signs_in_and_is_who_the_provider_says(here: Site) -> None:
    browser = Browser()
    back = answered(browser, here, path="/sign-in/campus?next=/templates")
    answer = browser.get(back, allow_redirects=False, timeout=60)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/templates")
    assert browser.get(here.base + "/templates", allow_redirects=False, timeout=60).status_code == 200
    assert "ann@example.edu" in browser.get(here.base + "/sign-out", timeout=60).text
    user = here.world.access.users.get("ann@example.edu")
    assert set(user.roles) == {"researcher", "performance_engineer"}
    assert set(user.groups) == {"soybean", PEOPLE["ann"]["eduperson_entitlement"][0]}
    assert user.display == "Ann"


def test_what_is_asked_of_the_provider(here: Site) -> None:
    answer = Browser().get(here.base + "/sign-in/campus", allow_redirects=False, timeout=60)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["Location"]).query).items()}
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{here.base}/sign-in/campus/callback"
    assert asked["scope"].split() == ["openid", "profile", "groups"]
    assert len(asked["state"]) >= 43
    assert len(asked["nonce"]) >= 43
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/sign-in" in cookie
    assert not any(asked[name] in cookie for name in ("state", "nonce", "code_challenge"))


def test_who_has_no_lasting_name_gets_that_of_the_provider(here: Site, campus: OpenIdProvider) -> None:
    browser = Browser()
    answer = browser.get(answered(browser, here, "248289"), timeout=60)
    assert answer.status_code == 200
    name = f"248289@127.0.0.1:{campus.port}"
    assert name in browser.get(here.base + "/sign-out", timeout=60).text
    assert here.roles(name) == {"researcher"}


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ("bob", "bob@example.edu"),
        ("eve", "other.edu"),
    ],
)
def test_whom_no_rule_lets_in_is_told_why(here: Site, who: str, says: str) -> None:
    browser = Browser()
    answer = browser.get(answered(browser, here, who), timeout=60)
    assert answer.status_code == 403
    assert says in answer.text
    assert "adon_session" not in browser.cookies


def test_the_same_answer_does_not_count_twice(here: Site) -> None:
    browser = Browser()
    first = browser.get(here.base + "/sign-in/campus", allow_redirects=False, timeout=60)
    stolen = first.headers["Set-Cookie"].partition(";")[0]
    page = browser.get(first.headers["Location"], timeout=60)
    back = log_in(browser, page, "ann")
    while not (address := urljoin(back.url, back.headers["Location"])).startswith(here.base):
        back = browser.get(address, allow_redirects=False, timeout=60)
    assert browser.get(address, allow_redirects=False, timeout=60).status_code == 303
    again = Browser().get(address, headers={"Cookie": stolen}, timeout=60)
    assert again.status_code == 401
    assert "start again" in again.text


def test_an_answer_for_another_browser_does_not_count(here: Site) -> None:
    attacker, victim = Browser(), Browser()
    address = answered(attacker, here)
    assert victim.get(address, timeout=60).status_code == 401
    victim.get(here.base + "/sign-in/campus", allow_redirects=False, timeout=60)  # has begun one itself
    assert victim.get(address, timeout=60).status_code == 401


@pytest.mark.parametrize(
    "parameters",
    [
        {"state": "x"},
        {"state": None},
        {"state": "ä"},
        {"iss": None},
        {"iss": "https://other.edu"},
        {"code": None},
        {"code": "x"},
    ],
)
def test_an_answer_that_was_changed_does_not_count(here: Site, parameters: dict[str, str | None]) -> None:
    browser = Browser()
    answer = browser.get(changed(answered(browser, here), **parameters), timeout=60)
    assert answer.status_code == 401
    assert 'role="alert"' in answer.text


def test_parameters_written_twice_do_not_count(here: Site) -> None:
    browser = Browser()
    address = answered(browser, here)
    assert browser.get(f"{address}&state=x", timeout=60).status_code == 401


def test_a_sign_in_takes_ten_minutes_at_most(here: Site) -> None:
    browser = Browser()
    address = answered(browser, here)
    here.clocks.ahead = LIFETIME + 1
    answer = browser.get(address, timeout=60)
    assert answer.status_code == 401


def test_an_answer_counts_for_the_provider_only_that_was_asked(
    world: World, campus: OpenIdProvider, port: int, tmp_path: Any
) -> None:
    hub_people = {"mallory": {"eduperson_principal_name": "ann@example.edu", "groups": ["soy"]}}
    hub_client = client("adon", f"http://127.0.0.1:{port}")
    hub_client["redirect_uris"] = [f"http://127.0.0.1:{port}/sign-in/hub/callback"]
    with openid_provider(tmp_path, [hub_client], hub_people, [signing_key("h")]) as hub:
        both = {
            "campus": provider_settings(campus.issuer),
            "hub": provider_settings(hub.issuer, title="Hub", may_assert=["hub.edu"]),
        }
        with site(world, {"openid": both, "rules": RULES}, SECRET, port) as here:
            browser = Browser()
            address = answered(browser, here)
            mixed = address.replace("/campus/", "/hub/")
            assert browser.get(mixed, timeout=60).status_code == 401
            browser = Browser()
            address = answered(browser, here, "mallory", "/sign-in/hub")
            assert browser.get(address, timeout=60).status_code == 403  # ann is not the hub's to name
            page = browser.get(here.base + "/sign-in", timeout=60).text
            assert "Example University" in page
            assert "with Hub" in page


def test_a_code_that_has_expired(world: World, campus: OpenIdProvider, port: int) -> None:
    settings = {"openid": {"campus": provider_settings(campus.issuer, "adon-short")}, "rules": RULES}
    with site(world, settings, SECRET, port) as here:
        browser = Browser()
        address = answered(browser, here)
        time.sleep(2.1)  # the provider counts whole seconds
        answer = browser.get(address, timeout=60)
        assert answer.status_code == 401
        assert "invalid_grant" in answer.text


def test_a_provider_that_signs_on_a_curve(world: World, campus: OpenIdProvider, port: int) -> None:
    settings = {"openid": {"campus": provider_settings(campus.issuer, "adon-es")}, "rules": RULES}
    with site(world, settings, SECRET, port) as here:
        browser = Browser()
        assert browser.get(answered(browser, here), allow_redirects=False, timeout=60).status_code == 303


def test_a_wrong_client_secret_is_told(world: World, campus: OpenIdProvider, port: int) -> None:
    settings = {"openid": {"campus": provider_settings(campus.issuer)}, "rules": RULES}
    with site(world, settings, "wrong-secret", port) as here:
        browser = Browser()
        answer = browser.get(answered(browser, here), timeout=60)
        assert answer.status_code == 401
        assert "invalid_client" in answer.text
        assert "wrong-secret" not in answer.text


def test_the_provider_has_new_keys(world: World, port: int, tmp_path: Any) -> None:
    base, where = f"http://127.0.0.1:{port}", free_port()
    settings = {"openid": {"campus": provider_settings(f"http://127.0.0.1:{where}")}, "rules": RULES}
    with site(world, settings, SECRET, port) as here:
        for kid in ("old", "new"):
            with openid_provider(tmp_path, [client("adon", base)], PEOPLE, [signing_key(kid)], where):
                browser = Browser()
                answer = browser.get(answered(browser, here), allow_redirects=False, timeout=60)
                assert answer.status_code == 303, answer.text
            here.clocks.ahead += 60


def test_somebody_who_is_asked_and_says_no(here: Site) -> None:
    browser = Browser()
    page = browser.get(here.base + "/sign-in/campus", timeout=60)
    back = browser.get(f"{page.url}/abort", allow_redirects=False, timeout=60)
    while not (address := urljoin(back.url, back.headers["Location"])).startswith(here.base):
        back = browser.get(address, allow_redirects=False, timeout=60)
    answer = browser.get(address, timeout=60)
    assert answer.status_code == 401
    assert "access_denied" in answer.text


def test_a_provider_that_is_down_keeps_nobody_from_using_a_token(world: World, port: int) -> None:
    settings = {"openid": {"campus": provider_settings(f"http://127.0.0.1:{free_port()}")}, "rules": RULES}
    with site(world, settings, SECRET, port) as here:
        browser = Browser()
        page = browser.get(here.base + "/sign-in/campus?next=/templates", timeout=60)
        assert page.status_code == 503
        assert "Example University" in page.text
        assert page.headers["Retry-After"]
        answer = browser.submit(page, token=world.token("ann", "researcher"), allow_redirects=False)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/templates")


def test_signing_out_here_and_there(here: Site) -> None:
    browser = Browser()
    browser.get(answered(browser, here), timeout=60)
    refused = browser.post(here.base + "/sign-out", data={"csrf": "x"}, timeout=60)
    assert refused.status_code == 403
    page = browser.submit(browser.get(here.base + "/sign-out", timeout=60))
    assert urlsplit(browser.get(here.base + "/", timeout=60).url).path == "/sign-in"
    there = page.text.partition('<a class="button" href="')[2].partition('"')[0].replace("&amp;", "&")
    asked = browser.get(there, timeout=60)
    assert asked.status_code == 200
    assert "id_token_hint" not in there
    confirming = {**forms(asked.text)[0].fields, "logout": "yes"}
    done = browser.post(forms(asked.text)[0].action, data=confirming, allow_redirects=False, timeout=60)
    assert done.headers["Location"].startswith(f"{here.base}/sign-in")


@pytest.mark.parametrize(
    "wanted", ["//evil.org", "https://evil.org", "/\\evil.org", "/%09/evil.org", "/sign-in", "javascript:x"]
)
def test_nobody_is_sent_elsewhere_afterwards(here: Site, wanted: str) -> None:
    browser = Browser()
    asked = urlencode({"next": wanted})
    answer = browser.get(
        answered(browser, here, path=f"/sign-in/campus?{asked}"), allow_redirects=False, timeout=60
    )
    assert answer.status_code == 303
    host = urlsplit(urljoin(here.base, answer.headers["Location"])).netloc
    assert host == urlsplit(here.base).netloc
    if wanted != "/%09/evil.org":
        assert answer.headers["Location"] == "/"
