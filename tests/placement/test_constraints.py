"""Each constraint by itself, violated and just met."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.placement.constraints import are_near, check_feasible, find_violations, subtract_tasks
from adon.placement.model import Application, Machine, NoPlacement, PlacementProblem, Task
from measurement.health.model import Pair
from tests.placement.problems import machines, network
from tests.support.refusals import refused

NET = network(
    {"a>b": 1.0, "b>a": 1.0, "a>c": 1.0},
    rtts={Pair("a", "b"): 0.001, Pair("b", "a"): 0.1, Pair("c", "a"): 0.02},
)
APP = Application("app", (Task("i", 1.0, 2), Task("j", 1.0, 1)))
ROOM = (Machine("a", 2.0, 3), Machine("b", 1.0, 3), Machine("c", 1.0, 3))


@pytest.mark.parametrize(
    ("one", "other", "most", "holds"),
    [
        ("a", "b", 0.1, True),  # the longer of both directions is exactly that
        ("a", "b", 0.099, False),
        ("b", "a", 0.099, False),
        ("a", "c", 0.02, True),  # known in one direction alone
        ("b", "c", 1e9, False),  # nobody knows
        ("b", "b", 0.0, True),
    ],
)
def test_near_by_the_longer_of_both_directions(one: str, other: str, most: float, holds: bool) -> None:
    assert are_near(PlacementProblem(APP, ROOM, NET), one, other, most) == holds


@pytest.mark.parametrize(
    ("app", "placed", "expected"),
    [
        (APP, "aa", []),
        (APP, "ab", []),
        (APP, "bb", ["b"]),
        (replace(APP, tasks=(Task("i", 1.0, 2), Task("j", 1.0, 2))), "aa", ["a"]),
        (replace(APP, tasks=(Task("i", 0.1), Task("j", 0.9 + 1e-12))), "bb", []),
        (replace(APP, tasks=(Task("i", 1.0, 0, "c"), Task("j", 1.0))), "ab", ["i"]),
        (replace(APP, apart=(frozenset("ij"),)), "aa", ["i and j"]),
        (replace(APP, within={("i", "j"): 0.05}), "ab", ["i and j"]),
        (replace(APP, within={("i", "j"): 0.0}), "aa", []),
        (APP, "ax", ["j"]),
    ],
)
def test_violations_name_task_or_machine(app: Application, placed: str, expected: list[str]) -> None:
    found = find_violations(PlacementProblem(app, ROOM, NET), dict(zip("ij", placed, strict=True)))
    assert [line.partition(":")[0] for line in found] == expected


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        (Application("app", tuple(Task(name, 0.1) for name in "ijkl"), apart=(frozenset("ijkl"),)), "apart"),
        (Application("app", tuple(Task(name, 0.1, 3) for name in "ijkl")), "tasks"),
        (
            Application("app", (Task("i", 1.0, 0, "a"), Task("j", 1.0, 0, "b")), within={("j", "i"): 0.05}),
            "tasks",
        ),
    ],
)
def test_problem_without_placement_is_refused_by_field(app: Application, expected: str) -> None:
    with refused(NoPlacement, expected):
        check_feasible(PlacementProblem(app, ROOM, NET))


def test_tasks_leave_cores_and_memory_of_a_machine() -> None:
    (whole,) = machines("a", 2.0)
    assert subtract_tasks(whole, ()) == whole
    assert subtract_tasks(Machine("a", 2.0, 9), APP.tasks) == Machine("a", 0.0, 6)
    assert subtract_tasks(Machine("a", 0.3), (Task("i", 0.1), Task("j", 0.2))).cores == 0.0
    with refused(NoPlacement, "machines"):
        subtract_tasks(whole, (Task("i", 3.0),))
