"""Measurements: values, plots, mesh, series, workflows, and tests on demand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from flask import g

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import UNITS, InOrder
from adon.api.measurements import (
    BoxList,
    BoxQuery,
    MeasurementList,
    MeasurementQuery,
    MeshQuery,
    MeshView,
    Plot,
    PlotQuery,
    PointList,
    PointView,
    RunBody,
    RunStart,
    SeriesBoxes,
    SeriesList,
    SeriesQuery,
)
from adon.api.sites import WorkflowList, WorkflowQuery
from adon.errors import InvalidInput, Unavailable
from adon.measurement_plan import METRICS
from apps.rest import mesh
from apps.rest.authentication import requester
from apps.rest.dispatch import handles
from apps.rest.measurement_views import to_bucket_view, to_measurement_view, to_mesh_view
from apps.rest.pagination import TimePage, cut, sliced
from apps.rest.resources.template_resource import latest
from apps.rest.services import ask_collector, services
from apps.rest.workflow_views import to_batch_view, to_workflow_user_view, to_workflow_view
from apps.rest.workflows import BATCH, PEGASUS, Subject, Told, subjects, told
from measurement.archive import Archive, Bucket, by_day
from measurement.model import Metric, Observation, PathKey, Series


@handles(routes.LIST_MEASUREMENTS)
def list_measurements(query: MeasurementQuery) -> MeasurementList:
    """Return measurements from the archive, the newest first."""
    parts = services()
    page = TimePage(query, query.until)
    found = parts.measurements.query(
        **query.model_dump(include={"path", "source", "destination", "metric"}),
        since=query.since,
        until=page.until,
        limit=page.limit,
    )
    shown, following = page.cut(found, lambda one: one.observed_at)
    seen = parts.policy.readable(g.actor, ((measurement.series, measurement) for measurement in shown))
    items = [to_measurement_view(measurement) for measurement in seen]
    return MeasurementList(items=items, next=following)


@handles(routes.RUN_NOW)
def run_now(body: RunBody) -> RunStart:
    """Run a configured test now, where the plan allows it; 409 gives the earliest time."""
    for metric in METRICS[body.test]:
        series = Series(body.path, body.source, body.destination, metric.value)
        services().policy.authorise(g.actor, Action.MEASUREMENT_START, series)
    key = {"path": body.path, "source": body.source, "destination": body.destination}
    asked = {"key": key, "test": body.test, "who": requester().name}
    answer = ask_collector("measure", asked, timeout=15.0)
    return RunStart.model_validate(answer)


@handles(routes.PLOT)
def plot(query: PlotQuery) -> Plot:
    """Return minimum, mean, maximum and quantiles of one series per interval."""
    parts = services()
    series = Series(query.path, query.source, query.destination, query.metric)
    parts.policy.authorise(g.actor, Action.MEASUREMENT_READ, series)
    found = parts.measurements.ask(
        lambda archive: archive.plot(series, query.since, query.until, query.points)
    )
    items = [to_bucket_view(bucket) for bucket in found]
    return Plot(series=series, items=items)


@handles(routes.LIST_POINTS)
def list_points(query: InOrder) -> PointList:
    """Return the configured measurement points."""
    known = services().configuration.measurements.points
    try:
        counted = services().collector.call("ignored", {}, timeout=2.0)
    except Unavailable:
        counted = dict.fromkeys(known)
    items = [
        PointView(name=name, url=known[name].url, ignored=counted.get(name, {})) for name in sorted(known)
    ]
    return cut(PointList(items=items), query, lambda one: one.name)


HOUR, DAY = 3600.0, 86_400.0
SHOWN = {"hour": 2 * DAY, "day": 60 * DAY}
"""Seconds that boxes show, where nobody says how far back."""
LONGEST = {"hour": 31 * DAY, "day": 5 * 366 * DAY}


@handles(routes.GET_MESH)
def get_mesh(query: MeshQuery) -> MeshView:
    """Return the latest value of a metric between all sites, with age and verdict."""
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
    return to_mesh_view(query.metric, limits, sites, mesh.by_pair(cells), now)


def _readable(key: PathKey, metric: Metric) -> bool:
    return services().policy.decide(g.actor, Action.MEASUREMENT_READ, Series(*key, metric.value)).allowed


@handles(routes.LIST_SERIES)
def list_series(query: SeriesQuery) -> SeriesList:
    """Return the series in the archive: metrics of paths, hosts and workflows."""
    shown, following = sliced(_series(query), query, _name)
    return SeriesList(items=shown, next=following)


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


@handles(routes.LIST_BOXES)
def list_boxes(query: BoxQuery) -> BoxList:
    """Return extremes, mean and quantiles of each series per hour or day, for box plots."""
    until = services().clock() if query.until is None else query.until
    since = until - SHOWN[query.group] if query.since is None else query.since
    if not 0 < until - since <= LONGEST[query.group]:
        most = LONGEST[query.group] / DAY
        raise InvalidInput.of("since", f"must be before until, by {most:g} days at most for this group")
    shown, following = sliced(_series(query), query, _name)
    hours = services().measurements.ask(lambda archive: archive.all_buckets(shown, 3600, since, until))
    items = [_boxes(series, query.group, found) for series, found in zip(shown, hours, strict=True)]
    return BoxList(group=query.group, since=since, until=until, items=items, next=following)


def _boxes(series: Series, group: Literal["hour", "day"], hours: Sequence[Bucket]) -> SeriesBoxes:
    found = by_day(hours) if group == "day" else hours
    return SeriesBoxes(
        series=series, unit=UNITS.get(series.metric, ""), boxes=[to_bucket_view(one) for one in found]
    )


VALUES = 60
"""The latest values of one subject that are looked through: two samples of all its metrics."""


@handles(routes.LIST_WORKFLOWS)
def list_workflows(query: WorkflowQuery) -> WorkflowList:
    """Return workflows (Pegasus) and batch systems (Slurm, HTCondor) as their hosts reported them."""
    parts = services()
    now = parts.clock()
    known = parts.policy.readable(g.actor, ((one, one) for one in parts.measurements.ask(Archive.series)))
    workflows, users, batches = subjects(
        one for one in known if not one.path and query.host in (None, one.source)
    )
    found = [one for one in _told(workflows, PEGASUS) if query.state in (None, one.state)]
    shown, following = sliced(found, query, lambda one: f"{one.host} {one.name}")
    return WorkflowList(
        items=[to_workflow_view(one, now) for one in shown],
        users=[to_workflow_user_view(one, now) for one in _told(users, PEGASUS)],
        batch_systems=[to_batch_view(one, now) for one in _told(batches, BATCH)],
        next=following,
    )


def _latest(key: PathKey, archive: Archive) -> list[Observation]:
    return archive.observations(key, limit=VALUES)


def _told(found: Iterable[Subject], prefix: str) -> Iterator[Told]:
    for subject in found:
        key = PathKey("", *subject)
        one = told(subject, prefix, services().measurements.ask(partial(_latest, key)))
        if one is not None:
            yield one
