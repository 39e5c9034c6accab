from __future__ import annotations

import re

import pytest

from mininet_topos.demo import report
from tests.mininet_topos.records import (
    HOSTILE,
    execution,
    small_plan,
    small_record,
)


@pytest.fixture
def text():
    return report.page(small_record(), "figure18.png")


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


# -- the plan, and the scene with the alarm ---------------------------------------------------------------


def test_tests_that_overlapped_are_named_aloud():
    record = small_record()
    record.plan = small_plan(execution("al2s:mu>osu/rtt", 0, 2), overlaps=("a and b for 1.0 s",))
    text = report.page(record, "")
    assert 'class="bad"' in text
    assert record.plan.overlaps[0] in text
