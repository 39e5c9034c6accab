"""How fast what was measured ceases to be true ([CHOREO] 4.1, figure 7).

For a series of one path's throughput, λ(c) now and λ(c - τ) a time τ before, the error of using the old
one is::

    |λ(c) - λ(c - τ)| / λ(c)

The paper draws its distribution over all paths for τ = 1, 5, 10 and 30 minutes.  From the same curve follows
how old a measurement may be (the ``max_age`` of ADON's templates) for an error that one accepts.  Values and
functions only.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

AGES = (60.0, 300.0, 600.0, 1800.0)
"""τ in seconds."""
NEAR = 0.1
"""A value counts as τ old if it is off by at most this share of τ, and no other is nearer."""


class Value(NamedTuple):
    """A measurement: seconds since 1970, and in any unit."""

    at: float
    value: float


Series = Sequence[Value]
"""Of one path, in order of time."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The errors of all values of one age.

    :param age: τ in seconds.
    :param errors: sorted; at least one.
    """

    age: float
    errors: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Of all errors."""
        return math.fsum(self.errors) / len(self.errors)

    def quantile(self, share: float) -> float:
        """The error that this share of the values does not exceed.

        :raises ValueError: for a share that is not above 0 and at most 1.
        """
        if not 0 < share <= 1:
            raise ValueError(f"share: {share} is not above 0 and at most 1")
        return self.errors[math.ceil(share * len(self.errors)) - 1]

    def below(self, error: float) -> float:
        """The share of the values whose error is at most this: the height of the curve there."""
        return bisect_right(self.errors, error) / len(self.errors)


def curves(paths: Iterable[Series], ages: Sequence[float] = AGES) -> tuple[Curve, ...]:
    """A curve per age, over all paths; an age that no series is long enough for has none.

    :raises ValueError: for a series that is not in order of time, or has a value below 0 or none at all, or
        an age that is not above 0.
    """
    if not all(age > 0 for age in ages):
        raise ValueError("ages: are above 0 s")
    found: Mapping[float, list[float]] = {age: [] for age in ages}
    for series in paths:
        times = [each.at for each in series]
        if not all(math.isfinite(at) and math.isfinite(value) and value >= 0 for at, value in series):
            raise ValueError("series: a time or a value is not a finite number from 0 on")
        if any(later <= earlier for earlier, later in pairwise(times)):
            raise ValueError("series: is not in order of time")
        for age, errors in found.items():
            errors.extend(_errors(series, times, age))
    return tuple(Curve(age, tuple(sorted(errors))) for age, errors in sorted(found.items()) if errors)


def _errors(series: Series, times: Sequence[float], age: float) -> Iterable[float]:
    for at, value in series:
        # Of a path that carries nothing now no error can be told: it has no size to compare with.
        old = _nearest(times, at - age)
        if value > 0 and abs(times[old] - (at - age)) <= NEAR * age:
            yield abs(value - series[old].value) / value


def _nearest(times: Sequence[float], at: float) -> int:
    after = bisect_left(times, at)
    near = [index for index in (after - 1, after) if 0 <= index < len(times)]
    return min(near, key=lambda index: abs(times[index] - at))


def max_age(found: Sequence[Curve], error: float, share: float = 0.95) -> float | None:
    """How old a value may be: the greatest age up to which this share of values is off by at most the error.

    :param found: curves in order of age.
    :param error: as a share of the value.
    :returns: seconds; None if already the youngest are off by more: then nothing measured can be that good.
    """
    greatest = None
    for curve in found:
        if curve.quantile(share) > error:
            break
        greatest = curve.age
    return greatest
