"""Where flows that lose their paths go, planned together (spec section 4).

Flows that one event displaces would each, by themselves, flee to the same best path and over-subscribe it.
Here all of them are assigned at once.  Each flow brings the paths it could take; each path has room for so
many bits/s of throughput bounds.  Wanted, in this order:

1. as many flows as possible have a path, counted priority by priority from the highest down: no flow is
   refused for the sake of one of lower priority;
2. what is known of their paths is as good as possible (:class:`Grade`), and then the sum of their Q
   (equation 3) as high as possible, again from the highest priority down.

That is a multiple-choice knapsack with several knapsacks, which is NP-hard (Kellerer, Pferschy, Pisinger,
*Knapsack Problems*, 2004, chapters 10 and 11), hence a search that is bounded in nodes: depth first, branch
and bound, from a start that a greedy assignment and local improvement give.  Small sets are solved exactly,
large ones keep what local improvement found; :attr:`Plan.exact` says which.  Rates are counted in whole
bits/s (needs rounded up, room rounded down) and Q in billionths, so that sums are exact and the result does
not depend on the order in which flows are named.

Values and functions only: how flows, paths and room come about is :mod:`adon.broker.fleeing`'s business.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import add

from adon.units import format_rate
from measurement.model import PathKey

NODES = 20_000
"""Assignments looked at before the best one found so far is taken."""

EXACT_FLOWS = 14
"""More flows than this are not searched exactly: the nodes would be spent in one corner of the tree."""

_Q_UNIT = 1e9


class Grade(IntEnum):
    """How much is known in favour of a path; more is better."""

    UNKNOWN = 0
    """Usable, and nothing is known, or what was known last missed a bound."""
    LAST_KNOWN = 1
    """Its values are too old to trust; the last ones kept every bound."""
    QUALIFIED = 2
    """It keeps every bound by values of today."""


@dataclass(frozen=True, slots=True)
class Option:
    """A path that a displaced flow could take; ``q`` is 0 where there is none."""

    key: PathKey
    grade: Grade
    q: float = 0.0

    @property
    def words(self) -> str:
        """``al2s (Q 8.2)``."""
        return {
            Grade.QUALIFIED: f"{self.key.path} (Q {self.q:.3g})",
            Grade.LAST_KNOWN: f"{self.key.path} (Q {self.q:.3g} by its last known values)",
            Grade.UNKNOWN: f"{self.key.path} (nothing is known of it now)",
        }[self.grade]


@dataclass(frozen=True, slots=True)
class Displaced:
    """A flow that needs another path.

    :param demand: its throughput bound in bits/s, 0 without one.
    :param options: the paths it could take, in the order of the configuration, which decides among equals.
    """

    number: int
    priority: int
    demand: float
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """What the plan has for one flow; without an option it finds no refuge."""

    number: int
    option: Option | None
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A place per flow, and whether no better plan exists for certain."""

    places: Mapping[int, Place]
    exact: bool


_Score = tuple[int, ...]
_Choice = list[int | None]  # per flow, the index of its option


class _Problem:
    """The flows in one fixed order, with everything in whole numbers."""

    def __init__(self, displaced: Iterable[Displaced], room: Mapping[PathKey, float]) -> None:
        self.flows = sorted(displaced, key=lambda flow: (-flow.priority, flow.number))
        self.need = [math.ceil(flow.demand) for flow in self.flows]
        keys = {option.key for flow in self.flows for option in flow.options}
        self.room = {key: max(0, math.floor(room.get(key, 0.0))) for key in keys}
        levels = sorted({flow.priority for flow in self.flows}, reverse=True)
        self.width = 3 * len(levels)
        self.level = [levels.index(flow.priority) for flow in self.flows]
        self.gain = [[self._gain(i, option) for option in flow.options] for i, flow in enumerate(self.flows)]
        self.ranked = [
            sorted(range(len(gains)), key=lambda one, gains=gains: (gains[one], -one), reverse=True)  # type: ignore[misc]
            for gains in self.gain
        ]
        self.nothing: _Score = (0,) * self.width

    def _gain(self, index: int, option: Option) -> _Score:
        """What one flow on one path adds: per level how many are placed; then, per level, grade and Q."""
        gain, level = [0] * self.width, self.level[index]
        gain[level] = 1
        first = self.width // 3 + 2 * level
        gain[first : first + 2] = int(option.grade), round(option.q * _Q_UNIT)
        return tuple(gain)

    def key(self, index: int, option: int) -> PathKey:
        return self.flows[index].options[option].key

    def score(self, choice: Sequence[int | None]) -> _Score:
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


def plan(displaced: Iterable[Displaced], room: Mapping[PathKey, float], nodes: int = NODES) -> Plan:
    """Assign every flow a refuge, or none, so that no path gets more bounds than it has room for.

    :param room: per directed path, the bits/s of bounds that it can still take; one not named has none.
    :param nodes: how far to search.
    """
    problem = _Problem(displaced, room)
    start = [ranked[0] if ranked else None for ranked in problem.ranked]
    if all(left >= 0 for left in problem.free(start).values()):
        return _told(problem, start, exact=True)  # everybody has the best there is
    choice = _improved(problem, _greedy(problem), nodes)
    exact = False
    if len(problem.flows) <= EXACT_FLOWS:
        search = _Search(problem, choice, nodes)
        exact = search.run()
        choice = search.best if exact else _improved(problem, search.best, nodes)
    return _told(problem, choice, exact=exact)


def _plus(one: _Score, other: _Score) -> _Score:
    return tuple(map(add, one, other))


# -- a good start ---------------------------------------------------------------------------------------


def _greedy(problem: _Problem) -> _Choice:
    """The highest priority first, each on the best path that has room for it."""
    left, choice = dict(problem.room), _Choice()
    for index, ranked in enumerate(problem.ranked):
        need = problem.need[index]
        taken = next((one for one in ranked if left[problem.key(index, one)] >= need), None)
        if taken is not None:
            left[problem.key(index, taken)] -= need
        choice.append(taken)
    return choice


def _improved(problem: _Problem, choice: _Choice, nodes: int) -> _Choice:
    """Change one or two places at a time as long as that is better.

    Taking the place of flows of lower priority is tried to the end, whatever ``nodes`` allows: that nobody is
    refused for their sake is a promise.
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


def _by_right(problem: _Problem, choice: _Choice) -> _Choice | None:
    """Let a refused flow in, where need be in the place of flows of lower priority."""
    left = problem.free(choice)
    for index, taken in enumerate(choice):
        if taken is not None:
            continue
        for option in problem.ranked[index]:
            key = problem.key(index, option)
            lower = _lower_on(problem, choice, key, problem.level[index])
            missing, evicted = problem.need[index] - left[key], set[int]()
            while missing > 0 and lower:
                missing -= problem.need[lower[-1]]
                evicted.add(lower.pop())
            if missing <= 0:
                new = [None if at in evicted else one for at, one in enumerate(choice)]
                new[index] = option
                return new
    return None


def _lower_on(problem: _Problem, choice: _Choice, key: PathKey, level: int) -> list[int]:
    """The flows on a path whose priority is below this level's, the lowest last."""
    return [
        at
        for at, one in enumerate(choice)
        if one is not None and problem.level[at] > level and problem.key(at, one) == key
    ]


def _by_exchange(problem: _Problem, choice: _Choice, budget: int) -> tuple[_Choice | None, int]:
    """The first better assignment that differs in one or two flows, and how many were looked at."""
    now, left, used = problem.score(choice), problem.free(choice), 0
    for index, ranked in enumerate(problem.ranked):
        for option in ranked:
            if option == choice[index]:
                continue
            for new in _making_room(problem, choice, left, index, option):
                used += 1
                if problem.score(new) > now:
                    return new, used
                if used >= budget:
                    return None, used
    return None, used


def _making_room(
    problem: _Problem, choice: _Choice, left: Mapping[PathKey, int], index: int, option: int
) -> Iterable[_Choice]:
    """A flow on another path of its own, as it fits, or after one other flow has gone elsewhere."""
    key, here = problem.key(index, option), choice[index]
    came_from = None if here is None else problem.key(index, here)
    missing = problem.need[index] - left[key]
    new = list(choice)
    new[index] = option
    if missing <= 0:
        yield new
        return
    for other, at in enumerate(choice):
        if at is None or other == index or problem.key(other, at) != key or problem.need[other] < missing:
            continue
        for elsewhere in problem.ranked[other]:
            target = problem.key(other, elsewhere)
            back = problem.need[index] if target == came_from else 0
            if target != key and left[target] + back >= problem.need[other]:
                moved = list(new)
                moved[other] = elsewhere
                yield moved


# -- the exact search -----------------------------------------------------------------------------------


class _Search:
    """Depth first over the flows; a branch that cannot beat the best so far is cut."""

    def __init__(self, problem: _Problem, start: _Choice, nodes: int) -> None:
        self.best = start
        self._best_score = problem.score(start)
        self._problem = problem
        self._nodes = nodes
        self._left = dict(problem.room)
        self._choice: _Choice = [None] * len(problem.flows)
        # What the flows from here on could add at most, if all had their best path.
        self._hope = [problem.nothing]
        for gains in reversed(problem.gain):
            self._hope.append(_plus(self._hope[-1], max(gains, default=problem.nothing)))
        self._hope.reverse()

    def run(self) -> bool:
        """Search; whether the best was found for certain."""
        return self._visit(0, self._problem.nothing)

    def _visit(self, index: int, score: _Score) -> bool:
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


# -- in words -------------------------------------------------------------------------------------------


def _told(problem: _Problem, choice: Sequence[int | None], *, exact: bool) -> Plan:
    left = problem.free(choice)
    places = {
        flow.number: _place(problem, index, choice[index], left) for index, flow in enumerate(problem.flows)
    }
    return Plan(places, exact)


def _place(problem: _Problem, index: int, taken: int | None, left: Mapping[PathKey, int]) -> Place:
    flow, ranked = problem.flows[index], problem.ranked[index]
    better = ranked if taken is None else ranked[: ranked.index(taken)]
    full = "; ".join(_no_room(flow.options[one], problem, left) for one in better)
    if taken is None:
        asked = (
            f"{format_rate(problem.need[index])} find no room: {full}" if full else "there is no other path"
        )
        return Place(flow.number, None, asked)
    option = flow.options[taken]
    words = f"{option.words}, " + (f"because others need {full}" if full else "its best")
    return Place(flow.number, option, words)


def _no_room(option: Option, problem: _Problem, left: Mapping[PathKey, int]) -> str:
    room, free = problem.room[option.key], left[option.key]
    return f"{option.words}, {format_rate(free)} left of {format_rate(room)}"
