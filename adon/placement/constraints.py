"""Constraints of every placement: cores, memory, pinned tasks, groups apart, round-trip times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from adon.placement.model import Assignment, Machine, NoPlacement, PlacementProblem, Task
from adon.units import format_duration, format_size
from measurement.health.model import Pair

SLACK = 1e-9
"""Cores by which a sum can exceed a machine: 0.1 + 0.2 fit into 0.3."""


def find_violations(problem: PlacementProblem, machines: Assignment) -> Iterator[str]:
    """Yield each violated constraint in words, the task or machine first.

    :param machines: of all tasks, or of some.
    """
    application = problem.application
    placed = [task for task in application.tasks if task.name in machines]
    names = {machine.name for machine in problem.machines}
    for task in placed:
        place = machines[task.name]
        if place not in names:
            yield f"{task.name}: is on {place}, which is not a machine"
        elif task.pinned not in ("", place):
            yield f"{task.name}: is on {place}, and pinned to {task.pinned}"
    for machine in problem.machines:
        yield from _find_overload(machine, [task for task in placed if machines[task.name] == machine.name])
    for group in application.apart:
        for one, other in combinations(sorted(group & machines.keys()), 2):
            if machines[one] == machines[other]:
                yield f"{one} and {other}: are both on {machines[one]}, and must be apart"
    for (one, other), most in application.within.items():
        if {one, other} <= machines.keys() and not are_near(problem, machines[one], machines[other], most):
            where, bound = f"{machines[one]} and {machines[other]}", format_duration(most)
            yield f"{one} and {other}: the RTT of {where} is unknown or above {bound}"


def _find_overload(machine: Machine, tasks: Sequence[Task]) -> Iterator[str]:
    cores, memory = math.fsum(task.cores for task in tasks), sum(task.memory for task in tasks)
    if cores > machine.cores + SLACK:
        yield f"{machine.name}: {cores:g} cores are used of {machine.cores:g}"
    if machine.memory is not None and memory > machine.memory:
        yield f"{machine.name}: {format_size(memory)} of memory are used of {format_size(machine.memory)}"


def are_near(problem: PlacementProblem, one: str, other: str, most: float) -> bool:
    """Whether the known round-trip times of two machines are within a bound; a machine is near itself."""
    rtts = problem.snapshot.rtts
    known = [rtts[pair] for pair in (Pair(one, other), Pair(other, one)) if pair in rtts]
    return one == other or (bool(known) and max(known) <= most)


class Room(NamedTuple):
    """Free cores and bytes of memory of a machine; inf if its memory is unknown."""

    cores: float
    memory: float

    @classmethod
    def of(cls, machine: Machine) -> Room:
        """Return what is free on a machine."""
        return cls(machine.cores, math.inf if machine.memory is None else machine.memory)

    def fits(self, task: Task) -> bool:
        """Whether it is enough for a task."""
        return task.cores <= self.cores + SLACK and task.memory <= self.memory

    def without(self, task: Task, times: int = 1) -> Room:
        """Return what a task leaves."""
        return Room(self.cores - times * task.cores, self.memory - times * task.memory)


def subtract_tasks(machine: Machine, tasks: Iterable[Task]) -> Machine:
    """Return what tasks leave of a machine.

    :raises NoPlacement: if they need more than it has.
    """
    there = list(tasks)
    for overload in _find_overload(machine, there):
        raise NoPlacement.of("machines", overload)
    cores = machine.cores - math.fsum(task.cores for task in there)
    memory = None if machine.memory is None else machine.memory - sum(task.memory for task in there)
    return replace(machine, cores=max(0.0, cores), memory=memory)


def check_feasible(problem: PlacementProblem) -> None:
    """Refuse a problem if a single constraint shows that it has no placement.

    :raises NoPlacement: for tasks that do not fit, alone or together; too large groups; pinned tasks.
    """
    for task in problem.application.tasks:
        allowed = {one.name: Room.of(one) for one in problem.machines if task.pinned in ("", one.name)}
        if not any(room.fits(task) for room in allowed.values()):
            raise NoPlacement.of(f"tasks.{task.name}", explain_no_room(task, allowed))
    _check_sum(problem)
    for group in problem.application.apart:
        if len(group) > len(problem.machines):
            cause = (
                f"{len(group)} tasks must be apart; expected at most {len(problem.machines)}, one per machine"
            )
            raise NoPlacement.of("apart", cause)
    pinned = {task.name: task.pinned for task in problem.application.tasks if task.pinned}
    for violation in find_violations(problem, pinned):
        raise NoPlacement.of("tasks", f"the pinned tasks violate a constraint: {violation}")


def explain_no_room(task: Task, rooms: Mapping[str, Room]) -> str:
    """Return why a task fits on none of some machines."""
    most, cores = max(rooms.items(), key=lambda one: one[1].cores)
    roomy, memory = max(rooms.items(), key=lambda one: one[1].memory)
    if task.cores > cores.cores + SLACK:
        return f"needs {task.cores:g} cores; at most {cores.cores:g} are free, on {most}"
    needs = format_size(task.memory)
    if task.memory > memory.memory:
        return f"needs {needs} of memory; at most {format_size(memory.memory)} are free, on {roomy}"
    return f"needs {task.cores:g} cores and {needs} of memory; no machine has both free"


def _check_sum(problem: PlacementProblem) -> None:
    tasks, machines = problem.application.tasks, problem.machines
    cores, free = math.fsum(task.cores for task in tasks), math.fsum(one.cores for one in machines)
    if cores > free + SLACK * len(tasks):
        raise NoPlacement.of("tasks", f"need {cores:g} cores together; all machines have {free:g} free")
    memory, has = sum(task.memory for task in tasks), sum(one.memory or 0 for one in machines)
    if memory > has:
        cause = f"need {format_size(memory)} of memory together; all machines have {format_size(has)} free"
        raise NoPlacement.of("tasks", cause)
