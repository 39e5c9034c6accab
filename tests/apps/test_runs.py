from __future__ import annotations

import pytest

from apps.ages import age
from apps.collector.timeline import LeftOut
from apps.rest.runs import Fate, fate_of, read_task
from measurement.model import PathKey


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("measured", Fate.MEASURED),
        *((str(reason), Fate.LEFT_OUT) for reason in LeftOut),
        ("the server answered 503", Fate.FAILED),
        ("cannot connect", Fate.FAILED),
        ("no worker was free", Fate.FAILED),
    ],
)
def test_what_became_of_a_run(outcome, expected):
    assert fate_of(outcome) is expected


def test_a_task_s_name_is_read():
    read = read_task("al2s:mu>osu/rtt/on demand 12")
    assert (read.planned, read.key, read.kind, read.demanded) == (
        "al2s:mu>osu/rtt",
        PathKey("al2s", "mu", "osu"),
        "rtt",
        True,
    )
    assert read_task("something else") is None


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
