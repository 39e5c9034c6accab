"""Measurements of the whole network at a glance: the mesh, boxes per stretch, which series there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from flask import Response, g
from pydantic import Field

from adon.access.policy import Action
from adon.api.base import UNITS
from adon.api.measurements import BoxList, MeshView, SeriesBoxes, SeriesList, SeriesView
from adon.api.times import Time
from adon.errors import InvalidInput
from apps.rest import mesh
from apps.rest.answers import json_answer
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.api.templates import latest
from apps.rest.guard import action
from apps.rest.measurement_views import to_bucket_view, to_mesh_view
from apps.rest.paging import InOrder, listed, sliced
from apps.rest.services import services
from measurement.archive import Archive, Bucket, by_day
from measurement.model import Metric, PathKey, Series

api = blueprint("mesh", "Measurements of the whole network at a glance")

HOUR, DAY = 3600.0, 86_400.0
SHOWN = {"hour": 2 * DAY, "day": 60 * DAY}
"""Seconds that boxes show, where nobody says how far back."""
LONGEST = {"hour": 31 * DAY, "day": 5 * 366 * DAY}


class MeshQuery(Query):
    """Which metric."""

    metric: Metric = Metric.THROUGHPUT
    path: str | None = Field(default=None, max_length=100, description="this path alone")


@api.get("/measurements/mesh", responses=answers(200, MeshView))
@action(Action.MEASUREMENT_READ)
def get_mesh(query: MeshQuery) -> Response:
    """From every site to every other: the latest value of a metric, its age, and whether it is good."""
    parts, now = services(), services().clock()
    known = {one.key: one for one in parts.measurements.ask(Archive.latest) if one.metric is query.metric}
    circuits = [(one.name, one.source, one.destination) for one in parts.store.circuits().circuits]
    limits = mesh.Limits.of(query.metric, parts.configuration, latest())
    keys = [
        key
        for key in mesh.directions(parts.configuration, circuits, known)
        if query.path in (None, key.path) and _readable(key, query.metric)
    ]
    cells = [
        mesh.cell(
            key,
            query.metric,
            known.get(key),
            limits,
            mesh.fresh_for(key, query.metric, parts.configuration),
            now,
        )
        for key in keys
    ]
    sites = list(parts.configuration.sites)
    return json_answer(to_mesh_view(query.metric, limits, sites, mesh.by_pair(cells), now))


def _readable(key: PathKey, metric: Metric) -> bool:
    return services().policy.decide(g.actor, Action.MEASUREMENT_READ, Series(*key, metric.value)).allowed


class SeriesQuery(InOrder):
    """Which series; what is left out is not narrowed."""

    path: str | None = Field(default=None, max_length=100, description="empty for metrics of hosts")
    source: str | None = Field(default=None, max_length=100)
    destination: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)


@api.get("/measurements/series", responses=answers(200, SeriesList))
@action(Action.MEASUREMENT_READ)
def list_series(query: SeriesQuery) -> Response:
    """Every series of which something is kept: metrics of paths, and of hosts and workflows."""
    shown, following = sliced(_series(query), query, _name)
    items = [SeriesView(**series._asdict()) for series in shown]
    return listed(SeriesList(items=items, next=following))


def _series(query: SeriesQuery) -> list[Series]:
    """The series that are asked for and that this actor may read, in order."""
    parts = services()
    wanted = (query.path, query.source, query.destination, query.metric)
    found = [
        series
        for series in parts.measurements.ask(Archive.series)
        if all(asked in (None, held) for asked, held in zip(wanted, series, strict=True))
    ]
    return parts.policy.readable(g.actor, ((series, series) for series in found))


def _name(series: Series) -> str:
    return json.dumps(list(series), ensure_ascii=False, separators=(",", ":"))


class BoxQuery(SeriesQuery):
    """Which series, from when to when, and in which stretches."""

    group: Literal["hour", "day"] = Field(default="hour", description="a day begins at 00:00 UTC")
    since: Time | None = Field(default=None, description="two days ago, or 60 for days, if left out")
    until: Time | None = Field(default=None, description="now, if left out")
    limit: int = Field(default=20, ge=1, le=100, description="at most so many series")


@api.get("/measurements/boxes", responses=answers(200, BoxList))
@action(Action.MEASUREMENT_READ)
def list_boxes(query: BoxQuery) -> Response:
    """Extremes, mean and quantiles per hour or day of each series: what a box plot is drawn from."""
    until = services().clock() if query.until is None else query.until
    since = until - SHOWN[query.group] if query.since is None else query.since
    if not 0 < until - since <= LONGEST[query.group]:
        most = LONGEST[query.group] / DAY
        raise InvalidInput.of("since", f"must be before until, by {most:g} days at most for this group")
    shown, following = sliced(_series(query), query, _name)
    hours = services().measurements.ask(lambda archive: archive.all_buckets(shown, 3600, since, until))
    items = [_boxes(series, query.group, found) for series, found in zip(shown, hours, strict=True)]
    return listed(BoxList(group=query.group, since=since, until=until, items=items, next=following))


def _boxes(series: Series, group: Literal["hour", "day"], hours: Sequence[Bucket]) -> SeriesBoxes:
    found = by_day(hours) if group == "day" else hours
    view = SeriesView(**series._asdict())
    return SeriesBoxes(
        series=view, unit=UNITS.get(series.metric, ""), boxes=[to_bucket_view(one) for one in found]
    )
