"""Times of requests and round trips, with clocks that are set or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.kernel_timestamps import STEP, clock_was_stepped
from measurement.probes.round_trip import PATIENCE, RoundTrip, next_send_wait

MS = 1_000_000


@pytest.mark.parametrize(
    ("trip", "set_meanwhile", "seconds"),
    [
        (RoundTrip(0, 10 * MS), False, 0.010),  # only our own clock
        (RoundTrip(0, 10 * MS, resided=2 * MS), False, 0.008),
        (
            RoundTrip(0, 10 * MS, left=5 * MS, arrived=12 * MS, resided=2 * MS),
            False,
            0.005,
        ),  # the kernel knows better
        (
            RoundTrip(0, 10 * MS, left=5 * MS, arrived=12 * MS, resided=2 * MS),
            True,
            0.008,
        ),  # unless it was set
        (RoundTrip(0, 10 * MS, left=0, arrived=3_600_000 * MS), False, 0.010),  # an hour ahead, in between
        (RoundTrip(0, 10 * MS, left=0, arrived=-3_600_000 * MS), False, 0.010),  # an hour back
        (RoundTrip(0, 10 * MS, resided=11 * MS), False, None),  # longer than it was away
        (RoundTrip(0, 10 * MS, resided=-1), False, None),
    ],
)
def test_round_trip_excludes_both_ends(trip: RoundTrip, set_meanwhile: bool, seconds: float | None) -> None:
    found = trip.seconds(stepped=set_meanwhile)
    assert found == (None if seconds is None else pytest.approx(seconds))


@given(
    st.integers(1, 10**10),
    st.integers(-(10**18), 10**18),
    st.integers(-(10**18), 10**18),
    st.integers(0, 10**10),
)
def test_round_trip_is_positive_and_at_most_the_elapsed_time(
    elapsed: int, out: int, back: int, resided: int
) -> None:
    found = RoundTrip(0, elapsed, out, back, resided).seconds(stepped=False)
    assert found is None or 0 < found <= max(1, elapsed) / 1e9


@pytest.mark.parametrize(
    ("sent", "last", "answered", "now", "wait"),
    [
        (0, 0, True, 123, 0.0),
        (1, 0, True, 4 * MS, 0.006),
        (1, 0, True, 11 * MS, 0.0),
        (1, 0, False, 11 * MS, PATIENCE - 0.011),  # the next waits for the answer to the last
        (1, 0, False, int(PATIENCE * 1e9), 0.0),  # but not for ever
        (5, 0, True, 0, None),
    ],
)
def test_next_request_waits_for_the_answer(
    sent: int, last: int, answered: bool, now: int, wait: float | None
) -> None:
    found = next_send_wait(sent, 5, last, answered, 0.010, now)
    assert found == (None if wait is None else pytest.approx(wait))


@pytest.mark.parametrize(
    ("before", "after", "elapsed", "was_set"),
    [
        (0, 0, 10**9, False),
        (0, STEP, 0, False),
        (0, STEP + 1, 0, True),
        (0, -STEP - 1, 0, True),
        (0, STEP + 500_000, 10**9, False),  # slewed by 500 parts in a million for a second
        (0, 2 * 10**6, 10**9, True),
        (0, 3_600 * 10**9, 10**9, True),
    ],
)
def test_stepped_clock_is_distinguished_from_a_slewed_one(
    before: int, after: int, elapsed: int, was_set: bool
) -> None:
    assert clock_was_stepped(before, after, elapsed) is was_set
