from __future__ import annotations

import pytest

from adon.access.identity import Actor
from adon.access.policy import Policy
from apps.rest.event_stream import KEPT, OWNERS_KNOWN, Stream
from measurement.model import to_json
from tests.support.fake_collector import FELL
from tests.support.refusals import refused

SAID = {"at": 1.0, "cause": "e-1", "level": "info", "text": "moved", "flow": None}
ANN, BOB = (Actor(name, frozenset({"researcher"})) for name in ("ann", "bob"))


def announce(stream, **changes):
    stream.add("announce", {**SAID, **changes})


def test_events_are_numbered_and_kept_for_those_who_come_back():
    stream = Stream()
    for number in range(3):
        stream.adder("announce")({**SAID, "text": str(number)})
    assert [
        (event.number, b'"text": "%d"' % n in event.frame) for n, event in enumerate(stream.after(0))
    ] == [
        (1, True),
        (2, True),
        (3, True),
    ]
    assert [event.number for event in stream.after(1)] == [2, 3]
    assert (stream.last, stream.after(3), stream.after(9)) == (3, [], [])


def test_what_is_sent_is_made_once_and_is_one_event():
    stream = Stream()
    announce(stream, text="two\nlines: \u2028")
    frame = stream.after(0)[0].frame
    assert frame.startswith(f"id: {stream.name(1)}\nevent: announce\ndata: ".encode())
    assert frame.count(b"\n") == 4
    assert frame.endswith(b"\n\n")


def test_the_ring_forgets_the_oldest():
    stream = Stream()
    for _ in range(KEPT + 5):
        announce(stream)
    found = stream.after(0)
    assert (len(found), found[0].number, found[-1].number) == (KEPT, 6, KEPT + 5)


def test_whoever_waits_is_woken_by_an_event_and_by_the_end():
    stream, woken = Stream(), []
    stream.wake(lambda: woken.append(stream.closed))
    announce(stream)
    stream.close()
    assert woken == [False, True]


def test_the_owner_of_a_flow_is_looked_up_once_and_not_for_ever():
    asked = []

    def owner_of(flow):
        asked.append(flow)
        return "ann"

    stream = Stream(owner_of)
    for _ in range(3):
        announce(stream, flow="f-1")
    assert asked == ["f-1"]
    for number in range(OWNERS_KNOWN + 10):
        announce(stream, flow=f"f-{number + 2}")
    assert len(stream._owners) == OWNERS_KNOWN
    audience = stream.after(0)[-1].audience
    assert (
        audience.admits(ANN, Policy()),
        audience.admits(BOB, Policy()),
        audience.admits(None, Policy()),
    ) == (
        True,
        False,
        False,
    )


def test_a_flow_that_nobody_knows_is_for_staff():
    stream = Stream()
    announce(stream, flow="f-1")
    assert not stream.after(0)[0].audience.admits(ANN, Policy())
    assert stream.after(0)[0].audience.admits(Actor("eve", frozenset({"operator"})), Policy())


def test_what_is_no_message_of_ours_is_refused_and_takes_no_number():
    stream = Stream()
    with refused(ValueError):
        stream.add("nonsense", {})
    with refused(ValueError, "source"):
        stream.add("path", {"path": "al2s"})
    stream.add("alarm", to_json(FELL))
    assert stream.last == 1


def test_a_name_is_good_for_one_process():
    stream, other = Stream(), Stream()
    for _ in range(5):
        announce(stream)
        announce(other)
    assert stream.seen(stream.name(3)) == 3
    assert stream.seen(stream.name(99)) == 5  # never ahead of what there is
    assert stream.seen(other.name(3)) == 0  # all that is kept may be new to this listener


@pytest.mark.parametrize("name", ["", "3", "-", "x-", "x-1-2", "x-\u0663", "x--1", f"x-{10**15}"])
def test_what_is_no_name_is_refused(name):
    with refused(ValueError):
        Stream().seen(name)


def test_places_are_limited_in_all_and_each_and_given_back():
    stream = Stream(most=3, most_each=2)
    assert [stream.enter(who) for who in ("ann", "ann", "ann", "bob", "cy")] == [
        True,
        True,
        False,
        True,
        False,
    ]
    stream.leave("ann")
    assert stream.enter("cy")
    for who in ("ann", "bob", "cy"):
        stream.leave(who)
    assert stream.listening == 0
