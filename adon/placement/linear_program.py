"""The linear program of [CHOREO]'s appendix, with its mistakes corrected, solved by PuLP.

x[j, m] = 1 places task j on machine m; z[i, j, m, n] = 1 if i is on m and j on n; T is the completion time::

    minimise T
    sum over m of x[j, m] = 1                             for each task j
    sum over j of cores[j] x[j, m] <= cores[m]            for each machine m; memory likewise
    sum over n of z[i, j, m, n] = x[i, m]                 for tasks i < j that exchange bytes, and each m
    sum over m of z[i, j, m, n] = x[j, n]                 ... and each n
    8 * (bytes over the link) <= rate * T                 for each path, hose and shared link

It differs from the printed program as follows:

- The rate rows count both directions: the bytes from j to i, with i < j, are on z[i, j, n, m].
- They exist for every link that paths share; the printed rows are those of S = identity.
- The two sums over z replace the printed sum of all z of a task, J - 1, and the rows z <= x.  They imply
  both, and their relaxation is tighter.  Tasks without transfers have no z.
- Bytes of others count on a link only if the application uses the link.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pulp

from adon.placement.completion import list_links, place_at
from adon.placement.constraints import are_near, check_feasible
from adon.placement.greedy import place_greedily
from adon.placement.model import Method, NoPlacement, Placement, PlacementProblem
from measurement.health.model import Pair


def place_by_linear_program(problem: PlacementProblem, time_limit_s: float) -> Placement:
    """Return the solver's placement; it is proven if the solver ends in time.

    :param time_limit_s: seconds for the solver; the program is built before.
    :raises NoPlacement: if there is none, or if the solver found none in time.
    """
    check_feasible(problem)
    program = _Program(problem)
    program.model.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=time_limit_s, threads=1))
    status = program.model.sol_status
    if status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        infeasible = status == pulp.LpSolutionInfeasible
        cause = "no placement meets all constraints" if infeasible else "no placement was found in time"
        raise NoPlacement.of("tasks", cause)
    found = place_at(problem, program.read_assignment(), Method.LINEAR_PROGRAM)
    proven = status == pulp.LpSolutionOptimal
    return replace(found, proven=proven, lower_bound_s=found.completion_time_s if proven else 0.0)


class _Program:
    """The program of one problem.

    :ivar on: x of each task and machine.
    :ivar both: z of each pair of tasks that exchange bytes, by their machines.
    """

    def __init__(self, problem: PlacementProblem) -> None:
        self._problem, self._application = problem, problem.application
        self._names = [machine.name for machine in problem.machines]
        tasks, sent = [task.name for task in self._application.tasks], self._application.sent
        exchanging = [(i, j) for i, j in combinations(tasks, 2) if sent.get((i, j)) or sent.get((j, i))]
        self.on = _make_variables("x", product(tasks, self._names), cat=pulp.LpBinary)
        self.both = _make_variables("z", product(exchanging, self._names, self._names), lowBound=0)
        self._time = pulp.LpVariable("T", 0)
        self._unit = _estimate_seconds(problem)
        self.model = pulp.LpProblem("placement", pulp.LpMinimize)
        self.model += self._time
        self._add_machines()
        self._add_pairs(exchanging)
        self._add_links()

    def read_assignment(self) -> dict[str, str]:
        """Return the machine of each task in the solution."""
        return {task: name for (task, name), on in self.on.items() if on.value() > 0.5}

    def _add_machines(self) -> None:
        tasks, on = self._application.tasks, self.on
        for task in tasks:
            self.model += pulp.lpSum(on[task.name, name] for name in self._names) == 1
            if task.pinned:
                self.model += on[task.name, task.pinned] == 1
        for machine in self._problem.machines:
            name, memory = machine.name, machine.memory
            self.model += pulp.lpSum(task.cores * on[task.name, name] for task in tasks) <= machine.cores
            if memory is not None:  # in parts of it, because the solver's tolerance is absolute
                unit = max(1, memory)
                parts = pulp.lpSum(task.memory / unit * on[task.name, name] for task in tasks)
                self.model += parts <= memory / unit
        for group, name in product(self._application.apart, self._names):
            self.model += pulp.lpSum(on[task, name] for task in group) <= 1

    def _add_pairs(self, exchanging: list[tuple[str, str]]) -> None:
        for pair, here in product(exchanging, self._names):
            self.model += pulp.lpSum(self.both[pair, here, n] for n in self._names) == self.on[pair[0], here]
            self.model += pulp.lpSum(self.both[pair, m, here] for m in self._names) == self.on[pair[1], here]
        for ((one, other), most), here in product(self._application.within.items(), self._names):
            far = [name for name in self._names if not are_near(self._problem, here, name, most)]
            self.model += pulp.lpSum(self.on[other, name] for name in far) <= 1 - self.on[one, here]

    def _add_links(self) -> None:
        sent = self._application.sent
        loads: dict[Pair, list[tuple[float, pulp.LpVariable]]] = {}
        for ((one, other), m, n), both in self.both.items():
            for pair, count in ((Pair(m, n), sent.get((one, other))), (Pair(n, m), sent.get((other, one)))):
                if count and m != n:
                    loads.setdefault(pair, []).append((8.0 * count / self._unit, both))
        for index, link in enumerate(list_links(self._problem.snapshot)):
            terms = [term for pair in sorted(link.pairs) for term in loads.get(pair, ())]
            waiting = 8 * sum(self._problem.load.get(pair, 0.0) for pair in link.pairs) / self._unit
            if link.rate <= 0:
                self.model += pulp.lpSum(both for _, both in terms) == 0
                continue
            seconds = [bits / link.rate * both for bits, both in terms]
            if waiting and terms:
                used = pulp.LpVariable(f"u{index}", 0, 1)
                seconds.append(waiting / link.rate * used)
                for _, both in terms:
                    self.model += both <= used
            self.model += pulp.lpSum(seconds) <= self._time


def _estimate_seconds(problem: PlacementProblem) -> float:
    """Return the program's unit of time, because the solver's tolerance is absolute."""
    try:
        return place_greedily(problem).completion_time_s or 1.0
    except NoPlacement:
        return 1.0


def _make_variables(prefix: str, keys: Iterable[Any], **options: Any) -> dict[Any, pulp.LpVariable]:
    """Return a variable per key; the solver does not take all names of tasks and machines."""
    return {key: pulp.LpVariable(f"{prefix}{index}", **options) for index, key in enumerate(keys)}
