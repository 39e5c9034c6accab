"""The forecast of one transfer: an expectation, and an interval that should hold the truth nine times in ten.

Counted are the seconds from the admission to the end of the *transfer*: that is what the controller sees
and what the outcome tells.  What is computed runs before the admission, or after the transfer: how long that
takes is told by the cost model alone.

With an error e = (promised − achieved) / achieved a transfer that is expected to take T takes T·(1 + e).
So the errors of past promises on this path and basis are the distribution of what will happen:

- from :data:`ENOUGH` of them on the interval is between the order statistics ⌊(n+1)·α/2⌋ and
  ⌈(n+1)·(1−α/2)⌉ of T·(1 + e): if errors are exchangeable it holds the truth with at least 1 − α
  (split conformal prediction; Vovk, Gammerman, Shafer, *Algorithmic Learning in a Random World*, 2005;
  Lei et al., JASA 113, 2018);
- with fewer, the time is taken as log-normal with the relative spread that has been observed
  (:mod:`adon.broker.cost.spread`), never less than :data:`LEAST`, and :data:`UNOBSERVED` without an
  observation.

From :data:`~adon.broker.cost.spread.ENOUGH_ERRORS` errors on the expectation is corrected by their median.

Where it is known who shares the path (:mod:`adon.broker.forecasting.shared_path`), T is worked out from
that, and the errors are those of such workings-out, not of rates: (took − worked out) / worked out.  Most are
small and some are large, where somebody came; so their spread is their root mean square, not their quartiles.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from adon.broker.cost.spread import ENOUGH_ERRORS
from adon.broker.cost.terms import NetworkTerms, seconds_for
from adon.broker.outcomes import Forecast
from adon.values import FrozenMap

COVERAGE = 0.9
ENOUGH = 19
"""Errors from which the order statistics that this coverage asks for are among them."""

LEAST = 0.05
UNOBSERVED = 0.5

NETWORK, LEARNT = "network", "learnt"
"""The terms: what follows from what is known, and what earlier transfers took longer, or less, than that."""

_ALPHA = 1.0 - COVERAGE
Z = statistics.NormalDist().inv_cdf(1 - _ALPHA / 2)
"""Standard deviations of a normal number to both sides of its mean that hold this share of it."""


def forecast(size: int, terms: NetworkTerms, errors: Sequence[float]) -> Forecast | None:
    """Return the forecast duration of a transfer of these bytes, in seconds; None if unknown.

    :param errors: relative errors of past promises on this path and basis.
    """
    rate = terms.rate_for(size)
    alone = math.inf if rate is None else seconds_for(size, rate)
    return _interval(alone, errors, terms.relative)


def forecast_duration(seconds: float, lasted: Sequence[float], relative: float) -> Forecast | None:
    """When a transfer is over of which it was worked out how long it takes; None if it never is.

    :param lasted: how much longer earlier ones took than was worked out, as a share.
    :param relative: the spread of what the path carries, as a share, until that is known.
    """
    if len(lasted) >= ENOUGH_ERRORS:
        middle = statistics.median(lasted)
        relative = statistics.fmean((error - middle) ** 2 for error in lasted) ** 0.5 / max(LEAST, 1 + middle)
    return _interval(seconds, lasted, relative)


def _interval(alone: float, errors: Sequence[float], relative: float) -> Forecast | None:
    if not math.isfinite(alone):
        return None
    low, expected, high = _transfer(alone, errors, relative)
    terms = {NETWORK: alone} if expected == alone else {NETWORK: alone, LEARNT: expected - alone}
    return Forecast(expected, max(0.0, low), high, COVERAGE, FrozenMap(terms))


def _transfer(alone: float, errors: Sequence[float], relative: float) -> tuple[float, float, float]:
    """Lower end, expectation and upper end of the seconds on the network."""
    ordered = sorted(errors)
    expected = alone * (1 + statistics.median(ordered)) if len(ordered) >= ENOUGH_ERRORS else alone
    if len(ordered) >= ENOUGH:
        low, high = (alone * (1 + error) for error in order_statistics(ordered))
        return min(low, expected), expected, max(high, expected)
    share = max(LEAST, relative) if relative > 0 else UNOBSERVED
    factor = math.exp(Z * math.sqrt(math.log1p(share**2)))
    return expected / factor, expected, expected * factor


def order_statistics(ordered: Sequence[float]) -> tuple[float, float]:
    """The two of these sorted numbers between which the next one lies with :data:`COVERAGE`."""
    count = len(ordered)
    first = max(1, math.floor((count + 1) * _ALPHA / 2 + 1e-9))
    last = min(count, math.ceil((count + 1) * (1 - _ALPHA / 2) - 1e-9))
    return ordered[first - 1], ordered[last - 1]
