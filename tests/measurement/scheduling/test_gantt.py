from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from measurement.scheduling import Agreement, Schedule, schedule
from measurement.scheduling.gantt import MOST_BARS, page
from tests.measurement.scheduling.sets import task


def planned(*known: object, agreement: Agreement | None = None) -> Schedule:
    found = schedule(known, agreement or Agreement())  # type: ignore[arg-type]
    assert isinstance(found, Schedule)
    return found


SMALL = planned(
    task("first", 60, 20, points="ab", load={"core": 4e8}),
    task("second", 60, 10, points="bc", load={"core": 4e8}),
    agreement=Agreement({"core": 1e9}),
)


def drawings(html: str) -> list[ElementTree.Element]:
    return [
        ElementTree.fromstring(found)  # noqa: S314 - it is our own page
        for found in re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    ]


def test_each_run_is_drawn_on_each_of_its_points_to_scale() -> None:
    timeline = drawings(page(SMALL, title="t"))[0]
    bars = timeline.findall("rect")
    assert sorted(float(bar.attrib["width"]) for bar in bars) == [155, 155, 310, 310]  # 930 wide for 60 s
    told = {title.text for bar in bars for title in bar.findall("title")}
    assert "first, run 0 (iperf3, a to b): 0:00:00 to 0:00:20, released 0:00:00, due 0:01:00" in told
    assert [t.text for t in timeline.findall("text") if t.attrib.get("text-anchor") == "end"] == [
        "a",
        "b",
        "c",
    ]
    waits = [path for path in timeline.findall("path") if path.attrib.get("stroke") == "#999"]
    assert {wait.attrib["d"].split()[0] for wait in waits} == {"M170"}  # "second", on both its points


def test_spend_and_conflicts_are_shown() -> None:
    html = page(SMALL, title="t")
    for told in (
        "<td>core</td>",
        "<td>1 Gbit/s</td>",
        "<td>400 Mbit/s</td>",
        "<td>200 Mbit/s</td>",
        "<td>40%</td>",
    ):
        assert told in html
    assert "1 pairs of tasks never run at the same time" in html
    assert html.count('<td class="x"') == 2


def test_names_are_text_and_nothing_is_fetched_or_run() -> None:
    html = page(planned(task('<script>"x"', 60, 10)), title="</title><script>")
    assert "<script" not in html
    assert not re.search(r"https?:|src=|@import|url\(", html)
    drawings(html)


def test_a_part_of_the_round() -> None:
    known = planned(task("a", 10, 2), task("b", 60, 2))
    (part, *_) = drawings(page(known, title="t", since=10, until=20))
    assert len(part.findall("rect")) == 2
    for since, until in ((20, 20), (-1, 5), (70, 80)):
        with pytest.raises(ValueError, match="not a part of the round"):
            page(known, title="t", since=since, until=until)


def test_what_is_not_drawn_is_said() -> None:
    html = page(planned(task("a", 1, 0.1), task("b", 7200, 0.1)), title="t")
    assert "3201 later runs of this part are not drawn" in html
    assert len(drawings(html)[0].findall("rect")) == 2 * MOST_BARS


def test_an_empty_plan_has_a_page() -> None:
    assert "0 tasks, 0 runs" in page(planned(), title="t")
