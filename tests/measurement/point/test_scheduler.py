from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.point.model import TRANSITIONS, Run, Schedule, SchedulingClass
from measurement.point.scheduler import Booking, Slot, first_fit, free, intersect, occurrence
from measurement.pscheduler.states import RunState
from tests.support.refusals import refused

EXCLUSIVE, NORMAL, BACKGROUND, MULTI = SchedulingClass
CLASSES = st.sampled_from(SchedulingClass)
SPANS = st.tuples(st.integers(0, 100), st.integers(1, 20)).map(lambda pair: (pair[0], pair[0] + pair[1]))
BOOKINGS = st.lists(st.tuples(SPANS, CLASSES).map(lambda pair: Booking(*pair[0], pair[1])), max_size=8)


@pytest.mark.parametrize(
    ("one", "other", "excludes"),
    [
        (EXCLUSIVE, EXCLUSIVE, True), (EXCLUSIVE, NORMAL, True), (NORMAL, EXCLUSIVE, True),
        (NORMAL, NORMAL, False), (BACKGROUND, EXCLUSIVE, False), (EXCLUSIVE, BACKGROUND, False),
        (MULTI, EXCLUSIVE, False), (EXCLUSIVE, MULTI, False), (MULTI, NORMAL, False),
    ],
)  # fmt: skip
def test_what_excludes_what(one: SchedulingClass, other: SchedulingClass, excludes: bool) -> None:
    assert one.excludes(other) is excludes


@given(BOOKINGS, CLASSES)
def test_every_instant_is_free_exactly_if_nothing_there_excludes_it(
    bookings: list[Booking], kind: SchedulingClass
) -> None:
    ranges = free(bookings, kind, Slot(0, 120))
    for instant in range(120):
        taken = any(b.start <= instant < b.end and kind.excludes(b.kind) for b in bookings)
        assert any(slot.start <= instant < slot.end for slot in ranges) is not taken


@given(BOOKINGS, BOOKINGS, CLASSES, st.integers(1, 20), st.integers(0, 60), st.integers(0, 60))
def test_a_found_slot_is_free_on_both_hosts_in_time_and_the_first(
    ours: list[Booking], theirs: list[Booking], kind: SchedulingClass, length: int, earliest: int, slip: int
) -> None:
    window = Slot(earliest, earliest + slip + length)
    both = intersect(free(ours, kind, window), free(theirs, kind, window))
    found = first_fit(both, earliest, earliest + slip, length)

    def fits(start: int) -> bool:
        return not any(
            b.start < start + length and start < b.end and kind.excludes(b.kind) for b in [*ours, *theirs]
        )

    possible = [start for start in range(earliest, earliest + slip + 1) if fits(start)]
    assert found == (possible[0] if possible else None)


def test_starts_are_on_whole_seconds() -> None:
    assert first_fit([Slot(0.5, 10)], 2.25, 9, 1) == 3.0
    assert first_fit([Slot(0, 10)], 2.25, 2.5, 1) is None


@pytest.mark.parametrize(
    ("schedule", "after", "done", "expected"),
    [
        (Schedule(100), 0, 0, 100),
        (Schedule(100), 0, 1, None),
        (Schedule(100, repeat=10), 0, 0, 100),
        (Schedule(100, repeat=10), 0, 3, 130),
        (Schedule(100, repeat=10), 145, 1, 150),
        (Schedule(100, slip=5, repeat=10), 145, 1, 140),
        (Schedule(100, repeat=10, max_runs=2), 0, 2, None),
        (Schedule(100, repeat=10, until=115), 0, 1, 110),
        (Schedule(100, repeat=10, until=115), 0, 2, None),
    ],
)
def test_occurrences(schedule: Schedule, after: float, done: int, expected: float | None) -> None:
    assert occurrence(schedule, after, done) == expected


def test_a_runs_state_follows_the_table() -> None:
    run = Run("r", "t", 0, 1, 0)
    assert run.in_state(RunState.RUNNING).in_state(RunState.FINISHED).state.terminal
    with refused(ValueError):
        run.in_state(RunState.FINISHED)
    assert all(state not in TRANSITIONS for state in RunState if state.terminal)
