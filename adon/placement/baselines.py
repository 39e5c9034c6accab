"""The placements that the paper compares with ([CHOREO] 6); they know nothing of the network.

They meet all constraints.  A task that fits nowhere sends the search back to the task before it.  If that
takes too many attempts, the largest tasks are placed first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from adon.placement.completion import place_at
from adon.placement.constraints import check_feasible
from adon.placement.model import Assignment, Method, NoPlacement, Placement, PlacementProblem
from adon.placement.partial import PartialPlacement

MAX_ATTEMPTS = 5_000
"""Attempts in the order of the tasks, and again with the largest task first."""

Order = Callable[[PartialPlacement], Sequence[str]]
"""The machines for the next task, the first choice first."""


def place_randomly(problem: PlacementProblem, seed: int) -> Placement:
    """Return a placement on random machines with room.

    :raises NoPlacement: if none was found.
    """
    chance = random.Random(seed)  # noqa: S311 - not a secret
    return _place(problem, Method.RANDOM, lambda partial: chance.sample([*partial.room], len(partial.room)))


def place_round_robin(problem: PlacementProblem) -> Placement:
    """Return a placement of each task on the next machine with room.

    :raises NoPlacement: if none was found.
    """

    def order(partial: PartialPlacement) -> Sequence[str]:
        machines = [*partial.room]
        start = machines.index([*partial.machines.values()][-1]) + 1 if partial.machines else 0
        return [*machines[start:], *machines[:start]]

    return _place(problem, Method.ROUND_ROBIN, order)


def place_on_minimum_machines(problem: PlacementProblem) -> Placement:
    """Return a placement that uses a new machine only if no used machine has room.

    :raises NoPlacement: if none was found.
    """

    def order(partial: PartialPlacement) -> Sequence[str]:
        return sorted(partial.room, key=lambda machine: machine not in partial.machines.values())

    return _place(problem, Method.MINIMUM_MACHINES, order)


def _place(problem: PlacementProblem, method: Method, order: Order) -> Placement:
    check_feasible(problem)
    tasks = problem.application.tasks
    for turn in (tasks, sorted(tasks, key=lambda task: -task.cores)):
        machines = _assign(problem, [task.name for task in turn], order)
        if machines is not None:
            return place_at(problem, machines, method)
    raise NoPlacement.of("tasks", f"{method.value}: {2 * MAX_ATTEMPTS} attempts found no placement")


def _assign(problem: PlacementProblem, tasks: Sequence[str], order: Order) -> Assignment | None:
    """Place tasks in a sequence, with backtracking; None after too many attempts.

    :raises NoPlacement: if all ways were tried.
    """
    partial = PartialPlacement(problem)
    untried = [iter(order(partial))]
    for _ in range(MAX_ATTEMPTS):
        task = tasks[len(untried) - 1]
        machine = next((one for one in untried[-1] if partial.can_place(task, one)), None)
        if machine is not None:
            partial.place({task: machine})
            if len(untried) == len(tasks):
                return partial.machines
            untried.append(iter(order(partial)))
            continue
        untried.pop()
        if not untried:
            raise NoPlacement.of("tasks", "no placement meets all constraints")
        last = tasks[len(untried) - 1]
        partial.remove({last: partial.machines[last]})
    return None
