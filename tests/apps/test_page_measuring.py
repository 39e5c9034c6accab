"""Alarms on the overview, and the page of measurements."""

from __future__ import annotations

from measurement.model import Observation, PathKey
from tests.apps.measured import FELL, NOW, OVER, ROSE
from tests.apps.test_page import csrf, sign_in

SEEN = "I have seen it"


# -- alarms --------------------------------------------------------------------------------------------


def test_the_overview_shows_the_alarms_in_force_the_worst_first(world):
    browser, _ = sign_in(world, "operator")
    text = browser.get("/").text
    assert 0 < text.index(FELL.text) < text.index(ROSE.text)
    assert OVER.text not in text
    for shown in ("critical", "warning", "2025-10-09 08:48:20 UTC", "5 min ago", "throughput alarm"):
        assert shown in text
    assert text.count(SEEN) == 2


def test_an_alarm_is_acknowledged_by_a_button(world):
    browser, _ = sign_in(world, "operator")
    page = browser.get("/")
    answer = browser.post(f"/alarms/{FELL.id}/acknowledge", data={"csrf": csrf(page)})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    text = browser.get("/").text
    assert text.count(SEEN) == 1
    assert "operator<small> 08:53:20</small>" in text


def test_the_button_is_for_those_who_may(world):
    browser, _ = sign_in(world, "researcher")
    page = browser.get("/")
    assert FELL.text in page.text
    assert SEEN not in page.text
    address = f"/alarms/{FELL.id}/acknowledge"
    assert browser.post(address, data={"csrf": csrf(page)}).status_code == 403
    operator, _ = sign_in(world, "operator")
    assert operator.post(address, data={"csrf": "guess"}).status_code == 403
    assert world.collector.seen == []


def test_nobody_sees_alarms_of_series_they_may_not_read(world):
    world.grant({"may": "read", "who": ["researcher"], "metrics": ["rtt"]})
    text = sign_in(world)[0].get("/").text
    assert ROSE.text in text
    assert FELL.text not in text
    assert "throughput alarm" not in text


def test_without_alarms_nothing_is_said_of_them(world):
    world.grant({"may": "read", "who": ["nobody"]})
    assert "Alarms" not in sign_in(world)[0].get("/").text


# -- the page of measurements --------------------------------------------------------------------------


def test_the_page_shows_values_pictures_schedule_and_runs(world):
    world.append(Observation(PathKey("", "mu-dtn", ""), "host.cpu", 31.5, NOW - 5, "x"))
    browser, _ = sign_in(world)
    text = browser.get("/measurements").text
    for shown in (
        "<h2>al2s</h2>",
        "mu → osu",
        "58 Mbps",
        "10 s ago",
        "<h2>Hosts</h2>",
        "31.5",
        "+12 % off in the median",
        "12 tests in a round of 4 min",
        "60.6 Mbps",
        'href="/measurements/plan"',
        "2 measured, 1 failed, 1 left out",
        "no conflicting runs overlapped",
        "+0.12 s",
        "the server answered 503",
        "quiet: no test may load this path now",
        "throughput on al2s, mu → osu",
    ):
        assert shown in text, shown
    assert text.count('<svg class="spark"') == 5
    assert text.count('class="mark"') == 2  # FELL and OVER; ROSE is about a series without values
    assert "<script" not in text
    assert "style=" not in text


def test_an_overlap_is_said(world):
    world.overlap("al2s:mu>osu/throughput", "internet:osu>mu/rtt/on demand 4")
    text = sign_in(world)[0].get("/measurements").text
    assert "1 pairs of conflicting runs overlapped" in text
    assert text.count(">overlapped<") == 2
    assert ", on demand" in text


def test_the_page_obeys_the_configuration(world):
    world.grant({"may": "read", "who": ["researcher"], "metrics": ["rtt"]})
    browser, _ = sign_in(world)
    text = browser.get("/measurements").text
    assert text.count('<svg class="spark"') == 2
    assert "58 Mbps" not in text
    assert "throughput on" not in text
    assert "off in the median" not in text
    assert browser.get("/measurements/plan").status_code == 403
    nobody, _ = sign_in(world, "rival")
    text = nobody.get("/measurements").text
    for shown in (
        "nothing that you may read",
        "No test is configured that you may see",
        "No run was planned",
    ):
        assert shown in text


def test_a_collector_that_is_away_is_said_and_the_rest_is_shown(world):
    world.stop_collector()
    browser, _ = sign_in(world)
    text = browser.get("/measurements").text
    assert "the collector is not running" in text
    assert "58 Mbps" in text
    world.stop_controller()
    assert "58 Mbps" in browser.get("/measurements").text


def test_an_archive_that_cannot_be_read_is_said(world):
    for file in world.folder.glob("measurements.db*"):
        file.unlink()
    (world.folder / "measurements.db").write_text("not a database " * 100)
    browser, _ = sign_in(world)
    for address, rest in (("/measurements", "12 tests in a round"), ("/", "60.6 Mbps")):
        text = browser.get(address).text
        assert "archive cannot be read" in text
        assert rest in text


def test_the_plan_is_a_page_of_its_own(world):
    browser, _ = sign_in(world)
    answer = browser.get("/measurements/plan")
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert "Measurement level agreement" in answer.text
