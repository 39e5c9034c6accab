"""How the outcome changes as one number does: the stretches of it on which the outcome is the same.

The score of a path is linear in each weight, and in each metric between two points of its table; on such a
stretch the highest of several straight lines is sought, whose winners' ranges are intervals.  So if the same
one wins at both ends, it wins in between; and if two do, the next place to look is where their lines cross
(:func:`_crossing`): either they change there, or a third is above both.  Where something else decides
(bounds, margins, costs) the stretch is halved.  A change is followed until two values are :data:`CLOSE`, or
two whole numbers are neighbours, or one is zero and the other is nearly :data:`NOTHING`: there the one has
the one outcome and the other the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from adon.broker.decision import Decision, Outcome
from adon.broker.flipping.quantity import Quantity
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.seen import Snapshot

CLOSE = 1e-9
"""How far apart, as a share, the two values at a change of the outcome are."""
SLIGHTLY = 1e-10
"""As far beside a crossing it is looked whether that is the change."""
NOTHING = 1e-12
"""So small a share of its range is as good as zero: beside zero no two values are close by ratio."""
MOST_STEPS = 200


class Exhausted(Exception):
    """No more decisions may be made again."""


@dataclass(frozen=True, slots=True)
class Found:
    """What would have been decided.

    :param path: the path that the flow would have; None if it would have none.
    :param scores: Q per path.
    """

    path: str | None
    site: str | None
    scores: Mapping[str, float]

    @classmethod
    def of(cls, decision: Decision) -> Found:
        """What of a decision matters here."""
        has_path = decision.outcome in (Outcome.ADMIT, Outcome.MOVE, Outcome.STAY)
        scores = {one.path: one.q for one in decision.candidates if one.q is not None}
        return cls(decision.path if has_path else None, decision.compute_site if has_path else None, scores)

    @property
    def place(self) -> tuple[str | None, str | None]:
        """Path and site."""
        return self.path, self.site


@dataclass(slots=True)
class Again:
    """Makes a decision again with another value of something, no more than so many times.

    :param decide: the decision that is made from a snapshot.
    """

    snapshot: Snapshot
    left: int
    decide: Callable[[Snapshot], Decision] = decided_again
    _known: dict[tuple[int, float], Found] = field(default_factory=dict)

    def decide_with(self, quantity: Quantity, value: float) -> Found:
        """What would have been decided.

        :raises Exhausted: when that has been asked too often.
        """
        key = (id(quantity), value)
        if key not in self._known:
            if self.left <= 0:
                raise Exhausted
            self.left -= 1
            self._known[key] = Found.of(self.decide(quantity.put(self.snapshot, value)))
        return self._known[key]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Values from ``low`` to ``high``, and the outcome there.

    :param below, above: the values next to it at which it is not; None at the end of the range.
    """

    low: float
    high: float
    place: tuple[str | None, str | None]
    below: float | None = None
    above: float | None = None


def stretches(again: Again, quantity: Quantity) -> list[Stretch]:
    """The outcome over the whole range of a quantity.

    :raises Exhausted: when decisions have been made again too often.
    """
    values = _samples(quantity)
    changes: list[tuple[float, float]] = []
    for low, high in pairwise(values):
        changes += _changes(again, quantity, low, high)
    edges = [values[0], *(edge for change in changes for edge in change), values[-1]]
    found = []
    for index in range(0, len(edges), 2):
        low, high = edges[index], edges[index + 1]
        below = edges[index - 1] if index else None
        above = edges[index + 2] if index + 2 < len(edges) else None
        found.append(Stretch(low, high, again.decide_with(quantity, low).place, below, above))
    return found


def _samples(quantity: Quantity) -> list[float]:
    marks = {quantity.low, quantity.high, *quantity.marks}
    if quantity.value is not None:
        marks.add(quantity.value)
    within = {mark for mark in marks if quantity.low <= mark <= quantity.high}
    if quantity.whole:
        whole = {float(near) for mark in within for near in (math.floor(mark), math.ceil(mark))}
        return sorted(mark for mark in whole if quantity.low <= mark <= quantity.high)
    # A bound is kept at its value and missed right beside it: both sides of each mark are looked at.
    beside = {side for mark in quantity.marks for side in (mark * (1 - CLOSE), mark * (1 + CLOSE))}
    return sorted(within | {side for side in beside if quantity.low <= side <= quantity.high})


def _changes(again: Again, quantity: Quantity, low: float, high: float) -> list[tuple[float, float]]:
    """Where between two values the outcome changes: pairs of values beside each other, in order."""
    found: list[tuple[float, float]] = []
    todo = [(low, high, MOST_STEPS, True)]
    while todo:
        one, other, steps, linear = todo.pop()
        first, last = again.decide_with(quantity, one), again.decide_with(quantity, other)
        if first.place == last.place:
            continue
        if steps == 0 or _beside(quantity, one, other):
            found.append((one, other))
            continue
        middle = _crossing(first, last, one, other) if linear else None
        if middle is None or quantity.whole:
            middle = _half(quantity, one, other)
            todo += [(middle, other, steps - 1, linear), (one, middle, steps - 1, linear)]
            continue
        left, right = middle * (1 - SLIGHTLY), middle * (1 + SLIGHTLY)
        if not one < left < right < other:
            todo.append((one, other, steps, False))
            continue
        todo += [(right, other, steps - 1, False), (left, right, steps - 1, False)]
        todo.append((one, left, steps - 1, False))
    return found


def _crossing(first: Found, last: Found, low: float, high: float) -> float | None:
    """Where the lines of the two winners cross, if both have one."""
    if first.path is None or last.path is None or first.path == last.path:
        return None
    try:
        before = first.scores[last.path] - first.scores[first.path]
        after = last.scores[last.path] - last.scores[first.path]
    except KeyError:
        return None
    if not before <= 0 <= after or before == after:
        return None
    return low + (high - low) * before / (before - after)


def _beside(quantity: Quantity, low: float, high: float) -> bool:
    if quantity.whole:
        return high - low <= 1
    if high - low <= NOTHING * (quantity.high - quantity.low) and low <= 0 <= high:
        return True
    return high - low <= CLOSE * max(abs(low), abs(high)) or high <= math.nextafter(low, math.inf)


def _half(quantity: Quantity, low: float, high: float) -> float:
    if quantity.whole:
        return float((int(low) + int(high)) // 2)
    # In the middle by ratio where that is far from the middle by difference.
    return math.sqrt(low * high) if low > 0 and high > 4 * low else low + (high - low) / 2
