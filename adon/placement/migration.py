"""Placement beside running applications, and migration of running ones ([CHOREO] 2.4 and 6.3).

The paper measures the network again before each placement.  ADON knows what it placed: the bytes that running
applications still send come before those of a new one on each link, and their cores and memory are occupied.
The snapshot must be measured without them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from adon.placement.completion import bytes_between, find_deciding_link, place_at
from adon.placement.constraints import find_violations, subtract_tasks
from adon.placement.model import (
    Application,
    Assignment,
    Machine,
    Method,
    NoPlacement,
    Placement,
    PlacementProblem,
)
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

Place = Callable[[PlacementProblem], Placement]
"""A method of placement."""


@dataclass(slots=True)
class RunningApplication:
    """An application that was placed.

    :param left: bytes from task to task that are still to be sent.
    """

    application: Application
    machines: Assignment
    left: dict[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Migration:
    """The new placement of a running application.

    :param gain: seconds that it ends earlier, without the migration.
    :param cost: seconds of the migration.
    """

    placement: Placement
    gain: float
    cost: float


def problem_beside(
    application: Application,
    machines: Iterable[Machine],
    snapshot: Snapshot,
    running: Sequence[RunningApplication],
) -> PlacementProblem:
    """Return the problem of placing one more application.

    :param machines: as they are without tasks.
    :raises NoPlacement: if the running tasks need more than a machine has.
    """
    load: dict[Pair, float] = {}
    for one in running:
        for pair, count in bytes_between(one.left, one.machines).items():
            load[pair] = load.get(pair, 0.0) + count
    occupied = [(one.machines[task.name], task) for one in running for task in one.application.tasks]
    free = tuple(
        subtract_tasks(machine, (task for name, task in occupied if name == machine.name))
        for machine in machines
    )
    return PlacementProblem(application, free, snapshot, load)


def find_migration(
    running: RunningApplication,
    others: Sequence[RunningApplication],
    machines: Iterable[Machine],
    snapshot: Snapshot,
    place: Place,
    pause: float,
) -> Migration | None:
    """Return the migration after which an application ends earlier; None if it stays.

    :param others: all other running applications.
    :param pause: seconds that the application stops, in addition to the time of moving the tasks' memory.
    """
    left = {pair: round(count) for pair, count in running.left.items()}
    problem = problem_beside(replace(running.application, sent=left), machines, snapshot, others)
    try:
        best = place(problem)
    except NoPlacement:
        return None
    cost = _migration_seconds(running, best.machines, snapshot, pause)
    gain = _remaining_seconds(problem, running.machines) - best.completion_time_s
    return Migration(best, gain, cost) if gain > cost else None


def _migration_seconds(
    running: RunningApplication, to: Assignment, snapshot: Snapshot, pause: float
) -> float:
    """Return the time of a migration: 0 if no task moves, inf if a task cannot reach its new machine."""
    tasks = running.application.tasks
    if all(running.machines[task.name] == to[task.name] for task in tasks):
        return 0.0
    memory: dict[Pair, float] = {}
    for task in tasks:
        pair = Pair(running.machines[task.name], to[task.name])
        memory[pair] = memory.get(pair, 0.0) + task.memory
    limit = find_deciding_link(snapshot, memory, {})
    return pause + (0.0 if limit is None else limit.seconds)


def _remaining_seconds(problem: PlacementProblem, machines: Assignment) -> float:
    """Return the time of an assignment; inf if a machine is missing or too small, or a path has no rate."""
    if any(find_violations(problem, machines)):
        return math.inf
    try:
        return place_at(problem, machines, Method.GREEDY).completion_time_s
    except NoPlacement:
        return math.inf
