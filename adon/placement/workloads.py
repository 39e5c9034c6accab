"""Applications and networks to try placement on, drawn by a seed ([CHOREO] 6.1 to 6.3).

The paper's are traffic matrices of HP Cloud, which nobody has; what it tells of them is kept: 0.5 to 4 cores
per task on machines of 4.  Bytes are either
*heavy-tailed*, few pairs with most of them, or *uniform*, every pair with about as many (7.1: map-reduce).

Networks are like those that it measured: *varied*, 100 Mbit/s to 1 Gbit/s by path (EC2 in 2012, figure 1);
*EC2* in 2013 (figure 2a): hoses of about 1 Gbit/s, a few slower paths, and few machines close together at
4 Gbit/s; *Rackspace* (figure 2b): hoses of 300 Mbit/s, and nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import permutations

from adon.placement.model import Application, Machine, Task
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

CORES = 4.0
"""Of a machine."""
HALF_CORES = (1, 8)
"""The least and the most that a task takes: 0.5 to 4 cores, by halves."""
DENSITY = 0.3
"""The part of all pairs of tasks that send anything, where transfers are heavy-tailed."""
SHAPE = 1.1
"""Of the Pareto distribution of heavy-tailed transfers: below 2 it has no variance."""


class Transfers(StrEnum):
    """How bytes are spread over pairs of tasks."""

    HEAVY_TAILED = "heavy-tailed"
    UNIFORM = "uniform"


class Cloud(StrEnum):
    """What a network is like."""

    VARIED = "varied"
    EC2 = "ec2"
    RACKSPACE = "rackspace"


def machines(count: int) -> tuple[Machine, ...]:
    """So many, all alike."""
    return tuple(Machine(f"vm{number:02}", CORES) for number in range(count))


def snapshot(cloud: Cloud, names: Sequence[str], chance: random.Random) -> Snapshot:
    """A network between machines."""
    pairs = [Pair(*pair) for pair in permutations(names, 2)]
    match cloud:
        case Cloud.VARIED:
            return Snapshot(0.0, tuple(names), {pair: chance.uniform(100e6, 1e9) for pair in pairs})
        case Cloud.RACKSPACE:
            return Snapshot(0.0, tuple(names), dict.fromkeys(pairs, 300e6), hoses=dict.fromkeys(names, 300e6))
        case Cloud.EC2:
            return _ec2(names, pairs, chance)


def _ec2(names: Sequence[str], pairs: Sequence[Pair], chance: random.Random) -> Snapshot:
    hoses = {name: chance.uniform(900e6, 1100e6) for name in names}
    near = {frozenset(pair) for pair in pairs if chance.random() < 0.01}
    rates = {}
    for pair in pairs:
        slow = chance.random() < 0.2
        rates[pair] = chance.uniform(300e6, 900e6) if slow else hoses[pair.source]
        if frozenset(pair) in near:  # on one physical machine: the limit on what leaves it is not met
            rates[pair] = 4e9
    close = {name for pair in near for name in pair}
    return Snapshot(
        0.0, tuple(names), rates, hoses={name: hose for name, hose in hoses.items() if name not in close}
    )


def application(name: str, tasks: int, transfers: Transfers, chance: random.Random) -> Application:
    """One that is drawn."""
    listed = tuple(Task(f"t{number:02}", chance.randint(*HALF_CORES) / 2) for number in range(tasks))
    sent = {}
    for pair in permutations((task.name for task in listed), 2):
        if transfers is Transfers.UNIFORM:
            sent[pair] = int(chance.uniform(1e6, 100e6))
        elif chance.random() < DENSITY:
            sent[pair] = int(1e6 * chance.paretovariate(SHAPE))
    return Application(name, listed, sent)


def fitting(draw: Callable[[], Sequence[Application]], room: float, each: int) -> tuple[Application, ...]:
    """Applications drawn until they fit together.

    :param room: cores that they may take.
    :param each: machines, which must hold the tasks, the largest first, each where it just fits.
    """
    while True:
        found = draw()
        cores = sorted((task.cores for one in found for task in one.tasks), reverse=True)
        if sum(cores) <= room and _fit(cores, each):
            return tuple(found)


def _fit(cores: Sequence[float], count: int) -> bool:
    free = [CORES] * count
    for wanted in cores:
        room = [left for left in free if left >= wanted]
        if not room:
            return False
        free[free.index(min(room))] -= wanted
    return True
