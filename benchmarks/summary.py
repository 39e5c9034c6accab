"""Samples into a few honest numbers, and numbers into a table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """Order statistics of some samples, all in the samples' unit.

    :param spread: the interquartile range.
    :param rounds: the median of each round, in order: they show drift.
    """

    count: int
    median: float
    p90: float
    p99: float
    largest: float
    spread: float
    rounds: tuple[float, ...]

    @classmethod
    def of(cls, rounds: Sequence[Sequence[float]]) -> Summary:
        """Of samples taken in rounds."""
        samples = sorted(sample for each in rounds for sample in each)
        return cls(
            count=len(samples),
            median=statistics.median(samples),
            p90=quantile(samples, 0.90),
            p99=quantile(samples, 0.99),
            largest=samples[-1],
            spread=quantile(samples, 0.75) - quantile(samples, 0.25),
            rounds=tuple(statistics.median(each) for each in rounds),
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of the sorted samples does not exceed, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table; the first row is the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])
