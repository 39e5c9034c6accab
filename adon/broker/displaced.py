"""Flows that need another path, and the paths that they could take: what a refuge is planned with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from measurement.model import PathKey


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
            Grade.UNKNOWN: f"{self.key.path} (unknown)",
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
