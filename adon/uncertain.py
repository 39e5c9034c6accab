"""A number that is not known exactly: its mean and its standard deviation.

Estimates carry their spread through sums and quotients, to first order and as if they were independent
(ISO/IEC Guide 98-3, "GUM", 5.1.2).  The coefficient of variation (COV) is what [CEEM] and [ADON] 3.1
compare candidates' steadiness by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A mean and a standard deviation of the same unit; an infinite mean has no spread.

    :raises ValueError: for a mean or a deviation that is undefined, or a negative or infinite deviation.
    """

    mean: float
    deviation: float = 0.0

    def __post_init__(self) -> None:
        if math.isnan(self.mean):
            raise ValueError("mean: is not a number")
        if not 0 <= self.deviation < math.inf:
            raise ValueError(f"deviation: must be finite and zero or more, not {self.deviation!r}")
        if math.isinf(self.mean) and self.deviation:
            object.__setattr__(self, "deviation", 0.0)

    @property
    def cov(self) -> float:
        """The coefficient of variation: deviation over mean; 0 for what is known exactly."""
        if self.deviation == 0:
            return 0.0
        return math.inf if self.mean == 0 else self.deviation / abs(self.mean)

    def __add__(self, other: Uncertain) -> Uncertain:
        """The sum of two independent numbers."""
        return Uncertain(self.mean + other.mean, math.hypot(self.deviation, other.deviation))

    def scaled(self, by: float) -> Uncertain:
        """So many times this number."""
        return Uncertain(self.mean * by, abs(self.deviation * by))

    def under(self, numerator: float) -> Uncertain:
        """``numerator`` divided by this number, to first order; infinite where this is zero."""
        if self.mean == 0:
            return Uncertain(math.inf if numerator else 0.0)
        mean = numerator / self.mean
        return Uncertain(mean, abs(mean) * self.cov) if math.isfinite(mean) else Uncertain(mean)

    def interval(self, z: float) -> tuple[float, float]:
        """``z`` deviations to both sides of the mean, from 0: what is estimated here is never negative."""
        return max(0.0, self.mean - z * self.deviation), self.mean + z * self.deviation
