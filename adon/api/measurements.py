"""Measurements: values, series, meshes, boxes, schedules, runs and points."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from adon.api.base import Body, Ids, InOrder, ListView, NewestFirst, PathDirection, Query, Time, View
from adon.values import Name
from measurement.model import Metric


class MeasurementView(PathDirection):
    """One value of one metric on one directed path."""

    metric: Metric
    value: float
    unit: str
    started_at: Time
    observed_at: Time
    origin: str
    tool: str
    parameters: dict[str, Any]


class MeasurementList(ListView):
    """Measurements, the newest first."""

    items: list[MeasurementView]


class Verdict(StrEnum):
    """How a value is; from the best to the worst."""

    GOOD = "good"
    UNJUDGED = "unjudged"
    WARNING = "warning"
    CRITICAL = "critical"
    STALE = "stale"
    NO_DATA = "no_data"


class SeriesView(PathDirection):
    """One metric of one directed path, or of a host (then ``path`` and ``destination`` are empty)."""

    metric: str


class BucketView(View):
    """The values of a stretch of time; quantiles within the archive's stated error."""

    start: Time
    seconds: float
    count: int
    minimum: float
    mean: float
    maximum: float
    quantiles: dict[str, float]


class Plot(View):
    """A series for a picture, the oldest first."""

    series: SeriesView
    items: list[BucketView]


class TaskView(View):
    """A periodic test of the plan."""

    task: str
    source: str
    destination: str
    tool: str
    period_seconds: float
    slot_seconds: float


class StartView(View):
    """A run to come."""

    task: str
    start: Time


class SpendView(View):
    """What the plan offers to a path or link, of what the measurement level agreement allows (bits/s)."""

    allowed_bps: float
    peak_bps: float
    mean_bps: float


class ScheduleView(View):
    """The conflict-free schedule (EDF-CE) as it is being carried out."""

    measures: bool = Field(description="false while another collector measures")
    round_seconds: float
    tasks: list[TaskView]
    upcoming: list[StartView]
    spend: dict[str, SpendView]


class PsconfigTemplate(View):
    """A pSConfig template; what its sections hold is said in perfSONAR's documentation."""

    addresses: dict[str, Any]
    hosts: dict[str, Any]
    groups: dict[str, Any]
    tests: dict[str, Any]
    schedules: dict[str, Any]
    archives: dict[str, Any]
    tasks: dict[str, Any]


class ExecutionView(View):
    """What the plan wanted of one run, and what happened."""

    task: str
    planned_start: Time
    started: Time | None
    ended: Time | None
    outcome: str


class ExecutionList(ListView):
    """Executed runs, the newest first."""

    items: list[ExecutionView]


class PointView(View):
    """A measurement point."""

    name: str
    url: str
    ignored: dict[str, int] | None = Field(description="wrong parts of results; null: no collector answers")


class PointList(ListView):
    """Measurement points."""

    items: list[PointView]


class RunBody(Body):
    """Which configured test to do now, beside the plan."""

    path: str = Field(max_length=100)
    source: str = Field(max_length=100)
    destination: str = Field(max_length=100)
    test: Literal["throughput", "rtt", "latency"]


class RunAccepted(StartView):
    """Start of a requested test."""


class MeshValue(View):
    """One directed path with its latest value; without one it was never measured."""

    path: str
    verdict: Verdict
    why: str
    value: float | None
    observed_at: Time | None
    age_seconds: float | None
    fresh_seconds: float = Field(description="after so long without another value it is stale")


class MeshCell(View):
    """All paths from one site to another; the verdict is that of the best one."""

    source: str
    destination: str
    verdict: Verdict
    paths: list[MeshValue]


class LimitsView(View):
    """What values are held against, in the metric's unit; the configuration goes first."""

    warning: float | None
    critical: float | None
    templates: dict[str, float] = Field(description="hard bounds of the catalog's latest versions")


class MeshView(View):
    """Every site to every other: what was measured last, and whether that is good."""

    at: Time
    metric: Metric
    unit: str
    higher_is_better: bool
    limits: LimitsView
    sites: list[str]
    items: list[MeshCell] = Field(description="pairs with at least one path, by source and destination")


class SeriesBoxes(View):
    """One series in boxes, the oldest first; a stretch without values has none."""

    series: SeriesView
    unit: str
    boxes: list[BucketView]


class BoxList(ListView):
    """Series in boxes, by path, source, destination and metric."""

    group: str
    since: Time
    until: Time
    items: list[SeriesBoxes]


class SeriesList(ListView):
    """Series of which something is kept, in order."""

    items: list[SeriesView]


class OverlapView(View):
    """Two conflicting runs that ran at the same time."""

    first: ExecutionView
    second: ExecutionView


class OverlapList(View):
    """Overlaps, the newest first; at most 500."""

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
    path: str | None = Field(default=None, max_length=100, description="only this path")


class SeriesQuery(InOrder):
    """Filters of series."""

    path: str | None = Field(default=None, max_length=100, description="empty for metrics of hosts")
    source: str | None = Field(default=None, max_length=100)
    destination: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)


class BoxQuery(SeriesQuery):
    """Series, time span and width of boxes."""

    group: Literal["hour", "day"] = Field(default="hour", description="a day begins at 00:00 UTC")
    since: Time | None = Field(default=None, description="default: two days ago, or 60 days for group day")
    until: Time | None = Field(default=None, description="default: now")
    limit: int = Field(default=20, ge=1, le=100, description="largest number of series")


class OverlapQuery(Query):
    """Start of the time span."""

    since: Time | None = Field(default=None, description="noticed at this time or later; default: 1 h ago")


class ExecutionQuery(NewestFirst):
    """Time span of planned runs."""

    since: Time | None = Field(default=None, description="planned for this time or later")
    until: Time | None = Field(default=None, description="planned before this time")
    limit: int = Field(default=200, ge=1, le=5000)


class NetworkName(Ids):
    """Name of a network."""

    network: str = Field(max_length=200, description="name of the network in the configuration")
