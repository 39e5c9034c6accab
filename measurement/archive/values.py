"""What the archive answers with and is told: plain values, no database.

A :class:`Bucket` is what roll-ups keep of the values of one minute or hour.  Buckets of one series can be
merged, so that a plot of any length needs only as many as it has pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Self

from measurement.archive.sketch import Sketch
from measurement.errors import shorten
from measurement.model import Series

MINUTE = 60
HOUR = 3600
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two results of one run that do not say the same; the one held stays.

    :param subject: the series.
    :param source: of the value that was offered.
    :param held: the value that is kept.
    """

    subject: Series
    source: str
    held: float
    offered: float

    def __str__(self) -> str:
        what = f"{self.offered!r} instead of {self.held!r}"
        return shorten(f"{self.subject}: {self.source} says {what}; the first one stays")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A value that cannot be kept, and why."""

    subject: Series
    source: str
    cause: str

    def __str__(self) -> str:
        return shorten(f"{self.subject}: {self.source} refused: {self.cause}")


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of the values given to :meth:`~measurement.archive.Archive.append`.

    :param new: how many were not held before.
    :param duplicates: how many were.
    :param disagreements: of the same run as a value held, and not equal to it.
    :param refused: can never be kept (text that is no text, far too old); sending them again is no use.
    """

    new: int = 0
    duplicates: int = 0
    disagreements: tuple[Disagreement, ...] = ()
    refused: tuple[Refusal, ...] = ()

    def __add__(self, other: Appended) -> Appended:
        return Appended(
            self.new + other.new,
            self.duplicates + other.duplicates,
            self.disagreements + other.disagreements,
            self.refused + other.refused,
        )


@dataclass(frozen=True, slots=True)
class Retention:
    """How many seconds after its observation something is kept.

    :param raw: single values.
    :param minutes: roll-ups of a minute.
    :param hours: roll-ups of an hour.
    :param documents: by kind, documents that are not open; kinds not named are kept for ever.
    :raises ValueError: if a coarser resolution would be forgotten before a finer one.
    """

    raw: float = 90 * DAY
    minutes: float = 400 * DAY
    hours: float = 3650 * DAY
    documents: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.raw <= self.minutes <= self.hours:
            raise ValueError("retention: 0 < raw <= minutes <= hours is not true")


@dataclass(frozen=True, slots=True)
class Maintained:
    """What maintenance did.

    :param rolled_up: values that went into roll-ups.
    :param dropped: values, roll-ups and documents that were too old.
    """

    rolled_up: int
    dropped: int


@dataclass(frozen=True, slots=True, order=True)
class Held:
    """How many single values of a series are held; the times of the first and the last observed."""

    series: Series
    count: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """The values observed in ``[start, start + width)``; ``width`` 0 is a single value.

    :param mean: of all ``count`` values, each weighing the same.
    :param sketch: their distribution, if ``count`` is above 2 (below, the extremes are the values).
    """

    start: float
    width: int
    count: int
    minimum: float
    mean: float
    maximum: float
    sketch: Sketch | None = None

    @classmethod
    def single(cls, at: float, value: float) -> Self:
        """A value as its own bucket."""
        return cls(at, 0, 1, value, value, value)

    @classmethod
    def of(cls, start: float, width: int, values: Sequence[float]) -> Self:
        """Of the values observed in it; at least one."""
        count = len(values)
        mean = fsum(value / count for value in values)  # divided first: no overflow
        sketch = Sketch.of(values) if count > 2 else None
        lowest, highest = min(values), max(values)
        return cls(start, width, count, lowest, min(max(mean, lowest), highest), highest, sketch)

    def quantile(self, share: float) -> float:
        """The value that ``share`` of the values do not exceed.

        Its rank is off by at most :data:`~measurement.archive.sketch.RANK_ERROR` with 99 % confidence; up to
        :data:`~measurement.archive.sketch.EXACT` values nothing is lost but digits after the seventh.

        :param share: 0..1.
        """
        return self.quantiles([share])[0]

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Several at one go, each as :meth:`quantile` says."""
        if self.sketch is None:
            return [self.minimum if share * self.count <= 1 else self.maximum for share in shares]
        return [min(max(found, self.minimum), self.maximum) for found in self.sketch.quantiles(shares)]


def merge_buckets(buckets: Iterable[Bucket], start: float, width: int) -> Bucket:
    """One bucket in place of several, of which there is at least one."""
    parts = list(buckets)
    if len(parts) == 1:
        (only,) = parts
        if (only.start, only.width) == (start, width):
            return only
        return Bucket(start, width, only.count, only.minimum, only.mean, only.maximum, only.sketch)
    count = sum(part.count for part in parts)
    lowest, highest = min(part.minimum for part in parts), max(part.maximum for part in parts)
    mean = fsum(part.mean * (part.count / count) for part in parts)
    sketch = Sketch.merge(map(_sketch, parts)) if count > 2 else None
    return Bucket(start, width, count, lowest, min(max(mean, lowest), highest), highest, sketch)


def _sketch(bucket: Bucket) -> Sketch:
    if bucket.sketch is not None:
        return bucket.sketch
    return Sketch.of([bucket.minimum, bucket.maximum][: bucket.count])


def start_of(at: float, width: int) -> float:
    """The start of the bucket that a time falls into."""
    return at // width * width


def by_day(hours: Iterable[Bucket]) -> list[Bucket]:
    """Hours as days, the oldest first; a day begins at 00:00 UTC."""
    days: dict[float, list[Bucket]] = {}
    for hour in hours:
        days.setdefault(start_of(hour.start, DAY), []).append(hour)
    return [merge_buckets(days[start], start, DAY) for start in sorted(days)]


def coarser(buckets: Sequence[Bucket], most: int) -> list[Bucket]:
    """Neighbours merged until there are at most ``most``: the smallest multiple of their width that does it.

    :param buckets: of one width, oldest first.
    """
    if len(buckets) <= most:
        return list(buckets)
    width, factor = buckets[0].width, 2
    while len({start_of(bucket.start, width * factor) for bucket in buckets}) > most:
        factor += 1
    groups: dict[float, list[Bucket]] = {}
    for bucket in buckets:
        groups.setdefault(start_of(bucket.start, width * factor), []).append(bucket)
    return [merge_buckets(group, start, width * factor) for start, group in groups.items()]
