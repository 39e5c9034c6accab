"""A performance engineer in a real browser: a mistake told by line, mended, saved; decisions found again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.web_world import World

pytestmark = pytest.mark.integration


def test_a_new_version_is_written_checked_and_saved(browse: Callable[..., Page]) -> None:
    page = browse("/templates/soykb", "performance_engineer")
    page.get_by_role("link", name="New version").click()
    page.wait_for_url("**/edit")
    area = page.locator("#editor-text")
    expect(page.locator("#editor-problems")).to_contain_text("No problems")
    written = area.input_value()
    area.fill(written.replace("7 Mbps", "7 Mbbs"))
    problems = page.locator("#editor-problems")
    expect(problems).to_contain_text("qspec.throughput.min")
    expect(page.locator("#editor-save")).to_be_disabled()
    problems.get_by_role("button", name="line").click()
    chosen = "area => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert "7 Mbbs" in area.evaluate(chosen)
    area.fill(written.replace("min: 7 Mbps", "min: 8 Mbps"))
    expect(page.locator("#editor-save")).to_have_text("Save as soykb, version 2")
    page.click("#editor-save")
    page.wait_for_url("**/templates/soykb?saved=2")
    expect(page.locator("#main")).to_contain_text("Saved as version 2")


def test_decisions_are_filtered_by_the_address(world: World, browse: Callable[..., Page]) -> None:
    world.submit()
    page = browse("/decisions", "performance_engineer")
    expect(page.locator("#live tbody tr")).to_have_count(1)
    page.select_option("#decisions-outcome", "move")
    page.click("#decisions-show")
    page.wait_for_url("**/decisions?outcome=move")
    expect(page.locator("#live")).to_contain_text("No decisions match these filters.")
    page.get_by_role("link", name="Show all").click()
    page.wait_for_url("**/decisions")
    page.click("#live tbody a >> nth=0")
    expect(page.locator("h1")).to_contain_text("Decision about f-1")
    pictures = page.locator(".tables .js-plotly-plot")
    expect(pictures).to_have_count(0)
    page.get_by_text("Lookup tables with the measured values").click()
    expect(pictures.first).to_be_visible()
    page.click("#why-not-ask")
    expect(page.locator("#why-not-said")).to_contain_text("reproduces the decision")
