from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.collector.timeline import LONGEST_BACKOFF, LeftOut, Standing, Timeline, left_out
from measurement.scheduling import Refused, Request, Start
from tests.apps.collecting import EPOCH, HEAVY, PING, plan

PLAN = plan((PING, 10, 2), (HEAVY, 30, 6))
NOTICE = 5.0


def request(lasts: float, name: str = "extra") -> Request:
    return Request(
        name, "mu", "osu", "iperf3", lasts, None, frozenset({"mu"}), frozenset({"al2s"}), loads=True
    )


def test_the_first_job_can_still_be_handed_over_in_time_and_starts_on_a_whole_second() -> None:
    timeline = Timeline.begin(PLAN.schedule, EPOCH + 0.3, NOTICE)
    _, starts = timeline.starts(EPOCH + 0.3)
    assert starts == []
    _, starts = timeline.starts(EPOCH + 1.1)
    assert starts[0].at == EPOCH + 6


@given(st.lists(st.floats(0.01, 40), min_size=1, max_size=20))
def test_however_often_it_looks_each_job_comes_once_and_in_order(steps: list[float]) -> None:
    timeline, now, seen = Timeline.begin(PLAN.schedule, EPOCH, NOTICE), EPOCH, list[Start]()
    for step in steps:
        now += step
        timeline, starts = timeline.starts(now)
        seen += starts
    whole = Timeline.begin(PLAN.schedule, EPOCH, NOTICE).horizon.starts(EPOCH, now + NOTICE)
    assert seen == whole


def test_what_should_have_started_while_the_process_slept_is_not_listed_one_by_one() -> None:
    timeline, _ = Timeline.begin(PLAN.schedule, EPOCH, NOTICE).starts(EPOCH)
    _, starts = timeline.starts(EPOCH + 86_400)
    assert len(starts) < 20


def test_an_on_demand_test_starts_on_a_whole_second_after_the_notice_and_is_listed() -> None:
    timeline, _ = Timeline.begin(PLAN.schedule, EPOCH, NOTICE).starts(EPOCH + 12.4)
    answer = timeline.admit(request(3), EPOCH + 12.4)
    assert not isinstance(answer, Refused)
    timeline, start = answer
    assert start.at == int(start.at) >= EPOCH + 12.4 + NOTICE
    listed = [found for second in range(60) for found in _step(timeline, EPOCH + 12.4, second)]
    assert start in listed


def _step(timeline: Timeline, now: float, second: int) -> list[Start]:
    return [
        start for start in timeline.horizon.starts(now + second, now + second + 1) if start.task == "extra"
    ]


def test_one_that_fits_nowhere_is_refused() -> None:
    timeline = Timeline.begin(PLAN.schedule, EPOCH, NOTICE)
    assert isinstance(timeline.admit(request(29), EPOCH), Refused)


@pytest.mark.parametrize(
    ("at", "loads", "quiet", "running", "resume", "reason"),
    [
        (10.0, None, (), (), 0.0, None),
        (0.5, None, (), (), 0.0, LeftOut.LATE),
        (10.0, "al2s", ("al2s",), (), 0.0, LeftOut.QUIET),
        (10.0, "internet", ("al2s",), (), 0.0, None),
        (10.0, None, ("al2s",), (), 0.0, None),
        (10.0, None, (), ("t",), 0.0, LeftOut.STILL_RUNNING),
        (10.0, None, (), (), 10.5, LeftOut.BACKING_OFF),
        (11.0, None, (), (), 10.5, None),
    ],
)
def test_why_a_job_is_left_out(
    at: float,
    loads: str | None,
    quiet: tuple[str, ...],
    running: tuple[str, ...],
    resume: float,
    reason: LeftOut | None,
) -> None:
    standings = {"t": Standing(2, resume)}
    found = left_out(Start("t", 0, at), 0.0, loads=loads, quiet=quiet, running=running, standings=standings)
    assert found is reason


def test_the_first_failure_costs_nothing_and_later_ones_double_up_to_a_limit() -> None:
    standing, pauses = Standing(), list[float]()
    for _ in range(9):
        standing = standing.after_failure(0.0, 20.0)
        pauses.append(standing.resume)
    assert pauses == [0, 20, 40, 80, 160, 320, LONGEST_BACKOFF, LONGEST_BACKOFF, LONGEST_BACKOFF]
    assert Standing().after_failure(0.0, 3600.0).after_failure(0.0, 3600.0).resume == 3600.0
    assert standing.after_success() == Standing()
