"""Series of a chart: what can be chosen, their values over a time, their events, and their values as CSV."""

from __future__ import annotations

import csv
import io
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlencode

from adon.api.base import format_utc
from adon.api.measurements import BucketView, MeasurementView, SeriesView
from adon.api.network import EstimateView, PathView
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

HOUR_S, DAY_S = 3600.0, 86_400.0
RANGES: Mapping[str, tuple[str, float]] = {
    "15min": ("15 minutes", HOUR_S / 4),
    "1h": ("1 hour", HOUR_S),
    "24h": ("24 hours", DAY_S),
    "7d": ("7 days", 7 * DAY_S),
    "30d": ("30 days", 30 * DAY_S),
}
FIRST_RANGE = "24h"
"""Before anybody chose, unless all that is known is younger (:func:`first_range`)."""
PIECES = 400
"""Stretches that a chart is divided into: about one for two of its pixels."""
FINE = 5000
"""The most that the API gives: single values for as long as they are so few."""
MOST = 6
"""Directions, and metrics, in one chart: more could not be told apart."""
MARKED = 100
"""Alarms and decisions above a chart, the newest."""
GAP = 3.0
"""Times the usual distance of two values; what is further apart is not joined."""


class Direction(NamedTuple):
    """A directed path, or a host (then path and destination are empty)."""

    path: str
    source: str
    destination: str

    @property
    def words(self) -> str:
        """As people read it."""
        return f"{self.path}, {self.ends}" if self.path else self.ends

    @property
    def ends(self) -> str:
        """``mu → osu``; of a host only its name."""
        return f"{self.source} → {self.destination}" if self.destination else self.source

    def key(self) -> str:
        """As a control's value."""
        return json.dumps(list(self), ensure_ascii=False)

    @classmethod
    def of(cls, one: SeriesView | MeasurementView | PathView | EstimateView) -> Direction:
        """Of anything of the API that has the three."""
        return cls(one.path, one.source, one.destination)

    @classmethod
    def read(cls, key: str) -> Direction | None:
        """The reverse of :meth:`key`; None for anything else."""
        try:
            found = json.loads(key)
        except ValueError:
            return None
        match found:
            case [str() as path, str() as source, str() as destination]:
                return cls(path, source, destination)
        return None


@dataclass(frozen=True, slots=True)
class Curve:
    """One series in a chart.

    :param buckets: ``items`` of ``/measurements/plot``, the oldest first; a value by itself is a bucket, too.
    """

    direction: Direction
    metric: str
    buckets: Sequence[BucketView]


@dataclass(frozen=True, slots=True)
class Mark:
    """An event above a chart: an alarm, a decision.

    :param at: seconds since the epoch.
    :param kind: ``critical``, ``warning``, ``better`` or ``decision``.
    """

    at: float
    kind: str
    text: str


def text_of(at: float) -> str:
    """Return a time as the API takes it."""
    return datetime.fromtimestamp(at, UTC).isoformat()


def read_curves(
    here: Visit, directions: Sequence[Direction], metrics: Sequence[str], since: float, points: int
) -> list[Curve]:
    """Return the series of each direction and metric; a metric without values is left out.

    :raises AdonError: if the archive cannot be read, or one of them not by this actor.
    """
    times = {"since": text_of(since), "until": text_of(here.now + 1), "points": str(points)}
    found = []
    for direction in directions:
        curves = [
            Curve(direction, metric, here.client.plot(**direction._asdict(), metric=metric, **times))
            for metric in metrics
        ]
        found += [curve for curve in curves if curve.buckets] or curves
    return found


def read_marks(
    here: Visit, directions: Sequence[Direction], metrics: Sequence[str], since: float
) -> list[Mark]:
    """Return alarms about these metrics of these directions, and decisions for their paths."""
    found: list[Mark] = []
    times: dict[str, Any] = {"since": text_of(since)}
    for path in dict.fromkeys(direction.path for direction in directions):
        for alarm in here.client.alarms(open_only=False, path=path, limit=str(MARKED), **times):
            if alarm.series.metric in metrics and Direction.of(alarm.series) in directions:
                found.append(Mark(alarm.raised_at, alarm.severity if alarm.bad else "better", alarm.text))
        decisions = here.client.all_decisions(path=path, limit=MARKED, **times).items if path else []
        found += [
            Mark(one.at, "decision", f"{one.flow}: {one.outcome}, {one.reason}"[:160]) for one in decisions
        ]
    return found


def first_range(here: Visit, directions: Sequence[Direction]) -> str:
    """Return the shortest time, up to a day, that leaves no value of the day out.

    :raises AdonError: if the archive cannot be read.
    """

    def has_values(since: float, until: float) -> bool:
        times = {"since": text_of(since), "until": text_of(until), "limit": "1"}
        measured = [one for one in directions if one.path]
        return any(here.client.measurements(**one._asdict(), **times) for one in measured)

    until = here.now + 1
    found = FIRST_RANGE
    for name in list(RANGES)[: list(RANGES).index(FIRST_RANGE) + 1]:
        since = here.now - RANGES[name][1]
        if has_values(since, until):
            found = name
        until = since
    return found


def address(
    directions: Sequence[Direction], metrics: Sequence[str], range_: str, options: Sequence[str]
) -> str:
    """Return the address of a chart; :func:`read_address` reads it."""
    asked = {"in": json.dumps(directions, ensure_ascii=False), "metric": ",".join(metrics), "range": range_}
    return f"/series?{urlencode({**asked, **dict.fromkeys(options, '1')})}"


def read_address(query: Mapping[str, str]) -> tuple[list[Direction], list[str]]:
    """Return the directions and metrics that an address names.

    Either of one series (``?path=&source=&destination=&metric=``), or :func:`address`.
    """
    metrics = [name for name in query.get("metric", "").split(",") if name][:MOST]
    if query.get("source"):
        return [Direction(query.get("path", ""), query["source"], query.get("destination", ""))], metrics
    try:
        listed = json.loads(query.get("in", "[]"))
    except ValueError:
        listed = []
    read = [Direction.read(json.dumps(one)) for one in listed] if isinstance(listed, list) else []
    return [one for one in read if one is not None][:MOST], metrics


def metric_order(metrics: Iterable[str]) -> list[str]:
    """The usual metrics first, in their order."""
    usual = list(METRIC_NAMES)
    return sorted(set(metrics), key=lambda name: (usual.index(name) if name in usual else len(usual), name))


def metric_words(metric: str) -> str:
    """A metric's name."""
    return METRIC_NAMES.get(metric, metric.replace("_", " ").replace(".", ", "))


def split_runs(buckets: Sequence[BucketView]) -> list[list[BucketView]]:
    """Return the runs of values that a line joins; a line across a gap would show unknown values."""
    if not buckets:
        return []
    at = [one.start + one.seconds / 2 for one in buckets]
    distances = [after - before for before, after in pairwise(at)]
    longest = GAP * statistics.median(distances) if distances else 0.0
    runs = [[buckets[0]]]
    for distance, bucket in zip(distances, buckets[1:], strict=True):
        if distance > max(longest, GAP * bucket.seconds):
            runs.append([])
        runs[-1].append(bucket)
    return runs


def as_csv(curves: Iterable[Curve]) -> str:
    """What a chart shows, a line per stretch (RFC 4180); values in the API's units."""
    quantiles = ("0.05", "0.25", "0.5", "0.75", "0.95")
    text = io.StringIO()
    lines = csv.writer(text)
    names = [*Direction._fields, "metric", "start", "seconds", "count", "minimum", "mean", "maximum"]
    lines.writerow([*names, *(f"quantile_{name}" for name in quantiles)])
    for curve in curves:
        named = [harmless(part) for part in (*curve.direction, curve.metric)]
        for one in curve.buckets:
            figures = [format_utc(one.start), *(getattr(one, name) for name in names[5:])]
            lines.writerow([*named, *figures, *(one.quantiles.get(name, "") for name in quantiles)])
    return text.getvalue()


def harmless(cell: str) -> str:
    """Text that no spreadsheet takes for a formula (OWASP, CSV injection)."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
