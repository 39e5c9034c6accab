"""Algorithm 1 of [CHOREO]: the pair that transfers most gets the fastest path left.

What the printed algorithm leaves open is settled so:

- *both tasks placed already*: the transfer stays where they are, and takes its share of that path;
- *both on one machine*: possible if it has room for both; that path is infinitely fast;
- *tasks without transfers* come last, largest first, each to where most cores are free;
- *no path left*: an error that names the task and what it lacks, rather than a placement without it.  A
  choice after which the remaining tasks no longer fit by first fit (most cores first) is passed over as long
  as there is another one, so this is rare;
- *equally fast paths*: the machine that comes first.

The rate that a transfer would see is what its path has, divided among the transfers placed on each link of
it before and itself: the pipe model where the link is the path, the hose model where it is the machine's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.placement.completion import links, timed, ways
from adon.placement.constraints import check, fits, less, no_room
from adon.placement.methods import Method
from adon.placement.model import Impossible, Machine, Placement, Problem, Task
from adon.placement.partial import Partial
from measurement.health.model import Pair

Choice = dict[str, str]
"""Machines for the one or two tasks of a transfer."""


def greedy(problem: Problem) -> Placement:
    """Place one application.

    :raises Impossible: naming a task that no machine is left for.
    """
    check(problem)
    state = _State.of(problem)
    partial = state.partial
    for task in problem.application.tasks:
        if task.pinned:
            partial.place(task.name, task.pinned)
    sent = sorted(
        ((pair, count) for pair, count in problem.application.sent.items() if count),
        key=lambda one: (-one[1], one[0]),
    )
    for (one, other), _ in sent:
        state.place(_choice(state, (one, other)))
        state.carry(Pair(partial.machines[one], partial.machines[other]))
    rest = [task for task in problem.application.tasks if task.name not in partial.machines]
    for task in sorted(rest, key=lambda task: (-task.cores, task.name)):
        state.place(_choice(state, (task.name,)))
    return timed(problem, partial.machines, Method.GREEDY)


def _choice(state: _State, names: Sequence[str]) -> Choice:
    """The best machines for those of these tasks that have none yet."""
    partial = state.partial
    open_ = [name for name in names if name not in partial.machines]
    if not open_:
        return {}
    ranked = sorted(_choices(partial, open_), key=lambda one: -_speed(state, names, one))
    for choice in ranked:
        if _rest_fits(partial, choice):
            return choice
    if ranked:
        return ranked[0]
    raise Impossible(f"tasks.{open_[0]}", _lack(partial, open_))


def _choices(partial: Partial, names: Sequence[str]) -> list[Choice]:
    """All ways to place one or two tasks, in the machines' order."""
    first, *rest = names
    found: list[Choice] = []
    for machine in partial.cores:
        if not partial.possible(first, machine):
            continue
        if not rest:
            found.append({first: machine})
            continue
        partial.place(first, machine)
        found += [
            {first: machine, rest[0]: other} for other in partial.cores if partial.possible(rest[0], other)
        ]
        partial.remove(first)
    return found


def _speed(state: _State, names: Sequence[str], choice: Choice) -> float:
    """Bits/s of the transfer there; for a task without transfers, what is free."""
    if len(names) < 2:
        return state.partial.cores[choice[names[0]]]
    one, other = (choice.get(name) or state.partial.machines[name] for name in names)
    return state.speed(Pair(one, other))


def _lack(partial: Partial, names: Sequence[str]) -> str:
    task = partial.tasks[names[0]]
    partner = f" (with {names[1]})" if len(names) > 1 else ""
    room = [left.name for left in partial.free if fits(task, left.cores, left.memory)]
    if not room:
        return f"no machine is left{partner}: {no_room(task, partial.free)}"
    return (
        f"no machine is left{partner}: {', '.join(sorted(room)[:3])} has room, "
        "but no known path to where its transfers go, or what is to be apart or near forbids it"
    )


def _rest_fits(partial: Partial, choice: Choice) -> bool:
    """Whether first fit, largest first, still finds room for everybody else after a choice."""
    for name, machine in choice.items():
        partial.place(name, machine)
    rest = [task for name, task in partial.tasks.items() if name not in partial.machines]
    found = _first_fit(sorted(rest, key=lambda task: -task.cores), partial.free)
    for name in choice:
        partial.remove(name)
    return found


def _first_fit(tasks: Iterable[Task], machines: Iterable[Machine]) -> bool:
    free = list(machines)
    for task in tasks:
        place = next((one for one, left in enumerate(free) if fits(task, left.cores, left.memory)), None)
        if place is None:
            return False
        free[place] = less(free[place], [task])
    return True


@dataclass(slots=True)
class _State:
    """What is placed so far, and what its transfers take.

    :param over: the links that each path is over.
    :param flows: transfers over each link so far.
    """

    partial: Partial
    rates: Sequence[float]
    over: Mapping[Pair, Sequence[int]]
    flows: list[int]

    @classmethod
    def of(cls, problem: Problem) -> _State:
        known = list(links(problem.snapshot))
        over = ways(known)
        flows = [0] * len(known)
        for pair, count in problem.load.items():
            for number in over.get(pair, ()):
                flows[number] += count > 0
        return cls(Partial.of(problem), [link.rate for link in known], over, flows)

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
            self.partial.place(name, machine)
