"""The health of instances in a real browser: a click on the map leads to a pair, the form to a choice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.studies.documents import several
from tests.support.web_world import World

pytestmark = pytest.mark.integration


def test_a_cell_leads_to_its_pair_and_the_form_to_a_choice(world: World, browse: Callable[..., Page]) -> None:
    for kind, document in several():
        made = world.ask("POST", "/studies", json={"kind": kind.value, "document": document})
        assert made.status_code == 201, made.text
    page = browse("/instances?k=2", "researcher")
    plot = page.wait_for_selector("#instances-map .nsewdrag")
    assert plot is not None
    box = plot.bounding_box()
    assert box is not None
    # The second column and the third row of five: from a2 to a1, by zone.
    x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.wait_for_selector("#instances-map .hoverlayer .hovertext")
    page.mouse.click(x, y)
    page.wait_for_url("**/instances?source=a2&destination=a1&k=2")
    page.wait_for_selector("h2:has-text('a2 > a1')")
    page.select_option("#instances-towards", "a1")
    page.click("#instances-show")
    page.wait_for_selector("h2:has-text('The 2 healthiest towards a1')")
    assert "towards=a1" in page.url
