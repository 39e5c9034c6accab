"""An operator: is all well, what do the switches hold, what if a path failed; closes one for a while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect

from tests.walks.walking import Walker


def walk(walker: Walker) -> None:
    """From health over the map to a window of maintenance, announced and cancelled."""
    page = walker.go("/health")
    expect(page.locator("#live")).to_contain_text("All parts that flows need are healthy.")
    walker.shot("health")
    walker.go("/maintenance?failure=path-down&name=al2s")
    expect(page.locator("#main")).to_contain_text("al2s")
    walker.shot("what-if")
    walker.go("/network")
    expect(page.locator("#main")).to_contain_text("2 switches")
    walker.shot("map")
    for name in ("mesh", "schedule", "series", "alarms", "rules"):
        walker.go(f"/{name}")
        walker.shot(name)
    for name, shown in (
        ("instances", "controller"),
        ("placements", "variant-calling"),
        ("workflows", "soykb-recorded"),
    ):
        walker.go(f"/{name}")
        expect(page.locator("#main")).to_contain_text(shown)
        walker.shot(name)
    walker.go("/maintenance")
    page.click("summary:has-text('Announce a maintenance window')")
    page.select_option("#window-name", "al2s")
    night = datetime.now(UTC).date() + timedelta(days=2)
    page.fill("#window-begins", f"{night} 02:00")
    page.fill("#window-ends", f"{night} 04:00")
    page.fill("#window-note", "fibre work")
    page.click("#window-submit")
    expect(page.locator("#maintenance")).to_contain_text("fibre work")
    walker.shot("maintenance", top="#maintenance", phone=False)
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#maintenance button", has_text="Cancel").click()
    expect(page.locator("#maintenance")).not_to_contain_text("fibre work")
