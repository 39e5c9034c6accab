from __future__ import annotations

import json
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from adon.broker.decision import Outcome
from mininet_topos.demo import report
from mininet_topos.demo.record import Check, Moment, Record
from tests.apps.web import NOW
from tests.mininet_topos.records import (
    HOSTILE,
    MB,
    alarm,
    decision,
    execution,
    small_plan,
    small_record,
)

PNG = b"\x89PNG\r\n\x1a\n"


class Tables(HTMLParser):
    """The rows of a page's tables by the headline they are under, as text."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.headline, self._cell, self._in_headline = {}, "", None, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "h2":
            self.headline, self._in_headline = "", True
        elif tag == "tr":
            self.rows.setdefault(self.headline, []).append([])
        elif tag in ("td", "th"):
            self.rows[self.headline][-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        if tag == "h2":
            self._in_headline = False
        elif tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data):
        if self._in_headline:
            self.headline += data
        elif self._cell:
            self.rows[self.headline][-1][-1] += data


@pytest.fixture
def text():
    return report.page(small_record(), "figure18.png")


@pytest.fixture
def rows(text):
    return Tables(text).rows


def test_every_moment_and_check_is_shown(rows):
    assert rows["The figure"][1:] == [
        ["t1", "10.0", f"{HOSTILE} asks for a path"],
        ["t2", "30.0", "its transfer ends"],
    ]
    assert rows["Checks"][1:] == [
        ["t1: SoyKB is active on al2s", "yes", "active on al2s"],
        ["t6: x", "no", HOSTILE],
    ]


def test_the_first_lines_say_whether_all_held(text):
    assert "1 of 2 checks failed." in text
    record = small_record()
    record.checks = record.checks[:1]
    assert "All 1 checks held:" in report.page(record, "")


def test_every_decision_is_shown_with_its_reason_and_candidates(text, rows):
    assert "al2s has the highest Q (9.35) of the paths that meet every bound" in text
    assert "nobody qualifies" in text
    assert "still nobody qualifies" not in text  # a decision that changed nothing
    shown = rows["Decisions and their reasons"]
    assert shown[1][:3] == ["al2s (l2)", "qualified: every bound is met", "9.35"]
    assert shown[1][3:] == ["throughput", "58 Mbps", "7 Mbps", "10.00", "0.50", "42.0 s", "active test"]
    assert shown[4][:3] == ["rtt", "never measured", "100 ms"]
    assert shown[-1] == ["al2s (l2)", "excluded: port mu-edge-al2s is down"]  # one without metrics


def test_every_site_s_cost_is_worked_out_and_the_impossible_is_infinite(rows):
    local, remote = rows["Local or remote computation"][1:]
    assert local[:3] == [f"{HOSTILE} on al2s", "mu-hpc (local)", "∞"]
    assert local[-2:] == ["∞", ""]
    assert remote[:4] == ["", "osu-hpc (remote)", "5 s", "1 GB"]
    assert remote[-2:] == ["95.5 s", "yes"]


@pytest.mark.parametrize(("value", "shown"), [("inf", "∞"), (0.5, "500 ms"), (95.5, "95.5 s")])
def test_times_of_the_cost_model(value, shown):
    assert report.seconds_text(value) == shown


@pytest.mark.parametrize(("value", "shown"), [("inf", "∞"), (8e6, "8 Mbps")])
def test_rates_of_the_cost_model(value, shown):
    assert report.rate_text(value) == shown


def test_every_transfer_is_shown_as_its_receiver_counted_it(rows):
    assert rows["Transfers"][1:] == [
        [f"{HOSTILE} (f-1)", "al2s", "1", "10000000 B", "10000000 B", "2.0 s", "40 Mbps"],
        ["SoyKB-2 (f-2)", "internet", "1", "8000000 B", "7000000 B", "10.0 s", "5.6 Mbps"],
    ]


def test_rules_and_circumstances_are_shown(text, rows):
    assert "cookie=0xad10000000000001, priority=30500" in text
    assert rows["How it was run"] == [["Open vSwitch", "ovs-vswitchd (Open vSwitch) 3.1.0"]]


def test_what_people_and_switches_wrote_is_no_markup(text):
    assert HOSTILE not in text
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in text


def test_the_page_needs_nothing_from_elsewhere(text):
    assert re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="', text) == []


def test_a_record_of_a_run_that_broke_off_at_once_is_a_page_too():
    record = small_record()
    for name in ("moments", "transfers", "decisions", "measurements"):
        setattr(record, name, [])
    assert "checks failed" in report.page(record, "no PNG")


def test_the_folder_gets_page_and_record_and_the_picture_needs_a_chromium(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "no-chromium"))
    page = report.write(small_record(), tmp_path / "new" / "folder")
    assert page == tmp_path / "new" / "folder" / "index.html"
    assert sorted(file.name for file in page.parent.iterdir()) == ["index.html", "record.json"]
    assert "no PNG:" in page.read_text()
    assert json.loads((page.parent / "record.json").read_text())["seed"] == 18


@pytest.mark.integration
def test_the_picture_is_a_png(tmp_path, monkeypatch):
    found = shutil.which("chromium") or shutil.which("google-chrome")
    browser = os.environ.get("BROWSER_PATH", found)
    if browser is None or not Path(browser).exists():
        pytest.skip("no Chromium on this machine: figure18.png is not tried (BROWSER_PATH names one)")
    monkeypatch.setenv("BROWSER_PATH", browser)
    page = report.write(small_record(), tmp_path)
    assert (tmp_path / "figure18.png").read_bytes().startswith(PNG)
    assert "no PNG" not in page.read_text()


# -- the plan, and the scene with the alarm ---------------------------------------------------------------


def test_what_was_not_told_has_no_section(text):
    assert "The plan of the measurements" not in text
    assert "An alarm moves a flow" not in text


def test_the_plan_is_shown_with_what_was_executed_and_a_round_of_it():
    record = small_record()
    left = execution("al2s:mu>osu/rtt", None, None, outcome=HOSTILE)
    record.plan = small_plan(execution("al2s:mu>osu/rtt", 0, 2), left)
    text = report.page(record, "")
    assert "No two conflicting tests overlapped:" in text
    assert "1 of 2 planned runs were carried out (the others: &lt;script&gt;alert(1)&lt;/script&gt;)" in text
    assert HOSTILE not in text
    # the picture of a round is a page of its own inside this one: markup there, text here
    assert 'srcdoc="&lt;p title=&#34;a round&#34;&gt;of the plan&lt;/p&gt;"' in text


def test_tests_that_overlapped_are_named_aloud():
    record = small_record()
    record.plan = small_plan(execution("al2s:mu>osu/rtt", 0, 2), overlaps=("a and b for 1.0 s",))
    text = report.page(record, "")
    assert '<span class="bad">Conflicting tests overlapped:</span> a and b for 1.0 s.' in text
    assert "No two conflicting tests overlapped" not in text


@pytest.fixture
def sequel():
    """A record whose scene after t9 was told: a flow was moved by an alarm."""
    record = small_record()
    scene = Record(NOW, 18, 100.0, names={"f-9": "RIVVIR steering"}, plan=small_plan())
    scene.moments = [Moment("t11", 200.0, "load begins")]
    moved = {"outcome": Outcome.MOVE, "path": "internet", "reason": f"alarm a-210: {HOSTILE}"}
    scene.decisions = [{**decision(9, **moved), "alarm": "a-210"}]
    scene.alarms = [alarm(210), alarm(205, bad=False)]
    scene.checks = [Check("t12: moved", False, "it stayed")]
    record.sequel = scene
    return record


def test_the_alarm_is_shown_with_the_decision_that_names_it(sequel):
    text = report.page(sequel, "")
    shown = Tables(text).rows["An alarm moves a flow"]
    said = f"al2s: rtt rose {HOSTILE}"
    assert ["t11", "200.0", "load begins"] in shown
    better = shown.index(["a-205", "205.0", "critical, for the better", said])
    assert shown[better + 1] == ["a-210", "210.0", "critical", said]
    assert "RIVVIR steering: move to internet" in text
    assert ", after alarm a-210, template" in text
    assert HOSTILE not in text


def test_the_scene_s_checks_count_with_the_others(sequel):
    assert "2 of 3 checks failed." in report.page(sequel, "")
    for check in sequel.every_check:
        check.held = True
    text = report.page(sequel, "")
    assert "All 3 checks held:" in text
    assert ", and an alarm moved a flow." in text


def test_numbers_of_a_decision_that_are_missing_say_why():
    metric = {"metric": "rtt", "value": None, "unknown": "never measured"}
    assert report.value_text(metric) == "never measured"
    assert report.value_text({"metric": "loss", "value": 0.05}) == "5 %"
    assert report.value_text({"metric": "throughput", "value": 6.5 * MB}) == "6.5 Mbps"
