"""What must hold wherever tasks are: cores, memory, pins, groups apart, round-trip times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from adon.placement.model import Assignment, Impossible, Machine, Problem, Task
from adon.units import format_duration, format_size
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
            bound = format_duration(most)
            yield f"{one} and {other}: more than {bound} between {there} and {here}, or nobody knows"


def _overfull(machine: Machine, tasks: list[Task]) -> Iterator[str]:
    cores = math.fsum(task.cores for task in tasks)
    if cores > machine.cores + SLACK:
        yield f"{machine.name}: {cores:g} cores are used of {machine.cores:g}"
    memory = sum(task.memory for task in tasks)
    if machine.memory is not None and memory > machine.memory:
        used, has = format_size(memory), format_size(machine.memory)
        yield f"{machine.name}: {used} of memory are used of {has}"


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


def less(machine: Machine, tasks: Iterable[Task]) -> Machine:
    """What some tasks leave of a machine, of cores not below 0.

    :raises Impossible: if they take more than it has.
    """
    there = list(tasks)
    for cause in _overfull(machine, there):
        raise Impossible("machines", cause)
    cores = machine.cores - math.fsum(task.cores for task in there)
    memory = None if machine.memory is None else machine.memory - sum(task.memory for task in there)
    return replace(machine, cores=max(0.0, cores), memory=memory)


def _check_alone(task: Task, machines: tuple[Machine, ...]) -> None:
    if task.pinned:
        machine = next(one for one in machines if one.name == task.pinned)
        if not fits(task, machine.cores, machine.memory):
            raise Impossible(f"tasks.{task.name}", f"is pinned to {machine.name}, {_short(task, machine)}")
        return
    if not any(fits(task, machine.cores, machine.memory) for machine in machines):
        raise Impossible(f"tasks.{task.name}", f"fits on no machine: {no_room(task, machines)}")


def no_room(task: Task, machines: Sequence[Machine]) -> str:
    """Why a task fits into what is free on none of some machines, in words."""
    most = max(machines, key=lambda machine: machine.cores)
    if task.cores > most.cores + SLACK:
        return f"the largest is {most.name}, {_short(task, most)}"
    roomy = max(machines, key=lambda machine: math.inf if machine.memory is None else machine.memory)
    if roomy.memory is not None and task.memory > roomy.memory:
        return f"the largest is {roomy.name}, {_short(task, roomy)}"
    return f"none has both {task.cores:g} cores and {format_size(task.memory)} of memory free"


def _short(task: Task, machine: Machine) -> str:
    if task.cores > machine.cores + SLACK:
        return f"which has {machine.cores:g} cores free, and it needs {task.cores:g}"
    has = format_size(machine.memory or 0)
    return f"which has {has} of memory free, and it needs {format_size(task.memory)}"


def _check_sum(problem: Problem) -> None:
    tasks, machines = problem.application.tasks, problem.machines
    wanted, free = math.fsum(task.cores for task in tasks), math.fsum(one.cores for one in machines)
    if wanted > free + SLACK * len(tasks):
        raise Impossible("tasks", f"need {wanted:g} cores together, and all machines have {free:g} free")
    memory = sum(task.memory for task in tasks)
    if memory and memory > sum(one.memory or 0 for one in machines):
        has = format_size(sum(one.memory or 0 for one in machines))
        needed = format_size(memory)
        raise Impossible("tasks", f"need {needed} of memory together, and all machines have {has} free")


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
