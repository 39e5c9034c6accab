"""What the values of a figure amount to over repetitions: median, spread, and how sure the mean is.

The interval is Student's, of the mean, and that of a ratio the same of the logarithms of the ratios of
repetitions that belong together.  Not a bootstrap: there are three repetitions, not thirty, and resampling
three values can only find their smallest and largest again (of 27 resamples one in nine has one value
only), so what it calls 95 % covers much less.  Student's interval is wide where there is little to go by.
Its price is an assumption: that repetitions deviate about normally, and do not influence each other.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from measurement.evaluation.intervals import Interval, interval
from measurement.evaluation.results import Measured

CONFIDENCE = 0.95
METHOD = f"{CONFIDENCE:.0%} interval of the mean (Student)"


@dataclass(frozen=True, slots=True)
class Summary:
    """The values of one figure at one combination.

    :param interval: of the mean; None of a single value.
    """

    count: int
    median: float
    mean: float
    least: float
    most: float
    interval: Interval | None


def measured(values: Sequence[float]) -> Measured:
    """Mean, standard deviation (of a sample) and count."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return Measured(math.fsum(values) / len(values), deviation, len(values))


def summary(values: Sequence[float], confidence: float = CONFIDENCE) -> Summary | None:
    """What values amount to; None if there are none.

    Of times, rates and counts the interval begins at zero at the lowest: the mean is not below it, so that
    what is left of the interval is as sure.
    """
    if not values:
        return None
    its = measured(values)
    between = interval(its, confidence)
    if between is not None and min(values) >= 0 > between.low:
        between = Interval(0.0, between.high)
    return Summary(len(values), statistics.median(values), its.mean, min(values), max(values), between)


def ratio(
    pairs: Sequence[tuple[float, float]], confidence: float = CONFIDENCE
) -> tuple[float, Interval | None]:
    """The geometric mean of the ratios of pairs, and its interval (None of a single pair).

    :param pairs: of one repetition each; all values above zero.
    :raises ValueError: if there are none, or one is not above zero.
    """
    if not pairs or any(one <= 0 or other <= 0 for one, other in pairs):
        raise ValueError("ratio: needs pairs of numbers above zero")
    its = measured([math.log(one / other) for one, other in pairs])
    between = interval(its, confidence)
    return math.exp(its.mean), (
        None if between is None else Interval(math.exp(between.low), math.exp(between.high))
    )
