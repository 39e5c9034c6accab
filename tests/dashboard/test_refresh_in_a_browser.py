"""What an open page asks: nothing while it is hidden, and then at once."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response, Route, expect

from tests.support.web_world import World

pytestmark = pytest.mark.integration

Browse = Callable[..., Page]
UPDATE = "/_dash-update-component"
HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def heard(page: Page) -> list[str]:
    """What the page asks from now on."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if UPDATE in one.url else None)
    return asked


def hasten(page: Page, ticker: str) -> None:
    """Have a ticker tick several times in a second."""
    page.evaluate("of => window.dash_clientside.set_props({type: 'tick', of}, {interval: 300})", ticker)


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Wait for what the page does by itself; a busy machine does it late."""
    for _ in range(300):
        if condition():
            return
        page.wait_for_timeout(200)
    raise AssertionError("the page did not do it within 60 s")


@pytest.mark.parametrize(
    ("path", "ticker"),
    [
        ("/", "/"),
        pytest.param("/flows", "/flows", marks=pytest.mark.slow),
        pytest.param("/alarms", "/alarms", marks=pytest.mark.slow),
        ("/network", "map"),
        pytest.param("/paths/al2s", "/paths/al2s", marks=pytest.mark.slow),
        pytest.param("/series", "series", marks=pytest.mark.slow),
    ],
)
def test_a_hidden_page_asks_nothing_and_a_shown_one_at_once(browse: Browse, path: str, ticker: str) -> None:
    page = browse(path)
    page.wait_for_load_state("networkidle")
    asked = heard(page)
    answers: list[int] = []
    page.on("response", lambda one: answers.append(one.status))
    hasten(page, ticker)
    wait_until(page, lambda: len(asked) >= 2)
    assert set(answers) <= {200, 204}
    page.evaluate(HIDE, True)
    page.wait_for_timeout(1000)  # what was under way comes to its end
    asked.clear()
    page.wait_for_timeout(1500)
    assert asked == []
    page.evaluate("of => window.dash_clientside.set_props({type: 'tick', of}, {disabled: true})", ticker)
    page.wait_for_timeout(500)
    page.evaluate(HIDE, False)
    wait_until(page, lambda: bool(asked))


def test_what_has_changed_is_shown_and_what_has_not_is_not_sent(world: World, browse: Browse) -> None:
    page = browse("/flows")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#live")).to_contain_text("No flows yet")
    answers: list[Response] = []
    page.on("response", lambda one: answers.append(one) if UPDATE in one.url else None)
    hasten(page, "/flows")
    wait_until(page, lambda: len(answers) >= 2)
    assert [one.json()["response"] for one in answers] == [{}] * len(answers)
    world.submit()
    expect(page.locator("#live")).to_contain_text("f-1")
    page.locator("#live").get_by_role("link", name="f-1").click()
    expect(page.locator("h1")).to_contain_text("f-1")


def test_a_server_that_is_away_leaves_the_page_as_it_was(browse: Browse) -> None:
    page = browse("/flows")
    page.wait_for_load_state("networkidle")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route(f"**{UPDATE}*", lambda route: route.abort())
    asked = heard(page)
    hasten(page, "/flows")
    wait_until(page, lambda: len(asked) >= 2)
    assert errors == []
    expect(page.locator("#live")).to_contain_text("No flows yet")


def test_a_busy_server_is_asked_less_often(browse: Browse) -> None:
    page = browse("/flows")
    page.wait_for_load_state("networkidle")

    def slowly(route: Route) -> None:
        time.sleep(0.6)
        route.continue_()

    page.route(f"**{UPDATE}*", slowly)
    asked = heard(page)
    hasten(page, "/flows")
    page.wait_for_timeout(5000)
    assert 1 <= len(asked) <= 3
