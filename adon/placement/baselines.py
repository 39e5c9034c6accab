"""What the paper compares with ([CHOREO] 6): placements that know nothing of the network.

They keep what must be kept, cores and memory, pins, groups apart, round-trip times, and otherwise do as they
are called.  A run into a dead end (what is left fits nowhere) goes back to the task before: a baseline that
gives up where a placement exists would be compared on the easy applications only.  Where that takes too long,
the largest tasks are placed first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from adon.placement.completion import links, timed
from adon.placement.constraints import check, fits, near
from adon.placement.model import Impossible, Machine, Method, Placement, Problem, Task
from measurement.health.model import Pair

TRIES = 5_000
"""Tasks put somewhere, going back included, before they are tried with the largest first, and again before it
is given up."""

Order = Callable[["Partly"], Sequence[Machine]]
"""The machines for the next task, the first to be tried first."""


@dataclass(slots=True)
class Partly:
    """What is placed so far.

    :param last: the machine that a task was put onto last.
    :param ruled_out: whether all ways were tried.
    """

    problem: Problem
    machines: dict[str, str] = field(default_factory=dict)
    last: str = ""
    ruled_out: bool = False

    def used(self, machine: Machine) -> bool:
        """Whether a task is there already."""
        return machine.name in self.machines.values()


def random_placement(problem: Problem, seed: int) -> Placement:
    """Tasks on random machines that have room.

    :raises Impossible: if no placement was found.
    """
    chance = random.Random(seed)  # noqa: S311 - a baseline, no secret
    return _placed(problem, Method.RANDOM, lambda partly: _shuffled(partly.problem.machines, chance))


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
        lambda partly: sorted(partly.problem.machines, key=lambda one: not partly.used(one)),
    )


def _shuffled(machines: Sequence[Machine], chance: random.Random) -> list[Machine]:
    return chance.sample(machines, len(machines))


def _following(partly: Partly) -> Sequence[Machine]:
    machines = partly.problem.machines
    names = [machine.name for machine in machines]
    begin = names.index(partly.last) + 1 if partly.last else 0
    return [*machines[begin:], *machines[:begin]]


def _placed(problem: Problem, method: Method, order: Order) -> Placement:
    check(problem)
    tasks = problem.application.tasks
    largest_first = sorted(tasks, key=lambda task: -task.cores)
    for turn in (tasks, largest_first):
        partly = Partly(problem)
        for _ in _filled(partly, turn, order):
            if len(partly.machines) == len(tasks):
                return timed(problem, partly.machines, method)
        if partly.ruled_out:
            break
    how = "all ways were tried" if partly.ruled_out else f"{TRIES} tries in two orders found none"
    raise Impossible("tasks", f"{method.value}: no placement keeps what is asked for: {how}")


def _filled(partly: Partly, tasks: Sequence[Task], order: Order) -> Iterator[None]:
    """Put tasks onto machines, one after the other, until all ways were tried, or it was done too often."""
    ways: list[Iterator[Machine]] = [iter(order(partly))]
    for _ in range(TRIES):
        task = tasks[len(ways) - 1]
        machine = next((one for one in ways[-1] if _possible(partly, task, one)), None)
        if machine is None:
            ways.pop()
            if not ways:
                partly.ruled_out = True
                return
            del partly.machines[tasks[len(ways) - 1].name]
            continue
        partly.machines[task.name] = machine.name
        partly.last = machine.name
        yield
        ways.append(iter(order(partly)))


def _possible(partly: Partly, task: Task, machine: Machine) -> bool:
    problem, placed = partly.problem, partly.machines
    if task.pinned not in ("", machine.name):
        return False
    there = [one for one in problem.application.tasks if placed.get(one.name) == machine.name]
    cores = machine.cores - sum(one.cores for one in there)
    memory = None if machine.memory is None else machine.memory - sum(one.memory for one in there)
    if not fits(task, cores, memory):
        return False
    application = problem.application
    for group in application.apart:
        if task.name in group and any(one.name in group for one in there):
            return False
    for (one, other), most in application.within.items():
        ends = (placed.get(one), machine.name) if other == task.name else (machine.name, placed.get(other))
        if task.name in (one, other) and all(ends) and not near(problem, str(ends[0]), str(ends[1]), most):
            return False
    return _reaches(problem, placed, task, machine)


def _reaches(problem: Problem, placed: dict[str, str], task: Task, machine: Machine) -> bool:
    silent = {pair for link in links(problem.snapshot) if link.rate <= 0 for pair in link.pairs}
    if not silent:
        return True
    for (one, other), count in problem.application.sent.items():
        if count and task.name in (one, other):
            ends = [
                machine.name if each == task.name else placed.get(each, machine.name) for each in (one, other)
            ]
            if Pair(*ends) in silent:
                return False
    return True
