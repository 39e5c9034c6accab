"""A policy of one's own: the path on which one more transfer gets most, if all there are share it evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from adon.simulation.network import Path
from adon.simulation.policy import AtOnce
from adon.simulation.workload import Transfer


@dataclass
class Emptiest(AtOnce):
    """It knows what it has placed itself, and what paths are sold as; it measures nothing."""

    name: str = "emptiest"

    def choose(self, transfer: Transfer, paths: Sequence[Path]) -> Path:
        """The path for a transfer, of those whose ports are up."""
        others = Counter(path for number, (_, path) in self.placed.items() if number != transfer.number)
        return max(paths, key=lambda path: path.advertised / (1 + others[path.name]))
