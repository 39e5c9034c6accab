"""Measurements: values, mesh, series, workflows, tests on demand, their schedule and runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from flask import Response, g

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import UNITS, InOrder
from adon.api.measurements import (
    BoxList,
    BoxQuery,
    BucketView,
    ExecutionList,
    ExecutionQuery,
    MeasurementList,
    MeasurementQuery,
    MeasurementView,
    MeshQuery,
    MeshView,
    OverlapList,
    OverlapQuery,
    OverlapView,
    Plot,
    PlotQuery,
    PointList,
    PointView,
    PsconfigTemplate,
    RunBody,
    RunStart,
    ScheduleView,
    SeriesBoxes,
    SeriesList,
    SeriesQuery,
)
from adon.api.sites import WorkflowList, WorkflowQuery
from adon.errors import Forbidden, InvalidInput, NotFound, Unavailable
from adon.measurement_plan import METRICS
from apps.rest import measurement_access, mesh
from apps.rest.authentication import requester
from apps.rest.dispatch import handles
from apps.rest.pagination import TimePage, cut, sliced
from apps.rest.resources.template_resource import latest
from apps.rest.responses import answer
from apps.rest.services import ask_collector, services
from apps.rest.workflows import (
    BATCH,
    PEGASUS,
    HostReport,
    Subject,
    find_subjects,
    read_report,
    to_batch_view,
    to_workflow_user_view,
    to_workflow_view,
)
from measurement.archive import Archive, Bucket, by_day
from measurement.model import Measurement, Metric, Observation, PathKey, Series


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
    items = [_measurement_view(measurement) for measurement in seen]
    return MeasurementList(items=items, next=following)


def _measurement_view(measurement: Measurement) -> MeasurementView:
    key, unit = measurement.key._asdict(), UNITS[measurement.metric]
    return MeasurementView.of(measurement, **key, unit=unit, origin=measurement.source)


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
    items = [_bucket_view(bucket) for bucket in found]
    return Plot(series=series, items=items)


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def _bucket_view(bucket: Bucket) -> BucketView:
    values = zip(QUANTILES, bucket.quantiles(QUANTILES), strict=True)
    quantiles = {f"{share:g}": value for share, value in values}
    return BucketView.of(bucket, seconds=bucket.width, quantiles=quantiles)


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
    parts = services()
    known = {one.key: one for one in parts.measurements.ask(Archive.latest) if one.metric is query.metric}
    circuits = [(one.name, one.source, one.destination) for one in parts.store.circuits().circuits]
    keys = [
        key
        for key in mesh.list_directions(parts.configuration, circuits, known)
        if query.path in (None, key.path) and _readable(key, query.metric)
    ]
    return mesh.build_mesh(query.metric, parts.configuration, latest(), keys, known, parts.clock())


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
        raise InvalidInput.of(
            "since",
            f"must be before until, by at most {most:g} days; expected for example 2026-11-21T06:00:00Z",
        )
    shown, following = sliced(_series(query), query, _name)
    hours = services().measurements.ask(lambda archive: archive.all_buckets(shown, 3600, since, until))
    items = [_boxes(series, query.group, found) for series, found in zip(shown, hours, strict=True)]
    return BoxList(group=query.group, since=since, until=until, items=items, next=following)


def _boxes(series: Series, group: Literal["hour", "day"], hours: Sequence[Bucket]) -> SeriesBoxes:
    found = by_day(hours) if group == "day" else hours
    return SeriesBoxes(
        series=series, unit=UNITS.get(series.metric, ""), boxes=[_bucket_view(one) for one in found]
    )


VALUES = 60
"""The latest values of one subject that are looked through: two samples of all its metrics."""


@handles(routes.LIST_WORKFLOWS)
def list_workflows(query: WorkflowQuery) -> WorkflowList:
    """Return workflows (Pegasus) and batch systems (Slurm, HTCondor) as their hosts reported them."""
    parts = services()
    now = parts.clock()
    known = parts.policy.readable(g.actor, ((one, one) for one in parts.measurements.ask(Archive.series)))
    workflows, users, batches = find_subjects(
        one for one in known if not one.path and query.host in (None, one.source)
    )
    found = [one for one in _reports(workflows, PEGASUS) if query.state in (None, one.state)]
    shown, following = sliced(found, query, lambda one: f"{one.host} {one.name}")
    return WorkflowList(
        items=[to_workflow_view(one, now) for one in shown],
        users=[to_workflow_user_view(one, now) for one in _reports(users, PEGASUS)],
        batch_systems=[to_batch_view(one, now) for one in _reports(batches, BATCH)],
        next=following,
    )


def _latest(key: PathKey, archive: Archive) -> list[Observation]:
    return archive.observations(key, limit=VALUES)


def _reports(found: Iterable[Subject], prefix: str) -> Iterator[HostReport]:
    for subject in found:
        key = PathKey("", *subject)
        one = read_report(subject, prefix, services().measurements.ask(partial(_latest, key)))
        if one is not None:
            yield one


GANTT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The page of the plan carries its styles with it, and nothing else."""


@handles(routes.GET_SCHEDULE)
def get_schedule() -> ScheduleView:
    """Return the conflict-free plan of tests, its next runs and its use of the budget."""
    found = ScheduleView.model_validate(ask_collector("schedule", {}))
    visible = measurement_access.tasks_seen_by(services(), g.actor)
    tasks = [task for task in found.tasks if visible(task.task)]
    upcoming = [start for start in found.upcoming if visible(start.task)]
    return found.model_copy(update={"tasks": tasks, "upcoming": upcoming})


@handles(routes.GET_GANTT)
def get_gantt() -> Response:
    """Return the plan of tests as a Gantt chart: one HTML page without other files."""
    parts = services()
    visible = measurement_access.tasks_seen_by(parts, g.actor)
    if not all(visible(task["task"]) for task in ask_collector("schedule", {})["tasks"]):
        raise Forbidden("the chart shows tests that you may not see; read /schedule instead")
    response = answer(parts.gantt().encode(), "text/html")
    response.headers["Content-Security-Policy"] = GANTT_POLICY
    return response


@handles(routes.GET_PSCONFIG)
def get_psconfig(network: str) -> PsconfigTemplate:
    """Return the plan of tests as a pSConfig template, if the configuration publishes it."""
    configuration = services().configuration
    if not configuration.measurements.publish_psconfig or network != configuration.network:
        raise NotFound("network", network)
    return PsconfigTemplate.model_validate(ask_collector("psconfig", {}))


@handles(routes.LIST_EXECUTIONS)
def list_executions(query: ExecutionQuery) -> ExecutionList:
    """Return the results of planned runs, the newest first."""
    page = TimePage(query, query.until)
    found = measurement_access.executions(
        services(),
        g.actor,
        since=query.since,
        until=page.until,
        limit=page.limit,
    )
    shown, following = page.cut(found, lambda one: one.planned_start)
    return ExecutionList(items=shown, next=following)


LAST_S = 3600.0
MOST = 500


@handles(routes.GET_OVERLAPS)
def get_overlaps(query: OverlapQuery) -> OverlapList:
    """Return pairs of conflicting runs that overlapped."""
    parts = services()
    since = parts.clock() - LAST_S if query.since is None else query.since
    items = [
        OverlapView(first=one, second=other)
        for one, other in measurement_access.overlaps(parts, g.actor, since)[:MOST]
    ]
    return OverlapList(items=items)
