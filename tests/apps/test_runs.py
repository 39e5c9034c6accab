from __future__ import annotations

import pytest

from apps.ages import age
from apps.collector.timeline import LeftOut
from apps.rest.page import words
from apps.rest.runs import Fate, fate, read_task
from measurement.model import PathKey
from measurement.scheduling import Execution


@pytest.mark.parametrize(
    ("outcome", "started", "expected"),
    [
        ("measured", 1.0, Fate.MEASURED),
        *((str(reason), None, Fate.LEFT_OUT) for reason in LeftOut),
        ("the server answered 503", 1.0, Fate.FAILED),
        ("cannot connect", None, Fate.FAILED),
        ("no worker was free", None, Fate.FAILED),
    ],
)
def test_what_became_of_a_run(outcome, started, expected):
    assert fate(Execution("a:b>c/rtt", 1, 0.0, started, None, outcome)) is expected


def test_a_task_s_name_is_read():
    read = read_task("al2s:mu>osu/rtt/on demand 12")
    assert (read.planned, read.key, read.kind, read.demanded) == (
        "al2s:mu>osu/rtt",
        PathKey("al2s", "mu", "osu"),
        "rtt",
        True,
    )
    assert read_task("something else") is None
    assert words.task("something else") == "something else"
    assert words.task("al2s:mu>osu/rtt") == "rtt on al2s, mu → osu"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.2, "0 s ago"),
        (119, "119 s ago"),
        (310, "5 min ago"),
        (7200, "2 h ago"),
        (170_000, "47 h ago"),
        (172_800, "2 d ago"),
    ],
)
def test_ages_are_one_whole_number(seconds, text):
    assert age(seconds) == text


def test_values_have_their_unit():
    assert words.value(-0.051, "estimate.throughput_error") == "\u22125 %"
    assert words.value(31.23456, "host.cpu") == "31.23"
    assert words.value(0.5, "rtt") == "500 ms"
