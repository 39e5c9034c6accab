"""How a placement is found, by name."""

from __future__ import annotations

from enum import StrEnum


class Method(StrEnum):
    """How a placement was found."""

    GREEDY = "greedy"
    EXACT = "exact"
    RANDOM = "random"
    ROUND_ROBIN = "round-robin"
    MINIMUM_MACHINES = "minimum-machines"


BASELINES = (Method.RANDOM, Method.ROUND_ROBIN, Method.MINIMUM_MACHINES)
"""What the paper compares with: they know nothing of the network ([CHOREO] 6)."""
