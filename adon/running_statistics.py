"""Count, mean and variance of a series without its values.

The update is Welford's (Technometrics 4, 1962), the merge of two summaries that of Chan, Golub and LeVeque
("Updating formulae and a pairwise algorithm for computing sample variances", 1979).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunningStatistics:
    """Summary of some numbers.

    :param squares: the sum of the squared differences from the mean.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> RunningStatistics:
        """Return the summary with one more number."""
        count = self.count + 1
        before = value - self.mean
        mean = self.mean + before / count
        return RunningStatistics(count, mean, self.squares + before * (value - mean))

    def merge(self, other: RunningStatistics) -> RunningStatistics:
        """Return the summary of the numbers of both summaries."""
        if not other.count:
            return self
        if not self.count:
            return other
        count = self.count + other.count
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart * apart * self.count * other.count / count
        return RunningStatistics(count, self.mean + apart * other.count / count, squares)

    @property
    def deviation(self) -> float:
        """The sample's standard deviation; 0 for fewer than two numbers."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    @property
    def cov(self) -> float:
        """The coefficient of variation; 0 for a mean of zero."""
        return 0.0 if self.mean == 0 else self.deviation / abs(self.mean)


NONE = RunningStatistics()
