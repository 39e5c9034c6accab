from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from mininet_topos.link_shape import LinkShape, tc_lines
from mininet_topos.shaping import Change

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
    ("change", "shape"),
    [
        (Change(), SHAPE),
        (Change(up=False), SHAPE),
        (Change(rate=30e6), LinkShape(30e6, 40, 0.005, 0.01)),
        (Change(delay=0.0), LinkShape(60e6, 40, 0.0, 0.01)),
        (Change(loss=0.0, delay=0.1), LinkShape(60e6, 40, 0.1, 0.0)),
    ],
)
def test_what_is_not_asked_for_stays(change, shape):
    assert change.of(SHAPE, "links.line") == shape
    assert change.shapes == (change.rate is not None or change.delay is not None or change.loss is not None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (Change(rate=0.0), "rate"),
        (Change(rate=nan), "rate"),
        (Change(delay=-0.1), "delay"),
        (Change(delay=inf), "delay"),
        (Change(loss=1.0), "loss"),
        (Change(loss=nan), "loss"),
    ],
)
def test_an_impossible_change_is_refused(change, field):
    with pytest.raises(InvalidInput, match=f"links.line.{field}"):
        change.of(SHAPE, "links.line")


WHOLE = st.builds(Change, st.booleans(), st.floats(1e3, 1e9), st.floats(0, 1), st.floats(0, 0.9))
CHANGES = st.builds(
    Change,
    st.none() | st.booleans(),
    st.none() | st.floats(1e3, 1e9),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 0.9),
)


@given(WHOLE, st.lists(CHANGES, max_size=4))
def test_changes_that_are_undone_in_turn_leave_what_was_there(before: Change, changes: list[Change]) -> None:
    present, undoing = before, []
    for change in changes:
        undoing.append(change.undone(present))
        present = change.over(present)
    for undone in reversed(undoing):
        present = undone.over(present)
    assert present == before


@given(WHOLE, CHANGES)
def test_what_undoes_a_change_touches_nothing_else(before: Change, change: Change) -> None:
    undone = change.undone(before)
    for name in ("up", "rate", "delay", "loss"):
        assert (getattr(undone, name) is None) is (getattr(change, name) is None)
