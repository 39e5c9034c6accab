from __future__ import annotations

from dataclasses import replace

import pytest

from adon.broker.flow import Flow
from adon.broker.queueing.booking import Booking
from adon.broker.queueing.bookings import Bookings
from adon.step_function import Span
from measurement.model import PathKey, from_json, to_json
from tests.support.factories import make_flow, make_request

KEY, OTHER = PathKey("al2s", "mu", "osu"), PathKey("internet", "mu", "osu")
FIRST, SECOND = Booking("al2s", 20e6, 100.0, 200.0), Booking("al2s", 5.5, 150.0, 250.0)


def test_what_is_reserved_is_kept_with_the_flow() -> None:
    """Exactly as it was; and a flow that an earlier version saved has none."""
    request = make_request(deadline="8 h", not_before="2026-11-21T22:00:00.25Z")
    booking = replace(FIRST, rate=0.1 + 0.2)
    flow = make_flow(request=request, submitted_at=0.1, not_before=0.3, deadline=1e9 + 0.1, booking=booking)
    saved = to_json(flow)
    assert from_json(Flow, saved) == flow
    for name in ("not_before", "deadline"):
        del saved[name]
        del saved["request"][name]
    del saved["booking"]
    assert from_json(Flow, saved).booking is None


def test_in_words() -> None:
    assert FIRST.words == "20 Mbps of al2s, 1970-01-01 00:01 UTC to 1970-01-01 00:03 UTC"


def test_bookings_by_path_as_they_come_and_go() -> None:
    held = Bookings()
    held.put(1, KEY, FIRST)
    held.put(2, KEY, SECOND)
    assert held.on(KEY) == [Span(100.0, 200.0, 20_000_000), Span(150.0, 250.0, 6)]
    assert held.on(KEY, but=1) == [Span(150.0, 250.0, 6)]
    assert (held.any_on(OTHER), held.holds(2), len(held)) == (False, True, 2)
    assert held.over(200.0) == [1]
    version = held.version
    held.put(1, KEY, FIRST)
    assert held.version == version, "it has not changed"
    held.put(2, OTHER, replace(SECOND, path="internet"))
    assert [number for number, key, _ in held if key == OTHER] == [2]
    for number in (1, 2, 3):
        held.drop(number)
    assert not held.any_on(KEY)
    assert not len(held)


@pytest.mark.parametrize(("stamp", "times"), [((1, 1), 1), ((1, 2), 2)])
def test_answers_are_kept_while_nothing_changes(stamp: tuple[int, int], times: int) -> None:
    held, asked = Bookings(), list[int]()

    def work_out() -> float:
        asked.append(1)
        return 7.0

    assert [held.cached("what", one, work_out) for one in stamp] == [7.0, 7.0]
    assert len(asked) == times
