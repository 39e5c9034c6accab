"""Signing in and out in Debian's Chromium, at a provider of another site: what only a browser enforces.

Cookies of another site's links (SameSite), the pages' Content-Security-Policy, keyboard, accessibility.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.apps.identity.openid_provider import SECRET, client, openid_provider, signing_key
from tests.apps.identity.site import SECRET_VARIABLE, Site, site
from tests.ports import free_port
from tests.support.web_world import World

pytestmark = pytest.mark.integration

PEOPLE = {"ann": {"eduperson_principal_name": "ann@example.edu", "groups": ["soy"]}}


@pytest.fixture
def here(world: World, tmp_path: Path) -> Iterator[Site]:
    """At ``localhost``, while the provider is at 127.0.0.1: two sites."""
    port = free_port()
    base = f"http://localhost:{port}"
    down = {"title": "CILogon", "issuer": f"http://127.0.0.1:{free_port()}", "client_id": "adon"}
    with openid_provider(tmp_path, [client("adon", base)], PEOPLE, [signing_key("k")]) as provider:
        campus = {
            "title": "Example University",
            "issuer": provider.issuer,
            "client_id": "adon",
            "client_secret_variable": SECRET_VARIABLE,
            "scopes": ["profile", "groups"],
            "may_assert": ["example.edu"],
        }
        settings = {
            "public_url": base,
            "openid": {"campus": campus, "cilogon": down},
            "rules": [{"when": {"group": "soy"}, "roles": ["researcher"]}],
        }
        with site(world, settings, SECRET, port) as made:
            made.base = base
            yield made


def accessible(page: Page) -> None:
    found = [(one["id"], one["impact"]) for one in Axe().run(page).response["violations"]]
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_in_and_out_by_keyboard(chromium: Browser, here: Site, width: int, scheme: str) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 850},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    complaints: list[str] = []
    page.goto(f"{here.base}/sign-in/cilogon")
    assert "CILogon" in page.get_by_role("alert").inner_text()
    accessible(page)
    # What a page of ours is refused by its own policy is told on the console; a 503 was one, too.
    page.on("console", lambda said: complaints.append(said.text))
    page.goto(f"{here.base}/sign-in?next=/templates")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").endswith("Example University")
    page.keyboard.press("Enter")
    page.get_by_placeholder("Enter any login").fill("ann")
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"{here.base}/templates")
    page.goto(f"{here.base}/sign-out")
    assert "ann@example.edu" in page.inner_text("main")
    accessible(page)
    page.get_by_role("button", name="Sign out").click()
    accessible(page)
    page.get_by_role("link", name="Sign out of Example University").click()
    page.get_by_role("button", name="Yes, sign me out").click()
    page.wait_for_url(f"{here.base}/sign-in")
    page.goto(f"{here.base}/templates")
    assert page.url == f"{here.base}/sign-in?next=/templates"
    assert [text for text in complaints if here.base in text or "Content Security" in text] == []
    context.close()
