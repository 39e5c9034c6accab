"""Measurements: values, plots, measuring now, and who measures."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, g
from pydantic import Field

from adon.access.policy import Action
from adon.api.measurements import (
    MeasurementList,
    Plot,
    PointList,
    PointView,
    RunAccepted,
    RunBody,
    SeriesView,
)
from adon.api.times import Time
from adon.errors import Unavailable
from adon.measurement_plan import METRICS
from adon.values import Name
from apps.rest.answers import done, json_answer
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.measurement_views import to_bucket_view, to_measurement_view
from apps.rest.paging import InOrder, Moment, NewestFirst, by_time, cut, listed, until, wanted
from apps.rest.services import MeasurementFilter, ask_collector, services
from measurement.model import Metric, Series

api = blueprint("measuring", "Measurements, and measuring now")


class MeasurementQuery(NewestFirst):
    """Which measurements."""

    path: Name | None = None
    source: Name | None = Field(default=None, description="the site the path leads from")
    destination: Name | None = Field(default=None, description="the site it leads to")
    metric: Metric | None = None
    since: Time | None = Field(default=None, description="observed then or later")
    until: Time | None = Field(default=None, description="observed before then")
    limit: int = Field(default=1000, ge=1, le=10_000)


@api.get("/measurements", responses=answers(200, MeasurementList))
@action(Action.MEASUREMENT_READ)
def list_measurements(query: MeasurementQuery) -> Response:
    """Measurements from the archive, the newest first."""
    parts = services()
    moment = Moment.of(query)
    asked = MeasurementFilter(
        **query.model_dump(include={"path", "source", "destination", "metric"}),
        since=query.since,
        until=until(moment, query.until),
        limit=wanted(moment, query.limit),
    )
    found = parts.measurements.query(asked)
    shown, following = by_time(found, query.limit, moment, lambda one: one.observed_at)
    seen = parts.policy.readable(g.actor, ((measurement.series, measurement) for measurement in shown))
    items = [to_measurement_view(measurement) for measurement in seen]
    return listed(MeasurementList(items=items, next=following))


@api.post("/measurements", responses=answers(202, RunAccepted, 409))
@action(Action.MEASUREMENT_START)
def run_now(body: RunBody) -> Response:
    """Do a configured test beside the plan, where its slack admits it; 409 says when it could be."""
    for metric in METRICS[body.test]:
        series = Series(body.path, body.source, body.destination, metric.value)
        services().policy.authorise(g.actor, Action.MEASUREMENT_START, series)
    key = {"path": body.path, "source": body.source, "destination": body.destination}
    asked = {"key": key, "test": body.test, "who": requester().name}
    answer = ask_collector("measure", asked, timeout=15.0)
    return done(RunAccepted.model_validate(answer), HTTPStatus.ACCEPTED)


class PlotQuery(Query):
    """Which series, from when to when, and in how many pieces."""

    path: str = Field(default="", max_length=100, description="empty for a metric of a host")
    source: str = Field(max_length=100)
    destination: str = Field(default="", max_length=100)
    metric: str = Field(max_length=100)
    since: Time
    until: Time
    points: int = Field(default=500, ge=1, le=5000, description="at most so many pieces")


@api.get("/measurements/plot", responses=answers(200, Plot))
@action(Action.MEASUREMENT_READ)
def plot(query: PlotQuery) -> Response:
    """One series for a picture: per stretch of time minimum, mean, maximum and quantiles."""
    parts = services()
    series = Series(query.path, query.source, query.destination, query.metric)
    parts.policy.authorise(g.actor, Action.MEASUREMENT_READ, series)
    found = parts.measurements.ask(
        lambda archive: archive.plot(series, query.since, query.until, query.points)
    )
    items = [to_bucket_view(bucket) for bucket in found]
    return json_answer(Plot(series=SeriesView(**series._asdict()), items=items))


@api.get("/points", responses=answers(200, PointList))
@action(Action.NETWORK_READ)
def list_points(query: InOrder) -> Response:
    """The configured measurement points."""
    known = services().configuration.measurements.points
    try:
        counted = services().collector.call("ignored", {}, timeout=2.0)
    except Unavailable:
        counted = dict.fromkeys(known)
    items = [
        PointView(name=name, url=known[name].url, ignored=counted.get(name, {})) for name in sorted(known)
    ]
    return cut(PointList(items=items), query, lambda one: one.name)
