"""The placements that know nothing of the network."""

from __future__ import annotations

from adon.placement.baselines import place_on_minimum_machines, place_randomly, place_round_robin
from adon.placement.model import PlacementProblem
from tests.placement.problems import application, machines, network

LINE = network({"a>b": 10.0, "b>a": 10.0, "b>c": 5.0, "c>b": 5.0, "a>c": 1.0, "c>a": 1.0})


def test_round_robin_takes_the_next_machine() -> None:
    app = application({"i>j": 1, "j>k": 1, "k>l": 1})
    found = place_round_robin(PlacementProblem(app, machines("abc", 2.0), LINE))
    assert list(found.machines.values()) == ["a", "b", "c", "a"]


def test_minimum_machines_fills_a_machine_before_the_next() -> None:
    app = application({"i>j": 1, "j>k": 1, "k>l": 1})
    found = place_on_minimum_machines(PlacementProblem(app, machines("abc", 3.0), LINE))
    assert list(found.machines.values()) == ["a", "a", "a", "b"]


def test_random_placement_depends_on_the_seed() -> None:
    problem = PlacementProblem(application({"i>j": 1, "j>k": 1}), machines("abc"), LINE)
    assert len({tuple(place_randomly(problem, seed).machines.values()) for seed in range(40)}) == 6
