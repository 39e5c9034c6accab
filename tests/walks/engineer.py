"""A performance engineer: why a flow waited, a template mended and tried on the past, the policy."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.walks.walking import Walker


def walk(walker: Walker) -> None:
    """From the decisions to a new version of the template that led to them."""
    page = walker.go("/decisions?outcome=queue")
    expect(page.locator("#live tbody tr")).not_to_have_count(0)
    walker.shot("decisions")
    page.click("#live tbody a >> nth=0")
    expect(page.locator("h1")).to_contain_text("Decision about")
    page.click("#why-not-ask")
    expect(page.locator("#why-not-said")).to_contain_text("al2s", timeout=120_000)
    walker.shot("why-not", top=".card:has(#why-not-ask)", phone=False)

    page = walker.go("/templates")
    walker.shot("templates")
    walker.go("/templates/soykb")
    walker.shot("template")
    page.get_by_role("link", name="New version").click()
    area = page.locator("#editor-text")
    expect(page.locator("#editor-problems")).to_contain_text("No problems")
    written = area.input_value()
    area.fill(written.replace("3.5 Mbps", "3.5 Mbbs", 1))
    expect(page.locator("#editor-problems")).to_contain_text("qspec.throughput.min")
    walker.shot("editor-wrong", phone=False)
    area.fill(written.replace("min: 3.5 Mbps", "min: 3 Mbps", 1))
    expect(page.locator("#editor-save")).to_contain_text("Save as soykb")
    page.click("text=Backtest this text")
    expect(page.locator("#main")).to_contain_text("Replay method", timeout=120_000)
    walker.shot("backtest", top=".card:has(#backtest-span)", phone=False)
    page.click("#editor-save")
    page.wait_for_url("**/templates/soykb?saved=*")
    page = walker.go("/templates/soykb?version=3&before=2")
    walker.shot("versions", top=".card:has-text('From version')")
    for name in ("queue", "policy", "outcomes"):
        walker.go(f"/{name}")
        walker.shot(name)
