"""Lookup tables from measured values to metric scores ([ADON] 3.3, table 2; spec section 2).

A table is a list of (value, score) points.  Between two points the score is interpolated linearly,
outside it is clamped; ``step: true`` keeps the score of the last point reached.  A table must be
monotonic in its metric's good direction: more throughput never scores less, more delay never more.

A table holds plain numbers and does not know its metric.  :func:`read_table` and :func:`write_table` convert
from and to text in which every value has a unit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import Field, WithJsonSchema, model_validator

from adon import units
from adon.errors import InvalidFields, read_each
from adon.values import Value
from measurement.model import Metric

UNITS: Mapping[Metric, str] = {
    Metric.THROUGHPUT: "bps",
    Metric.RTT: "s",
    Metric.ONE_WAY_DELAY: "s",
    Metric.JITTER: "s",
    Metric.LOSS: "ratio",
    Metric.HEALTH: "ratio",
}
"""Unit of the values of each metric inside ADON."""

PARSERS = {metric: units.UNITS[unit][0] for metric, unit in UNITS.items()}
"""Parser for the values of each metric."""

WORST_SCORE = 1.0
BEST_SCORE = 10.0
"""Scores of the first and last row of table 2."""

_DECADE = 10.0
"""Ratio of the ends of table 2 (1 to 10 Gbps), and of a generated table with one unknown end."""

_EDGE = 1e-9
"""Width of the step of a degenerate table, relative and absolute: finer than any measurement."""

MAX_ROWS = 1000

_EXAMPLE = "values rise, for example [[700 Mbps, 1], [10 Gbps, 10]]"

_WRITTEN = WithJsonSchema({"type": "string", "examples": ["100 Mbps", "20 ms"]})
"""JSON schema of a value: a table in JSON states its values with their units."""

Point = tuple[Annotated[float, Field(ge=0), _WRITTEN], Annotated[float, Field(ge=-1e6, le=1e6)]]


class LookupTable(Value):
    """Scoring table of one metric; ``points`` are (value, score) in the order of values.

    Values are in the metric's unit.
    """

    points: tuple[Point, ...]
    step: bool = False
    generated: bool = False

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        if not 2 <= len(self.points) <= MAX_ROWS:
            raise ValueError(f"points: {len(self.points)} is not 2 to {MAX_ROWS} points; {_EXAMPLE}")
        wrong = [
            f"points.{row}: value {after:g} does not come after {before:g}; {_EXAMPLE}"
            for row, ((before, _), (after, _)) in enumerate(pairwise(self.points), start=1)
            if after <= before
        ]
        if wrong:
            raise InvalidFields(wrong)
        return self

    def score(self, value: float) -> float:
        """Return the score of a measured value in the metric's own unit.

        :raises ValueError: for NaN.
        """
        if value != value:
            raise ValueError("NaN has no score")
        after = bisect_right(self.points, value, key=lambda point: point[0])
        if after == 0:
            return self.points[0][1]
        if after == len(self.points) or self.step:
            return self.points[after - 1][1]
        return _between(self.points[after - 1], self.points[after], value)

    def check_direction(self, metric: Metric) -> None:
        """Check that scores never worsen in the metric's good direction.

        :raises ValueError: naming every wrong row, as ``points.ROW: cause``.
        """
        good, word = (1, "less") if metric.higher_is_better else (-1, "more")
        wrong = [
            f"points.{row}: more {metric} must not score {word}; for example {before:g}, not {after:g}"
            for row, ((_, before), (_, after)) in enumerate(pairwise(self.points), start=1)
            if (after - before) * good < 0
        ]
        if wrong:
            raise InvalidFields(wrong)


def _between(left: tuple[float, float], right: tuple[float, float], value: float) -> float:
    share = (value - left[0]) / (right[0] - left[0])
    score = left[1] + (right[1] - left[1]) * share
    low, high = sorted((left[1], right[1]))
    return min(max(score, low), high)  # rounding must not move a score beyond its neighbours


def read_table(metric: Metric, written: object) -> object:
    """Return a table as written, with the values of its points parsed by the metric's parser.

    A value of another shape is returned unchanged; the model refuses it.

    :raises ValueError: naming every row whose value is wrong, as ``points.ROW: cause``.
    """
    if not isinstance(written, Mapping) or not isinstance(written.get("points"), list | tuple):
        return written
    points = read_each(enumerate(written["points"]), lambda _, point: _point(metric, point), "points")
    return {**written, "points": tuple(points.values())}


def _point(metric: Metric, point: object) -> object:
    if not isinstance(point, list | tuple) or len(point) != 2:
        raise ValueError("a point is a value with its unit and a score, such as [1000 Mbps, 1]")
    return PARSERS[metric](point[0]), point[1]  # tuples: pydantic's strict mode takes no list for one


def write_table(metric: Metric, table: LookupTable) -> dict[str, Any]:
    """Return a table as JSON values with units, which :func:`read_table` reads back exactly."""
    points = [[f"{value!r} {UNITS[metric]}", score] for value, score in table.points]
    return {"points": points, "step": table.step, "generated": table.generated}


def generate_table(metric: Metric, bound: float | None, best: float | None) -> LookupTable:
    """Generate the table of a metric ([ADON] table 2): the QSpec bound scores 1, ``best`` scores 10.

    :param bound: the QSpec's hard bound; None without a bound for this metric.
    :param best: the target, the RSpec ceiling, the best value seen or the propagation limit; None if all are
        unknown.

    An unknown end is set so that the table can still order candidates:

    - no bound: a factor of ten from ``best``, as in table 2;
    - no best: ten times the bound for throughput, 1 for health, zero for the others;
    - neither (or only zeros): any value above zero is best for throughput, worst for the others; health
      scores over a factor of ten below 1.

    If ``best`` is not better than the bound, the bound scores 10 and values that miss it score 1, with a step
    too narrow to measure.
    """
    if metric is Metric.HEALTH and best is None:
        best = 1.0  # the maximum of health
    low, high = _high_ends(bound, best) if metric.higher_is_better else _small_ends(metric, bound, best)
    scores = (WORST_SCORE, BEST_SCORE) if metric.higher_is_better else (BEST_SCORE, WORST_SCORE)
    return LookupTable(points=((low, scores[0]), (high, scores[1])), generated=True)


def _high_ends(bound: float | None, best: float | None) -> tuple[float, float]:
    if not bound and not best:
        return 0.0, _EDGE
    low = bound if bound is not None else (best or 0.0) / _DECADE
    high = best if best is not None else low * _DECADE
    if high > low:
        return low, high
    below = low * (1 - _EDGE)
    return (below if below < low else 0.0), low


def _small_ends(metric: Metric, bound: float | None, best: float | None) -> tuple[float, float]:
    low = best if best is not None else 0.0
    high = bound if bound is not None else low * _DECADE
    if metric is Metric.LOSS:
        high = min(high, 1.0)
    if high > low:
        return low, high
    edge = high * (1 + _EDGE) + _EDGE
    return (1 - _EDGE, 1.0) if metric is Metric.LOSS and edge > 1 else (high, edge)
