"""Algorithm 1 of [CHOREO]: the pair that transfers most gets the fastest path left.

What the printed algorithm leaves open is settled so:

- *both tasks placed already*: the transfer stays where they are, and takes its share of that path;
- *both on one machine*: possible if it has room for both; that path is infinitely fast;
- *tasks without transfers* come last, largest first, each to where most cores are free;
- *no path left*: an error that names the task and what it lacks, rather than a placement without it.  A
  choice after which the remaining tasks no longer fit by first fit (largest first) is passed over as long as
  there is another one, so this is rare;
- *equally fast paths*: the machine that comes first.

The rate that a transfer would see is what its path has, divided among the transfers placed on each link of
it before and itself: the pipe model where the link is the path, the hose model where it is the machine's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from adon.placement.completion import links, timed
from adon.placement.constraints import SLACK, check, fits, near
from adon.placement.model import Impossible, Method, Placement, Problem, Task
from measurement.health.model import Pair

Choice = dict[str, str]
"""Machines for the one or two tasks of a transfer."""


def greedy(problem: Problem) -> Placement:
    """Place one application.

    :raises Impossible: naming a task that no machine is left for.
    """
    check(problem)
    state = _State.of(problem)
    for task in problem.application.tasks:
        if task.pinned:
            state.place({task.name: task.pinned})
    sent = sorted(
        ((pair, count) for pair, count in problem.application.sent.items() if count),
        key=lambda one: (-one[1], one[0]),
    )
    for (one, other), _ in sent:
        state.place(_choice(state, (one, other)))
        state.carry(Pair(state.machines[one], state.machines[other]))
    rest = [task for task in problem.application.tasks if task.name not in state.machines]
    for task in sorted(rest, key=lambda task: (-task.cores, task.name)):
        state.place(_choice(state, (task.name,)))
    return timed(problem, state.machines, Method.GREEDY)


def _choice(state: _State, names: Sequence[str]) -> Choice:
    """The best machines for those of these tasks that have none yet."""
    open_ = [name for name in names if name not in state.machines]
    if not open_:
        return {}
    ranked = sorted(state.choices(open_), key=lambda one: -_speed(state, names, one))
    for choice in ranked:
        if state.rest_fits(choice):
            return choice
    if ranked:
        return ranked[0]
    raise Impossible(f"tasks.{open_[0]}", _lack(state, open_))


def _speed(state: _State, names: Sequence[str], choice: Choice) -> float:
    """Bits/s of the transfer there; for a task without transfers, what is free."""
    if len(names) < 2:
        return state.cores[choice[names[0]]]
    one, other = (choice.get(name) or state.machines[name] for name in names)
    return state.speed(Pair(one, other))


def _lack(state: _State, names: Sequence[str]) -> str:
    task = state.tasks[names[0]]
    partner = f" (with {names[1]})" if len(names) > 1 else ""
    room = [name for name in state.cores if fits(task, state.cores[name], state.memory[name])]
    if not room:
        most = max(state.cores.values())
        return f"no machine is left{partner}: it needs {task.cores:g} cores; at most {most:g} are free on one"
    return (
        f"no machine is left{partner}: {', '.join(sorted(room)[:3])} has room, "
        "but no known path to where its transfers go, or what is to be apart or near forbids it"
    )


@dataclass(slots=True)
class _State:
    """What is placed so far, and what is free.

    :param flows: transfers over each link so far.
    :param partners: with whom each task has transfers, where some paths are not known; else empty.
    :param silent: machines between which nothing is known to get through.
    """

    problem: Problem
    tasks: dict[str, Task]
    cores: dict[str, float]
    memory: dict[str, int | None]
    rates: Sequence[float]
    over: dict[Pair, list[int]]
    flows: list[int]
    partners: dict[str, list[tuple[str, str]]]
    silent: frozenset[Pair]
    machines: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem) -> _State:
        known = list(links(problem.snapshot))
        over: dict[Pair, list[int]] = {}
        for number, link in enumerate(known):
            for pair in link.pairs:
                over.setdefault(pair, []).append(number)
        flows = [0] * len(known)
        for pair, count in problem.load.items():
            for number in over.get(pair, ()):
                flows[number] += count > 0
        silent = frozenset(
            pair for pair, numbers in over.items() if any(known[number].rate <= 0 for number in numbers)
        )
        partners: dict[str, list[tuple[str, str]]] = {}
        for transfer, count in problem.application.sent.items():
            for name in transfer if count and silent else ():
                partners.setdefault(name, []).append(transfer)
        return cls(
            problem,
            {task.name: task for task in problem.application.tasks},
            {machine.name: machine.cores for machine in problem.machines},
            {machine.name: machine.memory for machine in problem.machines},
            [link.rate for link in known],
            over,
            flows,
            partners,
            silent,
        )

    def speed(self, pair: Pair) -> float:
        """What one more transfer would have between two machines."""
        if pair.source == pair.destination:
            return math.inf
        return min(self.rates[number] / (self.flows[number] + 1) for number in self.over[pair])

    def carry(self, pair: Pair) -> None:
        """One transfer more."""
        for number in self.over.get(pair, ()):
            self.flows[number] += 1

    def place(self, choice: Choice) -> None:
        """Put tasks onto machines."""
        for name, machine in choice.items():
            task, memory = self.tasks[name], self.memory[machine]
            self.machines[name] = machine
            self.cores[machine] -= task.cores
            self.memory[machine] = None if memory is None else memory - task.memory

    def choices(self, names: Sequence[str]) -> Iterator[Choice]:
        """All ways to place one or two tasks, in the machines' order."""
        first = self.tasks[names[0]]
        for machine in self.cores:
            if not self._possible(first, machine, {}):
                continue
            if len(names) == 1:
                yield {first.name: machine}
                continue
            for other in self.cores:
                if self._possible(self.tasks[names[1]], other, {first.name: machine}):
                    yield {first.name: machine, names[1]: other}

    def _possible(self, task: Task, machine: str, beside: Choice) -> bool:
        taken = [self.tasks[name] for name, place in beside.items() if place == machine]
        cores = self.cores[machine] - math.fsum(one.cores for one in taken)
        memory = self.memory[machine]
        memory = None if memory is None else memory - sum(one.memory for one in taken)
        if not fits(task, cores, memory):
            return False
        placed = {**self.machines, **beside}
        return self._apart(task.name, machine, placed) and self._reaches(task.name, machine, placed)

    def _apart(self, name: str, machine: str, placed: Choice) -> bool:
        return not any(
            name in group and any(placed.get(one) == machine for one in group - {name})
            for group in self.problem.application.apart
        )

    def _reaches(self, name: str, machine: str, placed: Choice) -> bool:
        """Whether the ways to and from all that is placed are known, and near enough."""
        return not any(
            pair in self.silent
            for one, other in self.partners.get(name, ())
            if one in placed or other in placed
            for pair in [Pair(placed.get(one, machine), placed.get(other, machine))]
        ) and all(
            near(self.problem, placed.get(one, machine), placed.get(other, machine), most)
            for (one, other), most in self.problem.application.within.items()
            if name in (one, other)
        )

    def rest_fits(self, choice: Choice) -> bool:
        """Whether first fit, largest first, still finds room for everybody else after a choice."""
        cores = dict(self.cores)
        for name, machine in choice.items():
            cores[machine] -= self.tasks[name].cores
        return _first_fit(
            (task.cores for task in self.tasks.values() if task.name not in self.machines | choice),
            list(cores.values()),
        )


def _first_fit(wanted: Iterable[float], free: list[float]) -> bool:
    for cores in sorted(wanted, reverse=True):
        place = next((one for one, left in enumerate(free) if cores <= left + SLACK), None)
        if place is None:
            return False
        free[place] -= cores
    return True
