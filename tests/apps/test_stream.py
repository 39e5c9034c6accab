from __future__ import annotations

import threading

import pytest

from apps.rest.stream import KEPT, LISTENERS, Stream


def test_events_are_numbered_and_kept_for_those_who_come_back():
    stream = Stream()
    for number in range(3):
        stream.adder("alarm")({"n": number})
    assert [(event.number, event.payload["n"]) for event in stream.after(1, 0)] == [(2, 1), (3, 2)]
    assert stream.last == 3
    assert stream.after(3, 0) == []


def test_the_ring_forgets_the_oldest():
    stream = Stream()
    for number in range(KEPT + 5):
        stream.add("alarm", {"n": number})
    found = stream.after(0, 0)
    assert (len(found), found[0].number, found[-1].number) == (KEPT, 6, KEPT + 5)


def test_a_listener_is_woken_by_an_event_and_by_the_end():
    stream, found = Stream(), []
    listener = threading.Thread(target=lambda: found.append(stream.after(0, 30)))
    listener.start()
    stream.add("alarm", {})
    listener.join(10)
    assert [event.number for event in found[0]] == [1]
    listener = threading.Thread(target=lambda: found.append(stream.after(1, 30)))
    listener.start()
    stream.close()
    listener.join(10)
    assert (found[1], stream.closed) == ([], True)


def test_a_name_is_good_for_one_process():
    stream, other = Stream(), Stream()
    for _ in range(5):
        stream.add("alarm", {})
        other.add("alarm", {})
    assert stream.seen(stream.name(3)) == 3
    assert stream.seen(stream.name(99)) == 5  # never ahead of what there is
    assert stream.seen(other.name(3)) == 0  # all that is kept may be new to this listener


@pytest.mark.parametrize("name", ["", "3", "-", "x-", "x-1-2", "x-\u0663", "x--1", f"x-{10**15}"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ValueError, match="no name of an event"):
        Stream().seen(name)


def test_places_are_limited_and_given_back():
    stream = Stream()
    assert [stream.enter() for _ in range(LISTENERS + 1)] == [*[True] * LISTENERS, False]
    stream.leave()
    assert stream.enter()
