"""Every page in a real browser: it draws without an error, and axe finds nothing serious.

One world and one browser window per look serve all pages: starting them costs more than drawing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.dashboard.conftest import serving, sign_in
from tests.studies.documents import several
from tests.support.fake_collector import FELL
from tests.support.page_paths import PATHS
from tests.support.web_world import World

pytestmark = pytest.mark.integration

LOOKS = {"desk": (1440, False), "phone": (390, True)}


@pytest.fixture(scope="module")
def windows(
    chromium: Browser, empty_state: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Page]]:
    world = World(tmp_path_factory.mktemp("pages"), empty_state)
    world.submit()
    world.stage.alarm(FELL)
    world.report_sites()
    for kind, document in several():
        made = world.ask("POST", "/studies", json={"kind": kind.value, "document": document})
        assert made.status_code == 201, made.text
    with serving(world) as url:
        found = {}
        for name, (width, dark) in LOOKS.items():
            context = chromium.new_context(
                viewport={"width": width, "height": 900},
                color_scheme="dark" if dark else "light",
                base_url=url,
            )
            found[name] = context.new_page()
            sign_in(found[name], world.tokens["admin"])
        yield found
        for page in found.values():
            page.context.close()
    world.close()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("path", PATHS)
def test_it_is_drawn_and_accessible(windows: dict[str, Page], path: str, look: str) -> None:
    page = windows[look]
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path)
    page.wait_for_selector("#main h1")
    page.wait_for_load_state("networkidle")
    assert page.locator(".notice.bad", has_text="be drawn").count() == 0
    assert errors == []
    found = [
        (one["id"], one["help"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in Axe().run(page).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth") <= LOOKS[look][0]
