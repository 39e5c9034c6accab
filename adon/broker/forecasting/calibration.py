"""How well forecasts held: coverage, calibration and sharpness, from what became of the flows.

A forecast with coverage 0.9 is *calibrated* if nine of ten truths lie within; it is *sharp* if it is narrow.
Both are asked of finished flows only: one that was cancelled took no time of its own.

- Coverage with Wilson's interval (1927), which says how much such a number is worth for few flows.
- The calibration curve: every forecast is read as a two-piece log-normal around its expectation, so that its
  interval can be widened or narrowed to any other coverage p; told is which share of truths lies within.
- The interval score of Gneiting and Raftery (JASA 102, 2007, equation 43), as a share of the truth: width,
  plus 2/α times the distance of a truth that lies outside.  Lower is better; it cannot be bettered by saying
  anything but what one thinks.
- The error of the expectation: median, and median of its size.

Values in, values out.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adon.broker.outcomes import FlowOutcome, Forecast

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The coverages at which the calibration curve is told."""

_NORMAL = statistics.NormalDist()
_CONFIDENCE = _NORMAL.inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of some forecasts.

    :param count: finished flows that had one.
    :param nominal: the coverage that they claimed, on average.
    :param covered: the share of truths that lay within; ``least`` and ``most`` bound it with 95 % confidence.
    :param bias: the median of (expected − took) / took; above zero: too slow was expected.
    :param error: the median of its size.
    :param score: the median interval score as a share of what was taken.
    :param curve: per coverage p, the share of truths within the interval of that coverage.
    """

    count: int
    nominal: float
    covered: float
    least: float
    most: float
    bias: float
    error: float
    score: float
    curve: tuple[tuple[float, float], ...]


def scorable_forecasts(outcomes: Iterable[FlowOutcome]) -> list[tuple[Forecast, float]]:
    """The forecasts that can be scored, each with the seconds that it took."""
    found = []
    for one in outcomes:
        if one.forecast is not None and one.admitted_at is not None and one.state == "finished":
            took = one.ended_at - one.admitted_at
            if took > 0:
                found.append((one.forecast, took))
    return found


def calibration(outcomes: Iterable[FlowOutcome]) -> Calibration | None:
    """How well the forecasts of these flows held; None if none can be scored."""
    pairs = scorable_forecasts(outcomes)
    if not pairs:
        return None
    within = sum(forecast.low <= took <= forecast.high for forecast, took in pairs)
    least, most = wilson(within, len(pairs))
    errors = [(forecast.expected - took) / took for forecast, took in pairs]
    return Calibration(
        count=len(pairs),
        nominal=math.fsum(forecast.coverage for forecast, _ in pairs) / len(pairs),
        covered=within / len(pairs),
        least=least,
        most=most,
        bias=statistics.median(errors),
        error=statistics.median(map(abs, errors)),
        score=statistics.median(interval_score(*pair) / pair[1] for pair in pairs),
        curve=_curve(pairs),
    )


def by_wait(outcomes: Iterable[FlowOutcome]) -> Mapping[str, Calibration]:
    """All forecasts, and those of flows that ran at once and that had waited apart; what there is of each."""
    found = list(outcomes)
    groups = {
        "all": found,
        "at once": [one for one in found if not one.waited > 0],
        "after a wait": [one for one in found if one.waited > 0],
    }
    judged = {name: calibration(group) for name, group in groups.items()}
    return {name: one for name, one in judged.items() if one is not None}


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The score interval of a share, with 95 % confidence (Wilson, JASA 22, 1927).

    :raises ValueError: for a share of nothing.
    """
    if count < 1:
        raise ValueError("count: a share of nothing")
    share, square = hits / count, _CONFIDENCE**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = (
        math.sqrt(share * (1 - share) / count + square / (4 * count**2)) * _CONFIDENCE / (1 + square / count)
    )
    return max(0.0, middle - half), min(1.0, middle + half)


def interval_score(forecast: Forecast, took: float) -> float:
    """Width, plus 2/α times the distance of a truth that lies outside; infinite where α is zero."""
    outside = max(0.0, forecast.low - took) + max(0.0, took - forecast.high)
    width = forecast.high - forecast.low
    if not outside:
        return width
    alpha = 1 - forecast.coverage
    return width + 2 * outside / alpha if alpha > 0 else math.inf


def position(forecast: Forecast, took: float) -> float:
    """How far from the expectation a truth lies, in half-widths of the interval on its side; 1 is its end.

    On a logarithmic scale where the interval allows it, because times vary by factors.
    """
    end = forecast.high if took >= forecast.expected else forecast.low
    if took == forecast.expected:
        return 0.0
    if min(took, forecast.expected, end) > 0 and end != forecast.expected:
        return math.log(took / forecast.expected) / math.log(end / forecast.expected)
    return math.inf if end == forecast.expected else (took - forecast.expected) / (end - forecast.expected)


def _curve(pairs: Sequence[tuple[Forecast, float]]) -> tuple[tuple[float, float], ...]:
    found = [(position(forecast, took), _reach(forecast.coverage)) for forecast, took in pairs]
    ends = [(level, _reach(level) * (1 + 1e-12)) for level in LEVELS]
    return tuple(
        (level, sum(place * reach <= end for place, reach in found) / len(found)) for level, end in ends
    )


@lru_cache(1024)
def _reach(coverage: float) -> float:
    """Half the width, in standard deviations, of the interval that holds this share of a normal number."""
    return _NORMAL.inv_cdf((1 + min(max(coverage, 1e-9), 1 - 1e-9)) / 2)
