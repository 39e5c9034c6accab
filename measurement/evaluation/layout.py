"""Places on a plane, so that their distances there are what they should be, as far as a plane allows.

Stress majorisation (:mod:`measurement.majorisation`), of the sum over pairs of ((drawn - wanted) / wanted)².
It starts from several placements, drawn from a fixed seed, so that the same distances give the same drawing.

Distances of equation 2 are ratios of bandwidths, not of a space: that the way over a third place is faster
than the direct one is common, and no plane shows it.  What is left over is told as *residual stress*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from measurement.evaluation.results import Path
from measurement.majorisation import ENOUGH, Matrix, settled

STARTS = 8


@dataclass(frozen=True, slots=True)
class Drawing:
    """Where places are.

    :param places: x and y of each.
    :param stress: what is left over: the root of the mean squared error of the drawn distances, each as a
        share of the wanted one.
    """

    places: Mapping[str, tuple[float, float]]
    stress: float

    def apart(self, path: Path) -> float:
        """The drawn distance of two places."""
        return math.dist(self.places[path.one], self.places[path.other])


def drawn(names: Sequence[str], wanted: Mapping[Path, float], seed: int = 1) -> Drawing:
    """The best of some drawings.

    :param wanted: distances above 0; of pairs that are not in it, or infinite, nothing is wanted.
    :raises ValueError: for a distance that is not above 0; it names the pair.
    """
    for path, its in wanted.items():
        if not its > 0:
            raise ValueError(f"wanted: {path.one} - {path.other}: {its} is not above 0")
    known = {path: its for path, its in wanted.items() if math.isfinite(its) and not path.within}
    if not known:
        return Drawing({name: (float(number), 0.0) for number, name in enumerate(names)}, 0.0)
    lengths, weights = _matrices(names, known)
    generator = np.random.default_rng(seed)
    scale = float(np.median([*known.values()]))
    best: tuple[float, Matrix] | None = None
    for _ in range(STARTS):
        start = generator.normal(scale=scale, size=(len(names), 2))
        stress, found = settled(start, lengths, weights)
        if best is None or stress < best[0] * (1 - ENOUGH):
            best = stress, found
    assert best is not None  # noqa: S101 - there is at least one start
    return Drawing(_upright(names, best[1]), math.sqrt(best[0] / len(known)))


def _matrices(names: Sequence[str], known: Mapping[Path, float]) -> tuple[Matrix, Matrix]:
    place = {name: number for number, name in enumerate(names)}
    lengths = np.zeros((len(names), len(names)))
    weights = np.zeros_like(lengths)
    for path, its in known.items():
        one, other = place[path.one], place[path.other]
        lengths[one, other] = lengths[other, one] = its
        weights[one, other] = weights[other, one] = its**-2
    return lengths, weights


def _upright(names: Sequence[str], points: Matrix) -> dict[str, tuple[float, float]]:
    """Turned so that the longest extent lies flat, and mirrored so that the first place is left and below."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    turned *= np.where(turned[0] > 0, -1.0, 1.0)
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, turned.tolist(), strict=True)}
