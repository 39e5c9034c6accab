"""What the API answers about measuring: alarms, the schedule, executed runs, plots, subscriptions."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from apps.rest.models import ListView, NewestFirstView, View
from apps.rest.times import Time
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.model import Evidence
from measurement.archive import Bucket
from measurement.scheduling import Execution

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_NAMES = tuple(f"{share:g}" for share in QUANTILES)


class SeriesView(View):
    """One metric of one directed path, or of a host (then ``path`` and ``destination`` are empty)."""

    path: str
    source: str
    destination: str
    metric: str


class EvidenceView(View):
    """What a series was like in a stretch of time, in the unit of its metric."""

    mean: float
    deviation: float
    samples: list[tuple[Time, float]]

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """As it is answered."""
        samples = [(sample.at, sample.value) for sample in evidence.samples]
        return cls(mean=evidence.mean, deviation=evidence.deviation, samples=samples)


class AlarmView(View):
    """What happened to a series, since when, on what evidence, and whether it is over."""

    id: str
    series: SeriesView
    kind: str
    direction: str | None
    bad: bool = Field(description="false for a change for the better")
    severity: str
    text: str
    raised_at: Time
    cleared_at: Time | None
    acknowledged_by: str | None
    acknowledged_at: Time | None
    before: EvidenceView
    after: EvidenceView | None

    @classmethod
    def of(cls, alarm: Alarm) -> Self:
        """As it is answered."""
        return cls(
            id=alarm.id,
            series=SeriesView(**alarm.series._asdict()),
            kind=alarm.kind.value,
            direction=None if alarm.direction is None else alarm.direction.value,
            bad=alarm.bad,
            severity=alarm.severity.value,
            text=alarm.text,
            raised_at=alarm.raised_at,
            cleared_at=alarm.cleared_at,
            acknowledged_by=alarm.acknowledged_by,
            acknowledged_at=alarm.acknowledged_at,
            before=EvidenceView.of(alarm.before),
            after=None if alarm.after is None else EvidenceView.of(alarm.after),
        )


class AlarmList(NewestFirstView):
    """Alarms, the newest first."""

    items: list[AlarmView]


class BucketView(View):
    """The values of a stretch of time; quantiles within the archive's stated error."""

    start: Time
    seconds: float
    count: int
    minimum: float
    mean: float
    maximum: float
    quantiles: dict[str, float]

    @classmethod
    def of(cls, bucket: Bucket) -> Self:
        """As it is answered."""
        return cls(
            start=bucket.start,
            seconds=bucket.width,
            count=bucket.count,
            minimum=bucket.minimum,
            mean=bucket.mean,
            maximum=bucket.maximum,
            quantiles=dict(zip(_NAMES, bucket.quantiles(QUANTILES), strict=True)),
        )


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

    @classmethod
    def of(cls, execution: Execution) -> Self:
        """As it is answered."""
        return cls(
            task=execution.task,
            planned_start=execution.planned_start,
            started=execution.started,
            ended=execution.ended,
            outcome=execution.outcome,
        )


class ExecutionList(NewestFirstView):
    """Executed runs, the newest first."""

    items: list[ExecutionView]


class PointView(View):
    """A measurement point."""

    name: str
    url: str
    ignored: dict[str, int] | None = Field(
        description="details of its results left out as wrong; null: no collector answers"
    )


class PointList(ListView):
    """Measurement points."""

    items: list[PointView]


class RunBody(BaseModel):
    """Which configured test to do now, beside the plan."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(max_length=100)
    source: str = Field(max_length=100)
    destination: str = Field(max_length=100)
    test: Literal["throughput", "rtt", "latency"]


class RunAccepted(View):
    """When the test will be done."""

    task: str
    start: Time


class FilterBody(BaseModel):
    """Which alarms; what is left out is not narrowed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str | None = Field(default=None, max_length=100)
    source: str | None = Field(default=None, max_length=100)
    destination: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)
    kinds: list[Literal["plateau", "absence", "threshold"]] | None = None
    least: Literal["warning", "critical"] = Field(default="warning", description="the lowest severity")
    changes_for_the_better: bool = False
    ends: bool = Field(default=True, description="tell also when an alarm is over")


class SubscriptionBody(BaseModel):
    """Which alarms are to be told, how, and to whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    channel: Literal["mail", "webhook", "stream"]
    target: str = Field(
        default="",
        max_length=500,
        description="a mail address, or the URL to call; none for the event stream",
    )
    filter: FilterBody = FilterBody()


class SubscriptionView(View):
    """A subscription as it is kept."""

    id: str
    owner: str
    channel: str
    target: str
    filter: FilterBody


class SubscriptionList(NewestFirstView):
    """Subscriptions, the newest first."""

    items: list[SubscriptionView]


class Deleted(View):
    """What is gone."""

    id: str
