"""A problem as arrays, for the search: J tasks and M machines by number, G links that paths share.

Every link's time is bits times seconds per bit.  A pair of machines alone can be held to the slowest of all
links that it is over, whatever else those carry: so pairs are looked at one by one first, and what several
pairs share as a whole after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from adon.placement.completion import links
from adon.placement.constraints import fits, near
from adon.placement.model import Kind, Problem
from measurement.health.model import Pair

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]

NOTHING_S = 1e30
"""Seconds per bit where nothing gets through; finite, since 0 bits take no time there either."""
NEVER_S = 1e24
"""A completion time of at least this is over such a path: one bit takes longer."""
_UNLIMITED = 1e30


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """See the module's text.

    :param bits: J x J, from task to task.
    :param need: J x 2, cores and bytes of memory.
    :param free: M x 2, likewise.
    :param per_bit: M x M, seconds per bit of the slowest link between two machines; 0 within one.
    :param wait: M x M, seconds that others' bytes take there.
    :param member: G x M x M, 1 where a pair is over a shared link, else 0.
    :param shared_per_bit: G, seconds per bit of all pairs together.
    :param shared_wait: G, seconds that others' bytes take there.
    :param allowed: J x M, where a task alone may be.
    :param clash: J x M x J x M, what two tasks must not be at the same time; None if there is nothing.
    """

    bits: Floats
    need: Floats
    free: Floats
    per_bit: Floats
    wait: Floats
    member: Floats
    shared_per_bit: Floats
    shared_wait: Floats
    allowed: Flags
    clash: Flags | None

    @property
    def tasks(self) -> int:
        """J."""
        return len(self.need)

    @property
    def machines(self) -> int:
        """M."""
        return len(self.free)

    @classmethod
    def of(cls, problem: Problem) -> Arrays:
        """The problem by numbers, in the order of its tasks and machines."""
        application, machines = problem.application, problem.machines
        number = {machine.name: index for index, machine in enumerate(machines)}
        tasks = {task.name: index for index, task in enumerate(application.tasks)}
        bits = np.zeros((len(tasks), len(tasks)))
        for (one, other), count in application.sent.items():
            bits[tasks[one], tasks[other]] = 8.0 * count
        per_bit, wait, member, shared, shared_wait = _network(problem, number)
        return cls(
            bits,
            np.array([(task.cores, task.memory) for task in application.tasks], float),
            np.array(
                [(one.cores, _UNLIMITED if one.memory is None else one.memory) for one in machines], float
            ),
            per_bit,
            wait,
            member,
            shared,
            shared_wait,
            np.array(
                [
                    [task.pinned in ("", one.name) and fits(task, one.cores, one.memory) for one in machines]
                    for task in application.tasks
                ]
            ),
            _clash(problem, tasks),
        )


def _network(problem: Problem, number: dict[str, int]) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    count = len(number)
    per_bit, waiting = np.zeros((count, count)), np.zeros((count, count))
    members, shared, shared_wait = [], [], []
    for link in links(problem.snapshot):
        cost = 1 / link.rate if link.rate > 0 else NOTHING_S
        places = [(number[a], number[b]) for a, b in link.pairs if a in number and b in number]
        for place in places:
            per_bit[place] = max(per_bit[place], cost)
        waits = 8 * sum(problem.load.get(pair, 0.0) for pair in link.pairs) * cost
        if len(places) > 1 or (places and link.kind is not Kind.PATH and waits):
            member = np.zeros((count, count))
            member[tuple(np.array(places).T)] = 1.0
            members.append(member)
            shared.append(cost)
            shared_wait.append(waits)
    for one, other in permutations(number, 2):
        waiting[number[one], number[other]] = 8 * problem.load.get(Pair(one, other), 0.0)
    member_of = np.array(members) if members else np.zeros((0, count, count))
    return per_bit, waiting * per_bit, member_of, np.array(shared), np.array(shared_wait)


def _clash(problem: Problem, tasks: dict[str, int]) -> Flags | None:
    application, machines = problem.application, problem.machines
    if not application.apart and not application.within:
        return None
    shape = (len(tasks), len(machines), len(tasks), len(machines))
    clash = np.zeros(shape, bool)
    same = np.eye(len(machines), dtype=bool)
    for group in application.apart:
        for one, other in combinations(sorted(group), 2):
            clash[tasks[one], :, tasks[other], :] |= same
            clash[tasks[other], :, tasks[one], :] |= same
    for (one, other), most in application.within.items():
        far = np.array([[not near(problem, a.name, b.name, most) for b in machines] for a in machines])
        clash[tasks[one], :, tasks[other], :] |= far
        clash[tasks[other], :, tasks[one], :] |= far.T
    return clash
