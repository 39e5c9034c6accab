"""Running it in a real browser: a token made and revoked, a role given, the audit log that tells of both."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.support.web_world import NOW, World

pytestmark = pytest.mark.integration


def test_a_token_is_shown_once_works_and_stops(browse: Callable[..., Page], world: World) -> None:
    page = browse("/account", "researcher")
    page.fill("#token-label", "nightly")
    page.select_option("#token-scope", "read")
    page.click("#token-submit")
    secret = page.locator("#token-secret").inner_text()
    assert world.ask("GET", "/flows", secret).status_code == 200
    assert world.ask("POST", "/flows", secret, json={}).status_code == 403
    expect(page.locator("#live")).to_contain_text("nightly")
    page.reload()
    expect(page.locator("#live")).to_contain_text("nightly")
    assert secret not in page.content()
    page.locator("tr", has_text="nightly").get_by_role("button", name="Revoke").click()
    expect(page.locator("#account-answer")).to_contain_text("revoked")
    assert world.ask("GET", "/flows", secret).status_code == 401


def test_one_signs_out_elsewhere_and_stays_here(browse: Callable[..., Page], world: World) -> None:
    other, last = (browse("/", "researcher", width=390) for _ in range(2))
    page = browse("/account", "researcher")
    expect(page.get_by_text("this session")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out all other sessions")).to_be_visible()
    page.locator("button.danger", has_text=re.compile("^Sign out$")).first.click()
    expect(page.locator("#account-answer")).to_contain_text("signed out")
    assert len(world.access.sessions.list(NOW + 10, "researcher")) == 2
    page.reload()
    page.locator("button.danger", has_text=re.compile("^Sign out$")).click()
    expect(page.locator("#account-answer")).to_contain_text("signed out")
    for gone in (other, last):
        gone.reload()
        expect(gone.locator("input[name=token]")).to_be_visible()
    page.reload()
    expect(page.locator("#main")).to_contain_text("Your account")


def test_a_role_is_given_and_the_audit_log_tells(browse: Callable[..., Page]) -> None:
    page = browse("/users/rival")
    page.get_by_role("button", name="Grant: operator").click()
    expect(page.locator("#user-answer")).to_contain_text("granted")
    expect(page.get_by_role("button", name="Revoke: operator")).to_be_visible()
    page.goto("/audit?action=user.change")
    expect(page.locator("#main")).to_contain_text("/users/rival")
    page.click("#audit-verify")
    expect(page.locator("#audit-done")).to_contain_text("Verified")


def test_somebody_is_named_before_they_sign_in(browse: Callable[..., Page], world: World) -> None:
    page = browse("/users")
    page.get_by_text("Add a user").click()
    page.fill("#users-name", "ann")
    page.fill("#users-identity-subject", "ann")
    page.click("#users-submit")
    expect(page.locator("#users-identity-subject-problem")).to_contain_text("is not a principal name")
    page.fill("#users-identity-subject", "ann@missouri.edu")
    page.get_by_label("operator").check()
    assert Axe().run(page).response["violations"] == []
    page.click("#users-submit")
    expect(page.locator("#users-answer")).to_contain_text("ann is added")
    user = world.access.users.get("ann")
    assert (user.subject, user.granted) == ("ann@missouri.edu", {"researcher", "operator"})
