from __future__ import annotations

import json
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mininet_topos.demo import report
from tests.mininet_topos.records import HOSTILE, MB, small_record

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


def test_one_path_always_is_compared_only_if_it_was_run(text):
    assert "Beside one path always" not in text
    record = small_record()
    record.baselines = {"always internet": record.transfers[1:]}
    compared = Tables(report.page(record, "")).rows["Beside one path always"]
    assert compared == [
        ["Way", HOSTILE, "SoyKB-2", "Sum"],
        ["ADON", "2.0", "10.0", "12.0"],
        ["always internet", "–", "10.0", "10.0"],
    ]


def test_the_figure_has_a_trace_per_path_and_per_transfer():
    traces = {trace.name: trace for trace in report.figure(small_record()).data}
    assert list(traces) == [
        "layer 2 (al2s)",
        "layer 3 (internet)",
        f"{HOSTILE} on al2s",
        "SoyKB-2 on internet",
    ]
    # only MU to OSU and only since the run began, in Mbit/s
    assert list(zip(traces["layer 2 (al2s)"].x, traces["layer 2 (al2s)"].y, strict=True)) == [
        (8.0, 58.0),
        (25.0, 4.8),
    ]
    received = traces[f"{HOSTILE} on al2s"]
    assert (list(received.x), list(received.y)) == ([10.5, 11.5], [40.0, 40.0])


def test_the_figure_marks_bounds_and_moments():
    chart = report.figure(small_record())
    texts = [annotation.text for annotation in chart.layout.annotations]
    assert texts[:4] == ["QSpec 7 Mbit/s", "QSpec 6 Mbit/s", "<b>t1</b>", "<b>t2</b>"]
    assert [text.rsplit(": ", 1)[1] for text in texts[4:]] == ["layer 2 (al2s)", "queued"]
    assert {shape.y0 for shape in chart.layout.shapes if shape.y0 == shape.y1} == {7.0, 6.0}


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


def test_numbers_of_a_decision_that_are_missing_say_why():
    metric = {"metric": "rtt", "value": None, "unknown": "never measured"}
    assert report.value_text(metric) == "never measured"
    assert report.value_text({"metric": "loss", "value": 0.05}) == "5 %"
    assert report.value_text({"metric": "throughput", "value": 6.5 * MB}) == "6.5 Mbps"
