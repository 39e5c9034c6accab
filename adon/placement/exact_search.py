"""Exact placement by branch and bound over partial placements, many at a time.

A node of the search tree is a partial placement.  For each open task and machine, :meth:`_Bounds.assess`
gives a lower bound of the completion time with the task there: the time of the bytes between placed tasks on
the paths to and from the machine, on hoses and on shared links.  The search

- branches on the open task with the fewest machines left (first fail; Haralick and Elliott, Artificial
  Intelligence 14, 1980), and tries the fastest machine first;
- cuts nodes that are not faster than the best known placement;
- removes machines by pairs of open tasks (arc consistency; Mackworth, Artificial Intelligence 8, 1977).  Two
  tasks that no path can connect in time must share a machine, and so must all tasks that are connected by
  such pairs; this settles most heavy-tailed transfers;
- repeats this for the root at each faster placement: if a task has no machine left there, the placement is
  the fastest.

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
BATCH_ELEMENTS = 200_000
"""Numbers per array operation, so that the arrays of a batch stay in the processor's cache."""
PAIR_ELEMENTS = 4_000_000
"""Largest table of pairs of open tasks and their machines."""
GAIN = 1e-9
"""A placement is faster if it is by more than this part: rounding."""
PAIRS_USEFUL = 0.85
"""Pairs are examined while this part of the examined nodes is cut by them, and in every 40th batch."""
PAIRS_EVERY = 40


def place_exactly(problem: PlacementProblem, should_stop: Callable[[], bool] = lambda: False) -> Placement:
    """Return the fastest placement, or the fastest that is found in time, with a lower bound.

    :param should_stop: is asked before each batch of nodes, a few hundred times a second.
    :raises NoPlacement: if there is none, or if none was found in time.
    """
    check_feasible(problem)
    try:
        start: Placement | None = place_greedily(problem)
    except NoPlacement:  # the greedy algorithm does not backtrack
        start = None
    bounds = _Bounds.of(problem)
    best = NEVER_S if start is None else start.completion_time_s
    search = _Search(bounds, best, [bounds.root()], bounds.allowed)
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
class _Nodes:
    """K partial placements of J tasks on M machines.

    :param placed: K x J machines, or :data:`OPEN`.
    :param free: K x M x 2, cores and memory.
    :param between: K x M x M bits from machine to machine.
    :param out: K x J x M bits from a task to those on a machine; ``into``: to a task.
    :param seconds: K x J x M, shortest completion time with a task on a machine; inf if it cannot be there.
    """

    placed: Numbers
    free: Floats
    between: Floats
    out: Floats
    into: Floats
    seconds: Floats


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

    @classmethod
    def of(cls, problem: PlacementProblem) -> _Bounds:
        tasks, machines = problem.application.tasks, problem.machines
        number = {task.name: index for index, task in enumerate(tasks)}
        bits = np.zeros((len(tasks), len(tasks)))
        for (sender, receiver), count in problem.application.sent.items():
            bits[number[sender], number[receiver]] = 8.0 * count
        rooms = [Room.of(machine) for machine in machines]
        return cls(
            bits,
            np.array([(task.cores, task.memory) for task in tasks], float),
            np.array(rooms),
            *_link_arrays(problem),
            np.array([[task.pinned in ("", one.name) for one in machines] for task in tasks]),
            _find_clashes(problem, number),
        )

    def root(self) -> tuple[Numbers, Floats]:
        """Return the placement of no task, with its lower bound."""
        return np.full((1, len(self.need)), OPEN), np.zeros(1)

    def assess(self, placed: Numbers, least: Floats) -> _Nodes:
        """Bound the completion times of K partial placements.

        :param least: K seconds of the transfers between tasks that are placed.
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
        np.maximum(seconds, least[:, None, None], out=seconds)
        seconds[(self.need[:, None] > free[:, None] + SLACK).any(3) | ~self.allowed] = np.inf
        if self.clash.any():
            for node, task in np.argwhere(placed != OPEN):
                seconds[node][self.clash[task, placed[node, task]]] = np.inf
        return _Nodes(placed, free, between, out, into, seconds)

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

    def consistent(self, nodes: _Nodes, node: int, domain: Flags, limit: float) -> Flags:
        """Return the machines of ``domain`` that leave a machine to each other open task within a time.

        :param domain: J x M of one node; a row of the result without machines cuts the node.
        """
        open_ = np.flatnonzero(nodes.placed[node] == OPEN)
        if (len(open_) * len(self.room)) ** 2 > PAIR_ELEMENTS:
            return domain
        pairs = self._pairs(nodes, node, open_, limit)
        left = domain[open_]
        while True:
            supported = left & np.all((pairs & left).any(3), axis=2)
            supported &= self._holds_groups(pairs & supported, nodes.free[node], self.need[open_])
            if not supported.any(1).all() or (supported == left).all():
                break
            left = supported
        found = domain.copy()
        found[open_] = supported
        return found

    def _holds_groups(self, pairs: Flags, free: Floats, need: Floats) -> Flags:
        """Open x M: the machine has room for all tasks that must be on the same machine as a task."""
        every = np.arange(len(free))
        pairs[:, every, :, every] = False
        linked = ~pairs.any((1, 3)) | np.eye(len(need), dtype=bool)
        together: Flags = np.linalg.matrix_power(linked, len(need))
        return np.all((together @ need)[:, None] <= free + SLACK, axis=2)  # type: ignore[no-any-return]

    def _pairs(self, nodes: _Nodes, node: int, open_: Numbers, limit: float) -> Flags:
        """Open x M x open x M: two tasks can be there at the same time."""
        # From the first task, on n, to m; and from what is on n to the second task, on m.
        one = (nodes.between[node] + nodes.out[node, open_][:, None]) * self.cost
        other = nodes.into[node, open_][:, None] * self.cost.T
        own = self.bits[np.ix_(open_, open_)]
        seconds = one[:, :, None] + other.transpose(2, 0, 1) + own[:, None, :, None] * self.cost[:, None]
        pairs: Flags = seconds < limit
        pairs &= pairs.transpose(2, 3, 0, 1)
        need, tasks, every = self.need[open_], np.arange(len(open_)), np.arange(len(self.room))
        together = np.all(need[:, None, None] + need[:, None] <= nodes.free[node] + SLACK, axis=3)
        pairs[:, every, :, every] = together.transpose(2, 0, 1)
        pairs &= ~self.clash[open_][:, :, open_]
        pairs[tasks, :, tasks, :] = True
        return pairs


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
    :param domain: J x M, the machines of each task in a placement that is faster than the best.
    :param found: machines of the best placement found by this search.
    """

    bounds: _Bounds
    best: float
    stack: list[tuple[Numbers, Floats]]
    domain: Flags
    found: Numbers | None = None
    batches: int = 0
    useful: float = 1.0

    def lower_bound(self, halvings: int = 10) -> float:
        """Seconds below which there is no placement.

        It is the larger of what the stack leaves open, and a destructive bound (Klein and Scholl, European
        Journal of Operational Research 112, 1999): a time that leaves no machine to some task is too short.
        """
        low, high = 0.0, self.best
        for _ in range(halvings):
            middle = (low + high) / 2
            low, high = (low, middle) if self._root_domain(middle).any(1).all() else (middle, high)
        return max(low, min(self.best, *(float(least.min()) for _, least in self.stack)))

    def expand_batch(self) -> None:
        """Take nodes from the stack, and push their children."""
        tasks, machines = self.bounds.allowed.shape
        size = max(1, BATCH_ELEMENTS // (tasks * machines * machines))
        placed, least = self.stack.pop()
        if len(least) > size:
            self.stack.append((placed[:-size], least[:-size]))
        alive = least[-size:] < self._limit
        if alive.any():
            self.batches += 1
            self._branch(self.bounds.assess(placed[-size:][alive], least[-size:][alive]))

    @property
    def _limit(self) -> float:
        return self.best * (1 - GAIN)

    def _branch(self, nodes: _Nodes) -> None:
        open_ = nodes.placed == OPEN
        possible = (nodes.seconds < self._limit) & open_[:, :, None] & self.domain
        alive = (possible.any(2) | ~open_).all(1)
        if self.useful >= PAIRS_USEFUL or self.batches % PAIRS_EVERY == 0:
            self._examine_pairs(nodes, possible, alive)
        traffic = self.bounds.bits.sum(0) + self.bounds.bits.sum(1)
        order = possible.sum(2) - 0.5 * traffic / max(traffic.max(), 1.0)
        task = np.where(open_, order, np.inf).argmin(1)
        each = np.arange(len(task))
        node, machine = np.nonzero(possible[each, task] & alive[:, None])
        if not len(node):
            return
        least = nodes.seconds[node, task[node], machine]
        children = nodes.placed[node]
        children[np.arange(len(node)), task[node]] = machine
        if open_[0].sum() == 1:
            best = int(least.argmin())
            self.best, self.found = float(least[best]), children[best]
            self.domain = self._root_domain(self._limit)
            return
        last_best = np.argsort(-least, kind="stable")
        self.stack.append((children[last_best], least[last_best]))

    def _root_domain(self, limit: float) -> Flags:
        """Return the machines that each task can have in a placement faster than a time."""
        root = self.bounds.assess(*self.bounds.root())
        return self.bounds.consistent(root, 0, root.seconds[0] < limit, limit)

    def _examine_pairs(self, nodes: _Nodes, possible: Flags, alive: Flags) -> None:
        examined = np.flatnonzero(alive)
        for node in examined.tolist():
            possible[node] = self.bounds.consistent(nodes, node, possible[node], self._limit)
            alive[node] = possible[node].any(1)[nodes.placed[node] == OPEN].all()
        if len(examined):
            self.useful = 0.7 * self.useful + 0.3 * (1 - alive[examined].mean())
