"""A series as a small picture: the mean as a line, in the band from the least to the greatest value.  Pure.

Where nothing was measured nothing is drawn: a line across a gap would show what nobody knows.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from measurement.archive import Bucket

WIDTH, HEIGHT = 240.0, 40.0
COLUMNS = 96
"""Of 24 hours: a quarter of an hour each."""
MARGIN = 4.0
FLAT = 0.1
"""The least share of the mean that the picture's height stands for: noise must not look like a change."""
GAP = 3.0
"""Times the usual distance of two columns with values; what is further apart is not joined."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values in one slice of the time shown."""

    number: int
    count: int
    minimum: float
    mean: float
    maximum: float

    @property
    def x(self) -> float:
        """Its middle."""
        return (self.number + 0.5) * WIDTH / COLUMNS


@dataclass(frozen=True, slots=True)
class Sparkline:
    """What is drawn, as SVG path data in a box of WIDTH by HEIGHT, and what it shows in figures.

    :param marks: where alarms were raised.
    """

    band: str
    line: str
    marks: tuple[float, ...]
    minimum: float
    mean: float
    maximum: float


def sparkline(
    buckets: Sequence[Bucket], since: float, until: float, marks: Iterable[float] = ()
) -> Sparkline | None:
    """The picture of a series from ``since`` to ``until``; None where there is no value.

    :param buckets: of that time (:meth:`measurement.archive.Archive.plot`).
    :param marks: times to mark.
    """
    found = columns(buckets, since, until)
    if not found:
        return None
    count = sum(column.count for column in found)
    mean = sum(column.mean * (column.count / count) for column in found)
    low, high = min(column.minimum for column in found), max(column.maximum for column in found)
    runs = _runs(found)
    scale = _Scale.of(low, high, mean)
    return Sparkline(
        band=" ".join(_band(run, scale) for run in runs),
        line=" ".join(_line(run, scale) for run in runs),
        marks=tuple(round(WIDTH * (at - since) / (until - since), 1) for at in marks if since <= at < until),
        minimum=low,
        mean=mean,
        maximum=high,
    )


def columns(buckets: Iterable[Bucket], since: float, until: float) -> list[Column]:
    """The slices that have values, in order."""
    slices: dict[int, list[Bucket]] = {}
    for bucket in buckets:
        middle = bucket.start + bucket.width / 2
        number = int(COLUMNS * (middle - since) / (until - since))
        slices.setdefault(min(max(number, 0), COLUMNS - 1), []).append(bucket)
    return [_column(number, slices[number]) for number in sorted(slices)]


def _column(number: int, parts: Sequence[Bucket]) -> Column:
    count = sum(part.count for part in parts)
    return Column(
        number,
        count,
        min(part.minimum for part in parts),
        sum(part.mean * (part.count / count) for part in parts),
        max(part.maximum for part in parts),
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    @classmethod
    def of(cls, low: float, high: float, mean: float) -> _Scale:
        lacking = max(0.0, FLAT * abs(mean) - (high - low)) / 2
        return cls(low - lacking, high + lacking)

    def y(self, value: float) -> float:
        if self.high <= self.low:
            return HEIGHT / 2
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)


def _runs(found: Sequence[Column]) -> list[list[Column]]:
    distances = [after.number - before.number for before, after in pairwise(found)]
    longest = GAP * statistics.median(distances) if distances else 0.0
    runs = [[found[0]]]
    for column, distance in zip(found[1:], distances, strict=True):
        if distance > longest:
            runs.append([])
        runs[-1].append(column)
    return runs


def _line(run: Sequence[Column], scale: _Scale) -> str:
    if len(run) == 1:  # a dot, by the line's round ends
        return f"M{run[0].x:g} {scale.y(run[0].mean):g}h0.1"
    return "M" + "L".join(f"{column.x:g} {scale.y(column.mean):g}" for column in run)


def _band(run: Sequence[Column], scale: _Scale) -> str:
    there = [f"{column.x:g} {scale.y(column.maximum):g}" for column in run]
    back = [f"{column.x:g} {scale.y(column.minimum):g}" for column in reversed(run)]
    return "M" + "L".join([*there, *back]) + "Z"
