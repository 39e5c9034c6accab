"""Max-min fair shares of links, per TCP stream, by progressive filling.

All streams grow alike from zero; one stops growing when a link on its way is full, or it has all that it
can use by itself (Bertsekas and Gallager, Data Networks, 6.5.2).  In the result no stream can have more
without taking from one that has no more than it: every stream has its own limit, or a *bottleneck*, a full
link on which nobody has more.  That is what long TCP transfers of equal round trips come to (reno; see
docs/simulation.md for how far real ones are from it).

Streams of one transfer take the same way and are alike, so they are one :class:`Demand`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
"""What a link is known by."""

EXACT = 1e-12
"""Relative difference of two levels that count as one: sums of floating-point numbers."""


@dataclass(frozen=True, slots=True)
class Demand(Generic[K]):
    """Streams that take the same way.

    :param over: the links on it.
    :param streams: how many.
    :param limit: bits/s that one of them can use.
    :raises ValueError: for no stream, or a negative limit.
    """

    over: tuple[K, ...]
    streams: int = 1
    limit: float = math.inf

    def __post_init__(self) -> None:
        if self.streams < 1:
            raise ValueError(f"streams: must be at least 1, not {self.streams}")
        if not self.limit >= 0:
            raise ValueError(f"limit: must be zero or more, not {self.limit!r}")


def max_min(capacities: Mapping[K, float], demands: Sequence[Demand[K]]) -> list[float]:
    """Bits/s of one stream of each demand.

    :param capacities: bits/s of every link that a demand names.
    :raises ValueError: for streams that nothing limits.
    """
    rates = [0.0] * len(demands)
    growing = set(range(len(demands)))
    left = dict(capacities)
    crowd = _crowds(demands)
    while growing:
        level = min(
            (max(0.0, left[link]) / count for link, count in crowd.items() if count), default=math.inf
        )
        lowest = min(demands[index].limit for index in growing)
        if math.isinf(level) and math.isinf(lowest):
            raise ValueError("demands: neither a link nor a limit of their own bounds some streams")
        stopped = _stopped(demands, growing, left, crowd, min(level, lowest))
        for index in stopped:
            demand = demands[index]
            rates[index] = min(level, demand.limit)
            for link in demand.over:
                left[link] -= rates[index] * demand.streams
                crowd[link] -= demand.streams
        growing -= stopped
    return rates


def _crowds(demands: Sequence[Demand[K]]) -> dict[K, int]:
    """How many streams still grow on each link."""
    crowd: dict[K, int] = {}
    for demand in demands:
        for link in demand.over:
            crowd[link] = crowd.get(link, 0) + demand.streams
    return crowd


def _stopped(
    demands: Sequence[Demand[K]],
    growing: set[int],
    left: Mapping[K, float],
    crowd: Mapping[K, int],
    level: float,
) -> set[int]:
    """Whom this level is the last of."""
    reached = level * (1 + EXACT)
    full = {link for link, count in crowd.items() if count and max(0.0, left[link]) / count <= reached}
    return {i for i in growing if demands[i].limit <= reached or not full.isdisjoint(demands[i].over)}
