"""How many bytes the next hour will bring ([CHOREO] 2.1, 6.1).

The paper found "data from the previous hour and the time-of-day" to be good predictors, and gives no formula.
This is ours: each hour of the day has its usual value s(h), the mean of that hour on the last 28 days; what
the last hour was above it carries over in part::

    next = s(h + 1) + φ · (last - s(h)),  0 ≤ φ ≤ 1

φ is the one that would have been best so far (least squares).  With φ = 0 the time of day alone decides, with
φ = 1 and no daily rhythm the previous hour alone.  Values and functions only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

DAY = 24
"""Hours."""
LEARNT = 28 * DAY
"""From so many hours back it learns: what was usual in another season is not any more."""

Predict = Callable[[Sequence[float]], float | None]
"""From the bytes of all hours so far, the oldest first, to those of the next; None if too little is known."""


def previous_hour(hours: Sequence[float]) -> float | None:
    """As in the last hour: the naive yardstick for what is steady."""
    return hours[-1] if hours else None


def same_hour_yesterday(hours: Sequence[float]) -> float | None:
    """As at this time of the day before: the naive yardstick for what has a rhythm."""
    return hours[-DAY] if len(hours) >= DAY else None


def next_hour(hours: Sequence[float]) -> float | None:
    """By both; as in the last hour while there are less than two days to learn from.

    :raises ValueError: for an hour that is no finite number from 0 on.
    """
    hours = hours[-LEARNT:]
    if not all(math.isfinite(each) and each >= 0 for each in hours):
        raise ValueError("hours: bytes are finite numbers from 0 on")
    if len(hours) < 2 * DAY:
        return previous_hour(hours)
    days = [hours[hour::DAY] for hour in range(DAY)]
    usual = [math.fsum(its) / len(its) for its in days]
    # By the usual value of the *other* days: an hour that is in its own mean seems nearer to it than it is.
    off = [(value - usual[at % DAY]) * _without_itself(len(days[at % DAY])) for at, value in enumerate(hours)]
    before = math.fsum(each * each for each in off[:-1])
    along = math.fsum(one * other for one, other in pairwise(off))
    carried = min(1.0, max(0.0, along / before)) if before > 0 else 0.0
    return max(0.0, usual[len(hours) % DAY] + carried * off[-1])


def _without_itself(count: int) -> float:
    """By how much a value is farther from the mean of the others than from the mean of all."""
    return count / (count - 1)


@dataclass(frozen=True, slots=True)
class Error:
    """How far predictions were off.

    :param share: the sum of all differences, as a share of the sum of what came; infinite where nothing came.
    :param median: of the differences, each as a share of what came in its hour; hours of nothing left out.
    :param hours: that were predicted.
    """

    share: float
    median: float
    hours: int


def rolling_error(hours: Sequence[float], predict: Predict, start: int = 2 * DAY) -> Error | None:
    """Predict each hour from those before it alone.

    :param start: the first hour that is predicted, so that all predictors are compared on the same ones.
    :returns: None if there is no such hour.
    """
    pairs = [(predict(hours[:at]), hours[at]) for at in range(start, len(hours))]
    known = [(abs(guess - truth), truth) for guess, truth in pairs if guess is not None]
    if not known:
        return None
    came = math.fsum(truth for _, truth in known)
    shares = sorted(off / truth for off, truth in known if truth > 0)
    return Error(
        share=math.fsum(off for off, _ in known) / came if came else math.inf,
        median=shares[len(shares) // 2] if shares else math.inf,
        hours=len(known),
    )
