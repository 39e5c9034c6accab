"""What the paper compares with ([CHOREO] 6): placements that know nothing of the network.

They keep what must be kept, cores and memory, pins, groups apart, round-trip times, and otherwise do as they
are called.  A run into a dead end (what is left fits nowhere) goes back to the task before: a baseline that
gives up where a placement exists would be compared on the easy applications only.  Where that takes too long,
the largest tasks are placed first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from adon.placement.completion import timed
from adon.placement.constraints import check
from adon.placement.methods import Method
from adon.placement.model import Impossible, Placement, Problem
from adon.placement.partial import Partial

TRIES = 5_000
"""Tasks put somewhere, going back included, before they are tried with the largest first, and again before it
is given up."""

Order = Callable[[Partial], Sequence[str]]
"""The machines for the next task, the first to be tried first."""


def random_placement(problem: Problem, seed: int) -> Placement:
    """Tasks on random machines that have room.

    :raises Impossible: if no placement was found.
    """
    chance = random.Random(seed)  # noqa: S311 - a baseline, no secret
    return _placed(
        problem, Method.RANDOM, lambda partial: chance.sample([*partial.cores], len(partial.cores))
    )


def round_robin(problem: Problem) -> Placement:
    """Each task on the next machine in the list that has room.

    :raises Impossible: if no placement was found.
    """
    return _placed(problem, Method.ROUND_ROBIN, _following)


def minimum_machines(problem: Problem) -> Placement:
    """A new machine only where none that is used has room.

    :raises Impossible: if no placement was found.
    """
    return _placed(
        problem,
        Method.MINIMUM_MACHINES,
        lambda partial: sorted(partial.cores, key=lambda one: one not in partial.machines.values()),
    )


def _following(partial: Partial) -> Sequence[str]:
    """All machines, from the one after that of the task that was placed last."""
    machines = [*partial.cores]
    begin = machines.index([*partial.machines.values()][-1]) + 1 if partial.machines else 0
    return [*machines[begin:], *machines[:begin]]


def _placed(problem: Problem, method: Method, order: Order) -> Placement:
    check(problem)
    tasks = problem.application.tasks
    largest_first = sorted(tasks, key=lambda task: -task.cores)
    for turn in (tasks, largest_first):
        machines = _filled(problem, method, [task.name for task in turn], order)
        if machines is not None:
            return timed(problem, machines, method)
    raise Impossible(
        "tasks",
        f"{method.value}: no placement keeps what is asked for: {TRIES} tries in two orders found none",
    )


def _filled(problem: Problem, method: Method, tasks: Sequence[str], order: Order) -> Mapping[str, str] | None:
    """Put tasks onto machines, one after the other; None if that was tried too often.

    :raises Impossible: if all ways were tried.
    """
    partial = Partial.of(problem)
    ways = [iter(order(partial))]
    for _ in range(TRIES):
        task = tasks[len(ways) - 1]
        machine = next((one for one in ways[-1] if partial.possible(task, one)), None)
        if machine is not None:
            partial.place(task, machine)
            if len(ways) == len(tasks):
                return partial.machines
            ways.append(iter(order(partial)))
            continue
        ways.pop()
        if not ways:
            cause = "no placement keeps what is asked for: all ways were tried"
            raise Impossible("tasks", f"{method.value}: {cause}")
        partial.remove(tasks[len(ways) - 1])
    return None
