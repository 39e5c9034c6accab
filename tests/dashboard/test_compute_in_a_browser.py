"""Reserving and releasing in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.integration


def test_reserved_and_released(browse: Callable[..., Page]) -> None:
    page = browse("/reservations", "researcher")
    page.click("summary")
    page.select_option("#reservation-where", "compute osu-hpc")
    page.fill("#reservation-worker-nodes", "2")
    page.fill("#reservation-ends", "soon")
    page.click("#reservation-add")
    expect(page.locator("#reservation-ends-problem")).to_contain_text("soon")
    page.fill("#reservation-ends", "8 h")
    page.click("#reservation-add")
    expect(page.locator("#reservation-done")).to_contain_text("r-")
    page.get_by_role("button", name="Release").first.click()
    expect(page.locator("#reservation-done")).to_contain_text("is released")
