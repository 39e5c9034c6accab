"""A problem by numbers: what two tasks must not be at once, and what links carry for others."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from hypothesis import given, settings

from adon.placement.arrays import NOTHING_S, Arrays
from adon.placement.constraints import near
from adon.placement.model import Problem
from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck
from tests.placement.problems import application, machines, network, problems

STAR = {f"{one}>{other}": 8e6 for one, other in permutations("abc", 2)}


@settings(max_examples=80, deadline=None)
@given(problems(tasks=4, count=3))
def test_what_two_tasks_must_not_be_at_once_whichever_is_placed_first(problem: Problem) -> None:
    app, clash = problem.application, Arrays.of(problem).clash
    tasks, names = [task.name for task in app.tasks], [machine.name for machine in problem.machines]

    def wrong(one: str, m: str, other: str, n: str) -> bool:
        return (m == n and any({one, other} <= group for group in app.apart)) or any(
            not near(problem, m, n, most) for pair, most in app.within.items() if {*pair} == {one, other}
        )

    if clash is None:
        assert not app.apart
        assert not app.within
        return
    for (i, one), (j, other) in permutations(enumerate(tasks), 2):
        for (a, m), (b, n) in product(enumerate(names), repeat=2):
            assert clash[i, a, j, b] == wrong(one, m, other, n)


def test_by_hand() -> None:
    """Megabytes over megabytes per second; a > b and c > b share a link, and a has a hose."""
    shared = Bottleneck(frozenset({Pair("a", "b"), Pair("c", "b")}), 4e6)
    net = network({**STAR, "b>c": 0.0}, hoses={"a": 16e6}, bottlenecks=(shared,))
    load = {Pair("a", "b"): 1_000_000.0, Pair("c", "b"): 2_000_000.0}
    found = Arrays.of(Problem(application({"i>j": 5}), machines("abc", 2.0), net, load))
    assert found.bits.tolist() == [[0, 40], [0, 0]]
    assert found.need.tolist() == [[1, 0], [1, 0]]
    eighth, quarter = 1 / 8e6, 1 / 4e6
    assert found.per_bit.tolist() == [[0, quarter, eighth], [eighth, 0, NOTHING_S], [eighth, quarter, 0]]
    assert np.allclose(found.wait, [[0, 2.0, 0], [0, 0, 0], [0, 4.0, 0]])
    assert found.member.tolist() == [
        [[0, 1, 0], [0, 0, 0], [0, 1, 0]],
        [[0, 1, 1], [0, 0, 0], [0, 0, 0]],
    ]
    assert np.allclose(found.shared_per_bit, [quarter, 1 / 16e6])
    assert np.allclose(found.shared_wait, [6.0, 0.5])
    assert found.clash is None
