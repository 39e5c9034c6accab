from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.collector.task_standing import (
    AHEAD,
    LASTS,
    Held,
    Standing,
    Todo,
    Wanted,
    after_loss,
    after_refusal,
    after_result,
    silent,
    todo,
    verdict,
    without_ended,
)
from measurement.errors import PointRefused, Rejected
from measurement.fleet import AGAIN_AT_MOST
from measurement.model import Metric
from measurement.poller import PathTest
from measurement.pscheduler import specs
from measurement.pscheduler.client import ScheduledRun
from measurement.pscheduler.specs import PostedTask
from measurement.pscheduler.states import RunState
from tests.apps.collecting import KEY

REQUEST = specs.latency_in_background(specs.Ends("192.0.2.1", "192.0.2.2", "a", "b"), 20, 0.1, LASTS)
WANTED = Wanted("mu", PathTest(KEY, REQUEST, (Metric.ONE_WAY_DELAY,)), 20.0)


def held(begins: float, name: str = "1") -> Held:
    return Held(PostedTask(name, "", ""), begins, begins + LASTS)


RUNS = Standing((held(0.0),), heard=100.0)


@pytest.mark.parametrize(
    ("standing", "now", "what"),
    [
        (Standing(), 0.0, Todo.POST),
        (Standing(resume=10.0), 9.0, Todo.NOTHING),
        (Standing(resume=10.0), 10.0, Todo.POST),
        (RUNS, 150.0, Todo.NOTHING),
        (RUNS, 100.0 + WANTED.patience, Todo.NOTHING),
        (RUNS, 101.0 + WANTED.patience, Todo.ASK),
        (Standing((held(0.0),)), WANTED.patience, Todo.NOTHING),  # its first result may take as long
        (Standing((held(0.0),), heard=LASTS - AHEAD), LASTS - AHEAD, Todo.NOTHING),
        (Standing((held(0.0),), heard=LASTS - AHEAD), LASTS - AHEAD + 1, Todo.POST),
        (Standing((held(0.0), held(LASTS)), heard=LASTS - 5), LASTS - 1, Todo.NOTHING),
    ],
)
def test_what_is_to_be_done(standing: Standing, now: float, what: Todo) -> None:
    assert todo(WANTED, standing, now) is what


def test_a_task_that_has_ended_is_read_for_a_while_and_then_not() -> None:
    both = Standing((held(0.0), held(LASTS, "2")))
    assert without_ended(both, LASTS + 100) is both
    assert without_ended(both, LASTS + 121).tasks == both.tasks[1:]


def test_what_is_lost_is_posted_anew_at_once_and_then_ever_less_often() -> None:
    standing, now, pauses = RUNS, 0.0, []
    for _ in range(12):
        standing = after_loss(standing, now)
        pauses.append(standing.resume - now)
        now = standing.resume
    assert pauses[:4] == [0, 60, 120, 240]
    assert pauses[-1] == AGAIN_AT_MOST
    assert silent(WANTED, Standing(RUNS.tasks), 0.0).resume == WANTED.patience


def test_only_results_that_go_on_are_a_recovery() -> None:
    again = Standing((held(1000.0),), misses=3)
    assert after_result(WANTED, again, 1001.0).misses == 3
    assert after_result(WANTED, again, 1001.0 + WANTED.patience).misses == 0


def test_a_point_that_will_not_have_it_is_asked_in_an_hour_one_that_is_away_sooner() -> None:
    away, no = PointRefused("h", "away"), Rejected("h", 403, "no")
    assert after_refusal(Standing(), away, 0.0, 0.5).resume == 1.0
    assert after_refusal(Standing(failures=3), away, 0.0, 0.5).resume == 8.0
    assert after_refusal(Standing(), no, 0.0, 0.5).resume == 3600.0


def run(state: RunState, errors: str = "", end: float = 0.0) -> ScheduledRun:
    return ScheduledRun("r", "t", state, 0.0, end, errors)


@pytest.mark.parametrize(
    ("runs", "cause"),
    [
        ([], "know"),
        ([run(RunState.RUNNING), run(RunState.FINISHED)], None),
        ([run(RunState.PENDING)], None),
        ([run(RunState.FINISHED, end=5.0)], "finished"),
        ([run(RunState.FINISHED, end=9.0), run(RunState.FAILED, "no metric 'x'", 1.0)], "'x'"),
    ],
)
def test_why_a_task_gives_nothing(runs: Sequence[ScheduledRun], cause: str | None) -> None:
    found = verdict(runs)
    assert found is None if cause is None else cause in str(found)


@given(st.lists(st.tuples(st.floats(1, 400), st.booleans()), max_size=60))
def test_while_results_come_one_task_runs_and_at_most_one_waits(steps: list[tuple[float, bool]]) -> None:
    """However late we look, what is posted begins when the one before ends, or now."""
    standing, now = Standing((held(0.0),), heard=0.0), 0.0
    for wait, _ in steps:
        now += wait
        standing = after_result(WANTED, without_ended(standing, now), now)
        if todo(WANTED, standing, now) is Todo.POST:
            begins = max([now, *(each.ends for each in standing.tasks[-1:])])
            standing = Standing((*standing.tasks, held(begins)), now)
        going = [each for each in standing.tasks if each.ends > now]
        assert 1 <= len(going) <= 2
        assert all(one.ends <= other.begins for one, other in itertools.pairwise(going))
