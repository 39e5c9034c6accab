"""What the API answers with: domain values in the form that travels, documented by OpenAPI.

Quantities carry their unit in the field's name (``size_bytes``, ``capacity_bps``, ``age_seconds``), a
metric's value its unit beside it; times are RFC 3339.  What a person wrote (a flow's request, a
template) is given back with the units written out, so that it can be sent again as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from adon.broker.decision import Decision
from adon.broker.flow import Flow, FlowRequest, FlowState, Quality
from adon.broker.outcomes import Forecast
from adon.broker.queueing.booking import Booking
from adon.broker.triggers.record import Fired
from adon.frozenmap import Frozen, FrozenMap
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import MetricName, Template
from adon.values import Mode
from apps.rest.times import Time, to_text
from measurement.model import Measurement, Metric, finite

UNITS: Mapping[str, str] = {
    "throughput": "bps",
    "rtt": "s",
    "one_way_delay": "s",
    "jitter": "s",
    "loss": "ratio",
    "health": "ratio",
}
"""The unit each metric's numbers are in."""


def listed_values(kind: type[StrEnum]) -> WithJsonSchema:
    """The schema of an enumeration where it is used, for one whose name others have, too."""
    return WithJsonSchema({"type": "string", "enum": [one.value for one in kind]})


Seconds = float | Literal["inf"]
"""A time span; ``"inf"`` where something is impossible (JSON has no infinity)."""


class View(BaseModel):
    """Base of all answers.

    Written with their fields in the order of the class, so that equal answers have equal bytes and ETags.
    """

    model_config = ConfigDict(frozen=True, serialize_by_alias=True)

    def body(self) -> dict[str, Any]:
        """Plain JSON values."""
        return self.model_dump(mode="json")


class ListView(View):
    """Base of all lists: ``items`` in an order that stays, and where to go on."""

    next: str | None = Field(
        default=None, description="what the following page is asked with; null on the last"
    )

    @classmethod
    def newest_first(cls) -> bool:
        """Whether the following page is asked with ``before``, else with ``after``."""
        return False


class NewestFirstView(ListView):
    """Base of lists that begin with the newest."""

    @classmethod
    def newest_first(cls) -> bool:
        """They do."""
        return True


class ProblemItem(View):
    """One thing that is wrong."""

    field: str
    cause: str
    code: str = Field(description="stable name of the cause")
    file: str | None = None
    line: int | None = None
    column: int | None = None


class ProblemDocument(View):
    """RFC 9457: why a request was not carried out."""

    type: str
    title: str
    status: int
    code: str = Field(description="stable name of the error")
    detail: str
    problems: list[ProblemItem] = []
    kind: str | None = Field(default=None, description="of what is not there")
    name: str | None = Field(default=None, description="the name by which it was asked for")


class Connection(View):
    """A transport connection of a flow; no source port means any."""

    protocol: int
    destination_port: int
    source_port: int | None = None


class FiredView(View):
    """What a trigger of a flow's template saw and did, the last time."""

    name: str
    at: Time
    count: int = Field(description="how often it has fired for this flow")
    on: bool = Field(description="its condition was not over since")
    text: str

    @classmethod
    def of(cls, fired: Fired) -> Self:
        """The trigger as it is answered."""
        return cls(name=fired.trigger, at=fired.at, count=fired.count, on=fired.on, text=fired.text)


class ForecastView(View):
    """When a transfer was expected to be over, in seconds from its admission on."""

    expected_seconds: Seconds
    low_seconds: Seconds
    high_seconds: Seconds
    coverage: float = Field(description="the share of such intervals that should hold the truth")
    terms: dict[str, Seconds] = Field(description="what the expectation is the sum of, in seconds")

    @classmethod
    def of(cls, found: Forecast | Mapping[str, Any] | None) -> Self | None:
        """The forecast as it is answered."""
        if found is None:
            return None
        names = ("expected", "low", "high", "coverage", "terms")
        # Not asdict(): it copies deeply, and lists show hundreds of these.
        body = {name: getattr(found, name) if isinstance(found, Forecast) else found[name] for name in names}
        body = finite(body)
        seconds = {f"{name}_seconds": body[name] for name in ("expected", "low", "high")}
        return cls(**seconds, coverage=body["coverage"], terms=body["terms"])


class FlowView(View):
    """A flow, and where it is in its life."""

    id: str
    state: FlowState
    final: bool
    reason: str
    quality: Quality
    requester: str
    template: str
    source: str
    destination: str
    label: str
    request: dict[str, Any]
    submitted_at: Time
    state_since: Time
    path: str | None
    path_since: Time | None
    compute_site: str | None
    size_bytes: int
    transfer_size_bytes: int
    bytes_sent: int
    bytes_delivered: int
    bytes_reported: int | None
    bytes_moved: int = Field(description="what is known to have arrived, at most what was to be moved")
    evidence: str
    started_at: Time | None
    ended_at: Time | None
    moves: int
    advised: bool = Field(default=False, description="active on paper: nothing was sent to a switch")
    decision: str | None
    slice: str | None
    granted: dict[str, Any] | None = Field(description="by the queue ladder, beside what was asked; bits/s")
    not_before: Time | None = None
    deadline: Time | None = None
    booking: dict[str, Any] | None = Field(
        default=None, description="what it has reserved: path, rate_bps, begins, ends"
    )
    aggregated: bool = Field(description="its connections share one pair of rules: a switch has no room")
    forecast: ForecastView | None = Field(default=None, description="told when it was admitted")
    forecast_at: Time | None = None
    connections: list[Connection]
    triggers: list[FiredView] = Field(description="those of its template that have fired, the latest last")

    @classmethod
    def of(cls, flow: Flow) -> Self:
        """The flow as it is answered."""
        request = flow.request
        same = ("id", "state", "reason", "quality", "requester", "template", "submitted_at", "state_since")
        more = ("path", "path_since", "compute_site", "bytes_sent", "bytes_delivered", "bytes_reported")
        rest = ("evidence", "started_at", "ended_at", "moves", "advised", "decision", "slice", "aggregated")
        return cls(
            **{name: getattr(flow, name) for name in (*same, *more, *rest, "not_before", "deadline")},
            final=flow.state.final,
            source=request.source,
            destination=request.destination,
            label=request.label,
            request=request.model_dump(mode="json", exclude_none=True),
            size_bytes=request.size,
            transfer_size_bytes=flow.transfer_size,
            bytes_moved=flow.bytes_moved,
            granted=None if flow.granted is None else asdict(flow.granted),
            booking=None if flow.booking is None else _booked(flow.booking),
            forecast=ForecastView.of(flow.diary.forecast),
            forecast_at=None if flow.diary.forecast is None else flow.diary.admitted_at,
            connections=[
                Connection(
                    protocol=one.protocol,
                    destination_port=one.destination_port,
                    source_port=one.source_port,
                )
                for one in flow.tuples
            ],
            triggers=[FiredView.of(one) for one in flow.triggered.fired],
        )


def _booked(booking: Booking) -> dict[str, Any]:
    times = {"begins": to_text(booking.begins), "ends": to_text(booking.ends)}
    return {"path": booking.path, "rate_bps": booking.rate, **times}


class FlowList(NewestFirstView):
    """Flows, the newest first."""

    items: list[FlowView]


class HistoryEntry(View):
    """One step of a flow's life."""

    at: Time
    state: FlowState
    reason: str
    path: str | None


class FlowHistory(ListView):
    """The steps of a flow's life, the first first."""

    items: list[HistoryEntry]


class MetricView(View):
    """One metric of one candidate: value, origin, bound and score, or why there is no value."""

    metric: str
    unit: str
    value: float | None
    observed_at: Time | None
    age_seconds: float | None
    source: str
    basis: str
    unknown: str
    bound: float | None
    bound_met: bool | None
    score: float | None
    weight: float


class CandidateView(View):
    """One candidate path as the decision saw it; ``q`` is the weighted score, equation 3."""

    path: str
    layer: str
    verdict: str
    code: str = Field(description="the reason of the verdict")
    why: str
    q: float | None
    metrics: list[MetricView]


class SiteCostView(View):
    """Algorithm 4 for one compute site, every term by its name in the paper's table 3."""

    site: str
    local: bool
    cost: Seconds
    total_seconds: Seconds
    queue_seconds: Seconds
    compute_seconds: Seconds
    network_seconds: Seconds
    duplication_seconds: Seconds
    compute_size_bytes: int
    transfer_size_bytes: int
    nodes: int
    node_rate_bps: Seconds
    theoretical_bps: Seconds
    available_bps: Seconds
    path: str | None
    why: str
    campus: str = ""
    available_basis: str = Field(default="", description="what the available rate rests on; empty: unknown")
    deviations: dict[str, float] = Field(
        default_factory=dict, description="standard deviations of terms, in their units; none: not observed"
    )
    origins: dict[str, str] = Field(default_factory=dict, description="who says what a term is")


class DecisionView(View):
    """The recorded outcome for one flow at one time, with everything it was based on."""

    id: str
    flow: str
    at: Time
    cause: str
    outcome: str
    path: str | None
    previous_path: str | None
    code: str = Field(description="the rule that led to the outcome")
    reason: str
    template: str
    weights: dict[str, float]
    candidates: list[CandidateView]
    tables: dict[str, Any] | None
    compute: list[SiteCostView]
    compute_site: str | None
    alarm: str | None = Field(description="the alarm that led to it, if one did")
    slice: str | None
    granted: dict[str, Any] | None = Field(description="by the queue ladder, beside what was asked; bits/s")
    trigger: str | None = Field(default=None, description="the template's trigger that led to it, if one did")
    forecast: ForecastView | None = None

    @classmethod
    def of(cls, decision: Decision) -> Self:
        """The decision as it is answered."""
        body = decision.body()
        body["candidates"] = [_candidate(candidate) for candidate in body["candidates"]]
        body["compute"] = [_site_cost(site) for site in body["compute"]]
        body["forecast"] = ForecastView.of(body["forecast"])
        return cls.model_validate(body)


_TERMS = {
    **{name: f"{name}_seconds" for name in ("total", "queue", "compute", "network", "duplication")},
    **{name: f"{name}_bytes" for name in ("compute_size", "transfer_size")},
    **{name: f"{name}_bps" for name in ("node_rate", "theoretical", "available")},
    "basis": "available_basis",
}


def _site_cost(body: Mapping[str, Any]) -> dict[str, Any]:
    return {_TERMS.get(name, name): value for name, value in body.items()}


def _candidate(body: Mapping[str, Any]) -> dict[str, Any]:
    metrics = [
        {**metric, "unit": UNITS.get(metric["metric"], ""), "age_seconds": metric["age"]}
        for metric in body["metrics"]
    ]
    return {**body, "metrics": metrics}


class DecisionList(ListView):
    """Decisions about one flow, the oldest first."""

    items: list[DecisionView]


class TemplateSummary(View):
    """A template in a list; its parts are at its own address."""

    name: str
    version: int = Field(description="the latest")
    title: str
    description: str
    priority: int
    author: str = Field(description="who saved the latest version")
    saved_at: Time
    versions: list[int] = Field(description="all there are, the first first")

    @classmethod
    def of(cls, versions: Sequence[SavedTemplate]) -> Self:
        """The summary of a template, of all its versions in order."""
        latest = versions[-1]
        same = ("name", "version", "title", "description", "priority")
        return cls(
            **{name: getattr(latest.template, name) for name in same},
            author=latest.author,
            saved_at=latest.saved_at,
            versions=[saved.template.version for saved in versions],
        )


class TemplateList(ListView):
    """The latest version of every template, by name."""

    items: list[TemplateSummary]


class Reading(View):
    """The latest value of one metric on one directed path."""

    value: float
    unit: str
    observed_at: Time
    age_seconds: float
    source: str = ""
    basis: str = ""


class PathAlarm(View):
    """An alarm in force on a path, in short; all of it is at ``/alarms/{id}``."""

    id: str
    metric: str
    kind: str
    direction: str | None
    bad: bool
    severity: str
    raised_at: Time
    text: str
    acted_on: bool = Field(description="whether values before it are no longer trusted")


class PathView(View):
    """One direction of one transit path, with what is known about it now."""

    path: str
    source: str
    destination: str
    layer: str
    capacity_bps: float
    mtu: int
    usable: bool
    reason: str
    metrics: dict[str, Reading]
    flows: list[str]
    alarms: list[PathAlarm]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """A path of the controller's snapshot as it is answered."""
        metrics = {
            name: {**known, "unit": UNITS.get(name, ""), "age_seconds": known["age"]}
            for name, known in entry["metrics"].items()
        }
        return cls.model_validate({**entry, "capacity_bps": entry["capacity"], "metrics": metrics})


class SwitchView(View):
    """A campus-edge switch as the controller sees it."""

    name: str
    dpid: str
    connected: bool
    rules: int
    foreign_rules: int = 0
    table: dict[str, Any] | None = Field(default=None, description="rules that it holds and may hold")
    tables: dict[str, Any] = Field(
        default_factory=dict, description="rules in each table of ours, and its limit, as the switch says"
    )
    lacks: list[str] = Field(default_factory=list, description="what it needs and cannot, by its own account")
    mode: Mode = Field(description="dry-run: decided, recorded and shown; nothing is sent")


class EstimateView(View):
    """How far off the throughput expected of a path was: relative errors, above zero for too much.

    ``median`` and ``spread`` (interquartile range) are of the latest ``count`` flows that were decided on
    this basis.
    """

    path: str
    source: str
    destination: str
    basis: str
    count: int
    median: float
    spread: float


class PathList(ListView):
    """All directed paths and the edge switches at one moment."""

    at: Time
    items: list[PathView]
    switches: list[SwitchView]
    estimates: list[EstimateView]


class QueueView(ListView):
    """The waiting flows, first to be served first; of very many the first 1 000."""

    at: Time
    waiting: int = Field(default=0, description="all that wait, anybody's")
    items: list[FlowView]


class MeasurementView(View):
    """One value of one metric on one directed path."""

    path: str
    source: str
    destination: str
    metric: Metric
    value: float
    unit: str
    started_at: Time
    observed_at: Time
    origin: str
    tool: str
    parameters: dict[str, Any]

    @classmethod
    def of(cls, measurement: Measurement) -> Self:
        """The measurement as it is answered; ``origin`` is where it came from (a run's URL)."""
        same = ("metric", "value", "started_at", "observed_at", "tool")
        return cls(
            **{name: getattr(measurement, name) for name in same},
            path=measurement.key.path,
            source=measurement.key.source,
            destination=measurement.key.destination,
            unit=UNITS[measurement.metric],
            origin=measurement.source,
            parameters=dict(measurement.parameters),
        )


class MeasurementList(NewestFirstView):
    """Measurements, the newest first."""

    items: list[MeasurementView]


class Health(View):
    """Whether this process, or what it needs, works."""

    status: Literal["ok"]
    checks: dict[str, str] = {}


# -- what is sent to us -------------------------------------------------------------------------------


class FlowBody(FlowRequest):
    """What a researcher asks for; quantities with units, as ``25 GB``."""


class TemplateBody(Template):
    """A template; without a ``version`` it is saved as the next one."""

    # As inherited, but with a default that pydantic can leave out of a JSON schema without a warning.
    tables: Frozen[MetricName, LookupTable] = Field(default_factory=FrozenMap)


class ReportBody(BaseModel):
    """What a transfer says about itself; ``finished`` and ``failed`` end the flow."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Literal["started", "progress", "finished", "failed"]
    bytes: int = Field(ge=0, le=10**18, description="bytes the receiver has")
    detail: str = Field(default="", max_length=500)
