"""A lookup table as the terminal shows it."""

from __future__ import annotations

from adon.templates_catalog.lookup import LookupTable
from apps.cli.words import value
from measurement.model import Metric

WIDTH = 40
"""Characters of the longest bar in the picture of a table."""


def picture(metric: Metric, table: LookupTable) -> list[str]:
    """A lookup table as bars, one line per point."""
    unit = {Metric.THROUGHPUT: "bps", Metric.LOSS: "ratio", Metric.HEALTH: "ratio"}.get(metric, "s")
    best = max((score for _, score in table.points), default=0.0) or 1.0
    return [
        f"{value(at, unit):>12} {score:6.2f} {'█' * max(0, round(WIDTH * score / best))}".rstrip()
        for at, score in table.points
    ]
