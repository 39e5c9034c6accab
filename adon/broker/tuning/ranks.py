"""Two small samples compared by ranks: no distribution is assumed, and one wild transfer does not decide.

- Mann and Whitney's U (Ann. Math. Stat. 18, 1947): of all pairs, in how many the second is larger (ties count
  a half).  Its distribution, if both samples come from one source, is exact: the coefficients of the Gaussian
  binomial ``[m+n choose m]``.  With ties U is rounded down, which errs towards "no difference".
- Hodges and Lehmann's estimate of the shift: the median of all pairwise quotients (logarithms' differences),
  and the interval between the quotients that U's distribution picks out.

Exact up to :data:`EXACT` values in each sample, beyond that U is nearly normal.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

EXACT = 30


class Shift(NamedTuple):
    """By which factor the second sample is larger: an interval and the estimate in it."""

    low: float
    estimate: float
    high: float


def superiority(first: Sequence[float], second: Sequence[float]) -> float:
    """The effect size: how probably a value of the second sample exceeds one of the first (ties half)."""
    return _u(first, second) / (len(first) * len(second))


def p_greater(first: Sequence[float], second: Sequence[float]) -> float:
    """How probable so large a U is if both samples come from one source (one-sided p-value)."""
    u, m, n = _u(first, second), len(first), len(second)
    if max(m, n) <= EXACT:
        counts = ways(m, n)
        return sum(counts[math.floor(u) :]) / sum(counts)
    # The continuity correction of a half.
    return 1 - statistics.NormalDist(m * n / 2, _deviation(first, second)).cdf(u - 0.5)


def ratio_shift(first: Sequence[float], second: Sequence[float], coverage: float = 0.95) -> Shift:
    """By which factor the second sample is larger; all values above zero."""
    ratios = sorted(after / before for before in first for after in second)
    skipped = _skipped(len(first), len(second), (1 - coverage) / 2)
    return Shift(ratios[skipped], statistics.median(ratios), ratios[-1 - skipped])


def _u(first: Sequence[float], second: Sequence[float]) -> float:
    return sum((after > before) + (after == before) / 2 for before in first for after in second)


@lru_cache(maxsize=64)
def ways(m: int, n: int) -> tuple[int, ...]:
    """In how many orders of m + n different values U is 0, 1, ... m·n."""
    counts = [1]
    for step in range(1, m + 1):
        counts = _divided(_multiplied(counts, n + step), step)
    return tuple(counts)


def _multiplied(counts: list[int], power: int) -> list[int]:
    """A polynomial times 1 - x^power."""
    product = counts + [0] * power
    for place, count in enumerate(counts):
        product[place + power] -= count
    return product


def _divided(counts: list[int], power: int) -> list[int]:
    """A polynomial divided by 1 - x^power, which it is a multiple of."""
    quotient = list(counts)
    for place in range(power, len(quotient)):
        quotient[place] += quotient[place - power]
    return quotient[: len(counts) - power]


def _skipped(m: int, n: int, tail: float) -> int:
    """How many pairwise quotients lie outside the interval at each side."""
    if max(m, n) > EXACT:
        spread = math.sqrt(m * n * (m + n + 1) / 12)
        return max(0, math.floor(m * n / 2 + statistics.NormalDist().inv_cdf(tail) * spread))
    counts = ways(m, n)
    total, seen, skipped = sum(counts), 0, 0
    for count in counts:
        seen += count
        if seen / total > tail:
            break
        skipped += 1
    return skipped


def _deviation(first: Sequence[float], second: Sequence[float]) -> float:
    """Of U, less where values are tied."""
    m, n = len(first), len(second)
    size = m + n
    tied: dict[float, int] = {}
    for value in (*first, *second):
        tied[value] = tied.get(value, 0) + 1
    loss = sum(count**3 - count for count in tied.values()) / (size * (size - 1))
    return max(1e-12, math.sqrt(m * n / 12 * (size + 1 - loss)))
