"""Which instances to take, by the health of their pairs ([HEALTH] 7 and 8).

A job that reads from one place wants the instances that stand best towards it (:func:`towards`); one whose
parts talk to each other wants a set that stands well among itself (:func:`mutually`).  The latter is the
heaviest subgraph of k nodes, which is NP-hard: searched from the best guess on, with a bound, as far as a
number of steps goes, and it says whether better sets are ruled out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations

from measurement.health.model import Pair
from measurement.health.scoring import Score

STEPS = 200_000
"""Partial sets that are looked at, at most: about a second."""
_LESS = 1e-12


class Direction(StrEnum):
    """Which of the two directions with the one place counts: data flow that way."""

    FROM = "from"
    TO = "to"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice.

    :param instances: who is taken, the healthiest first; the unhealthiest first where those were wanted.
    :param health: their mean score, of the pairs that count.
    :param proven: whether no set is healthier.
    :param bound: no set's mean score is above this.
    """

    instances: tuple[str, ...]
    health: float
    proven: bool
    bound: float


Health = Mapping[Pair, Score]


def towards(
    place: str, found: Health, count: int, direction: Direction = Direction.BOTH, *, worst: bool = False
) -> Chosen:
    """The instances that stand best towards a place, which is not one of them.

    :param worst: the unhealthiest instead, as the paper compares with.
    :raises ValueError: if so many are not known towards it, or nobody.
    """
    known = [(health, name) for name, health in candidates(place, found, direction).items()]
    _enough(count, len(known), f"instances whose health towards {place} is known")
    ranked = sorted(known, key=lambda one: (one[0] if worst else -one[0], one[1]))[:count]
    mean = math.fsum(health for health, _ in ranked) / count
    return Chosen(tuple(name for _, name in ranked), mean, proven=True, bound=mean)


def candidates(place: str, found: Health, direction: Direction = Direction.BOTH) -> Mapping[str, float]:
    """The instances whose health towards a place is known, and what it is."""
    names = {name for pair in found for name in pair} - {place}
    each = ((name, _towards(place, name, found, direction)) for name in sorted(names))
    return {name: health for name, health in each if health is not None}


def _towards(place: str, name: str, found: Health, direction: Direction) -> float | None:
    there, back = found.get(Pair(name, place)), found.get(Pair(place, name))
    wanted = {Direction.TO: [there], Direction.FROM: [back], Direction.BOTH: [there, back]}[direction]
    totals = [None if one is None else one.total for one in wanted]
    known = [one for one in totals if one is not None]
    return math.fsum(known) / len(known) if len(known) == len(totals) else None


def mutually(found: Health, count: int, steps: int = STEPS, *, worst: bool = False) -> Chosen:
    """The instances that stand best among themselves, both directions of each pair counted.

    A pair that is not known in both directions counts as dead: nobody is taken because nothing is known.

    :param worst: those that stand worst instead, whose ``bound`` no set is below.
    :raises ValueError: if there are not so many instances, or fewer than two are wanted.
    """
    names = sorted({name for pair in found for name in pair})
    if count < 2:
        raise ValueError(f"count: at least two instances talk to each other, not {count}")
    _enough(count, len(names), "instances")
    joint = _Joint.of(names, found)
    if worst:
        joint = joint.turned()
    search = _Search(joint, count, steps)
    search.run()
    pairs = math.comb(count, 2)
    bound = search.best if search.complete else max(search.best, min(search.left, _relaxed(joint, count)))
    ordered = sorted(search.chosen, key=lambda one: (-joint.to_all(one, search.chosen), one))
    taken = tuple(names[one] for one in ordered)
    if worst:
        return Chosen(taken, 1 - search.best / pairs, search.complete, 1 - bound / pairs)
    return Chosen(taken, search.best / pairs, search.complete, bound / pairs)


def _enough(count: int, known: int, what: str) -> None:
    if count < 1:
        raise ValueError(f"count: {count} is below 1")
    if count > known:
        raise ValueError(f"count: {count} are wanted of {known} {what}")


@dataclass(frozen=True, slots=True)
class _Joint:
    """For each two instances, by position, the mean of both directions."""

    health: Sequence[Sequence[float]]

    @classmethod
    def of(cls, names: Sequence[str], found: Health) -> _Joint:
        """From the scores of the pairs."""

        def both(one: str, other: str) -> float:
            there, back = found.get(Pair(one, other)), found.get(Pair(other, one))
            totals = [each.total for each in (there, back) if each is not None and each.total is not None]
            return math.fsum(totals) / 2 if len(totals) == 2 else 0.0

        return cls([[0.0 if one == other else both(one, other) for other in names] for one in names])

    def turned(self) -> _Joint:
        """The best of these are the worst of the others."""
        rows = enumerate(self.health)
        return _Joint([[0.0 if n == m else 1 - health for m, health in enumerate(row)] for n, row in rows])

    def to_all(self, one: int, others: Iterable[int]) -> float:
        """What one has with all of these together."""
        row = self.health[one]
        return math.fsum(row[other] for other in others)

    def among(self, these: Collection[int]) -> float:
        """The sum over all pairs of these."""
        return math.fsum(self.health[one][other] for one, other in combinations(sorted(these), 2))


def _relaxed(joint: _Joint, count: int) -> float:
    """No set has more: each of its members has at most its best so many, and each pair is counted twice."""
    most = sorted((math.fsum(sorted(row, reverse=True)[: count - 1]) for row in joint.health), reverse=True)
    return math.fsum(most[:count]) / 2


@dataclass(slots=True)
class _Search:
    """Depth first over sets, the most promising member first; ``left`` bounds what was not looked at."""

    joint: _Joint
    count: int
    steps: int
    best: float = -1.0
    chosen: tuple[int, ...] = ()
    complete: bool = True
    left: float = field(default=-math.inf)

    def run(self) -> None:
        """Look for the best set, from a good one on."""
        for first in range(len(self.joint.health)):
            guess = self._improved(self._grown(first))
            worth = self.joint.among(guess)
            if worth > self.best + _LESS:
                self.best, self.chosen = worth, guess
        order = sorted(range(len(self.joint.health)), key=lambda one: -math.fsum(self.joint.health[one]))
        self._extend((), 0.0, order)

    def _grown(self, first: int) -> tuple[int, ...]:
        taken, rest = [first], set(range(len(self.joint.health))) - {first}
        while len(taken) < self.count:
            following = max(rest, key=lambda one: (self.joint.to_all(one, taken), -one))
            taken.append(following)
            rest.discard(following)
        return tuple(taken)

    def _improved(self, taken: tuple[int, ...]) -> tuple[int, ...]:
        """Exchange one for another as long as that gains."""
        while True:
            rest = set(range(len(self.joint.health))) - set(taken)
            gains = (
                (self.joint.to_all(new, others) - self.joint.to_all(old, others), old, new)
                for old in taken
                for others in [[one for one in taken if one != old]]
                for new in rest
            )
            gain, old, new = max(gains, default=(0.0, 0, 0))
            if gain <= _LESS:
                return taken
            taken = tuple(new if one == old else one for one in taken)

    def _extend(self, taken: tuple[int, ...], worth: float, rest: Sequence[int]) -> None:
        if len(taken) == self.count:
            if worth > self.best + _LESS:
                self.best, self.chosen = worth, taken
            return
        open_places = self.count - len(taken)
        for place, one in enumerate(rest):
            later = rest[place:]
            if len(later) < open_places:
                return
            bound = worth + self._most(taken, later, open_places)
            if bound <= self.best + _LESS:
                return
            if self.steps <= 0:
                self.complete = False
                self.left = max(self.left, bound)
                return
            self.steps -= 1
            self._extend((*taken, one), worth + self.joint.to_all(one, taken), rest[place + 1 :])

    def _most(self, taken: tuple[int, ...], rest: Sequence[int], places: int) -> float:
        """No choice of so many of the rest adds more."""
        each = sorted(
            (
                self.joint.to_all(one, taken)
                + math.fsum(
                    sorted((self.joint.health[one][other] for other in rest), reverse=True)[: places - 1]
                )
                / 2
                for one in rest
            ),
            reverse=True,
        )
        return math.fsum(each[:places])
