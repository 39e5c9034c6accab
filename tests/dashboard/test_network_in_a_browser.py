"""The network's main paths in a real browser: the map, a chart, an alarm, a failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from adon.broker.events import MeasurementArrived
from measurement.model import Measurement, Metric, PathKey
from tests.apps.edge import eventually
from tests.dashboard.networks import make_large_configuration
from tests.support.fake_collector import FELL
from tests.support.web_world import NOW, World

pytestmark = pytest.mark.integration

Browse = Callable[..., Page]


def drawn_by_now(page: Page) -> None:
    """Wait for the map; not by wait_for_function, which evaluates text in the page: our policy forbids it."""
    has = "(document.getElementById('net-map')?._cyreg?.cy.elements().length ?? 0) > 0"
    eventually(lambda: bool(page.evaluate(has)), "the map is not drawn")


def tap(page: Page, element: str) -> None:
    """Tap an element; nothing comes back, as what cytoscape answers is the whole map."""
    at = "document.getElementById('net-map')._cyreg.cy"
    page.evaluate(f"(element) => {{ {at}.getElementById(element).emit('tap'); }}", element)


def test_a_path_on_the_map_is_marked_and_told(world: World, browse: Browse) -> None:
    world.start_controller(make_large_configuration(5, 20))
    stage, key = world.stage, PathKey("core.4", "site0", "site3")
    for metric, value in ((Metric.THROUGHPUT, 58e6), (Metric.RTT, 0.033)):
        measured = Measurement(key, metric, value, NOW - 5, NOW, "test", "iperf3")
        stage.feed(MeasurementArrived(*stage.stamp(), measured))
    world.submit(source="site0-dtn", destination="site3-dtn")
    stage.disconnect(0x14)
    page = browse("/network?path=core.1")
    facts = page.locator("#net-facts")
    expect(facts).to_contain_text("core.1")
    expect(page.locator("#net-says")).to_contain_text("5 sites, 100 switches (1 not connected)")
    # The canvas has no elements to click on: cytoscape itself is told of the tap.
    drawn_by_now(page)
    tap(page, "site:site2")
    expect(facts).to_contain_text("site2-dtn")
    tap(page, "path:core.6")
    expect(facts).to_contain_text("not measured")
    page.select_option("#net-shown", "flow:f-1")
    expect(facts).to_contain_text("core.4")
    page.select_option("#net-view", "switches")
    page.select_option("#net-colour", "load")
    expect(page.locator("#net-legend")).to_contain_text("busy")
    page.click("#net-closer")
    page.click("#net-fit")
    facts.get_by_role("link", name="core.4").click()
    expect(page.locator("h1")).to_have_text("Path core.4")


@pytest.mark.parametrize(("width", "upright"), [(1440, False), (390, True)])
def test_the_map_is_turned_where_it_is_narrow(browse: Browse, width: int, upright: bool) -> None:
    page = browse("/network", "operator", width=width)
    drawn_by_now(page)
    drawn = page.evaluate(
        """() => {
            const cy = document.getElementById('net-map')._cyreg.cy;
            const { w, h } = cy.nodes().boundingBox();
            return { upright: h > w, shifts: cy.edges().map((edge) => edge.data('shift')) };
        }"""
    )
    assert drawn["upright"] is upright
    # Names of lines beside each other stand one below the other, where they would cover each other.
    assert len(set(drawn["shifts"])) == (len(drawn["shifts"]) if upright else 1)


def test_a_window_is_announced_and_cancelled(browse: Browse) -> None:
    page = browse("/maintenance", "performance_engineer")
    page.get_by_text("Announce a maintenance window").click()
    page.click("#window-submit")
    expect(page.locator("#window-begins-problem")).to_contain_text("missing")
    page.select_option("#window-name", "al2s")
    page.fill("#window-begins", "2030-11-30 14:00")
    page.fill("#window-ends", "2030-11-30 16:00")
    page.locator("#window-ends").press("Tab")
    page.click("#window-submit")
    expect(page.locator("#window-answer")).to_contain_text("is announced")
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#maintenance button", has_text="Cancel").click()
    expect(page.locator("#window-cancelled")).to_contain_text("is cancelled")


def test_a_chart_is_drawn_and_saved(browse: Browse, tmp_path: Path) -> None:
    page = browse("/series?path=al2s&source=mu&destination=osu&metric=throughput&range=1h")
    expect(page.locator("#ser-chart figcaption")).to_contain_text("58 Mbps")
    expect(page.locator("#ser-chart .js-plotly-plot")).to_be_attached()
    rows = page.locator("main table tbody tr")
    expect(rows).to_have_count(0)
    page.locator("summary", has_text="Latest values and sources").press("Enter")
    expect(rows.filter(has_text="58 Mbps").first).to_be_visible()
    with page.expect_download() as download:
        page.click("#ser-csv")
    saved = tmp_path / "chart.csv"
    download.value.save_as(saved)
    assert saved.read_text().splitlines()[1].startswith("al2s,mu,osu,throughput,")


def test_an_alarm_is_seen_by_keyboard(browse: Browse) -> None:
    page = browse("/alarms", "operator")
    button = page.get_by_role("button", name=f"Acknowledge: {FELL.text}")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#alm-said")).to_contain_text("Acknowledged by operator")
    page.get_by_role("link", name=FELL.text).click()
    expect(page.locator("h1")).to_have_text(FELL.text)
    expect(page.locator("#live")).to_contain_text("operator,")


def test_a_failure_is_rehearsed_and_asked_again(world: World, browse: Browse) -> None:
    world.submit()
    page = browse("/maintenance")
    expect(page.locator("#if-answer")).to_contain_text("Choose a failure")
    page.click("#if-every")
    page.get_by_role("link", name="path-down al2s").click()
    expect(page.locator("#if-answer")).to_contain_text("1 flow affected")
