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
from dataclasses import replace

import numpy as np

from adon.placement.arrays import NEVER_S, Arrays, Numbers
from adon.placement.completion import timed
from adon.placement.constraints import check
from adon.placement.greedy import greedy
from adon.placement.model import Assignment, Impossible, Method, Placement, Problem
from adon.placement.nodes import OPEN, Space
from adon.placement.search import Search

FIRST_STEPS = 40
"""Of the tree, before neighbourhoods are searched."""
PATIENCE = 60
"""So many neighbourhoods without gain end their search."""
TAKEN_OFF = 7
"""Tasks that are placed anew in one neighbourhood."""
STEPS = 25
"""At most so many steps of the search go into one neighbourhood."""

Stop = Callable[[], bool]


def never() -> bool:
    """Do not stop before it is proven."""
    return False


def exact(problem: Problem, stop: Stop = never, seed: int = 1) -> Placement:
    """The fastest placement found until it is proven or we are told to stop.

    :param stop: asked again and again, some hundred times a second or more.
    :param seed: of the choice of neighbourhoods.
    :raises Impossible: if there is none, or none was found before we were told to stop.
    """
    check(problem)
    start = _start(problem)
    turns = _Turns(problem, start, random.Random(seed))  # noqa: S311 - chance for a search, not for secrets
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

    def __init__(self, problem: Problem, start: Placement | None, chance: random.Random) -> None:
        self._problem, self._chance = problem, chance
        self._space = Space(Arrays.of(problem))
        self._names = [machine.name for machine in problem.machines]
        self._best: Numbers | None = None
        seconds = NEVER_S
        if start is not None:
            number = {name: index for index, name in enumerate(self._names)}
            self._best = np.array([number[start.machines[task.name]] for task in problem.application.tasks])
            seconds = start.seconds
        count = len(problem.application.tasks)
        self._tree = Search.below(self._space, np.full(count, OPEN), seconds)
        self._steps, self._quiet = 0, 0

    @property
    def done(self) -> bool:
        """Whether the best is proven."""
        return self._tree.done

    def take(self) -> None:
        """One turn."""
        if self._best is None or self._steps < FIRST_STEPS or self._quiet >= PATIENCE:
            self._steps += 1
            self._tree.step()
            self._adopt(self._tree)
        else:
            self._neighbourhood(self._best)

    def _neighbourhood(self, best: Numbers) -> None:
        placed = best.copy()
        placed[self._taken_off(best)] = OPEN
        around = Search.below(self._space, placed, self._tree.best)
        for _ in range(STEPS):
            if around.done:
                break
            around.step()
        self._quiet += 1
        self._adopt(around)

    def _adopt(self, search: Search) -> None:
        if search.found is not None and search.best <= self._tree.best and search.found is not self._best:
            self._best, self._tree.best, self._quiet = search.found, search.best, 0

    def _taken_off(self, placed: Numbers) -> Numbers:
        """Some tasks at the link that decides, and some others."""
        there = np.flatnonzero(np.isin(placed, self._space.deciding(placed)))
        count = min(TAKEN_OFF, len(placed))
        some = self._chance.sample(sorted(there), min(len(there), self._chance.randint(1, count)))
        others = [task for task in range(len(placed)) if task not in some]
        return np.array([*some, *self._chance.sample(others, count - len(some))])

    def result(self) -> Placement:
        """The best so far.

        :raises Impossible: if there is none.
        """
        if self._best is None and self.done:
            raise Impossible("tasks", "no placement keeps everything that is asked for: all were ruled out")
        if self._best is None:
            raise Impossible("tasks", "no placement was found in this time; there may be one")
        machines: Assignment = {
            task.name: self._names[place]
            for task, place in zip(self._problem.application.tasks, self._best, strict=True)
        }
        found = timed(self._problem, machines, Method.EXACT)
        bound = found.seconds if self.done else min(found.seconds, self._tree.bound)
        return replace(found, proven=self.done, bound=bound)
