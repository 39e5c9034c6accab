"""Every page of the dashboard in a browser: how long until its data can be seen, and what it asks then.

A page is opened by its address, as from a bookmark, with the browser's cache warm.  Its data can be seen when
the last change of the document is made that is followed by half a second without a change, and without a
request under way: so a page that shows a frame first, and its figures later, is timed to the figures.

``python -m benchmarks.web_pages URL TOKEN`` times the pages of a server that runs.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, Request, sync_playwright

from apps.dashboard.pages import PAGES
from apps.dashboard.router import POLL
from benchmarks.summary import table
from benchmarks.web_operations import Api

TIMES = 3
BOUND_MS = 1000.0
QUIET_MS = 500.0
GIVEN_UP_MS = 30_000.0
UPDATE = "/_dash-update-component"
CHROMIUM = "/usr/bin/chromium"

_WATCH = """
window.benchmark = {last: 0, open: 0};
new MutationObserver(() => { window.benchmark.last = performance.now(); })
  .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
const plain = window.fetch;
window.fetch = (...given) => {
  window.benchmark.open += 1;
  return plain(...given).finally(() => { window.benchmark.open -= 1; });
};
"""
_SEEN = f"""() => {{
  const known = window.benchmark;
  const still = performance.now() - known.last > {QUIET_MS} && known.open === 0;
  return still && document.querySelector('#main h1') ? known.last : false;
}}"""


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


def addresses(api: Api) -> Mapping[str, str]:
    """Each page's address by its pattern, about something that is there.

    :raises LookupError: for a page with a part that nothing is known for.
    """

    def first(listing: str, key: str = "id") -> str:
        return quote(str(api.get(listing)["items"][0][key]), safe="")

    known: Mapping[str, Callable[[], str]] = {
        "/flows/<id>": lambda: first("/flows?state=active"),
        "/decisions/<id>": lambda: first("/decisions"),
        "/templates/<name>": lambda: "genomics-transfer",
        "/templates/<name>/edit": lambda: "genomics-transfer",
        "/paths/<name>": lambda: "mu-osu-0",
        "/alarms/<id>": lambda: first("/alarms"),
        "/users/<name>": lambda: first("/users", "name"),
        "/sites/<name>": lambda: first("/sites", "name"),
        "/flows/<id>/advice": lambda: first("/flows?state=active"),
    }
    found = {}
    for page in PAGES:
        head, mark, tail = page.path.partition("<")
        if mark and page.path not in known:
            raise LookupError(f"page {page.path}: say here what it is about (benchmarks/web_pages.py)")
        found[page.path] = head + known[page.path]() + tail.partition(">")[2] if mark else page.path
    return found


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
    page.add_init_script(_WATCH)
    page.goto("/sign-in")
    page.fill("input[name=token]", token)
    page.click("form button")
    page.wait_for_selector("#main h1")
    return page


def seen_ms(page: Page, address: str) -> float:
    """Milliseconds from the start of the navigation until the data of a page can be seen."""
    page.goto(address, wait_until="commit")
    found: float = page.wait_for_function(_SEEN, timeout=GIVEN_UP_MS, polling=50).json_value()
    return found


def time_pages(url: str, api: Api, token: str) -> dict[str, list[float]]:
    """Milliseconds of each page, by its pattern, so often; the first visit of each is not counted."""
    found: dict[str, list[float]] = {}
    with browsing() as browser:
        page = signed_in(browser, url, token)
        for pattern, address in addresses(api).items():
            seen_ms(page, address)
            found[pattern] = [seen_ms(page, address) for _ in range(TIMES)]
    return found


def recorded(url: str, token: str, address: str, seconds: float) -> Asked:
    """What a page asks in so many seconds after it is there."""
    with browsing() as browser:
        page = signed_in(browser, url, token)
        page.goto(address)
        page.wait_for_selector("#main h1")
        page.wait_for_timeout(QUIET_MS)
        found: list[Question] = []

        def note(request: Request) -> None:
            if request.url.startswith((url + UPDATE, url + POLL)):
                found.append(Question(request.url.removeprefix(url), request.post_data or ""))

        page.on("request", note)
        page.wait_for_timeout(seconds * 1e3)
    return Asked(tuple(found), seconds)


def passed(found: Mapping[str, list[float]]) -> bool:
    """Whether each page's data can be seen soon enough, in the median."""
    return all(statistics.median(times) < BOUND_MS for times in found.values())


def report(found: Mapping[str, list[float]]) -> str:
    """The table for people, the slowest first."""
    rows = [["page", "data visible, ms (median)", "each time"]]
    for pattern, times in sorted(found.items(), key=lambda item: -statistics.median(item[1])):
        rows.append([pattern, f"{statistics.median(times):.0f}", " ".join(f"{one:.0f}" for one in times)])
    return table(rows)


def main() -> int:
    """Time the pages of a server that runs."""
    url, token = sys.argv[1:]
    began = time.monotonic()
    found: Mapping[str, Any] = time_pages(url, Api(url, token), token)
    print(f"{report(found)}\n\n({time.monotonic() - began:.0f} s)")
    return 0 if passed(found) else 1


if __name__ == "__main__":
    sys.exit(main())
