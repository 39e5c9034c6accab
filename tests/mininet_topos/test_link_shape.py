from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from mininet_topos.link_shape import LinkShape, tc_lines

SHAPE = LinkShape(60e6, 40, 0.005, 0.01)
HTB = "htb rate 60000000bit ceil 60000000bit burst 7500 cburst 7500 quantum 1518"


@pytest.mark.parametrize(
    ("netem", "lines"),
    [
        (
            True,
            (
                "qdisc add dev x root handle 1: netem limit 100000 delay 5000us loss random 1.0000000%",
                "qdisc add dev x parent 1:1 handle 2: htb default 1",
                f"class add dev x parent 2: classid 2:1 {HTB}",
                "qdisc add dev x parent 2:1 handle 3: pfifo limit 40",
            ),
        ),
        (
            False,
            (
                "qdisc add dev x root handle 2: htb default 1",
                f"class add dev x parent 2: classid 2:1 {HTB}",
                "qdisc add dev x parent 2:1 handle 3: pfifo limit 40",
            ),
        ),
    ],
    ids=["netem", "none"],
)
def test_a_shape_is_delay_then_rate_then_queue(netem, lines):
    assert tc_lines("x", SHAPE, netem=netem) == lines


def test_without_delay_and_loss_netem_is_there_and_does_nothing():
    first = tc_lines("x", LinkShape(60e6, 40), netem=True)[0]
    assert first == "qdisc add dev x root handle 1: netem limit 100000"


@pytest.mark.parametrize(("rate", "burst"), [(1e6, 6000), (48e6, 6000), (60e6, 7500)])
def test_a_burst_is_four_frames_or_a_millisecond(rate, burst):
    line = next(line for line in tc_lines("x", LinkShape(rate, 40), netem=False) if "class" in line)
    assert f"burst {burst} cburst {burst}" in line


@pytest.mark.parametrize("netem", [True, False])
def test_a_change_names_what_was_built(netem):
    """Same handles, same order, only another verb: nothing is removed and made again."""
    built = tc_lines("x", SHAPE, netem=netem)
    changed = tc_lines("x", SHAPE, netem=netem, change=True)
    assert [line for line in changed if "htb default" in line] == []
    expected = [line.replace(" add ", " change ") for line in built if "htb default" not in line]
    assert list(changed) == expected


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rate": 0.0}, "rate"),
        ({"rate": nan}, "rate"),
        ({"rate": 2e9}, "rate"),
        ({"delay": -0.1}, "delay"),
        ({"delay": inf}, "delay"),
        ({"loss": 1.0}, "loss"),
        ({"loss": nan}, "loss"),
        ({"queue": 0}, "queue"),
    ],
)
def test_an_impossible_shape_names_its_attribute(change, field):
    assert [attribute for attribute, _ in replace(SHAPE, **change).faults()] == [field]


def test_a_possible_shape_has_no_fault():
    assert list(SHAPE.faults()) == []
