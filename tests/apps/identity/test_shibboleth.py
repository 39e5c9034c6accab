"""Signing in by SAML: a real identity provider, Apache with mod_shib as the guide configures it, and ADON."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.identity.apache import web_server
from tests.apps.identity.browser import Browser
from tests.apps.identity.simplesaml import (
    AFFILIATION,
    ENTITLEMENT,
    EPPN,
    MEMBER,
    PASSWORD,
    IdentityProvider,
    identity_provider,
)
from tests.apps.identity.site import Site, site
from tests.ports import free_port
from tests.support.web_world import World

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SECRET = "what only the web server knows"  # noqa: S105
NAME = "urn:oid:2.16.840.1.113730.3.1.241"
SOY = "urn:geant:example.edu:group:soybean"
PEOPLE = {
    "ann": {
        EPPN: ["Ann@example.edu"],
        AFFILIATION: ["faculty@example.edu", "staff@osu.edu"],
        ENTITLEMENT: ["urn:mace:a;b", f"{SOY}:lab#idp.example.edu"],
        MEMBER: ["soy"],
        NAME: ["Ann Šmídová"],
    },
    "bob": {EPPN: ["bob@osu.edu"], MEMBER: ["soy"]},
    "joe": {EPPN: ["joe@example.edu"], AFFILIATION: ["staff@osu.edu"]},
}
RULES = [
    {"when": {"group": SOY, "issuer": "ISSUER"}, "roles": ["operator"]},
    {"when": {"entitlement": "urn:mace:a;b"}, "roles": ["auditor"]},
    {"when": {"affiliation": "faculty@example.edu"}, "roles": ["researcher"], "groups": ["mu"]},
    {"when": {"affiliation": "staff@osu.edu"}, "roles": ["performance_engineer"]},
    {"when": {"group": "soy"}, "groups": ["soybean"]},
]
FORGED = {
    "Shib-Identity-Provider": "https://idp.example.edu",
    "eppn": "ann@example.edu",
    "entitlement": f"{SOY}#idp.example.edu",
    "affiliation": "faculty@example.edu",
}


@pytest.fixture(scope="module")
def port() -> int:
    """Where the web side is; Apache must know it beforehand."""
    return free_port()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Readable for the user that Apache runs as, which pytest's own folders are not."""
    made = Path(tempfile.mkdtemp(prefix="adon-shibboleth-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def idp(folder: Path) -> Iterator[IdentityProvider]:
    (folder / "idp").mkdir()
    with identity_provider(folder / "idp", PEOPLE) as running:
        yield running


@pytest.fixture(scope="module")
def apache(folder: Path, idp: IdentityProvider, port: int) -> Iterator[str]:
    (folder / "sp").mkdir(mode=0o755)
    with web_server(folder / "sp", idp, port, SECRET) as base:
        yield base


def settings(folder: Path, idp: IdentityProvider) -> dict[str, Any]:
    secret = folder / "secret"
    secret.write_text(SECRET + "\n")
    rules = [{**rule, "when": {**rule["when"]}} for rule in RULES]  # type: ignore[dict-item]
    rules[0]["when"]["issuer"] = idp.entity_id  # type: ignore[index]
    return {
        "shibboleth": {"title": "Example University", "proxies": ["127.0.0.1"], "secret_file": str(secret)},
        "rules": rules,
    }


@pytest.fixture
def here(world: World, apache: str, idp: IdentityProvider, port: int, tmp_path: Path) -> Iterator[Site]:
    with site(world, settings(tmp_path, idp), "", port) as made:
        yield made


def test_somebody_signs_in_over_the_web_server(here: Site, apache: str) -> None:
    browser = Browser()
    page = browser.get(apache + "/sign-in?next=/templates", timeout=60)
    link = page.text.partition('<a class="button" href="')[2].partition('"')[0]
    page = browser.get(apache + link, timeout=60)
    assert "loginuserpass" in page.url
    page = browser.submit(page, username="ann", password=PASSWORD)
    page = browser.submit(page)  # the assertion, to mod_shib; a browser's script would send it
    assert page.url == f"{apache}/templates"
    page = browser.get(f"{apache}/sign-out", timeout=60)
    assert "ann@example.edu" in page.text
    user = here.world.access.users.get("ann@example.edu")
    # staff@osu.edu was not this identity provider's to say: mod_shib compared the scope with its metadata
    assert set(user.roles) == {"operator", "auditor", "researcher"}
    assert set(user.groups) == {"mu", "soybean"}
    assert user.display == "Ann Šmídová"
    page = browser.submit(page)
    assert "Example University" in page.text
    gone = browser.get(f"{apache}/Shibboleth.sso/Logout", timeout=60)
    assert gone.status_code == 200
    assert "logged out" in gone.text.lower() or "logout" in gone.text.lower()


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ("bob", "does not identify the user"),  # mod_shib took his name away: osu.edu is not this provider's
        ("joe", "joe@example.edu"),
    ],
)
def test_scopes_that_are_not_the_identity_providers_help_nobody(
    here: Site, apache: str, who: str, says: str
) -> None:
    browser = Browser()
    page = browser.submit(
        browser.get(apache + "/sign-in/shibboleth", timeout=60), username=who, password=PASSWORD
    )
    page = browser.submit(page)
    assert page.status_code == 403
    assert says in page.text


def test_a_browser_that_forges_headers_gains_nothing_through_the_web_server(here: Site, apache: str) -> None:
    for forged in (
        FORGED,
        {**FORGED, "Adon-Proxy-Secret": SECRET},
        {"EPPN": "x", "Shib_Identity_Provider": "y"},
    ):
        stranger = Browser()
        answer = stranger.get(apache + "/sign-in/shibboleth", headers=forged, timeout=60)
        assert "loginuserpass" in answer.url or answer.status_code in (403, 500)  # mod_shib tells of spoofing
        assert "adon_session" not in stranger.cookies
    browser = Browser()
    page = browser.submit(
        browser.get(apache + "/sign-in/shibboleth", timeout=60), username="joe", password=PASSWORD
    )
    page = browser.submit(page, headers=FORGED)
    answer = browser.get(apache + "/sign-in/shibboleth", headers=FORGED, timeout=60)
    assert answer.status_code != 200 or "joe@example.edu" in answer.text
    assert "ann@example.edu" not in {user.name for user in here.world.access.users.list()}


def test_past_the_web_server_headers_are_nothing(here: Site, caplog: pytest.LogCaptureFixture) -> None:
    for forged in (
        FORGED,
        {**FORGED, "Adon-Proxy-Secret": "guessed"},
        {**FORGED, "X-Forwarded-For": "127.0.0.1"},
    ):
        browser = Browser()
        answer = browser.get(here.base + "/sign-in/shibboleth", headers=forged, timeout=60)
        assert answer.status_code == 401
        assert "adon_session" not in browser.cookies
        assert browser.get(here.base + "/api/v1/flows", headers=forged, timeout=60).status_code == 401
    told = [record.getMessage() for record in caplog.records if "signin.spoofed" in record.getMessage()]
    assert len(told) == 1  # once for this sender
    assert "peer=127.0.0.1" in told[0]
    assert "guessed" not in told[0]
