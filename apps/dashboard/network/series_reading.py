"""What a chart of series shows, asked of the API; and the address of a chart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from dash import html
from dash.development.base_component import Component

from adon.api.measurements import MeasurementView
from apps.dashboard import ui
from apps.dashboard.network.series_data import FIRST_RANGE, MOST, RANGES, Curve, Direction, metric_words
from apps.dashboard.network.series_figure import Mark
from apps.dashboard.visit import Visit

MARKED = 100
"""Alarms, and decisions, that are marked, the newest."""
SHOWN_VALUES = 15
READ = 60
"""Of all metrics of a direction, for those that are asked for."""


def curves(
    here: Visit, directions: Sequence[Direction], metrics: Sequence[str], since: float, points: int
) -> list[Curve]:
    """The series of each direction and metric; a metric that a direction has not is left out.

    :raises AdonError: if the archive cannot be read, or one of them not by this actor.
    """
    times = {"since": text_of(since), "until": text_of(here.now + 1)}
    found = []
    for direction in directions:
        for metric in metrics:
            asked = {**direction._asdict(), "metric": metric, **times, "points": str(points)}
            found.append(Curve(direction, metric, here.client.plot(**asked)))
    with_values = {(curve.direction, curve.metric) for curve in found if curve.buckets}
    alone = {direction for direction in directions if not any(one == direction for one, _ in with_values)}
    return [curve for curve in found if curve.buckets or curve.direction in alone]


def first_range(here: Visit, directions: Sequence[Direction]) -> str:
    """The time that a chart opens with: the shortest, up to a day, that leaves no value of the day out.

    :raises AdonError: if the archive cannot be read.
    """

    def measured(since: float, until: float) -> bool:
        times = {"since": text_of(since), "until": text_of(until), "limit": "1"}
        return any(
            here.client.measurements(**direction._asdict(), **times)
            for direction in directions
            if direction.path
        )

    until = here.now + 1
    found = FIRST_RANGE
    for name, (_, span) in RANGES.items():
        if measured(here.now - span, until):
            found = name
        if name == FIRST_RANGE:
            break
        until = here.now - span
    return found


def text_of(at: float) -> str:
    """A time as the API takes it."""
    return datetime.fromtimestamp(at, UTC).isoformat()


def marks(here: Visit, directions: Sequence[Direction], metrics: Sequence[str], since: float) -> list[Mark]:
    """What happened on these directions: alarms about these metrics, decisions for these paths."""
    found: list[Mark] = []
    for path in dict.fromkeys(direction.path for direction in directions):
        alarms = here.client.alarms(open_only=False, path=path, since=text_of(since), limit=str(MARKED))
        for alarm in alarms:
            series = alarm.series
            if series.metric in metrics and Direction.of(series) in directions:
                kind = alarm.severity if alarm.bad else "better"
                found.append(Mark(alarm.raised_at, kind, alarm.text))
        if path:
            found += [
                Mark(one.at, "decision", f"{one.flow}: {one.outcome}, {one.reason}"[:160])
                for one in here.client.all_decisions(path=path, since=text_of(since), limit=MARKED).items
            ]
    return found


def latest(here: Visit, directions: Sequence[Direction], metrics: Sequence[str]) -> Component:
    """The newest values, each with its tool and the run that it came from."""
    found: list[MeasurementView] = []
    for direction in directions:
        if direction.path:
            its = here.client.measurements(**direction._asdict(), limit=str(READ))
            found += [one for one in its if one.metric in metrics]
    found.sort(key=lambda one: one.observed_at, reverse=True)

    def origin(one: MeasurementView) -> Any:
        text = one.origin
        if text.startswith(("https://", "http://")):
            # A pScheduler run is readable at its address, which is too long to show.
            return html.A(text.split("/")[2], href=text, title=text, rel="noreferrer")
        return html.Code(text[:60])

    columns = [
        ui.Column("Observed", lambda one: ui.when(one.observed_at, here)),
        ui.Column("Direction", lambda one: Direction.of(one).words),
        ui.Column("Metric", lambda one: metric_words(one.metric)),
        ui.Column("Value", lambda one: ui.value(one.value, one.metric), numeric=True),
        ui.Column("Tool", lambda one: one.tool),
        ui.Column("Source", origin),
    ]
    nothing = ui.empty(
        "No measurements of these directions.",
        ui.link("Show schedule", "/schedule"),
    )
    return ui.table(columns, found[:SHOWN_VALUES], nothing, "Latest values with tool and source")


def address(
    directions: Sequence[Direction], metrics: Sequence[str], range_: str, options: Sequence[str]
) -> str:
    """This view's own address; :func:`asked_for` reads it."""
    asked = {"in": json.dumps(directions, ensure_ascii=False), "metric": ",".join(metrics), "range": range_}
    return f"/series?{urlencode({**asked, **dict.fromkeys(options, '1')})}"


def asked_for(query: Mapping[str, str]) -> tuple[list[Direction], list[str]]:
    """The directions and metrics that an address names.

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
