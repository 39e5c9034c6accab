"""Applications that come one after the other, and whether to move one that runs ([CHOREO] 2.4 and 6.3).

The paper measures the network again before each placement, since what was placed before has changed it.  We
know what we placed: the bytes that running applications have still to send stand before those of the new one
on each link, and their cores and memory are taken.  A snapshot that was *measured* while they ran has their
share taken from it already; then only their cores and memory count (``measured_beside``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adon.placement.completion import carried, links, slowest, timed
from adon.placement.constraints import broken, less
from adon.placement.methods import Method
from adon.placement.model import Application, Assignment, Impossible, Machine, Placement, Problem
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

Placing = Callable[[Problem], Placement]
"""How an application is placed."""


@dataclass(frozen=True, slots=True)
class Running:
    """An application that was placed, and what it has still to send.

    :param left: bytes from task to task.
    """

    application: Application
    machines: Assignment
    left: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class MigrationCost:
    """What it costs to move tasks while they run.

    :param pause: seconds that the application stands still, however little is moved.
    :param state: bytes that move with a task; where a task is absent, its memory.
    """

    pause: float
    state: Mapping[str, int] = field(default_factory=dict)

    def seconds(self, one: Running, to: Assignment, snapshot: Snapshot) -> float:
        """For one application; 0 if nothing moves, infinite if a task cannot reach its new machine."""
        moving = {
            task.name: task for task in one.application.tasks if one.machines[task.name] != to[task.name]
        }
        if not moving:
            return 0.0
        state: dict[Pair, float] = {}
        for name, task in moving.items():
            pair = Pair(one.machines[name], to[name])
            state[pair] = state.get(pair, 0.0) + self.state.get(name, task.memory)
        limit = slowest(links(snapshot), state, {})
        return self.pause + (0.0 if limit is None else limit.seconds)


@dataclass(frozen=True, slots=True)
class Move:
    """That an application is to move.

    :param gain: seconds that it ends earlier, the migration not counted.
    :param cost: seconds that the migration takes.
    """

    placement: Placement
    gain: float
    cost: float


def beside(
    application: Application,
    machines: Iterable[Machine],
    snapshot: Snapshot,
    running: Sequence[Running] = (),
    *,
    measured_beside: bool = False,
) -> Problem:
    """The problem of placing one more application.

    :param machines: with all that they have.
    :param measured_beside: whether the snapshot was measured while all that ran.
    :raises Impossible: if what runs takes more than a machine has.
    """
    load: dict[Pair, float] = {}
    for one in () if measured_beside else running:
        for pair, count in carried(one.left, one.machines).items():
            load[pair] = load.get(pair, 0.0) + count
    return Problem(application, tuple(_left(machine, running) for machine in machines), snapshot, load)


def _left(machine: Machine, running: Sequence[Running]) -> Machine:
    there = (
        task for one in running for task in one.application.tasks if one.machines[task.name] == machine.name
    )
    return less(machine, there)


def reconsidered(
    one: Running,
    others: Sequence[Running],
    machines: Iterable[Machine],
    snapshot: Snapshot,
    place: Placing,
    cost: MigrationCost,
) -> Move | None:
    """Whether a running application would end earlier elsewhere, the migration included.

    :param others: what runs besides.
    :return: None if it had better stay, or can be nowhere else.
    """
    rest = replace(one.application, sent={pair: round(left) for pair, left in one.left.items()})
    problem = beside(rest, machines, snapshot, others)
    # Where its machine is gone, or has less than it had, anything is better.
    now = math.inf if any(broken(problem, one.machines)) else _seconds(problem, one.machines)
    try:
        best = place(problem)
    except Impossible:
        return None
    price = cost.seconds(one, best.machines, snapshot)
    gain = now - best.seconds
    return Move(best, gain, price) if gain > price else None


def _seconds(problem: Problem, machines: Assignment) -> float:
    try:
        return timed(problem, machines, Method.GREEDY).seconds
    except Impossible:
        return math.inf  # nothing gets through any more
