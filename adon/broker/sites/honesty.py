"""What a site said against what came of it, and what its word is worth from then on.

Each job that started is one comparison: T_q as the site named it when the job was handed over, and the time
the job then waited.  With a grain g of one minute, so that seconds do not matter and nothing is divided by
zero::

    r = ln((waited + g) / (said + g)),   cut to 0 .. ln 100

A job that starts sooner than said counts as honest (r = 0): that must not pay for another one that was late.
The mean of r is weighted, each older comparison by 0.8 of the next, beside one comparison of trust (r = 0)
that never fades, so that a single late job does not condemn a site::

    m = Σ 0.8^k · r_k / (1 + Σ 0.8^k),   factor = e^m,   corrected = (said + g) · factor − g

So a corrected wait is never below what was said, and every honest job brings it nearer to that.  The
deviation of r, taken the same way, is the corrected wait's relative spread.  Pure; issue: "a site that
lies".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.uncertain import Uncertain

GRAIN_S = 60.0
FADING = 0.8
WORST = math.log(100)
"""A hundred times as long as said: more than that makes no difference."""


@dataclass(frozen=True, slots=True)
class Honesty:
    """The comparisons of one site, summed up.

    :param count: how many there were.
    :param weight, late, squares: Σ 0.8^k, and the same of r and r².
    :param said, waited: of the latest one, in seconds; None before the first.
    """

    count: int = 0
    weight: float = 0.0
    late: float = 0.0
    squares: float = 0.0
    said: float | None = None
    waited: float | None = None

    def observe(self, said: float, waited: float) -> Honesty:
        """After one more job; times that cannot be are no comparison."""
        if not (math.isfinite(said) and math.isfinite(waited)) or said < 0 or waited < 0:
            return self
        ratio = min(WORST, max(0.0, math.log((waited + GRAIN_S) / (said + GRAIN_S))))
        return Honesty(
            self.count + 1,
            FADING * self.weight + 1,
            FADING * self.late + ratio,
            FADING * self.squares + ratio**2,
            said,
            waited,
        )

    @property
    def factor(self) -> float:
        """By how much its waits are to be stretched, at least 1."""
        return math.exp(self.late / (1 + self.weight))

    @property
    def spread(self) -> float:
        """The deviation of r."""
        mean = self.late / (1 + self.weight)
        return math.sqrt(max(0.0, self.squares / (1 + self.weight) - mean**2))

    def correct(self, said: float) -> Uncertain:
        """A wait as it is to be counted, in seconds; never below what was said."""
        if math.isinf(said):
            return Uncertain(said)
        stretched = (said + GRAIN_S) * self.factor
        return Uncertain(max(said, stretched - GRAIN_S), stretched * self.spread)
