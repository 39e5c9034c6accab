from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.scheduling import ConflictGraph, Request, Task, conflicts
from measurement.scheduling.ticks import at_least, at_most, exactly
from tests.measurement.scheduling.sets import task, tasks
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (task("x", points="ab"), task("y", points="bc"), True),  # two loads meet at b
        (task("x", points="ab"), task("y", points="cd"), False),
        (task("x", points="ab", links="p"), task("y", points="cd", links="pq"), True),  # on a link only
        (task("x", points="ab"), task("y", points="bc", loads=False), True),  # a load disturbs a ping
        (task("x", points="ab", loads=False), task("y", points="ab", loads=False), False),
        (task("x", points="ab", loads=False, exclusive=True), task("y", points="b", loads=False), True),
        (task("x", points="p"), task("y", points="c", links="p"), False),  # a link named as a point is
    ],
)
def test_who_conflicts_with_whom(a: Task, b: Task, expected: bool) -> None:
    assert conflicts(a, b) is expected
    assert conflicts(b, a) is expected


@given(tasks())
def test_the_graph_has_an_edge_for_each_conflict_and_no_other(known: list[Task]) -> None:
    graph = ConflictGraph.of(known)
    expected = [
        (a.id, b.id) for a, b in combinations(sorted(known, key=lambda t: t.id), 2) if conflicts(a, b)
    ]
    assert list(graph.edges()) == expected


def test_the_graph_does_not_take_a_link_for_a_point_of_its_name() -> None:
    graph = ConflictGraph.of([task("x", points="p"), task("y", points="c", links="p")])
    assert list(graph.edges()) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"duration": 0.0}, "duration"),
        ({"duration": math.nan}, "duration"),
        ({"duration": 61.0}, "duration"),
        ({"duration": 9.0, "deadline": 8.0}, "duration"),
        ({"deadline": 61.0}, "deadline"),
        ({"deadline": math.nan}, "deadline"),
        ({"period": 10.0005}, "period"),
        ({"period": math.inf}, "period"),
        ({"period": 0.0}, "duration"),
        ({"load": {"p": -1.0}}, "load.p"),
    ],
)
def test_what_is_no_task_is_refused_by_name_and_field(changes: dict[str, float], field: str) -> None:
    with refused(ValueError, field):
        task("x", **changes)  # type: ignore[arg-type]


def test_a_request_is_held_to_the_same_rules() -> None:
    with refused(ValueError, "deadline"):
        Request("r", "a", "b", "ping", 1.0, math.inf, frozenset("a"), frozenset(), False)


@given(st.floats(0, 1e6))
def test_the_grid_never_makes_a_duration_shorter_or_a_deadline_later(value: float) -> None:
    assert at_least(value) >= value * 1000 - 0.01
    assert at_most(value) <= value * 1000 + 0.01
    assert 0 <= at_least(value) - at_most(value) <= 1


@given(st.integers(0, 10**9))
def test_whole_milliseconds_are_exact_however_they_are_written(ticks: int) -> None:
    assert exactly(ticks / 1000) == at_least(ticks / 1000) == at_most(ticks / 1000) == ticks
    assert exactly(ticks * 0.001) == ticks
