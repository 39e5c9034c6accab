"""The exact search and the linear program, compared with all placements of small problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings

from adon.placement.completion import place_at
from adon.placement.constraints import find_violations
from adon.placement.exact_search import place_exactly
from adon.placement.greedy import place_greedily
from adon.placement.linear_program import place_by_linear_program
from adon.placement.model import Application, NoPlacement, Placement, PlacementProblem, Task
from tests.placement.problems import application, list_placements, machines, network, problems
from tests.support.refusals import refused

solve_program = partial(place_by_linear_program, time_limit_s=600.0)


class Stop:
    """Says stop when it is asked once more than ``count`` times."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def check_fastest(problem: PlacementProblem, place: Callable[[PlacementProblem], Placement]) -> None:
    """Check that a method finds the fastest of all placements, or refuses a problem without one."""
    every = list_placements(problem)
    if not every:
        with pytest.raises(NoPlacement):
            place(problem)
        return
    found = place(problem)
    assert found.proven
    assert not list(find_violations(problem, found.machines))
    assert found.completion_time_s == pytest.approx(min(seconds for seconds, _ in every))
    assert found.lower_bound_s == pytest.approx(found.completion_time_s)
    assert place_at(problem, found.machines, found.method).limit == found.limit
    assert place(problem) == found


@given(problems())
def test_search_equals_the_best_of_all_placements(problem: PlacementProblem) -> None:
    check_fastest(problem, place_exactly)


@settings(max_examples=25)
@given(problems(tasks=4, count=3))
def test_linear_program_equals_the_best_of_all_placements(problem: PlacementProblem) -> None:
    check_fastest(problem, solve_program)


@given(problems(tasks=6, plain=True))
def test_stopped_search_has_a_bound_and_is_never_slower_than_greedy(problem: PlacementProblem) -> None:
    try:
        greedy = place_greedily(problem)
    except NoPlacement:
        return
    best = place_exactly(problem).completion_time_s
    for steps in (0, 1, 3):
        found = place_exactly(problem, Stop(steps))
        assert found.lower_bound_s <= best * (1 + 1e-9)
        assert best <= found.completion_time_s * (1 + 1e-9)
        assert found.completion_time_s <= greedy.completion_time_s * (1 + 1e-9)
        assert not found.proven or found.completion_time_s == pytest.approx(best)


FIGURE_9 = {
    **{f"{one}>{other}": 1.0 for one in "abcd" for other in "abcd" if one != other},
    "a>b": 10.0,
    "c>d": 9.0,
    "c>b": 8.0,
}


@pytest.mark.parametrize("place", [place_exactly, solve_program])
def test_figure_9_where_greedy_is_not_the_best(place: Callable[[PlacementProblem], Placement]) -> None:
    """J1 and J2 on the path with rate 10 leave the one with rate 1 for J1 and J3; 9 leaves 8."""
    problem = PlacementProblem(application({"J1>J2": 100, "J1>J3": 50}), machines("abcd"), network(FIGURE_9))
    assert place_greedily(problem).completion_time_s == pytest.approx(50 * 8 / 1)
    assert place(problem).completion_time_s == pytest.approx(100 * 8 / 9)


def test_search_finds_a_placement_where_greedy_finds_none() -> None:
    rates = {"a>b": 10.0, "c>a": 5.0, "b>c": 0.0}
    problem = PlacementProblem(application({"i>j": 100, "j>k": 10}), machines("abc"), network(rates))
    with refused(NoPlacement, "tasks.k"):
        place_greedily(problem)
    with refused("no-placement"):
        place_exactly(problem, Stop(0))
    assert place_exactly(problem).machines == {"i": "c", "j": "a", "k": "b"}


def test_bound_without_a_search_is_what_pairs_rule_out() -> None:
    """Both tasks are pinned: the path takes 80 s, and ten halvings come close to it."""
    tasks = (Task("i", 1.0, 0, "a"), Task("j", 1.0, 0, "b"))
    app = Application("app", tasks, {("i", "j"): 10})
    found = place_exactly(PlacementProblem(app, machines("ab"), network({"a>b": 1.0, "b>a": 9.0})), Stop(0))
    assert not found.proven
    assert 0.99 * 80 < found.lower_bound_s <= found.completion_time_s == 80.0


def test_tasks_that_must_share_a_machine_are_counted_together() -> None:
    """Two heavy transfers connect three tasks, and a machine has cores for two: one batch proves it."""
    rates = {f"{one}>{other}": 8.0 for one in "abcde" for other in "abcde" if one != other}
    app = application({"i>j": 900, "j>k": 1000, "x>y": 3, "y>z": 2, "z>x": 1})
    found = place_exactly(PlacementProblem(app, machines("abcde", 2.0), network(rates)), Stop(1))
    assert (found.proven, found.completion_time_s) == (True, 900.0)


@pytest.mark.parametrize("place", [place_exactly, solve_program])
def test_problem_without_placement_is_refused(place: Callable[[PlacementProblem], Placement]) -> None:
    rates = network({"a>b": 1.0, "b>a": 0.0})
    with refused("no-placement"):
        place(PlacementProblem(application({"i>j": 1, "j>i": 1}), machines("ab"), rates))


def test_equally_fast_placements_keep_the_first() -> None:
    """Any two machines do; both methods of placement take the first ones, each time."""
    rates = {f"{one}>{other}": 8.0 for one in "abcd" for other in "abcd" if one != other}
    problem = PlacementProblem(application({"i>j": 5}), machines("abcd"), network(rates))
    assert place_greedily(problem).machines == place_exactly(problem).machines == {"i": "a", "j": "b"}
