"""The fastest placement there is, as far as there is time to find and to prove it.

It begins with the greedy placement, so it is never slower than that.  Then three things take turns:

- a short search of the whole tree (:mod:`~adon.placement.search`), which settles what is settled by forcing
  tasks together, as heavy-tailed transfers mostly are;
- *large neighbourhood search* (Shaw, CP 1998): some tasks, among them some of those at the link that decides,
  are taken off their machines and placed anew by the same search, until so many attempts in a row gain
  nothing;
- the rest of the tree.  Whenever it finds something better, neighbourhoods are searched again from there.

If the tree is done, the placement is proven to be the fastest; if it is not, what was left bounds by how much
it may not be.  When to stop is the caller's: nothing here looks at a clock.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from adon.placement.arrays import NEVER_S, Arrays, Numbers
from adon.placement.completion import timed
from adon.placement.constraints import check
from adon.placement.greedy import greedy
from adon.placement.methods import Method
from adon.placement.model import Assignment, Impossible, Placement, Problem
from adon.placement.nodes import OPEN, Space
from adon.placement.pairs import floor
from adon.placement.search import Search

Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Effort:
    """How the turns are dealt; in steps of the search, of about a millisecond.

    :param first: of the tree, before neighbourhoods are searched.
    :param around: at most so many for one neighbourhood.
    :param patience: so many neighbourhoods without gain end their search.
    :param taken_off: tasks that are placed anew in one; ``part``: at most this part of all.
    """

    first: int = 150
    around: int = 250
    patience: int = 6
    taken_off: int = 13
    part: float = 0.8


USUAL = Effort()
"""Found by trying, on uniform transfers of 15 and 20 tasks: what is best after a second."""


def never() -> bool:
    """Do not stop before it is proven."""
    return False


def exact(problem: Problem, stop: Stop = never, seed: int = 1, effort: Effort = USUAL) -> Placement:
    """The fastest placement found until it is proven or we are told to stop.

    :param stop: asked again and again, some hundred times a second or more.
    :param seed: of the choice of neighbourhoods.
    :raises Impossible: if there is none, or none was found before we were told to stop.
    """
    check(problem)
    start = _start(problem)
    turns = _Turns(problem, start, random.Random(seed), effort)  # noqa: S311 - of a search, not of secrets
    while not (turns.done or stop()):
        turns.take()
    return turns.result()


def _start(problem: Problem) -> Placement | None:
    try:
        return greedy(problem)
    except Impossible:
        return None  # it does not look back; the search does


class _Turns:
    """The state between two turns."""

    def __init__(
        self, problem: Problem, start: Placement | None, chance: random.Random, effort: Effort
    ) -> None:
        self._problem, self._chance, self._effort = problem, chance, effort
        self._space = Space(Arrays.of(problem))
        self._names = [machine.name for machine in problem.machines]
        self._best: Numbers | None = None
        self._seconds = NEVER_S
        if start is not None:
            number = {name: index for index, name in enumerate(self._names)}
            self._best = np.array([number[start.machines[task.name]] for task in problem.application.tasks])
            self._seconds = start.seconds
        count = len(problem.application.tasks)
        self._tree = Search.below(self._space, np.full(count, OPEN), self._seconds)
        self._around: Search | None = None  # the neighbourhood that is being searched
        self._steps, self._around_steps, self._quiet = 0, 0, 0

    @property
    def done(self) -> bool:
        """Whether the best is proven."""
        return self._tree.done

    def take(self) -> None:
        """One turn: one step of one search."""
        if self._best is None or self._steps < self._effort.first or self._quiet >= self._effort.patience:
            self._steps += 1
            self._tree.step()
            self._adopt(self._tree)
            return
        if self._around is None:
            placed = self._best.copy()
            placed[self._taken_off(self._best)] = OPEN
            self._around, self._around_steps = Search.below(self._space, placed, self._seconds), 0
        self._around.step()
        self._around_steps += 1
        if self._around.done or self._around_steps >= self._effort.around:
            self._quiet += 1
            self._adopt(self._around)
            self._around = None

    def _adopt(self, search: Search) -> None:
        """What a search has found, if that is better than all before."""
        if search.found is not None and search.best < self._seconds:
            self._best, self._seconds, self._quiet = search.found, search.best, 0
            self._tree.best = search.best

    def _taken_off(self, placed: Numbers) -> Numbers:
        """Some tasks at the link that decides, and some others."""
        there = np.flatnonzero(np.isin(placed, self._space.deciding(placed)))
        count = max(1, min(self._effort.taken_off, int(self._effort.part * len(placed))))
        some = self._chance.sample(sorted(there), min(len(there), self._chance.randint(1, count)))
        others = [task for task in range(len(placed)) if task not in some]
        return np.array([*some, *self._chance.sample(others, count - len(some))])

    def result(self) -> Placement:
        """The best so far.

        :raises Impossible: if there is none.
        """
        if self._around is not None:
            self._adopt(self._around)
        if self._best is None and self.done:
            raise Impossible("tasks", "no placement keeps everything that is asked for: all were ruled out")
        if self._best is None:
            raise Impossible("tasks", "no placement was found in this time; there may be one")
        machines: Assignment = {
            task.name: self._names[place]
            for task, place in zip(self._problem.application.tasks, self._best, strict=True)
        }
        found = timed(self._problem, machines, Method.EXACT)
        return replace(found, proven=self.done, bound=found.seconds if self.done else self._bound(found))

    def _bound(self, found: Placement) -> float:
        """What is known where it is not proven: what the tree has left, what pairs rule out at its root."""
        root = self._space.root(np.full(len(found.machines), OPEN))
        ruled_out = floor(self._space, root, found.seconds)
        return min(found.seconds, max(self._tree.bound, ruled_out))
