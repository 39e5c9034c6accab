"""The search behind :mod:`adon.broker.refuge`: which flow goes to which path.

A greedy assignment (the highest priority first, each on the best path with room) is improved by changing one
or two places at a time, and for few flows searched exactly from there: depth first, branch and bound (Land
and Doig 1960).  A branch is cut when even the best path for everybody left cannot beat the best so far.

Everything is a whole number, and what is wanted is a tuple that is compared from the left: per priority level
how many are placed; then, per level, the grades of their paths and their Q.  So sums are exact, and higher
levels outweigh all that is below them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add, sub

from adon.broker.displaced import Displaced, Option
from measurement.model import PathKey

_Q_UNIT = 1e9

Score = tuple[int, ...]
Choice = list[int | None]  # per flow, the index of its option


class Problem:
    """The flows in one fixed order, with everything in whole numbers."""

    def __init__(self, displaced: Iterable[Displaced], room: Mapping[PathKey, float]) -> None:
        self.flows = sorted(displaced, key=lambda flow: (-flow.priority, flow.number))
        self.need = [math.ceil(flow.demand) for flow in self.flows]
        keys = {option.key for flow in self.flows for option in flow.options}
        self.room = {key: max(0, math.floor(room.get(key, 0.0))) for key in keys}
        levels = sorted({flow.priority for flow in self.flows}, reverse=True)
        self.levels, self.width = len(levels), 3 * len(levels)
        self.level = [levels.index(flow.priority) for flow in self.flows]
        self.gain = [[self._gain(i, option) for option in flow.options] for i, flow in enumerate(self.flows)]
        self.ranked = [
            sorted(range(len(gains)), key=lambda one, gains=gains: (gains[one], -one), reverse=True)  # type: ignore[misc]
            for gains in self.gain
        ]
        self.nothing: Score = (0,) * self.width

    def _gain(self, index: int, option: Option) -> Score:
        """What one flow on one path adds: per level how many are placed; then, per level, grade and Q."""
        gain, level = [0] * self.width, self.level[index]
        gain[level] = 1
        first = self.levels + 2 * level
        gain[first : first + 2] = int(option.grade), round(option.q * _Q_UNIT)
        return tuple(gain)

    def key(self, index: int, option: int) -> PathKey:
        """The path of one flow's option."""
        return self.flows[index].options[option].key

    def change(self, index: int, now: int | None, then: int) -> Score:
        """What the score changes by if one flow is elsewhere."""
        if now is None:
            return self.gain[index][then]
        return tuple(map(sub, self.gain[index][then], self.gain[index][now]))

    def score(self, choice: Sequence[int | None]) -> Score:
        """What an assignment is worth."""
        total = self.nothing
        for index, option in enumerate(choice):
            if option is not None:
                total = _plus(total, self.gain[index][option])
        return total

    def free(self, choice: Sequence[int | None]) -> dict[PathKey, int]:
        """What each path has left."""
        left = dict(self.room)
        for index, option in enumerate(choice):
            if option is not None:
                left[self.key(index, option)] -= self.need[index]
        return left


def _plus(one: Score, other: Score) -> Score:
    return tuple(map(add, one, other))


# -- a good start ---------------------------------------------------------------------------------------


def greedy(problem: Problem) -> Choice:
    """The highest priority first, each on the best path that has room for it."""
    left, choice = dict(problem.room), Choice()
    for index, ranked in enumerate(problem.ranked):
        need = problem.need[index]
        taken = next((one for one in ranked if left[problem.key(index, one)] >= need), None)
        if taken is not None:
            left[problem.key(index, taken)] -= need
        choice.append(taken)
    return choice


def improve_choice(problem: Problem, choice: Choice, nodes: int) -> Choice:
    """Change one or two places at a time as long as that is better.

    Preemption of flows of lower priority is searched completely, beyond ``nodes``: no flow is refused in
    favour of a flow of lower priority.
    """
    budget = nodes
    while True:
        better = _by_right(problem, choice)
        if better is None and budget > 0:
            better, used = _by_exchange(problem, choice, budget)
            budget -= used
        if better is None:
            return choice
        choice = better


def _by_right(problem: Problem, choice: Choice) -> Choice | None:
    """Let a refused flow in, where need be in the place of flows of lower priority."""
    left, members = problem.free(choice), _members(problem, choice)
    below = _below(problem, members)
    for index, taken in enumerate(choice):
        if taken is not None:
            continue
        need, level = problem.need[index], problem.level[index]
        for option in problem.ranked[index]:
            key = problem.key(index, option)
            if left[key] + below[key][level] >= need:
                return _let_in(problem, choice, index, option, need - left[key], members[key])
    return None


def _members(problem: Problem, choice: Choice) -> dict[PathKey, list[int]]:
    """The flows on each path, the highest priority first."""
    members: dict[PathKey, list[int]] = {key: [] for key in problem.room}
    for index, option in enumerate(choice):
        if option is not None:
            members[problem.key(index, option)].append(index)
    return members


def _below(problem: Problem, members: Mapping[PathKey, list[int]]) -> dict[PathKey, list[int]]:
    """Per path and level, what the flows of lower priority take there."""
    below = {}
    for key, here in members.items():
        per_level = [0] * (problem.levels + 1)
        for index in here:
            per_level[problem.level[index]] += problem.need[index]
        below[key] = [sum(per_level[level + 1 :]) for level in range(problem.levels)]
    return below


def _let_in(
    problem: Problem, choice: Choice, index: int, option: int, missing: int, there: list[int]
) -> Choice:
    """With this flow on this path; the flows of the lowest priority leave it until enough is free."""
    new = list(choice)
    for other in reversed(there):
        if missing <= 0:
            break
        new[other] = None
        missing -= problem.need[other]
    new[index] = option
    return new


def _by_exchange(problem: Problem, choice: Choice, budget: int) -> tuple[Choice | None, int]:
    """The first better assignment that differs in one or two flows, and how many were looked at.

    A flow goes to another path of its own: as it fits, or after one other flow has gone elsewhere.
    """
    left, members, used = problem.free(choice), _members(problem, choice), 0
    for index, ranked in enumerate(problem.ranked):
        for option in ranked:
            used += 1
            key, gain = problem.key(index, option), problem.change(index, choice[index], option)
            missing = problem.need[index] - left[key]
            if option == choice[index] or (missing <= 0 and gain <= problem.nothing):
                continue
            if missing <= 0:
                return _with(choice, {index: option}), used
            for other, elsewhere in _who_could_go(problem, choice, left, key, missing, members[key], index):
                used += 1
                if _plus(gain, problem.change(other, choice[other], elsewhere)) > problem.nothing:
                    return _with(choice, {index: option, other: elsewhere}), used
            used += len(members[key])
            if used >= budget:
                return None, used
    return None, used


def _who_could_go(
    problem: Problem,
    choice: Choice,
    left: Mapping[PathKey, int],
    key: PathKey,
    missing: int,
    there: list[int],
    newcomer: int,
) -> Iterator[tuple[int, int]]:
    """A flow on this path that takes as much as is missing, and another path of its own with room for it.

    The newcomer's present place counts as room.
    """
    place = choice[newcomer]
    freed = None if place is None else problem.key(newcomer, place)
    for other in there:
        if problem.need[other] < missing:
            continue
        for option in problem.ranked[other]:
            target = problem.key(other, option)
            back = problem.need[newcomer] if target == freed else 0
            if target != key and left[target] + back >= problem.need[other]:
                yield other, option


def _with(choice: Choice, changes: Mapping[int, int]) -> Choice:
    return [changes.get(index, option) for index, option in enumerate(choice)]


# -- the exact search -----------------------------------------------------------------------------------


class Search:
    """Depth first over the flows; a branch that cannot beat the best so far is cut."""

    def __init__(self, problem: Problem, start: Choice, nodes: int) -> None:
        self.best = start
        self._best_score = problem.score(start)
        self._problem = problem
        self._nodes = nodes
        self._left = dict(problem.room)
        self._choice: Choice = [None] * len(problem.flows)
        # What the flows from here on could add at most, if all had their best path.
        self._hope = [problem.nothing]
        for gains in reversed(problem.gain):
            self._hope.append(_plus(self._hope[-1], max(gains, default=problem.nothing)))
        self._hope.reverse()

    def run(self) -> bool:
        """Search; whether the best was found for certain."""
        return self._visit(0, self._problem.nothing)

    def _visit(self, index: int, score: Score) -> bool:
        if self._nodes <= 0:
            return False
        self._nodes -= 1
        if _plus(score, self._hope[index]) <= self._best_score:
            return True
        if index == len(self._choice):
            self.best, self._best_score = list(self._choice), score
            return True
        problem, need, whole = self._problem, self._problem.need[index], True
        for option in problem.ranked[index]:
            key = problem.key(index, option)
            if self._left[key] >= need:
                self._left[key] -= need
                self._choice[index] = option
                whole &= self._visit(index + 1, _plus(score, problem.gain[index][option]))
                self._left[key] += need
        self._choice[index] = None
        return self._visit(index + 1, score) and whole
