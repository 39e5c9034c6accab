"""A page that stays open when its session ends."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.web_world import World

pytestmark = pytest.mark.integration


def test_it_says_so_asks_for_nothing_more_and_leads_back(world: World, browse: Callable[..., Page]) -> None:
    page = browse("/flows?state=queued")
    world.access.sessions.end_all("admin")
    told = page.locator(".session-over")
    expect(told).to_contain_text("Your session has ended", timeout=60_000)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    page.get_by_role("combobox").first.select_option("active")  # what one does asks for nothing, either
    page.wait_for_timeout(6000)  # more than the time between two looks
    assert asked == []
    assert told.count() == 1
    page.remove_listener("request", note)
    told.get_by_role("link", name="Sign in again").click()
    page.wait_for_url(re.compile("/sign-in"))
    page.fill("input[name=token]", world.tokens["admin"])
    page.click("form button")
    page.wait_for_url(re.compile(r"/flows\?state="))
    expect(page.locator("#main h1")).to_have_text("Flows")
    expect(told).to_have_count(0)
