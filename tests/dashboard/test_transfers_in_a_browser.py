"""A researcher's main path in a real browser: say what, see what would happen, ask for it, cancel it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.integration


def test_asked_for_previewed_and_cancelled(browse: Callable[..., Page]) -> None:
    page = browse("/new", "researcher")
    expect(page.locator("#new-preview")).to_contain_text("Enter source, destination")
    for name, host in (("source", "mu-dtn"), ("destination", "osu-dtn")):
        page.select_option(f"#new-{name}", host)
    page.fill("#new-size", "25 xx")
    expect(page.locator("#new-size-problem")).to_contain_text("xx")
    page.fill("#new-size", "25 GB")
    expect(page.locator("#new-size-problem")).to_be_empty()
    expect(page.locator("#new-preview")).to_contain_text("Paths")
    page.click("#new-submit")
    page.wait_for_url("**/flows/f-*")
    expect(page.locator("h1")).to_contain_text("f-")
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("#flow-cancel")
    expect(page.locator("#flow-done")).to_contain_text("is cancelled")


def test_by_keyboard_alone(browse: Callable[..., Page]) -> None:
    page = browse("/", "researcher")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.get_by_role("link", name="Flows", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/flows")
    expect(page.locator("#main")).to_be_focused()
    expect(page).to_have_title("Flows · ADON")
