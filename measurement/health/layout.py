"""Instances in the plane, the healthier a pair the shorter its edge ([HEALTH] figure 10).

Scores are no distances: a picture can keep to all of them only in part.  What is drawn leaves the least
stress, found by majorisation (:mod:`measurement.majorisation`) from classical scaling (Torgerson) and from a
few seeded beginnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from measurement.health.model import Pair
from measurement.health.scoring import Score

if TYPE_CHECKING:
    from measurement.majorisation import Matrix

SHORTEST, LONGEST = 0.15, 1.0
"""Of an edge whose pair is perfect, and of one that is dead."""
UNKNOWN = 0.002
"""Weight of a pair of which nothing is known: enough to keep the two from lying on each other."""
BEGINNINGS = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everybody is.

    :param places: x and y of each instance.
    :param stress: the root of the mean squared difference, over the known pairs, as a share of the longest
        edge: 0.1 means that edges are a tenth too long or short.
    """

    places: Mapping[str, tuple[float, float]]
    stress: float


def lengths(names: Sequence[str], health: Mapping[Pair, Score]) -> Mapping[tuple[str, str], float]:
    """The edge of each two instances of which something is known: by the mean of the directions known."""
    found: dict[tuple[str, str], float] = {}
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            both = (health.get(Pair(one, other)), health.get(Pair(other, one)))
            known = [each.total for each in both if each is not None and each.total is not None]
            if known:
                found[one, other] = LONGEST - (LONGEST - SHORTEST) * sum(known) / len(known)
    return found


def layout(names: Sequence[str], health: Mapping[Pair, Score], seed: int = 1) -> Layout:
    """The places of these instances; the same seed gives the same picture."""
    import numpy as np

    from measurement.majorisation import distances, settled

    count = len(names)
    if count < 2:
        return Layout(dict.fromkeys(names, (0.0, 0.0)), 0.0)
    number = {name: place for place, name in enumerate(names)}
    wanted = np.full((count, count), 1.5 * LONGEST)
    weights = np.full((count, count), UNKNOWN)
    for (one, other), length in lengths(names, health).items():
        for row, column in ((number[one], number[other]), (number[other], number[one])):
            wanted[row, column], weights[row, column] = length, 1.0
    np.fill_diagonal(weights, 0.0)
    chance = np.random.default_rng(seed)
    begun = [_classical(wanted), *(chance.normal(size=(count, 2)) for _ in range(BEGINNINGS))]
    tried = [settled(one, wanted, weights) for one in begun]
    stress, best = min(tried, key=lambda one: one[0])  # Guttman's transform leaves the mean at 0
    known = weights == 1.0
    off = (distances(best) - wanted)[known]
    return Layout(
        {name: (float(x), float(y)) for name, (x, y) in zip(names, best, strict=True)},
        float(np.sqrt(np.mean(off**2)) / LONGEST) if known.any() else stress,
    )


def _classical(wanted: Matrix) -> Matrix:
    """The two main axes of the distances; where they were distances in a plane, already right."""
    import numpy as np

    squared = wanted**2
    np.fill_diagonal(squared, 0.0)
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    places: Matrix = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    return places
