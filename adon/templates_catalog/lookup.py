"""Lookup tables: from a measured value to a metric score ([ADON] 3.3, table 2; spec section 2).

A table is a list of (value, score) points.  Between two points the score is interpolated linearly,
outside it is clamped; ``step: true`` keeps the score of the last point reached.  A table must be
monotonic in its metric's good direction: more throughput never scores less, more delay never more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import BaseModel, ConfigDict

from adon.units import parse_duration, parse_rate, parse_ratio
from measurement.model import Metric

PARSERS: Mapping[Metric, Callable[[object], float]] = {
    Metric.THROUGHPUT: parse_rate,
    Metric.RTT: parse_duration,
    Metric.ONE_WAY_DELAY: parse_duration,
    Metric.JITTER: parse_duration,
    Metric.LOSS: parse_ratio,
}
"""How a value of each metric is read from text."""


class LookupTable(BaseModel):
    """A scoring table of one metric; ``points`` are (value in the metric's unit, score), by value."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    points: tuple[tuple[float, float], ...]
    step: bool = False
    generated: bool = False
