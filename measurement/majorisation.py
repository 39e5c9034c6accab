"""Stress majorisation: points in a plane whose distances are as near to wanted ones as a plane allows.

The stress Σ w·(d - |x - y|)², over pairs, is lowered by Guttman's transform, which never raises it (J. de
Leeuw's SMACOF, 1977; E. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", 2004).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
STEPS = 500
ENOUGH = 1e-9
"""A step that lowers the stress by no larger share of it is the last."""


def settled(points: Matrix, wanted: Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """The stress that is left, and the points that leave it.

    :param points: where to begin, a row each.
    :param wanted: distances, symmetric.
    :param weights: of the pairs, symmetric; 0 where nothing is wanted, and on the diagonal.
    """
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    last = _stress(points, wanted, weights)
    for _ in range(STEPS):
        apart = distances(points)
        pull = np.divide(weights * wanted, apart, out=np.zeros_like(apart), where=apart > 0)
        points = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ points)
        stress = _stress(points, wanted, weights)
        if last - stress <= ENOUGH * last:
            return stress, points
        last = stress
    return last, points


def distances(points: Matrix) -> Matrix:
    """Of each two points, as a matrix."""
    return np.asarray(np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2), dtype=np.float64)


def _stress(points: Matrix, wanted: Matrix, weights: Matrix) -> float:
    return float((weights * (distances(points) - wanted) ** 2).sum() / 2)
