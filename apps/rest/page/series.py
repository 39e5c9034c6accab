"""The series that an actor may read, by path and direction: latest value, and the picture of a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from adon.access.identity import Actor
from adon.access.measurement import readable
from apps.rest import seen
from apps.rest.page.sparkline import Sparkline, sparkline
from apps.rest.services import Services
from measurement.archive import Archive
from measurement.model import Metric, PathKey, Series

DAY_S = 86_400.0
MOST_SERIES = 400
FINE = 1500
"""Pieces asked of the archive for a picture: the minutes of a day, drawn as quarters of an hour."""


@dataclass(frozen=True, slots=True)
class Row:
    """One series.

    :param picture: of the last 24 hours; None if nothing was measured in them.
    """

    metric: str
    value: float
    age: float
    picture: Sparkline | None


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a path, or one host (then ``key.path`` is empty)."""

    key: PathKey
    rows: list[Row]


def directions(parts: Services, actor: Actor | None, now: float) -> list[Direction]:
    """What this actor may read, by path and direction; hosts at the end.

    :raises Unavailable: if the archive cannot be read.
    """
    known = parts.measurements.ask(lambda archive: archive.series())
    allowed = readable(actor, ((series, series) for series in known), parts.grants)[:MOST_SERIES]
    marks = _marks(parts, actor, now)
    rows: dict[PathKey, list[Row]] = {}
    for series in sorted(allowed, key=_order):
        read = partial(_row, series=series, now=now, marks=marks.get(series, []))
        rows.setdefault(series.key, []).extend(parts.measurements.ask(read))
    return [Direction(key, its) for key, its in rows.items()]


def _order(series: Series) -> tuple[bool, PathKey, int, str]:
    names = [metric.value for metric in Metric]
    place = names.index(series.metric) if series.metric in names else len(names)
    return (not series.path, series.key, place, series.metric)


def _marks(parts: Services, actor: Actor | None, now: float) -> dict[Series, list[float]]:
    marks: dict[Series, list[float]] = {}
    for alarm in seen.alarms(parts, actor, since=now - DAY_S):
        if alarm.bad:
            marks.setdefault(alarm.series, []).append(alarm.raised_at)
    return marks


def _row(archive: Archive, series: Series, now: float, marks: Sequence[float]) -> list[Row]:
    """The series as a row; nothing if its values have been dropped."""
    at, value = _latest(archive, series)
    if at is None or value is None:
        return []
    buckets = archive.plot(series, now - DAY_S, now + 1, FINE)
    picture = sparkline(buckets, now - DAY_S, now + 1, marks)
    return [Row(series.metric, value, max(0.0, now - at), picture)]


def _latest(archive: Archive, series: Series) -> tuple[float, float] | tuple[None, None]:
    if series.metric in set(Metric):
        path, source, destination, metric = series
        network = archive.query(
            path=path, source=source, destination=destination, metric=Metric(metric), limit=1
        )
        return (network[0].observed_at, network[0].value) if network else (None, None)
    found = archive.observations(series.key, series.metric, limit=1)
    return (found[0].observed_at, found[0].value) if found else (None, None)
