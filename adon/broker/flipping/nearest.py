"""Of one decision, per path and site that was not taken: the nearest changes that would have had it taken."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adon.broker.decision import Decision
from adon.broker.flipping.outcome_ranges import Again, Exhausted, Found, Stretch, stretches
from adon.broker.flipping.quantities import quantities
from adon.broker.flipping.quantity import Kind, Quantity
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.seen import Snapshot

MOST_DECISIONS = 20_000
"""So often a decision is made again at most."""
MOST_FLIPS = 8
"""So many changes are told per alternative."""
FLOORS: Mapping[str, float] = {"loss": 1e-6}
"""A value below this counts as this when changes are compared: from nothing to anything is no ratio."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What might have been taken instead.

    :param site: None where any compute site, or none, goes with the path.
    """

    path: str
    site: str | None

    def is_taken(self, place: tuple[str | None, str | None]) -> bool:
        """Whether this outcome is it."""
        return place[0] == self.path and (self.site is None or place[1] == self.site)


@dataclass(frozen=True, slots=True)
class Flip:
    """A change by which an alternative would have been taken.

    :param needed: the nearest value with which it would have been, and ``short_of`` the one beside it with
        which it would not; None if it would have been with every value on the way.
    :param told: about ``needed``, with few digits; with it the alternative would have been taken as well.
    :param size: how large the change is: the logarithm of the ratio of the two values; infinite if none is
        known.
    """

    quantity: Quantity
    needed: float
    short_of: float | None
    told: float
    size: float


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What was found for one alternative, the smallest change first."""

    alternative: Alternative
    flips: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """All that was found.

    :param made: how often the decision was made again.
    :param left_out: what was not looked at any more, because that was too often.
    """

    decision: Decision
    chosen: tuple[str | None, str | None]
    whynots: tuple[WhyNot, ...]
    looked_at: tuple[Quantity, ...]
    left_out: tuple[Quantity, ...]
    made: int


def why_not(snapshot: Snapshot, most: int = MOST_DECISIONS) -> Searched:
    """Why no alternative was taken.

    :param most: how often the decision may be made again.
    """
    decision = decided_again(snapshot)
    again, chosen = Again(snapshot, most), Found.of(decision).place
    asked = _alternatives(snapshot, decision, chosen)
    found: dict[Alternative, list[Flip]] = {one: [] for one in asked}
    everything = list(quantities(snapshot, decision))
    looked_at: list[Quantity] = []
    for quantity in everything:
        try:
            over = stretches(again, quantity)
            new = {one: list(_flips(again, quantity, one, over)) for one in asked}
        except Exhausted:
            break
        for one, flips in new.items():
            found[one] += flips
        looked_at.append(quantity)
    whynots = tuple(
        WhyNot(one, tuple(sorted(flips, key=lambda flip: flip.size)[:MOST_FLIPS]))
        for one, flips in found.items()
    )
    left_out = tuple(everything[len(looked_at) :])
    return Searched(decision, chosen, whynots, tuple(looked_at), left_out, 1 + most - again.left)


def _alternatives(
    snapshot: Snapshot, decision: Decision, chosen: tuple[str | None, str | None]
) -> list[Alternative]:
    """Each site that was compared by each path; other paths as they are."""
    topology, request = snapshot.seen.topology, snapshot.seen.flow.request
    ends = {topology.site_of(request.source), topology.site_of(request.destination)}
    pairs = [
        Alternative(one.path, one.site)
        for one in decision.compute
        if one.path is not None and one.campus in ends
    ]
    compared = {one.path for one in pairs}
    alone = [Alternative(one.path, None) for one in decision.candidates if one.path not in compared]
    return [one for one in (*pairs, *alone) if not one.is_taken(chosen)]


def _flips(again: Again, quantity: Quantity, wanted: Alternative, over: list[Stretch]) -> Iterable[Flip]:
    """The nearest change to either side."""
    if quantity.value is None:
        yield from _if_known(again, quantity, wanted, over)
        return
    value = quantity.value
    above = next((one for one in over if one.low > value and wanted.is_taken(one.place)), None)
    below = next((one for one in reversed(over) if one.high < value and wanted.is_taken(one.place)), None)
    if above is not None:
        yield _flip(again, quantity, wanted, above.low, above.below, above.high)
    if below is not None:
        yield _flip(again, quantity, wanted, below.high, below.above, below.low)


def _if_known(again: Again, quantity: Quantity, wanted: Alternative, over: list[Stretch]) -> Iterable[Flip]:
    """Nothing was known of it: how bad it might have been found, from the best on."""
    from_high = quantity.better >= quantity.high
    best = over[-1] if from_high else over[0]
    if not wanted.is_taken(best.place):
        return
    if from_high:
        yield _flip(again, quantity, wanted, best.low, best.below, best.high)
    else:
        yield _flip(again, quantity, wanted, best.high, best.above, best.low)


def _flip(
    again: Again,
    quantity: Quantity,
    wanted: Alternative,
    needed: float,
    short_of: float | None,
    farther: float,
) -> Flip:
    told = _round_needed(again, quantity, wanted, needed, farther)
    return Flip(quantity, needed, short_of, told, _size(quantity, needed))


def _round_needed(
    again: Again, quantity: Quantity, wanted: Alternative, needed: float, farther: float
) -> float:
    """The needed value with as few digits as will do, on the side on which it does."""
    if quantity.whole or needed == 0:
        return needed
    up = farther > needed
    for digits in (3, 4):
        step = 10.0 ** (math.floor(math.log10(abs(needed))) - digits + 1)
        told = (math.ceil(needed / step) if up else math.floor(needed / step)) * step
        told = float(f"{told:.{digits}g}")
        within = min(needed, farther) <= told <= max(needed, farther)
        near = within and abs(told - needed) <= 0.02 * abs(needed)
        if near and wanted.is_taken(again.decide_with(quantity, told).place):
            return told
    return needed


def _size(quantity: Quantity, needed: float) -> float:
    if quantity.value is None or quantity.kind is Kind.CLOSED:
        return math.inf
    floor = FLOORS.get(quantity.unit, 1e-3 if not quantity.unit else 1e-9)
    one = 1.0 if quantity.kind is Kind.PRIORITY else 0.0
    return abs(math.log(max(needed + one, floor) / max(quantity.value + one, floor)))
