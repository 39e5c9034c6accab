"""Exact placement by branch and bound over partial placements, many at a time.

A node of the search tree is a partial placement.  For each open task and machine, :meth:`_Bounds.assess`
gives a lower bound of the completion time with the task there: the time of the bytes between placed tasks on
the paths to and from the machine, on hoses and on shared links.  The search

- looks for placements that are faster than a limit.  It first takes the shortest time that pairs of tasks do
  not rule out, which is often the best completion time.  If the search finds no placement soon, it starts
  again with a longer limit (destructive improvement; Klein and Scholl, European Journal of Operational
  Research 112, 1999).  The last limit is the best known completion time, so the result is exact;
- branches on the open task with the fewest machines left (first fail; Haralick and Elliott, Artificial
  Intelligence 14, 1980), and tries the fastest machine first;
- cuts nodes that are not faster than the limit;
- removes machines by pairs of tasks (arc consistency; Mackworth, Artificial Intelligence 8, 1977).  Two
  tasks that no path can connect in time must share a machine, and so must all tasks that are connected by
  such pairs; this settles most heavy-tailed transfers;
- repeats this for the root at each limit: if a task has no machine left there, no placement is faster.

The search starts from the greedy placement, so the result is never slower.  Equally fast placements do not
replace each other, so the same problem gives the same result if the search ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from adon.placement.completion import list_links, place_at
from adon.placement.constraints import SLACK, Room, are_near, check_feasible
from adon.placement.greedy import place_greedily
from adon.placement.model import LinkKind, Method, NoPlacement, Placement, PlacementProblem

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]

OPEN = -1
"""The machine of a task that is not placed."""
DEAD_S = 1e30
"""Seconds per bit of a path without a rate; finite, because 0 bits take no time there."""
NEVER_S = 1e24
"""Completion time of a placement that uses a path without a rate, at least."""
BATCH_ELEMENTS = 64_000
"""Numbers per array operation, so that the arrays of a batch stay in the processor's cache."""
PAIR_ELEMENTS = 4_000_000
"""Largest table of pairs of tasks and their machines."""
GAIN = 1e-9
"""A placement is faster if it is by more than this part: rounding."""
PAIRS_EVERY = 40
"""Pairs are examined in every 40th batch, and in the next batch if they cut all nodes."""
LIMIT_PART = 1 / 1024
"""The first limit is exact to this part of the greedy completion time."""
BATCHES_PER_TASK = 2
"""A limit is raised after this many batches for each task, if they find no placement."""


def place_exactly(problem: PlacementProblem, should_stop: Callable[[], bool] = lambda: False) -> Placement:
    """Return the fastest placement, or the fastest that is found in time, with a lower bound.

    :param should_stop: is asked before each batch of nodes, about a thousand times a second.
    :raises NoPlacement: if there is none, or if none was found in time.
    """
    check_feasible(problem)
    try:
        start: Placement | None = place_greedily(problem)
    except NoPlacement:  # the greedy algorithm does not backtrack
        start = None
    bounds = _Bounds.of(problem)
    best = NEVER_S if start is None else start.completion_time_s
    search = _Search.start(bounds, best)
    while search.stack and not should_stop():
        search.expand_batch()
    if search.found is not None:
        names = [problem.machines[machine].name for machine in search.found]
        tasks = (task.name for task in problem.application.tasks)
        start = place_at(problem, dict(zip(tasks, names, strict=True)), Method.EXACT)
    if start is None:
        cause = "no placement was found in time" if search.stack else "no placement meets all constraints"
        raise NoPlacement.of("tasks", cause)
    proven = not search.stack
    bound = start.completion_time_s if proven else min(start.completion_time_s, search.lower_bound())
    return replace(start, method=Method.EXACT, proven=proven, lower_bound_s=bound)


@dataclass(frozen=True, slots=True, eq=False)
class _Bounds:
    """A problem as arrays: J tasks, M machines, G links that several paths share.

    :param bits: J x J, from task to task.
    :param need: J x 2, cores and bytes of memory; ``room``: M x 2.
    :param cost: M x M seconds per bit on the slowest link of a path; 0 within a machine.
    :param wait: M x M seconds that the bytes of others take on a path.
    :param shared: G x M x M seconds per bit on each shared link; 0 for the paths that do not cross it.
    :param shared_wait: G seconds that the bytes of others take there.
    :param allowed: J x M.
    :param clash: J x M x J x M: two tasks cannot be there at the same time.
    :param pairs: J x M x J x M seconds of the transfers between two tasks on different machines; inf if the
        tasks cannot be there.  Empty in a large problem.
    :param sharing: J x J x M: two tasks can be on a machine at the same time.
    """

    bits: Floats
    need: Floats
    room: Floats
    cost: Floats
    wait: Floats
    shared: Floats
    shared_wait: Floats
    allowed: Flags
    clash: Flags
    pairs: Floats
    sharing: Flags

    @classmethod
    def of(cls, problem: PlacementProblem) -> _Bounds:
        tasks, machines = problem.application.tasks, problem.machines
        number = {task.name: index for index, task in enumerate(tasks)}
        bits = np.zeros((len(tasks), len(tasks)))
        for (sender, receiver), count in problem.application.sent.items():
            bits[number[sender], number[receiver]] = 8.0 * count
        need = np.array([(task.cores, task.memory) for task in tasks], float)
        room = np.array([Room.of(machine) for machine in machines])
        cost, wait, shared, shared_wait = _link_arrays(problem)
        allowed = np.array([[task.pinned in ("", one.name) for one in machines] for task in tasks])
        clash = _find_clashes(problem, number)
        pairs = _list_pair_seconds(bits, cost, clash)
        sharing = np.all(need[:, None, None] + need[:, None] <= room + SLACK, axis=3)
        sharing &= ~clash.diagonal(axis1=1, axis2=3)
        sharing |= np.eye(len(tasks), dtype=bool)[:, :, None]
        return cls(bits, need, room, cost, wait, shared, shared_wait, allowed, clash, pairs, sharing)

    def assess(self, placed: Numbers) -> Floats:
        """Return the time of the transfers to and from a machine, with a task on it.

        :param placed: K partial placements; K x J machines, or :data:`OPEN`.
        :return: K x J x M seconds; inf if the task cannot be there.
        """
        there = (placed[:, :, None] == np.arange(len(self.room))).astype(float)
        out, into = self.bits @ there, self.bits.T @ there
        on = there.transpose(0, 2, 1)
        between, free = on @ out, self.room - on @ self.need
        seconds = self._path_seconds(placed, between, out, self.cost, self.wait)
        back = between.transpose(0, 2, 1)
        np.maximum(seconds, self._path_seconds(placed, back, into, self.cost.T, self.wait.T), out=seconds)
        if len(self.shared):
            np.maximum(seconds, self._shared_seconds(between, out, into), out=seconds)
        seconds[(self.need[:, None] > free[:, None] + SLACK).any(3)] = np.inf
        if self.clash.any():
            for node, task in np.argwhere(placed != OPEN):
                seconds[node][self.clash[task, placed[node, task]]] = np.inf
        return seconds

    def _path_seconds(
        self, placed: Numbers, between: Floats, talk: Floats, cost: Floats, wait: Floats
    ) -> Floats:
        """K x J x M: the slowest path from (or to) each machine, with each task there."""
        used = np.unique(placed[placed != OPEN])  # paths to the other machines carry nothing
        seconds: Floats = between[:, None, :, used] + talk[:, :, None, used]
        seconds *= cost[:, used]
        if wait.any():
            seconds += (seconds > 0) * wait[:, used]
        slowest: Floats = seconds.max(3, initial=0.0)
        return slowest

    def _shared_seconds(self, between: Floats, out: Floats, into: Floats) -> Floats:
        links, count = len(self.shared), len(self.room)
        flat = self.shared.reshape(links, -1)
        now = between.reshape(len(between), -1) @ flat.T
        seconds = out @ self.shared.transpose(2, 1, 0).reshape(count, -1)
        seconds += into @ self.shared.transpose(1, 2, 0).reshape(count, -1)
        seconds = seconds.reshape(*out.shape, links) + now[:, None, None]
        slowest: Floats = (seconds + (seconds > 0) * self.shared_wait).max(3)
        return slowest

    def consistent(self, domain: Flags, possible: Flags) -> Flags:
        """Return the machines of each task that leave a machine to each other task.

        :param domain: J x M; a row of the result without machines shows that there is no placement.
        :param possible: the pairs that are faster than a limit.
        """
        if not len(possible):
            return domain
        while True:
            elsewhere = (possible & domain[:, :, None, None]).any(1)
            left = domain & (elsewhere | (self.sharing & domain[:, None])).all(0)
            linked = ~(elsewhere & left).any(2) | np.eye(len(left), dtype=bool)
            groups = np.linalg.matrix_power(linked, len(left))  # tasks that must share a machine
            left &= np.all((groups @ self.need)[:, None] <= self.room + SLACK, axis=2)
            if not left.any(1).all() or (left == domain).all():
                return left
            domain = left


def _link_arrays(problem: PlacementProblem) -> tuple[Floats, Floats, Floats, Floats]:
    number = {machine.name: index for index, machine in enumerate(problem.machines)}
    size = (len(number), len(number))
    cost, load, shared, shared_wait = np.zeros(size), np.zeros(size), [], []
    for (source, destination), count in problem.load.items():
        if source in number and destination in number:
            load[number[source], number[destination]] = 8 * count
    for link in list_links(problem.snapshot):
        per_bit = 1 / link.rate if link.rate > 0 else DEAD_S
        crosses = np.zeros(size, bool)
        for source, destination in link.pairs:
            if source in number and destination in number:
                crosses[number[source], number[destination]] = True
        cost[crosses] = np.maximum(cost[crosses], per_bit)
        wait = 8 * sum(problem.load.get(pair, 0.0) for pair in link.pairs) * per_bit
        if crosses.sum() > 1 or (crosses.any() and link.kind is not LinkKind.PATH and wait):
            shared.append(crosses * per_bit)
            shared_wait.append(wait)
    return cost, load * cost, np.array(shared).reshape(-1, *size), np.array(shared_wait)


def _list_pair_seconds(bits: Floats, cost: Floats, clash: Flags) -> Floats:
    if clash.size > PAIR_ELEMENTS:
        return np.zeros((0, 0, 0, 0))
    seconds = bits[:, None, :, None] * cost[:, None]
    seconds = np.maximum(seconds, seconds.transpose(2, 3, 0, 1))
    seconds[clash | np.eye(len(cost), dtype=bool)[:, None]] = np.inf
    return seconds


def _find_clashes(problem: PlacementProblem, number: dict[str, int]) -> Flags:
    application, machines = problem.application, problem.machines
    clash = np.zeros((len(number), len(machines)) * 2, bool)
    rules = [
        (pair, np.eye(len(machines), dtype=bool))
        for group in application.apart
        for pair in combinations(group, 2)
    ]
    for pair, most in application.within.items():
        far = [[not are_near(problem, a.name, b.name, most) for b in machines] for a in machines]
        rules.append((pair, np.array(far)))
    for (one, other), together in rules:
        clash[number[one], :, number[other], :] |= together
        clash[number[other], :, number[one], :] |= together.T
    return clash


@dataclass(slots=True)
class _Search:
    """Depth-first search, a batch of nodes at a time.

    :param best: seconds of the best known placement.
    :param stack: open nodes, the next last: K x J machines and K lower bounds.
    :param low: seconds below which there is no placement.
    :param limit: seconds; the search looks for a faster placement.
    :param step: seconds from the last limit to this one.
    :param domain: J x M, the machines of each task in a placement that is faster than the limit.
    :param pairs: the pairs that are faster than the limit.
    :param found: machines of the best placement found by this search.
    :param batches: number since the search started at the root.
    :param pairs_cut: pairs cut all nodes of a batch the last time that they were examined.
    """

    bounds: _Bounds
    best: float
    stack: list[tuple[Numbers, Floats]]
    domain: Flags
    pairs: Flags
    low: float = 0.0
    limit: float = 0.0
    step: float = 0.0
    found: Numbers | None = None
    batches: int = 0
    pairs_cut: bool = False

    @classmethod
    def start(cls, bounds: _Bounds, best: float) -> _Search:
        """Start at the shortest limit that pairs do not rule out."""
        search = cls(bounds, best, [], bounds.allowed, bounds.pairs < best)
        high = limit = search._longest
        while len(bounds.pairs) and high - search.low > LIMIT_PART * search._longest:
            if search._set_limit(limit):
                high = limit
            else:
                search.low = limit
            limit = (search.low + high) / 2
        search.step = high - search.low
        search._start_at_root(high)
        return search

    def lower_bound(self) -> float:
        """Seconds below which there is no placement."""
        return max(self.low, min(self.limit, *(float(least.min()) for _, least in self.stack)))

    def expand_batch(self) -> None:
        """Take nodes from the stack, and push their children."""
        tasks, machines = self.bounds.allowed.shape
        size = max(1, BATCH_ELEMENTS // (tasks * machines * machines))
        placed, least = self.stack.pop()
        if len(least) > size:
            self.stack.append((placed[:-size], least[:-size]))
        alive = least[-size:] < self.limit
        if alive.any():
            self.batches += 1
            self._branch(placed[-size:][alive], least[-size:][alive])
        if self.limit < self._longest and (not self.stack or self.batches >= BATCHES_PER_TASK * tasks):
            self.low = self.low if self.stack else self.limit
            self.step *= 2
            self._start_at_root(min(self._longest, self.limit + self.step))

    @property
    def _longest(self) -> float:
        return self.best * (1 - GAIN)

    def _start_at_root(self, limit: float) -> None:
        self._set_limit(limit)
        self.stack, self.batches = [(np.full((1, len(self.domain)), OPEN), np.zeros(1))], 0

    def _set_limit(self, limit: float) -> bool:
        """Set the limit; return whether pairs leave a machine to each task."""
        self.limit, self.pairs = limit, self.bounds.pairs < limit
        self.domain = self.bounds.consistent(self.bounds.allowed, self.pairs)
        return bool(self.domain.any(1).all())

    def _branch(self, placed: Numbers, least: Floats) -> None:
        seconds = self.bounds.assess(placed)
        open_ = placed == OPEN
        there = placed[:, :, None] == np.arange(len(self.bounds.room))
        possible: Flags = np.where(open_[:, :, None], (seconds < self.limit) & self.domain, there)
        alive: Flags = np.all(possible.any(2), axis=1)
        if self.pairs_cut or self.batches % PAIRS_EVERY == 0:
            for index in np.flatnonzero(alive):
                possible[index] = self.bounds.consistent(possible[index], self.pairs)
            alive = np.all(possible.any(2), axis=1)
            self.pairs_cut = not alive.any()
        traffic = self.bounds.bits.sum(0) + self.bounds.bits.sum(1)
        order = possible.sum(2) - 0.5 * traffic / max(traffic.max(), 1.0)
        task = np.where(open_, order, np.inf).argmin(1)
        each = np.arange(len(task))
        node, machine = np.nonzero(possible[each, task] & alive[:, None])
        if not len(node):
            return
        least = np.maximum(least[node], seconds[node, task[node], machine])
        children = placed[node]
        children[np.arange(len(node)), task[node]] = machine
        if open_[0].sum() == 1:
            best = int(least.argmin())
            self.best, self.found = float(least[best]), children[best]
            if not self._set_limit(self._longest):
                self.stack.clear()
            return
        last_best = np.argsort(-least, kind="stable")
        self.stack.append((children[last_best], least[last_best]))
