from __future__ import annotations

import re
from xml.etree import ElementTree

from measurement.scheduling import Agreement, Schedule, schedule
from measurement.scheduling.gantt import page
from tests.measurement.scheduling.sets import task


def planned(*known: object, agreement: Agreement | None = None) -> Schedule:
    found = schedule(known, agreement or Agreement())  # type: ignore[arg-type]
    assert isinstance(found, Schedule)
    return found


def drawings(html: str) -> list[ElementTree.Element]:
    return [
        ElementTree.fromstring(found)  # noqa: S314 - it is our own page
        for found in re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    ]


def test_names_are_text_and_nothing_is_fetched_or_run() -> None:
    html = page(planned(task('<script>"x"', 60, 10)), title="</title><script>")
    assert "<script" not in html
    assert not re.search(r"https?:|src=|@import|url\(", html)
    drawings(html)


def test_an_empty_plan_has_a_page() -> None:
    assert "0 tasks" in page(planned(), title="t")
