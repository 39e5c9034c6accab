"""A researcher: says what is to be moved, sees what would happen, moves it, watches, does it again."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.walks.walking import Walker

Carry = Callable[[str], None]
"""Moves the bytes of the flow with this id, as the researcher's own tool does, and reports to ADON."""

NAME, PORT = "season 7, run 2", "20190"


def walk(walker: Walker, carry: Carry) -> None:
    """From the overview to a transfer that has ended, and on to the next."""
    page = walker.go("/")
    expect(page.locator("#main")).to_contain_text("Flows")
    walker.shot("overview")
    page.click("nav >> text=New transfer")
    page.wait_for_selector("#new-form")
    page.select_option("#new-template", "soykb")
    page.select_option("#new-source", "mu-dtn")
    page.select_option("#new-destination", "osu-dtn")
    page.fill("#new-size", "40")
    size = page.locator("#new-size-problem")
    expect(size).to_contain_text("unit")
    walker.shot("wrong", phone=False)
    page.fill("#new-size", "100 MB")
    page.click("summary:has-text('More')")
    page.fill("#new-label", NAME)
    page.fill("#new-ports", PORT)
    preview = page.locator("#new-preview")
    expect(preview).to_contain_text("al2s")
    expect(preview).to_contain_text("osu-hpc")
    walker.shot("preview", phone=False)
    page.click("#new-submit")
    page.wait_for_url("**/flows/f-*")
    flow = page.url.rsplit("/", 1)[1]
    expect(page.locator("#live .badge").first).to_have_text("active")
    walker.shot("active")
    carry(flow)
    expect(page.locator("#live .badge").first).to_have_text("finished")
    expect(page.locator("#live")).to_contain_text("100 MB of 100 MB")
    walker.shot("finished")
    page.click("text=Repeat")
    page.wait_for_url("**/new?again=*")
    expect(page.locator("#new-label")).to_have_value(NAME)
    walker.go("/flows")
    expect(page.locator("#live")).to_contain_text(NAME)
    walker.shot("flows")
