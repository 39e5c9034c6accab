"""How sure a mean is: Student's interval, and what samples are worth that follow each other.

Tests a minute apart are not independent: what slows one often slows the next.  Where the correlation of
neighbours is ρ, the mean of n of them varies as that of m = n · (1 - ρ) / (1 + ρ) independent ones does (an
autoregressive process of first order).  Two corrections matter where n is small:

- ρ as it is measured is too low, by about (1 + 4ρ) / n (F. Marriott, J. Pope, Biometrika 41, 1954);
- the deviation of values that follow each other is too low as well: its square has the factor
  n · (m - 1) / (m · (n - 1)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from measurement.evaluation.results import Measured

LEAST = 8
"""Of fewer values a correlation says nothing."""
MOST = 0.99
"""What follows a trend is more correlated than that; then so many values say hardly anything."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a value is, with a certain confidence."""

    low: float
    high: float


def correlation(values: Sequence[float]) -> float:
    """ρ: of neighbours in time; 0 where too few are there, or all are the same."""
    if len(values) < LEAST:
        return 0.0
    mean = math.fsum(values) / len(values)
    off = [value - mean for value in values]
    power = math.fsum(one * one for one in off)
    return math.fsum(a * b for a, b in itertools.pairwise(off)) / power if power > 0 else 0.0


def correlated(values: Sequence[float]) -> bool:
    """Whether neighbours are more alike than chance makes them (beyond 1.96 / √n)."""
    return len(values) >= LEAST and correlation(values) > 1.96 / math.sqrt(len(values))


def worth(values: Sequence[float]) -> float:
    """How many independent values of the same measured deviation would tell as much of the mean.

    As many as there are, if they are not correlated; never fewer than 2.
    """
    count = len(values)
    if not correlated(values):
        return float(count)
    rho = min(MOST, (count * correlation(values) + 1) / (count - 4))
    alone = count * (1 - rho) / (1 + rho)
    return max(2.0, count * (alone - 1) / (count - 1))


def interval(measured: Measured, confidence: float, count: float | None = None) -> Interval | None:
    """Of the mean (Student); None of fewer than two values, or of a number of them that nobody knows.

    :param count: what they are worth, if that is not their number.
    """
    number = float(measured.count) if count is None else count
    if number < 2:
        return None
    from scipy import stats  # takes half a second to import

    half = float(stats.t.ppf(0.5 + confidence / 2, number - 1)) * measured.deviation / math.sqrt(number)
    return Interval(measured.mean - half, measured.mean + half)


def welch(
    one: Measured, other: Measured, counts: tuple[float, float], confidence: float
) -> tuple[float, Interval]:
    """P-value and interval of the difference of two means whose deviations may differ (B. L. Welch 1947).

    :param counts: how many independent values each is worth; 2 or more.
    """
    parts = [its.deviation**2 / count for its, count in zip((one, other), counts, strict=True)]
    error, apart = math.sqrt(math.fsum(parts)), other.mean - one.mean
    if error == 0:
        return (1.0 if apart == 0 else 0.0), Interval(apart, apart)
    below = math.fsum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    freedom = math.fsum(parts) ** 2 / below if below > 0 else math.inf
    from scipy import stats

    p = 2 * float(stats.t.sf(abs(apart) / error, freedom))
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * error
    return p, Interval(apart - half, apart + half)
