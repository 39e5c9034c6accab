from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.flow import FlowState
from adon.broker.queueing.together import Job, after_next, better_apart, finishes, rates
from adon.config.queueing import QueuePolicy
from tests.broker.stage import Stage, configuration, know, ready

IN_TURN = QueuePolicy.model_validate({"together": "in_turn", "overtaken_for": "10 min"})
ONE: dict[str, Any] = {"qspec": {"throughput": {"min": "1 Mbps"}}}
JOBS = st.lists(
    st.tuples(st.floats(1, 1e3), st.integers(1, 16), st.just(math.inf) | st.floats(1, 200)), max_size=6
)


def jobs(found: list[tuple[float, int, float]]) -> list[Job]:
    return [Job(number, *each) for number, each in enumerate(found)]


def test_equal_parts_per_stream_and_nobody_above_its_ceiling() -> None:
    assert rates(60.0, jobs([(1, 1, math.inf), (1, 2, math.inf)])) == {0: 20.0, 1: 40.0}
    assert rates(60.0, jobs([(1, 1, 5.0), (1, 1, math.inf)])) == {0: 5.0, 1: 55.0}
    assert rates(60.0, jobs([(1, 1, 5.0), (1, 1, 6.0)])) == {0: 5.0, 1: 6.0}


@settings(max_examples=80)
@given(JOBS, st.floats(1, 1e3))
def test_max_min_by_definition(found: list[tuple[float, int, float]], capacity: float) -> None:
    """Nothing is given twice; who has less per stream than another is at its ceiling."""
    those = jobs(found)
    shares = rates(capacity, those)
    assert math.fsum(shares.values()) <= capacity * (1 + 1e-9)
    for one in those:
        assert shares[one.number] <= one.ceiling * (1 + 1e-9)
        for other in those:
            less = shares[one.number] / one.streams < shares[other.number] / other.streams * (1 - 1e-9)
            assert not less or shares[one.number] >= one.ceiling * (1 - 1e-9)


@settings(max_examples=80)
@given(JOBS, st.floats(1, 1e3))
def test_all_that_is_moved_is_moved_in_the_time(
    found: list[tuple[float, int, float]], capacity: float
) -> None:
    those = jobs(found)
    ends = finishes(capacity, those)
    assert set(ends) == {job.number for job in those}
    if those:
        assert max(ends.values()) >= math.fsum(job.bits for job in those) / capacity * (1 - 1e-6)


def test_two_on_one_path() -> None:
    """Of a and b bits with equal shares the shorter is done at 2a/R, the longer at (a + b)/R."""
    assert finishes(10.0, jobs([(100, 1, math.inf), (300, 1, math.inf)])) == {0: 20.0, 1: 40.0}
    running, newcomer = jobs([(100, 1, math.inf)]), Job(9, 300, 1)
    assert after_next(10.0, running, newcomer) == {0: 10.0, 9: 40.0}
    assert better_apart(10.0, running, newcomer) == 5.0


@pytest.mark.parametrize(
    ("left", "size", "ceiling", "apart"),
    [
        (100.0, 300.0, math.inf, True),
        (199.0, 100.0, math.inf, False),  # a mean of 1.99 % is not enough of a gain: 2·99.5/298 ...
        (150.0, 100.0, math.inf, True),
        (300.0, 100.0, math.inf, False),  # the running one would hold it up for too long
        (100.0, 300.0, 5.0, False),  # two of them use the path better than one
        (100.0, 0.001, math.inf, False),
    ],
)
def test_apart_only_where_the_mean_gains(left: float, size: float, ceiling: float, apart: bool) -> None:
    assert (better_apart(10.0, [Job(1, left, 1, ceiling)], Job(2, size, 1, ceiling)) > 0) == apart


@settings(max_examples=80)
@given(JOBS, st.floats(1, 1e3), st.floats(1, 1e3))
def test_nobody_waits_for_nothing(
    found: list[tuple[float, int, float]], bits: float, capacity: float
) -> None:
    """Where waiting is advised the mean of the finishing times is better by it, by definition."""
    running, newcomer = jobs(found), Job(99, bits, 1)
    gain = better_apart(capacity, running, newcomer)
    if gain > 0:
        now, then = finishes(capacity, [*running, newcomer]), after_next(capacity, running, newcomer)
        sooner = math.fsum(now.values()) - math.fsum(then.values())
        assert sooner / len(now) == pytest.approx(gain)
        assert all(then[job.number] <= now[job.number] * (1 + 1e-9) for job in running)


# -- transcripts ----------------------------------------------------------------------------------------


def two(**policy: Any) -> tuple[Stage, Any, Any]:
    """One flow runs, another of the same size comes."""
    stage = ready(configuration(**policy), internet=0.5)
    first = stage.submit(size="1 GB", **ONE)
    stage.pass_time(5)
    know(stage, al2s=29.0, internet=0.5)
    return stage, first, stage.submit(size="1 GB", **ONE)


def test_by_default_both_run_at_once() -> None:
    _, first, second = two()
    assert first.path == second.path == "al2s"


def test_in_turn_the_second_waits_for_the_first_and_then_goes() -> None:
    stage, first, second = two(queue=IN_TURN)
    assert second.state is FlowState.QUEUED
    assert f"al2s: it waits for {first.id} to finish: one after the other is" in second.reason
    stage.report(first)
    assert (stage.flow(second).state, stage.flow(second).path) == (FlowState.ACTIVE, "al2s")


def test_a_deadline_is_not_missed_for_it() -> None:
    stage = ready(configuration(queue=IN_TURN), internet=0.5)
    stage.submit(size="1 GB", **ONE)
    stage.pass_time(5)
    know(stage, al2s=29.0, internet=0.5)
    assert stage.submit(size="1 GB", deadline="20 s", **ONE).path == "al2s"


def test_nobody_is_held_back_for_ever() -> None:
    stage, first, second = two(queue=IN_TURN)
    for _ in range(6):
        stage.carry(first, 1000)
        stage.pass_time(50)
        stage.carry(first, 1000)
        stage.pass_time(51)
        know(stage, al2s=29.0, internet=0.5)
    assert stage.flow(first).state is FlowState.ACTIVE
    assert stage.flow(second).path == "al2s"
