"""Placement beside running applications, and when a running one migrates."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.placement.baselines import place_randomly
from adon.placement.exact_search import place_exactly
from adon.placement.migration import RunningApplication, find_migration, problem_beside
from adon.placement.model import NoPlacement, PlacementProblem
from measurement.health.model import Pair
from tests.placement.problems import application, machines, network, problems
from tests.support.refusals import refused

RATES = {f"{one}>{other}": 8e6 for one in "abcd" for other in "abcd" if one != other}
"""One megabyte per second between any two."""
NET = network(RATES)
FOUR = machines("abcd", 2.0)
APART = application({"i>j": 4_000_000}, apart=(frozenset("ij"),))
SENDING = {("i", "j"): 3_000_000.0}


def test_running_application_occupies_cores_and_sends_first() -> None:
    running = RunningApplication(APART, {"i": "a", "j": "b"}, SENDING)
    problem = problem_beside(APART, FOUR, NET, [running, running])
    assert {one.name: one.cores for one in problem.machines} == {"a": 0.0, "b": 0.0, "c": 2.0, "d": 2.0}
    assert problem.load == {Pair("a", "b"): 6_000_000.0}
    with refused(NoPlacement, "machines"):
        problem_beside(APART, FOUR, NET, [running] * 3)


class TestMigration:
    """4 MB over a path of 0.5 MB/s; c > d is 16 times as fast."""

    RUNS = RunningApplication(APART, {"i": "a", "j": "b"}, {("i", "j"): 4_000_000.0})
    NOW = network({**RATES, "a>b": 4e6, "c>d": 64e6})

    @pytest.mark.parametrize(("pause", "migrates"), [(0.0, True), (7.4, True), (7.5, False), (60.0, False)])
    def test_application_migrates_only_if_the_gain_exceeds_the_cost(
        self, pause: float, migrates: bool
    ) -> None:
        found = find_migration(self.RUNS, [], FOUR, self.NOW, place_exactly, pause)
        assert (found is not None) == migrates
        if found is not None:
            assert found.placement.machines == {"i": "c", "j": "d"}
            assert (found.gain, found.cost) == (pytest.approx(7.5), pytest.approx(pause))

    def test_memory_of_moved_tasks_takes_time_on_the_network(self) -> None:
        tasks = tuple(
            replace(task, memory=size) for task, size in zip(APART.tasks, (2_000_000, 0), strict=True)
        )
        large = RunningApplication(replace(APART, tasks=tasks), self.RUNS.machines, self.RUNS.left)
        room = tuple(replace(machine, memory=4_000_000) for machine in FOUR)
        found = find_migration(large, [], room, self.NOW, place_exactly, 1.0)
        assert found is not None
        assert found.cost == pytest.approx(3.0)

    def test_application_leaves_a_machine_that_is_gone_at_any_cost(self) -> None:
        left = [machine for machine in FOUR if machine.name != "b"]
        found = find_migration(self.RUNS, [], left, NET, place_exactly, 1e6)
        assert found is not None
        assert found.gain == math.inf

    @given(problems(tasks=4, count=3, plain=True), st.floats(0, 100))
    def test_migration_is_never_a_loss(self, problem: PlacementProblem, pause: float) -> None:
        try:
            now = place_randomly(problem, 1)
        except NoPlacement:
            return
        left = {pair: float(count) for pair, count in problem.application.sent.items()}
        runs = RunningApplication(problem.application, now.machines, left)
        found = find_migration(runs, [], problem.machines, problem.snapshot, place_exactly, pause)
        if found is not None:
            assert found.placement.completion_time_s + found.cost < now.completion_time_s
            assert found.cost >= pause
