"""What must hold wherever tasks are: cores, memory, pins, groups apart, round-trip times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from adon.placement.model import Assignment, Impossible, Machine, Problem, Task
from measurement.health.model import Pair

SLACK = 1e-9
"""So many cores too many are rounding, not a demand: 0.1 + 0.2 fit into 0.3."""


def broken(problem: Problem, machines: Assignment) -> Iterator[str]:
    """Everything that an assignment breaks, in words."""
    application = problem.application
    on: dict[str, list[Task]] = {machine.name: [] for machine in problem.machines}
    for task in application.tasks:
        place = machines.get(task.name)
        if place not in on:
            yield f"{task.name}: is on {place}, which is none of the machines"
            continue
        on[place].append(task)
        if task.pinned and task.pinned != place:
            yield f"{task.name}: is on {place}, and pinned to {task.pinned}"
    for machine in problem.machines:
        yield from _overfull(machine, on[machine.name])
    for group in application.apart:
        for one, other in combinations(sorted(group), 2):
            if machines.get(one) == machines.get(other):
                yield f"{one} and {other}: are both on {machines.get(one)}, and are to be apart"
    for (one, other), most in application.within.items():
        there, here = machines.get(one, ""), machines.get(other, "")
        if not near(problem, there, here, most):
            yield f"{one} and {other}: more than {most:g} s between {there} and {here}, or nobody knows"


def _overfull(machine: Machine, tasks: list[Task]) -> Iterator[str]:
    cores = math.fsum(task.cores for task in tasks)
    if cores > machine.cores + SLACK:
        yield f"{machine.name}: {cores:g} cores are used of {machine.cores:g}"
    memory = sum(task.memory for task in tasks)
    if machine.memory is not None and memory > machine.memory:
        yield f"{machine.name}: {memory} bytes of memory are used of {machine.memory}"


def near(problem: Problem, one: str, other: str, most: float) -> bool:
    """Whether two machines are known to be within a round-trip time; one alone is near itself."""
    if one == other:
        return True
    rtts = problem.snapshot.rtts
    known = [rtts[pair] for pair in (Pair(one, other), Pair(other, one)) if pair in rtts]
    return bool(known) and max(known) <= most


def check(problem: Problem) -> None:
    """Tell what plainly cannot be placed.

    :raises Impossible: for a task that fits on no machine, or not on its own, or more than all machines hold.
    """
    for task in problem.application.tasks:
        _check_alone(task, problem.machines)
    _check_sum(problem)
    _check_groups(problem)
    _check_pinned(problem)


def fits(task: Task, cores: float, memory: int | None) -> bool:
    """Whether a task fits into what is free."""
    return task.cores <= cores + SLACK and (memory is None or task.memory <= memory)


def _check_alone(task: Task, machines: tuple[Machine, ...]) -> None:
    if task.pinned:
        machine = next(one for one in machines if one.name == task.pinned)
        if not fits(task, machine.cores, machine.memory):
            raise Impossible(f"tasks.{task.name}", f"is pinned to {machine.name}, {_short(task, machine)}")
        return
    if any(fits(task, machine.cores, machine.memory) for machine in machines):
        return
    most = max(machines, key=lambda machine: machine.cores)
    if task.cores > most.cores + SLACK:
        raise Impossible(
            f"tasks.{task.name}", f"fits on no machine: the largest is {most.name}, {_short(task, most)}"
        )
    roomy = max(machines, key=lambda machine: machine.memory or 0)
    if roomy.memory is not None and task.memory > roomy.memory:
        raise Impossible(
            f"tasks.{task.name}", f"fits on no machine: the largest is {roomy.name}, {_short(task, roomy)}"
        )
    raise Impossible(
        f"tasks.{task.name}",
        f"no machine has both {task.cores:g} cores and {task.memory} bytes of memory free",
    )


def _short(task: Task, machine: Machine) -> str:
    if task.cores > machine.cores + SLACK:
        return f"which has {machine.cores:g} cores free, and it needs {task.cores:g}"
    return f"which has {machine.memory} bytes of memory free, and it needs {task.memory}"


def _check_sum(problem: Problem) -> None:
    tasks, machines = problem.application.tasks, problem.machines
    wanted, free = math.fsum(task.cores for task in tasks), math.fsum(one.cores for one in machines)
    if wanted > free + SLACK * len(tasks):
        raise Impossible("tasks", f"need {wanted:g} cores together, and all machines have {free:g} free")
    memory = sum(task.memory for task in tasks)
    if memory and memory > sum(one.memory or 0 for one in machines):
        has = sum(one.memory or 0 for one in machines)
        raise Impossible("tasks", f"need {memory} bytes of memory together, and all machines have {has} free")


def _check_groups(problem: Problem) -> None:
    for group in problem.application.apart:
        if len(group) > len(problem.machines):
            raise Impossible(
                "apart", f"{len(group)} tasks are to be apart, and there are {len(problem.machines)} machines"
            )


def _check_pinned(problem: Problem) -> None:
    """What is pinned must be possible by itself."""
    application = problem.application
    pinned = {task.name: task.pinned for task in application.tasks if task.pinned}
    for machine in problem.machines:
        on = [task for task in application.tasks if task.pinned == machine.name]
        for cause in _overfull(machine, on):
            raise Impossible("tasks", f"what is pinned does not fit: {cause}")
    for (one, other), most in application.within.items():
        if {one, other} <= pinned.keys() and not near(problem, pinned[one], pinned[other], most):
            where = f"{pinned[one]} and {pinned[other]}"
            raise Impossible("within", f"{one} and {other} are pinned to {where}: farther apart, or unknown")
