"""Max-min fair rates of TCP streams that share links.

Progressive filling: the rates of all streams grow alike from zero; a stream stops growing when a link on its
way is full, or when it has reached its own limit (Bertsekas and Gallager, Data Networks, 2nd edition, section
6.5.2).  In the result every stream has its own limit, or a *bottleneck*: a full link on which no stream has a
higher rate.  Long TCP transfers with equal round-trip times come close to these rates; docs/simulator.md
compares them with measured ones.

The streams of one transfer take the same links and have the same rate, so they are one :class:`Demand`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
"""Key of a link."""

TOLERANCE = 1e-12
"""Relative difference below which two levels are equal: the rounding of sums of floating-point numbers."""


@dataclass(frozen=True, slots=True)
class Demand(Generic[K]):
    """Parallel streams over the same links.

    :param links: keys of the links.
    :param streams: number of streams, at least 1.
    :param limit: bits/s that one stream can use, at least 0.
    :raises ValueError: for another number of streams or limit.
    """

    links: tuple[K, ...]
    streams: int = 1
    limit: float = math.inf

    def __post_init__(self) -> None:
        if self.streams < 1:
            raise ValueError(f"streams: {self.streams} is out of range; expected at least 1")
        if not self.limit >= 0:
            raise ValueError(f"limit: {self.limit!r} is out of range; expected at least 0 bits/s")


def max_min_rates(capacities: Mapping[K, float], demands: Sequence[Demand[K]]) -> list[float]:
    """Return the bits/s of one stream of each demand; the total of a demand is this times its streams.

    The same arguments give the same rates, bit for bit.  The time is at most the number of links plus the
    number of demands, times the number of different rates in the result.

    :param capacities: bits/s of every link of a demand.
    :raises ValueError: for a demand that neither a link nor its own limit bounds.
    """
    rates = [0.0] * len(demands)
    growing = set(range(len(demands)))
    free = dict(capacities)
    streams = _streams_per_link(demands)
    while growing:
        level = min(
            (max(0.0, free[link]) / count for link, count in streams.items() if count), default=math.inf
        )
        lowest = min(demands[index].limit for index in growing)
        if math.isinf(level) and math.isinf(lowest):
            raise ValueError("demands: a demand without bounds; expected at least one link or a finite limit")
        stopped = _find_limited(demands, growing, free, streams, min(level, lowest))
        for index in stopped:
            demand = demands[index]
            rates[index] = min(level, demand.limit)
            for link in demand.links:
                free[link] -= rates[index] * demand.streams
                streams[link] -= demand.streams
        growing -= stopped
    return rates


def _streams_per_link(demands: Sequence[Demand[K]]) -> dict[K, int]:
    streams: dict[K, int] = {}
    for demand in demands:
        for link in demand.links:
            streams[link] = streams.get(link, 0) + demand.streams
    return streams


def _find_limited(
    demands: Sequence[Demand[K]],
    growing: set[int],
    free: Mapping[K, float],
    streams: Mapping[K, int],
    level: float,
) -> set[int]:
    """Return the demands whose streams stop growing at this level."""
    reached = level * (1 + TOLERANCE)
    full = {link for link, count in streams.items() if count and max(0.0, free[link]) / count <= reached}
    return {i for i in growing if demands[i].limit <= reached or not full.isdisjoint(demands[i].links)}
