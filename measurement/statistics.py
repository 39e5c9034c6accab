"""Confidence of means: Student's interval, and the effective number of correlated values.

Consecutive tests are not independent.  If ρ is the correlation of neighbours, the mean of n of them varies as
the mean of m = n · (1 - ρ) / (1 + ρ) independent values (an autoregressive process of first order).  Two
corrections matter for small n:

- the measured ρ is too low, by about (1 + 4ρ) / n (F. Marriott, J. Pope, Biometrika 41, 1954);
- the measured deviation is too low: its square has the factor n · (m - 1) / (m · (n - 1)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

MIN_CORRELATED = 8
"""Minimum number of values of a correlation."""
MAX_CORRELATION = 0.99
"""Upper bound of the corrected correlation; a series with a trend exceeds it."""


class Interval(NamedTuple):
    """Confidence interval."""

    low: float
    high: float


def correlation(values: Sequence[float]) -> float:
    """Return the correlation of neighbours; 0 for fewer than 8 values or equal values."""
    if len(values) < MIN_CORRELATED:
        return 0.0
    mean = math.fsum(values) / len(values)
    offsets = [value - mean for value in values]
    power = math.fsum(offset * offset for offset in offsets)
    return math.fsum(a * b for a, b in itertools.pairwise(offsets)) / power if power > 0 else 0.0


def is_correlated(values: Sequence[float]) -> bool:
    """Return whether the correlation of neighbours is significant (above 1.96 / √n)."""
    return len(values) >= MIN_CORRELATED and correlation(values) > 1.96 / math.sqrt(len(values))


def effective_count(values: Sequence[float]) -> float:
    """Return the number of independent values of the same deviation whose mean is as certain; at least 2."""
    count = len(values)
    if not is_correlated(values):
        return float(count)
    rho = min(MAX_CORRELATION, (count * correlation(values) + 1) / (count - 4))
    independent = count * (1 - rho) / (1 + rho)
    return max(2.0, count * (independent - 1) / (count - 1))


def mean_interval(mean: float, deviation: float, count: float, confidence: float) -> Interval | None:
    """Return Student's interval of a mean; None for fewer than two values.

    :param count: number of values, or :func:`effective_count`.
    """
    if count < 2:
        return None
    from scipy import stats  # its import takes half a second

    half = float(stats.t.ppf(0.5 + confidence / 2, count - 1)) * deviation / math.sqrt(count)
    return Interval(mean - half, mean + half)
