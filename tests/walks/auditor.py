"""An auditor: who did what, is the log whole, a copy of it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.walks.walking import Walker


def walk(walker: Walker) -> None:
    """The log, by action; its chain verified; its copy as CSV."""
    page = walker.go("/audit")
    expect(page.locator("#main")).to_contain_text("/flows")
    walker.shot("audit")
    page.click("#audit-verify")
    expect(page.locator("#audit-done")).to_contain_text("Verified")
    with page.expect_download() as waiting:
        page.click("#audit-csv")
    text = waiting.value.path().read_text()
    assert "template.add" in text
    assert "researcher" in text
    walker.go("/users/researcher")
    walker.shot("user")
