"""The fastest placement, beside all there are; and what is told when there was no time."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.placement import workloads
from adon.placement.completion import timed
from adon.placement.constraints import broken
from adon.placement.exact import Effort, exact
from adon.placement.greedy import greedy
from adon.placement.methods import Method
from adon.placement.model import Application, Impossible, Problem, Task
from tests.placement.problems import application, every, machines, network, problems
from tests.support.refusals import refused


class Told:
    """Says stop at its n-th question."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def greedy_seconds(problem: Problem) -> float | None:
    try:
        return greedy(problem).seconds
    except Impossible:
        return None


@given(problems())
def test_equals_the_best_of_all_there_are(problem: Problem) -> None:
    all_ = every(problem)
    if not all_:
        with pytest.raises(Impossible):
            exact(problem)
        return
    found = exact(problem)
    assert found.proven
    assert not list(broken(problem, found.machines))
    assert found.seconds == pytest.approx(min(seconds for seconds, _ in all_))
    assert found.bound == pytest.approx(found.seconds)
    assert timed(problem, found.machines, Method.EXACT).limit == found.limit


@given(problems(plain=True), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_turns_between_tree_and_neighbourhoods_lose_nothing(
    problem: Problem, first: int, around: int, patience: int
) -> None:
    all_ = every(problem)
    if all_:
        found = exact(problem, effort=Effort(first, around, patience, 3))
        assert found.proven
        assert found.seconds == pytest.approx(min(seconds for seconds, _ in all_))


@given(problems(tasks=6, plain=True))
def test_stopped_early_it_bounds_and_is_never_slower_than_greedy(problem: Problem) -> None:
    fast = greedy_seconds(problem)
    if fast is None:
        return
    best = exact(problem).seconds
    for steps in (0, 1, 3):
        found = exact(problem, Told(steps))
        assert found.bound <= best * (1 + 1e-9)
        assert best <= found.seconds * (1 + 1e-9)
        assert found.seconds <= fast * (1 + 1e-9)
        assert not found.proven or found.seconds == pytest.approx(best)


class TestByHand:
    def test_figure_9_where_greedy_is_not_the_best(self) -> None:
        """J1 and J2 on the path with rate 10 leave the one with rate 1 for J1 and J3; 9 leaves 8."""
        problem = Problem(application({"J1>J2": 100, "J1>J3": 50}), machines("abcd"), network(FIGURE_9))
        assert greedy(problem).seconds == pytest.approx(50 * 8 / 1)
        assert exact(problem).seconds == pytest.approx(100 * 8 / 9)

    def test_no_time_at_all_where_greedy_is_at_a_loss(self) -> None:
        """Nothing was found, and nobody says that there is nothing."""
        rates = {"a>b": 10.0, "c>a": 5.0, "b>c": 0.0}
        problem = Problem(application({"i>j": 100, "j>k": 10}), machines("abc"), network(rates))
        with refused(Impossible, "tasks.k"):
            greedy(problem)
        with refused(Impossible, "tasks"):
            exact(problem, Told(0))
        assert exact(problem).machines == {"i": "c", "j": "a", "k": "b"}

    def test_a_bound_without_any_search_is_what_pairs_rule_out(self) -> None:
        """Both are pinned: less than that path's 80 s cannot be, and ten halvings come close to it."""
        tasks = (Task("i", 1.0, 0, "a"), Task("j", 1.0, 0, "b"))
        problem = Problem(
            Application("app", tasks, {("i", "j"): 10}), machines("ab"), network({"a>b": 1.0, "b>a": 9.0})
        )
        found = exact(problem, Told(0))
        assert not found.proven
        assert 0.99 * 80 < found.bound <= found.seconds == 80.0

    def test_just_before_the_end_the_bound_is_what_the_tree_has_left(self) -> None:
        chance = random.Random(0)
        app = workloads.fitting(
            lambda: [workloads.application("app", 7, workloads.Transfers.UNIFORM, chance)], 20.0, 5
        )[0]
        names = [machine.name for machine in workloads.machines(5)]
        snapshot = workloads.snapshot(workloads.Cloud.VARIED, names, chance)
        problem = Problem(app, workloads.machines(5), snapshot)
        asked = Told(10**9)
        assert exact(problem, asked).proven
        found = exact(problem, Told(10**9 - asked.left - 1))
        assert not found.proven
        assert found.bound > 0.9 * found.seconds

    def test_none_at_all(self) -> None:
        problem = Problem(
            application({"i>j": 1, "j>i": 1}), machines("ab"), network({"a>b": 1.0, "b>a": 0.0})
        )
        with refused(Impossible, "tasks"):
            exact(problem)


FIGURE_9 = {
    **{f"{one}>{other}": 1.0 for one in "abcd" for other in "abcd" if one != other},
    "a>b": 10.0,
    "c>d": 9.0,
    "c>b": 8.0,
}


def test_tree_and_neighbourhoods_in_turns_agree_with_the_tree_alone() -> None:
    """Large enough that each of the two finds something better than the other has, several times."""
    chance = random.Random(2)
    names = [machine.name for machine in workloads.machines(6)]
    for _ in range(3):
        app = workloads.fitting(
            lambda: [workloads.application("app", 9, workloads.Transfers.UNIFORM, chance)], 24.0, 6
        )[0]
        network_ = workloads.snapshot(workloads.Cloud.VARIED, names, chance)
        problem = Problem(app, workloads.machines(6), network_)
        alone = exact(problem, effort=Effort(first=10**9))
        turns = exact(problem, effort=Effort(first=1, around=2, patience=3, taken_off=5))
        assert alone.proven
        assert turns.proven
        assert turns.seconds == pytest.approx(alone.seconds)
