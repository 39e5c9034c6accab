"""Browser session of one user, with a picture of each page.

The walks of this package need the data of ``adon demo --stay``.  They take each picture at a desk (1200
pixels wide, light) and on a phone (390 pixels, dark).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, expect

CHROMIUM = "/usr/bin/chromium"
DESK, PHONE = (1200, 800), (390, 844)
DRAW_MS = 500
"""Milliseconds in which charts draw that become visible."""
PATIENCE = 30_000
"""Milliseconds that a page may take; the machine may be busy with a testbed."""


@dataclass(slots=True)
class Walker:
    """User who is signed in twice, at a desk and on a phone.

    :param folder: folder of the pictures.
    :param errors: errors of scripts in the pages.
    """

    desk: Page
    phone: Page
    folder: Path
    errors: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page at the desk, by its address."""
        self.desk.goto(path)
        self.desk.wait_for_selector("#main h1")
        return self.desk

    def shot(self, name: str, *, top: str = "body", phone: bool = True) -> None:
        """Keep a picture of the page at the desk, and of the same address on the phone.

        :param top: selector of the element at the upper edge of the picture.
        :param phone: False if the page at the desk has input of the user.
        """
        self.desk.locator(top).first.evaluate("element => element.scrollIntoView()")
        self._keep(self.desk, f"{name}.png")
        if phone:
            self.phone.goto(self.desk.url)
            self.phone.wait_for_selector("#main h1")
            self._keep(self.phone, f"{name}-phone.png")

    def _keep(self, page: Page, name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(DRAW_MS)
        for failed in ("could not be drawn", "Traceback"):
            expect(page.locator("body")).not_to_contain_text(failed)
        width = page.viewport_size["width"] if page.viewport_size else 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is too wide"
        page.screenshot(path=str(self.folder / name))


@contextmanager
def walker(browser: Browser, url: str, token: str, folder: Path) -> Iterator[Walker]:
    """Sign in as the user of a token."""
    folder.mkdir(parents=True, exist_ok=True)
    desk = _context(browser, url, DESK, "light")
    phone = _context(browser, url, PHONE, "dark")
    try:
        found = Walker(desk.new_page(), phone.new_page(), folder)
        for page in (found.desk, found.phone):
            page.on("pageerror", lambda error: found.errors.append(str(error)))
            page.goto("/sign-in")
            page.fill("input[name=token]", token)
            page.click("form button")
            page.wait_for_selector("#main h1")
        yield found
        assert found.errors == []
    finally:
        desk.close()
        phone.close()


def _context(browser: Browser, url: str, size: tuple[int, int], colours: str) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if colours == "dark" else "light",
        base_url=url,
    )
    context.set_default_timeout(PATIENCE)
    return context
