from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.queueing.starts import Lane, Runner, Wisher, starts
from adon.broker.queueing.together import Job, finishes

RUNNERS = st.lists(st.builds(Runner, st.floats(1, 1e3), st.integers(1, 16)), max_size=6)

Lanes = dict[str, tuple[float, list[Runner]]]


def wisher(number: int, bound: float, bits: float = 100.0, *lanes: str) -> Wisher:
    return Wisher(number, bits, 1, 1, bound, lanes if lanes else ("a",))


def ends(capacity: float, runners: list[Runner]) -> list[float]:
    """By the other model of the same."""
    jobs = [Job(number, one.bits, one.streams) for number, one in enumerate(runners)]
    return sorted(finishes(capacity, jobs).values())


@settings(max_examples=100)
@given(RUNNERS, st.floats(1, 1e3))
def test_who_needs_all_of_a_path_starts_when_the_last_there_is_done(
    runners: list[Runner], capacity: float
) -> None:
    found = starts({"a": Lane(capacity, tuple(runners))}, [wisher(1, capacity)], 1)
    assert found == {1: pytest.approx(max(ends(capacity, runners), default=0.0))}


@settings(max_examples=100)
@given(RUNNERS, st.floats(1, 1e3), st.integers(0, 40))
def test_it_starts_at_the_first_finish_after_which_its_share_is_enough(
    runners: list[Runner], capacity: float, beside: int
) -> None:
    """A bound that is kept beside so many streams."""
    found = starts({"a": Lane(capacity, tuple(runners))}, [wisher(1, capacity / (1 + beside + 0.5))], 1)
    jobs = dict(enumerate(runners))
    times = finishes(capacity, [Job(number, one.bits, one.streams) for number, one in jobs.items()])
    moments = [0.0, *sorted(times.values())]

    def streams(at: float) -> int:
        return sum(jobs[n].streams for n, end in times.items() if end > at * (1 + 1e-9))

    expected = next(at for at in moments if streams(at) <= beside + 0.5)
    assert found[1] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_who_is_before_in_line_goes_first_and_takes_the_room() -> None:
    lanes = {"a": Lane(10.0, (Runner(100.0, 1),))}
    found = starts(lanes, [wisher(1, 10.0), wisher(2, 10.0)], 2)
    assert found == {1: 10.0, 2: 20.0}


def test_who_needs_less_than_those_before_it_goes_at_once() -> None:
    found = starts({"a": Lane(10.0, (Runner(100.0, 1),))}, [wisher(1, 10.0), wisher(2, 5.0)], 2)
    assert found == {2: 0.0}


def test_of_two_paths_the_one_with_more_room_is_taken() -> None:
    lanes = {"a": Lane(10.0, (Runner(100.0, 1),)), "b": Lane(8.0, (Runner(40.0, 1),))}
    found = starts(lanes, [wisher(1, 8.0, 100.0, "a", "b"), wisher(2, 6.0, 100.0, "a", "b")], 2)
    assert found == {1: 5.0, 2: 10.0}


@pytest.mark.parametrize(
    ("lanes", "bound"),
    [
        ({"a": Lane(10.0, (Runner(100.0, 1),))}, 10.1),  # more than there is
        ({"a": Lane(0.0, (Runner(100.0, 1),))}, 1.0),
        ({"a": Lane(10.0, (Runner(math.inf, 1),))}, 10.0),
        ({}, 1.0),
    ],
)
def test_who_never_starts_is_not_in_the_answer(lanes: dict[str, Lane], bound: float) -> None:
    assert starts(lanes, [wisher(1, bound)], 1) == {}


def test_so_many_finishes_are_looked_at_and_no_more() -> None:
    lanes = {"a": Lane(10.0, tuple(Runner(float(n), 1) for n in range(1, 11)))}
    assert starts(lanes, [wisher(1, 10.0)], 1, events=5) == {}
    assert 1 in starts(lanes, [wisher(1, 10.0)], 1, events=12)


def test_other_people_take_their_part_and_do_not_leave() -> None:
    lanes = {"a": Lane(10.0, (Runner(100.0, 1),), others=1.0)}
    assert starts(lanes, [wisher(1, 5.0)], 1) == {1: 20.0}
    assert starts(lanes, [wisher(1, 5.1)], 1) == {}
