"""The measurement level agreement (MLA): ψ, and what of it is spent.

At no instant may the tests under way offer more load to a link or a domain than its owner allows
(spec section 5).  Rates are whole bits/s inside, so that sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from measurement.scheduling.ticks import Ticks


@dataclass(frozen=True, slots=True)
class Agreement:
    """ψ.

    :param allowed: per link or domain the load that tests may offer together, bits/s; where nothing is
        said nothing is limited.
    :raises ValueError: naming the link or domain, for a rate that is none.
    """

    allowed: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for where, rate in self.allowed.items():
            if not (math.isfinite(rate) and rate >= 0):
                raise ValueError(f"agreement.{where}: {rate!r} is not a rate")

    @property
    def limits(self) -> dict[str, int]:
        """As whole bits/s, rounded down."""
        return {where: math.floor(rate) for where, rate in self.allowed.items()}

    def count_limited(self, load: Mapping[str, float]) -> dict[str, int]:
        """The part of an offered load that the agreement limits, as whole bits/s, rounded up."""
        return {where: math.ceil(rate) for where, rate in sorted(load.items()) if where in self.allowed}


@dataclass(frozen=True, slots=True)
class Spend:
    """What a schedule spends of one link's or domain's allowance.

    :param allowed: bits/s.
    :param peak: the most that is offered at any instant, bits/s.
    :param mean: over the hyperperiod, bits/s.
    :param steps: (instant, bits/s from then on), beginning at 0.
    """

    allowed: int
    peak: int
    mean: float
    steps: tuple[tuple[Ticks, int], ...]


def spend_of(intervals: Iterable[tuple[Ticks, Ticks, int]], allowed: int, length: Ticks) -> Spend:
    """The spend of tests that offer (from, to, bits/s) within a round of the given length."""
    steps = tuple(_steps(intervals))
    ends = [instant for instant, _ in steps[1:]] + [length]
    volume = sum((end - start) * rate for (start, rate), end in zip(steps, ends, strict=True))
    return Spend(allowed, max(rate for _, rate in steps), volume / length, steps)


def _steps(intervals: Iterable[tuple[Ticks, Ticks, int]]) -> Iterator[tuple[Ticks, int]]:
    changes = [(0, 0)]
    for start, end, rate in intervals:
        changes += [(start, rate), (end, -rate)]
    level = 0
    for instant, group in groupby(sorted(changes), key=lambda change: change[0]):
        level += sum(change for _, change in group)
        yield instant, level
