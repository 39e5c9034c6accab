"""Count, mean and variance of a series that is not kept, one value at a time.

Welford's update (Technometrics 4, 1962); two such summaries are joined as by Chan, Golub and LeVeque
("Updating formulae and a pairwise algorithm for computing sample variances", 1979).  Values in, values out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known of some numbers.

    :param squares: the sum of the squared differences from the mean.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def with_one(self, value: float) -> Moments:
        """With one number more."""
        count = self.count + 1
        before = value - self.mean
        mean = self.mean + before / count
        return Moments(count, mean, self.squares + before * (value - mean))

    def joined(self, other: Moments) -> Moments:
        """With the numbers of another summary."""
        if not other.count:
            return self
        if not self.count:
            return other
        count = self.count + other.count
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart * apart * self.count * other.count / count
        return Moments(count, self.mean + apart * other.count / count, squares)

    @property
    def deviation(self) -> float:
        """The sample's standard deviation; 0 for fewer than two numbers."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    @property
    def cov(self) -> float:
        """The coefficient of variation, 0 where the mean is zero."""
        return 0.0 if self.mean == 0 else self.deviation / abs(self.mean)


NONE = Moments()
