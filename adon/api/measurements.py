"""Measurements: values, series, meshes, boxes, schedules, runs and points."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from adon.api.base import Body, Ids, InOrder, ListView, NewestFirst, PathDirection, Query, Time, View
from adon.values import Name
from measurement.model import Metric


class MeasurementView(PathDirection):
    """Value of a metric of a directed path."""

    metric: Metric
    value: float
    unit: str
    started_at: Time
    observed_at: Time
    origin: str
    tool: str
    parameters: dict[str, Any]


class MeasurementList(ListView):
    """Measurements, newest first."""

    items: list[MeasurementView]


class Verdict(StrEnum):
    """Verdict on a value, best first."""

    GOOD = "good"
    UNJUDGED = "unjudged"
    WARNING = "warning"
    CRITICAL = "critical"
    STALE = "stale"
    NO_DATA = "no_data"


class SeriesView(PathDirection):
    """Metric of a directed path, or of a host (with empty ``path`` and ``destination``)."""

    metric: str


class BucketView(View):
    """Values of a period; quantiles are within the stated error of the archive."""

    start: Time
    seconds: float
    count: int
    minimum: float
    mean: float
    maximum: float
    quantiles: dict[str, float]


class Plot(View):
    """Series for a chart, oldest value first."""

    series: SeriesView
    items: list[BucketView]


class TaskView(View):
    """Periodic test of the plan."""

    task: str
    source: str
    destination: str
    tool: str
    period_seconds: float
    slot_seconds: float


class StartView(View):
    """Future run of a test."""

    task: str
    start: Time


class SpendView(View):
    """Test load of the plan on a path or link, and its limit by the measurement level agreement (bits/s)."""

    allowed_bps: float
    peak_bps: float
    mean_bps: float


class ScheduleView(View):
    """Present conflict-free schedule (EDF-CE)."""

    measures: bool = Field(description="whether this collector runs the tests")
    round_seconds: float
    tasks: list[TaskView]
    upcoming: list[StartView]
    spend: dict[str, SpendView]


class PsconfigTemplate(View):
    """pSConfig template; perfSONAR's documentation describes its sections."""

    addresses: dict[str, Any]
    hosts: dict[str, Any]
    groups: dict[str, Any]
    tests: dict[str, Any]
    schedules: dict[str, Any]
    archives: dict[str, Any]
    tasks: dict[str, Any]


class ExecutionView(View):
    """Planned and actual execution of a run."""

    task: str
    planned_start: Time
    started: Time | None
    ended: Time | None
    outcome: str


class ExecutionList(ListView):
    """Executed runs, newest first."""

    items: list[ExecutionView]


class PointView(View):
    """Measurement point."""

    name: str
    url: str
    ignored: dict[str, int] | None = Field(description="invalid parts of results; null: no collector answers")


class PointList(ListView):
    """Measurement points."""

    items: list[PointView]


class RunBody(Body):
    """Configured test to run now, in addition to the plan."""

    path: str = Field(max_length=100)
    source: str = Field(max_length=100)
    destination: str = Field(max_length=100)
    test: Literal["throughput", "rtt", "latency"]


class RunStart(StartView):
    """Start of a requested test."""


class MeshValue(View):
    """Directed path with its latest value; null if never measured."""

    path: str
    verdict: Verdict
    why: str
    value: float | None
    observed_at: Time | None
    age_seconds: float | None
    fresh_seconds: float = Field(description="age after which the value is stale")


class MeshCell(View):
    """All paths from one site to another, with the verdict on the best path."""

    source: str
    destination: str
    verdict: Verdict
    paths: list[MeshValue]


class LimitsView(View):
    """Limits of a metric in its unit; the configuration takes precedence."""

    warning: float | None
    critical: float | None
    templates: dict[str, float] = Field(description="hard bounds of the latest template versions")


class MeshView(View):
    """Latest values and verdicts between all sites."""

    at: Time
    metric: Metric
    unit: str
    higher_is_better: bool
    limits: LimitsView
    sites: list[str]
    items: list[MeshCell] = Field(description="pairs with at least one path, by source and destination")


class SeriesBoxes(View):
    """Box plot of a series, oldest box first; a period without values has no box."""

    series: SeriesView
    unit: str
    boxes: list[BucketView]


class BoxList(ListView):
    """Box plots of series, by path, source, destination and metric."""

    group: str
    since: Time
    until: Time
    items: list[SeriesBoxes]


class SeriesList(ListView):
    """Stored series, in order."""

    items: list[SeriesView]


class OverlapView(View):
    """Two conflicting runs with overlapping times."""

    first: ExecutionView
    second: ExecutionView


class OverlapList(View):
    """Overlaps, newest first; at most 500."""

    items: list[OverlapView]


class MeasurementQuery(NewestFirst):
    """Filters of measurements."""

    path: Name | None = None
    source: Name | None = Field(default=None, description="source site of the path")
    destination: Name | None = Field(default=None, description="destination site of the path")
    metric: Metric | None = None
    since: Time | None = Field(default=None, description="observed at this time or later")
    until: Time | None = Field(default=None, description="observed before this time")
    limit: int = Field(default=1000, ge=1, le=10_000)


class PlotQuery(Query):
    """Series, time span and resolution of a plot."""

    path: str = Field(default="", max_length=100, description="empty for a metric of a host")
    source: str = Field(max_length=100)
    destination: str = Field(default="", max_length=100)
    metric: str = Field(max_length=100)
    since: Time
    until: Time
    points: int = Field(default=500, ge=1, le=5000, description="largest number of intervals")


class MeshQuery(Query):
    """Metric of the mesh."""

    metric: Metric = Metric.THROUGHPUT
    path: str | None = Field(default=None, max_length=100, description="path of the values")


class SeriesQuery(InOrder):
    """Filters of series."""

    path: str | None = Field(default=None, max_length=100, description="empty for metrics of hosts")
    source: str | None = Field(default=None, max_length=100)
    destination: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)


class BoxQuery(SeriesQuery):
    """Series, time span and width of boxes."""

    group: Literal["hour", "day"] = Field(default="hour", description="box width; a day starts at 00:00 UTC")
    since: Time | None = Field(default=None, description="default: two days ago, or 60 days for group day")
    until: Time | None = Field(default=None, description="default: now")
    limit: int = Field(default=20, ge=1, le=100, description="largest number of series")


class OverlapQuery(Query):
    """Start of the time span."""

    since: Time | None = Field(default=None, description="detected at this time or later; default: 1 h ago")


class ExecutionQuery(NewestFirst):
    """Time span of planned runs."""

    since: Time | None = Field(default=None, description="planned for this time or later")
    until: Time | None = Field(default=None, description="planned before this time")
    limit: int = Field(default=200, ge=1, le=5000)


class NetworkName(Ids):
    """Name of a network."""

    network: str = Field(max_length=200, description="name of the network in the configuration")
