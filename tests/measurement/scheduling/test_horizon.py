from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from measurement.scheduling import Horizon, Schedule, Start, schedule, timetable
from tests.measurement.scheduling.sets import task, tasks
from tests.support.refusals import refused

EPOCH = 1_795_267_200.0


def planned(*known: object) -> Schedule:
    found = schedule(known)  # type: ignore[arg-type]
    assert isinstance(found, Schedule)
    return found


ROUND = planned(task("a", 20, 5), task("b", 60, 10))


def test_rounds_follow_each_other_and_numbers_count_on() -> None:
    assert timetable(ROUND, EPOCH, EPOCH, EPOCH + 90) == [
        Start("a", 0, EPOCH),
        Start("b", 0, EPOCH + 5),
        Start("a", 1, EPOCH + 20),
        Start("a", 2, EPOCH + 40),
        Start("a", 3, EPOCH + 60),
        Start("b", 1, EPOCH + 65),
        Start("a", 4, EPOCH + 80),
    ]


def test_nothing_starts_before_the_epoch() -> None:
    assert timetable(ROUND, EPOCH, EPOCH - 500, EPOCH) == []
    assert timetable(ROUND, EPOCH, EPOCH - 500, EPOCH + 1) == [Start("a", 0, EPOCH)]


def test_the_beginning_of_a_window_belongs_to_it_and_its_end_does_not() -> None:
    assert timetable(ROUND, EPOCH, EPOCH + 5, EPOCH + 20) == [Start("b", 0, EPOCH + 5)]
    assert timetable(ROUND, EPOCH, EPOCH + 20, EPOCH + 20) == []


def test_the_next_runs() -> None:
    horizon = Horizon(ROUND, EPOCH)
    assert [start.at - EPOCH for start in horizon.upcoming(EPOCH + 41, 4)] == [60, 65, 80, 100]
    assert [start.at - EPOCH for start in horizon.upcoming(EPOCH - 1000, 1)] == [0]
    assert Horizon(planned(), EPOCH).upcoming(EPOCH, 3) == []


@given(
    tasks(4),
    st.floats(0, 2e9),
    st.lists(st.floats(-50, 300), min_size=2, max_size=6),
)
def test_windows_that_touch_lose_nothing_and_repeat_nothing(
    known: list[object], epoch: float, cuts: list[float]
) -> None:
    found = schedule(known, explain=False)  # type: ignore[arg-type]
    if not isinstance(found, Schedule):
        return
    times = [epoch + cut for cut in sorted(cuts)]
    whole = timetable(found, epoch, times[0], times[-1])
    parts = [s for a, b in pairwise(times) for s in timetable(found, epoch, a, b)]
    assert parts == whole
    assert len({(s.task, s.number) for s in whole}) == len(whole)
    for start in whole:
        round_number, rest = divmod(round((start.at - epoch) * 1000), found.hyperperiod)
        assert any(job.task == start.task and job.start == rest for job in found.jobs)
        assert start.number // (found.hyperperiod // found.tasks[start.task].interval) == round_number


def test_an_instant_is_never_before_the_time_it_was_made_from() -> None:
    horizon = Horizon(ROUND, EPOCH)
    for number in range(200):
        at = EPOCH + 0.659 + number * 1e-7
        assert horizon.wall(horizon.tick(at)) >= at
        assert horizon.wall(horizon.tick(at)) < at + 0.0011


def test_times_that_are_none_are_refused() -> None:
    with refused(ValueError):
        timetable(ROUND, EPOCH, EPOCH, float("inf"))
