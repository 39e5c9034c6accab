"""What an open page of the dashboard asks, recorded in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, Request, sync_playwright

QUIET_MS = 500.0
UPDATE = "/_dash-update-component"
CHROMIUM = "/usr/bin/chromium"


@dataclass(frozen=True, slots=True)
class Question:
    """What a page asked.

    :param body: of a POST; empty for a GET.
    """

    path: str
    body: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page asks while it is open, in the order of a stretch of time."""

    questions: tuple[Question, ...]
    seconds: float


@contextmanager
def browsing() -> Iterator[Browser]:
    """The system's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def signed_in(browser: Browser, url: str, token: str) -> Page:
    """A page of somebody who has signed in with a token."""
    page = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/sign-in")
    page.fill("input[name=token]", token)
    page.click("form button")
    page.wait_for_selector("#main h1")
    return page


def recorded(url: str, token: str, address: str, seconds: float) -> Asked:
    """What a page asks in so many seconds after it is there."""
    with browsing() as browser:
        page = signed_in(browser, url, token)
        page.goto(address)
        page.wait_for_selector("#main h1")
        page.wait_for_timeout(QUIET_MS)
        found: list[Question] = []

        def note(request: Request) -> None:
            if request.url.startswith(url + UPDATE):
                found.append(Question(request.url.removeprefix(url), request.post_data or ""))

        page.on("request", note)
        page.wait_for_timeout(seconds * 1e3)
    return Asked(tuple(found), seconds)
