"""Positions of places on a map, so that their distances are close to given ones.

Kamada and Kawai's layout minimises the stress: the sum of ((drawn - given) / given)² over all pairs.
Distances of equation 2 are ratios of bandwidths.  A detour is often faster than the direct path, which no
plane shows.  The *residual stress* states what remains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import networkx as nx
import numpy as np

Pair = tuple[str, str]
P = TypeVar("P", bound=Pair)


@dataclass(frozen=True, slots=True)
class MapLayout:
    """Positions of places.

    :param positions: x and y by place, in the unit of the given distances.
    :param stress: root of the mean squared relative error of the drawn distances.
    """

    positions: Mapping[str, tuple[float, float]]
    stress: float

    def distance(self, pair: Pair) -> float:
        """Return the drawn distance of two places."""
        return math.dist(self.positions[pair[0]], self.positions[pair[1]])


def lay_out_map(names: Sequence[str], distances: Mapping[P, float]) -> MapLayout:
    """Return the layout of places; the same distances give the same layout.

    :param distances: distances above 0; pairs without a finite distance are drawn at any distance.
    """
    known = {pair: length for pair, length in distances.items() if math.isfinite(length)}
    if not known:
        return MapLayout({name: (float(number), 0.0) for number, name in enumerate(names)}, 0.0)
    by_name: dict[str, dict[str, float]] = {name: {} for name in names}
    for (one, other), length in known.items():
        by_name[one][other] = by_name[other][one] = length
    graph = nx.empty_graph(names)
    drawn = np.array([*nx.kamada_kawai_layout(graph, dist=by_name).values()])
    # The layout has any scale and any orientation: fit the scale, and turn the longest extent flat.
    place = {name: number for number, name in enumerate(names)}
    ratios = [math.dist(drawn[place[one]], drawn[place[other]]) / its for (one, other), its in known.items()]
    scale = sum(ratios) / math.fsum(ratio**2 for ratio in ratios)
    stress = math.sqrt(math.fsum((scale * ratio - 1) ** 2 for ratio in ratios) / len(ratios))
    centred = scale * (drawn - drawn.mean(axis=0))
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    flat *= np.where(flat[0] > 0, -1.0, 1.0)  # the first place is at the left and at the bottom
    return MapLayout({name: (float(x), float(y)) for name, (x, y) in zip(names, flat, strict=True)}, stress)
