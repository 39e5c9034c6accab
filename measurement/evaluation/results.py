"""What an evaluation found on each path, and what makes paths comparable ([CEEM] equations 1 to 3).

::

    COV      = standard deviation / mean                                          (1)
    distance = largest inter-node bandwidth / bandwidth of the path * ratio       (2)
    diameter = bandwidth within the node / smallest bandwidth within a node * ratio   (3)

A place is a *node* of what is evaluated, or a *client* that looks at it from outside.  Distances are measured
by the largest bandwidth between two nodes; the paths of clients can be measured by it as well, but do not
set it.  Bandwidths are in any unit, the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from measurement.errors import InvalidValue


class Path(NamedTuple):
    """Between two places, or within one; the order is that in which people name them."""

    one: str
    other: str

    @property
    def within(self) -> bool:
        """Whether it does not leave the place."""
        return self.one == self.other

    @property
    def back(self) -> Path:
        """The same path, named the other way round."""
        return Path(self.other, self.one)


@dataclass(frozen=True, slots=True)
class Measured:
    """All measurements of one path together.

    :param deviation: the standard deviation over time.
    :param count: how many there were; 0 where a report does not say.
    """

    mean: float
    deviation: float
    count: int = 0

    @property
    def cov(self) -> float | None:
        """The coefficient of variation (equation 1); None where the mean is 0, and of a single value."""
        return None if self.mean == 0 or self.count == 1 else self.deviation / self.mean


@dataclass(frozen=True, slots=True)
class Results:
    """What was found.

    :param nodes: the places that are evaluated, in the order of the report.
    :param clients: the places that look at them.
    :param paths: by path; a path is there once, either way round.
    :raises ValueError: for a path with a place that is neither, within a client, or twice; it names the path.
    """

    nodes: tuple[str, ...]
    clients: tuple[str, ...]
    paths: Mapping[Path, Measured]

    def __post_init__(self) -> None:
        places = {*self.nodes, *self.clients}
        for path, measured in self.paths.items():
            name = f"path {path.one} - {path.other}"
            unknown = sorted({*path} - places)
            if unknown:
                raise InvalidValue(
                    f"{name}: {', '.join(unknown)} is neither a node nor a client", "unknown-name"
                )
            if not set(self.nodes) & {*path}:
                raise ValueError(f"{name}: leads to no node")
            if not path.within and path.back in self.paths:
                raise InvalidValue(f"{name}: is there twice", "duplicate")
            if not all(math.isfinite(one) and one >= 0 for one in (measured.mean, measured.deviation)):
                raise InvalidValue(
                    f"{name}: {measured.mean} ({measured.deviation}) is no measurement", "out-of-range"
                )

    def measured(self, one: str, other: str) -> Measured | None:
        """What was found between two places, whichever way round."""
        path = Path(one, other)
        return self.paths.get(path) or self.paths.get(path.back)

    def covs(self) -> Mapping[Path, float | None]:
        """Equation 1 for each path."""
        return {path: measured.cov for path, measured in self.paths.items()}

    def distances(self, ratio: float = 1.0, *, clients: bool = False) -> Mapping[Path, float]:
        """Equation 2 for each path between nodes; infinite where nothing came through.

        :param ratio: what the largest bandwidth is drawn as.
        :param clients: the paths of clients, too.
        """
        between = {path: its.mean for path, its in self.paths.items() if not path.within}
        inter = [mean for path, mean in between.items() if {*path} <= {*self.nodes}]
        most = max(inter, default=0.0)
        shown = between if clients else {path: m for path, m in between.items() if {*path} <= {*self.nodes}}
        return {path: most / mean * ratio if mean else math.inf for path, mean in shown.items() if most}

    def diameters(self, ratio: float = 1.0) -> Mapping[str, float]:
        """Equation 3 for each node; nodes in which nothing came through have 0, and measure no others."""
        intra = {path.one: its.mean for path, its in self.paths.items() if path.within}
        least = min((mean for mean in intra.values() if mean), default=0.0)
        return {node: intra[node] / least * ratio for node in self.nodes if node in intra and least}
