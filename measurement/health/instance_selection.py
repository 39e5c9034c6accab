"""Which instances to take, by the health of their pairs ([HEALTH] 7 and 8).

A job that reads from one place wants the instances that stand best towards it (:func:`towards`); one whose
parts talk to each other wants a set that stands well among itself (:func:`mutually`).  The latter is the
heaviest subgraph of k nodes, which is NP-hard: a set is grown greedily from each instance and improved by
exchanges, and the answer has a bound that no set exceeds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from measurement.health.model import Pair
from measurement.health.pair_scores import Score

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
    :param bound: no set's mean score is above this.
    """

    instances: tuple[str, ...]
    health: float
    bound: float


Health = Mapping[Pair, Score]


def towards(
    place: str, found: Health, count: int, direction: Direction = Direction.BOTH, *, worst: bool = False
) -> Chosen:
    """The instances that stand best towards a place, which is not one of them.

    :param worst: the unhealthiest instead, as the paper compares with.
    :raises ValueError: if fewer instances are known towards it, or if the count is below 1.
    """
    known = [(health, name) for name, health in candidates(place, found, direction).items()]
    _enough(count, len(known), f"instances whose health towards {place} is known")
    ranked = sorted(known, key=lambda one: (one[0] if worst else -one[0], one[1]))[:count]
    mean = math.fsum(health for health, _ in ranked) / count
    return Chosen(tuple(name for _, name in ranked), mean, mean)


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


def mutually(found: Health, count: int, *, worst: bool = False) -> Chosen:
    """The instances that stand best among themselves, both directions of each pair counted.

    A pair without a score in both directions counts as dead.

    :param worst: those that stand worst instead, whose ``bound`` no set is below.
    :raises ValueError: if there are not so many instances, or fewer than two are wanted.
    """
    names = sorted({name for pair in found for name in pair})
    if count < 2:
        raise ValueError(f"count: at least two instances talk to each other, not {count}")
    _enough(count, len(names), "instances")
    joint = _Joint.of(names, found)
    if worst:
        joint = joint.reversed_order()
    best = max(
        (_exchange_members(joint, _grown(joint, first, count)) for first in range(len(names))),
        key=joint.among,
    )
    pairs = math.comb(count, 2)
    health = joint.among(best) / pairs
    bound = max(health, _upper_bound(joint, count) / pairs)
    taken = tuple(names[one] for one in sorted(best, key=lambda one: (-joint.to_all(one, best), one)))
    return Chosen(taken, 1 - health, 1 - bound) if worst else Chosen(taken, health, bound)


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

    def reversed_order(self) -> _Joint:
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


def _upper_bound(joint: _Joint, count: int) -> float:
    """No set has more: each of its members has at most its best so many, and each pair is counted twice."""
    most = sorted((math.fsum(sorted(row, reverse=True)[: count - 1]) for row in joint.health), reverse=True)
    return math.fsum(most[:count]) / 2


def _grown(joint: _Joint, first: int, count: int) -> tuple[int, ...]:
    """From one on, always the one that has most with those taken."""
    taken, rest = [first], set(range(len(joint.health))) - {first}
    while len(taken) < count:
        following = max(rest, key=lambda one: (joint.to_all(one, taken), -one))
        taken.append(following)
        rest.discard(following)
    return tuple(taken)


def _exchange_members(joint: _Joint, taken: tuple[int, ...]) -> tuple[int, ...]:
    """Exchange one for another as long as that gains."""
    while True:
        rest = set(range(len(joint.health))) - set(taken)
        gains = (
            (joint.to_all(new, others) - joint.to_all(old, others), old, new)
            for old in taken
            for others in [[one for one in taken if one != old]]
            for new in rest
        )
        gain, old, new = max(gains, default=(0.0, 0, 0))
        if gain <= _LESS:
            return taken
        taken = tuple(new if one == old else one for one in taken)
