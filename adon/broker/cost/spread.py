"""How far off a rate that is expected of a path may be, from what has been observed there.

Two things have been observed.  *Past promises*: what decisions expected of this path on this basis, against
what flows then achieved (:mod:`adon.broker.estimates`).  With at least :data:`ENOUGH_ERRORS` of them their
interquartile range, as the deviation of a normal number (IQR / 1.349), says how far the next one will be
off; a median that is not zero is an error that will be made again, so both are added in quadrature.
*Tests*: the coefficient of variation of what was measured over the window ([CEEM]; [ADON] 3.1), which knows
nothing of what flows make of it and serves until there are promises enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.broker.estimates import summarise
from adon.running_statistics import RunningStatistics

ENOUGH_ERRORS = 5
ENOUGH_TESTS = 3

IQR_OF_NORMAL = 1.349
"""The interquartile range of a normal number, in its standard deviations."""


@dataclass(frozen=True, slots=True)
class Relative:
    """Spread as a share of the expectation, and its source; zero without observations."""

    share: float
    origin: str


def of_rate(errors: Sequence[float], tests: RunningStatistics) -> Relative:
    """How far off a rate may be.

    :param errors: relative errors of past promises of this path on this basis.
    :param tests: what was measured there.
    """
    if len(errors) >= ENOUGH_ERRORS:
        found = summarise(errors)
        share = math.hypot(found.median, found.spread / IQR_OF_NORMAL)
        return Relative(share, f"how far off the last {found.count} promises were")
    if tests.count >= ENOUGH_TESTS:
        return Relative(tests.cov, f"COV of {tests.count} measurements")
    return Relative(0.0, "")
