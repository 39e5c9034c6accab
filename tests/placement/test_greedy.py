"""Algorithm 1 in the cases that the paper leaves open, and what it has in common with the baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from adon.placement.baselines import place_on_minimum_machines, place_randomly, place_round_robin
from adon.placement.constraints import find_violations
from adon.placement.greedy import place_greedily
from adon.placement.model import Application, Machine, NoPlacement, Placement, PlacementProblem, Task
from measurement.health.model import Pair
from tests.placement.problems import application, list_placements, machines, network, problems
from tests.support.refusals import refused

WAYS: dict[str, Callable[[PlacementProblem], Placement]] = {
    "greedy": place_greedily,
    "random": lambda problem: place_randomly(problem, 3),
    "round-robin": place_round_robin,
    "minimum machines": place_on_minimum_machines,
}
LINE = {"a>b": 10.0, "b>a": 10.0, "b>c": 5.0, "c>b": 5.0, "a>c": 1.0, "c>a": 1.0}


@pytest.mark.parametrize("way", WAYS)
@given(problem=problems(tasks=4, count=3))
def test_keeps_what_must_be_kept_and_is_not_faster_than_the_best(way: str, problem: PlacementProblem) -> None:
    try:
        found = WAYS[way](problem)
    except NoPlacement:
        assert way == "greedy" or not list_placements(problem)
        return
    assert not list(find_violations(problem, found.machines))
    assert found.completion_time_s >= min(seconds for seconds, _ in list_placements(problem)) * (1 - 1e-12)
    assert WAYS[way](problem) == found


@pytest.mark.parametrize("way", WAYS)
def test_nobody_sends_over_a_path_that_nobody_knows(way: str) -> None:
    """From b nothing gets through to a, though both have room, and b comes first."""
    net = network({"a>b": 1.0, "b>a": 0.0})
    found = WAYS[way](PlacementProblem(application({"i>j": 10}), machines("ba"), net))
    assert found.machines == {"i": "a", "j": "b"}


class TestHoles:
    def test_both_placed_already_keeps_them_and_takes_a_share(self) -> None:
        """i-j and j-k first; i-k then goes where they are, and its path is not fresh for l."""
        app = application({"i>j": 30, "j>k": 20, "i>k": 10})
        found = place_greedily(PlacementProblem(app, machines("abc"), network(LINE)))
        assert found.machines == {"i": "a", "j": "b", "k": "c"}
        assert found.completion_time_s == pytest.approx(80.0)

    @pytest.mark.parametrize(("second", "where"), [(4.0, "b"), (6.0, "c")])
    def test_a_path_that_is_taken_has_half(self, second: float, where: str) -> None:
        """a > b has 10, of which the second transfer would have 5."""
        app = application({"i>j": 30, "k>l": 20}, apart=(frozenset("ij"), frozenset("kl")))
        net = network({**dict.fromkeys(("b>a", "b>c", "c>a", "c>b"), 1.0), "a>b": 10.0, "a>c": second})
        found = place_greedily(PlacementProblem(app, machines("abc", 2.0), net))
        assert found.machines == {"i": "a", "j": "b", "k": "a", "l": where}

    def test_what_others_still_send_takes_a_share(self) -> None:
        net = network({"a>b": 10.0, "b>a": 6.0})
        app = application({"i>j": 30})
        assert place_greedily(PlacementProblem(app, machines("ab"), net)).machines == {"i": "a", "j": "b"}
        busy = PlacementProblem(app, machines("ab"), net, {Pair("a", "b"): 1.0, Pair("b", "a"): 0.0})
        assert place_greedily(busy).machines == {"i": "b", "j": "a"}

    def test_both_on_one_machine_charges_both(self) -> None:
        app = application({"i>j": 30, "j>k": 20})
        found = place_greedily(PlacementProblem(app, machines("abc", 2.0), network(LINE)))
        assert found.machines == {"i": "a", "j": "a", "k": "b"}

    def test_a_task_without_transfers_goes_where_most_is_free(self) -> None:
        app = Application("app", (Task("i", 1.0), Task("j", 2.0), Task("k", 3.0)), {("i", "j"): 10})
        found = place_greedily(PlacementProblem(app, machines("ab", 4.0), network({"a>b": 1.0, "b>a": 1.0})))
        assert found.machines == {"i": "a", "j": "a", "k": "b"}

    def test_looks_ahead_for_room(self) -> None:
        """Both small tasks together would leave no machine for the large ones."""
        tasks = (Task("s1", 1.0), Task("s2", 1.0), Task("l1", 3.0), Task("l2", 3.0))
        app = Application("app", tasks, {("s1", "s2"): 10})
        found = place_greedily(PlacementProblem(app, machines("ab", 4.0), network({"a>b": 1.0, "b>a": 1.0})))
        assert found.machines["s1"] != found.machines["s2"]

    def test_looks_ahead_for_memory(self) -> None:
        tasks = (Task("s1", 1.0, 1), Task("s2", 1.0, 1), Task("l1", 1.0, 3), Task("l2", 1.0, 3))
        app = Application("app", tasks, {("s1", "s2"): 10})
        room = (Machine("a", 9.0, 4), Machine("b", 9.0, 4))
        found = place_greedily(PlacementProblem(app, room, network({"a>b": 1.0, "b>a": 1.0})))
        assert found.machines["s1"] != found.machines["s2"]

    def test_tells_that_it_is_memory_that_is_left_nowhere(self) -> None:
        tasks = tuple(Task(name, 1.0, 3) for name in "ijk")
        room = (Machine("a", 9.0, 5), Machine("b", 9.0, 5))
        with refused(NoPlacement, "tasks.k"):
            place_greedily(
                PlacementProblem(Application("app", tasks), room, network({"a>b": 1.0, "b>a": 1.0}))
            )

    def test_hose_shares_among_all_that_leaves(self) -> None:
        """j takes a>b; under a's hose k had better stay away from a>c as well: c>b is free."""
        rates = {"a>b": 10.0, "a>c": 9.0, "c>b": 6.0, "b>a": 1.0, "b>c": 1.0, "c>a": 1.0}
        app = application({"i>j": 30, "k>l": 20}, cores=1.0)
        pipe = PlacementProblem(
            app, (Machine("a", 2.0), Machine("b", 2.0), Machine("c", 1.0)), network(rates)
        )
        apart = replace(app, apart=(frozenset("ij"), frozenset("kl")))
        pipe = replace(pipe, application=apart)
        hose = replace(pipe, snapshot=network(rates, hoses={"a": 10.0}))
        assert place_greedily(pipe).machines == {"i": "a", "j": "b", "k": "a", "l": "c"}
        assert place_greedily(hose).machines == {"i": "a", "j": "b", "k": "c", "l": "b"}


class TestCannotBe:
    TWO = network({"m1>m2": 1.0, "m2>m1": 1.0})
    ROOM = (Machine("m1", 4.0, 8), Machine("m2", 2.0, 16))

    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize(
        ("tasks", "field"),
        [
            ((Task("big", 8.0),), "tasks.big"),
            ((Task("fat", 1.0, 99),), "tasks.fat"),
            ((Task("odd", 4.0, 12),), "tasks.odd"),
            ((Task("pin", 3.0, 0, "m2"),), "tasks.pin"),
            ((Task("x", 4.0), Task("y", 4.0)), "tasks"),
            ((Task("x", 1, 0, "m2"), Task("y", 2, 0, "m2")), "tasks"),
        ],
    )
    def test_is_told_with_the_task(self, way: str, tasks: tuple[Task, ...], field: str) -> None:
        with refused(NoPlacement, field):
            WAYS[way](PlacementProblem(Application("app", tasks), self.ROOM, self.TWO))
