"""Flows: requests, states, history, previews and outcomes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from adon.api.base import MOST, Body, InOrder, ListView, NewestFirst, Time, View
from adon.api.decisions import DecisionView, ExpectedEndView, ForecastView, GrantView, MeanRateView
from adon.broker.flow import FlowRequest, FlowState, Quality
from adon.units import Size, parse_size
from adon.values import Name


class Connection(View):
    """A transport connection of a flow; no source port means any."""

    protocol: int
    destination_port: int
    source_port: int | None = None


class TriggerState(View):
    """Last activation of a trigger of the flow's template."""

    name: str = Field(validation_alias=AliasChoices("name", "trigger"))
    at: Time
    count: int = Field(description="number of activations for this flow")
    on: bool = Field(description="whether its condition still holds")
    text: str


class BookingView(View):
    """Bandwidth of a path that is reserved for a future time."""

    path: str
    rate_bps: float
    begins: Time
    ends: Time


class FlowView(View):
    """Flow with its state."""

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
    bytes_moved: int = Field(description="bytes known to have arrived, at most the size of the transfer")
    evidence: str
    started_at: Time | None
    ended_at: Time | None
    moves: int
    advised: bool = Field(default=False, description="active without rules in switches (dry run)")
    decision: str | None
    slice: str | None
    granted: GrantView | None = Field(description="additional rate by the queue ladder")
    not_before: Time | None = None
    deadline: Time | None = None
    booking: BookingView | None = Field(default=None, description="reservation of the flow")
    aggregated: bool = Field(description="whether its connections share one pair of rules")
    forecast: ForecastView | None = Field(default=None, description="forecast at admission")
    forecast_at: Time | None = None
    connections: list[Connection]
    triggers: list[TriggerState] = Field(description="triggers of its template that have fired, latest last")


class FlowList(ListView):
    """Flows, the newest first."""

    items: list[FlowView]


class HistoryEntry(View):
    """Entry of a flow's history."""

    at: Time
    state: FlowState
    reason: str
    path: str | None


class FlowHistory(ListView):
    """History of a flow, oldest entry first."""

    items: list[HistoryEntry]


class FlowBody(FlowRequest, defer_build=True):
    """Request of a flow; quantities have units, such as ``25 GB``."""


def _read_size(value: object) -> object:
    return parse_size(value) if isinstance(value, bool | str) else value


WholeBytes = Annotated[int, Field(ge=0, le=10**18)]
ReportedSize = Annotated[WholeBytes, BeforeValidator(_read_size, json_schema_input_type=Size | WholeBytes)]
"""Size with a unit, or a number of bytes."""


class TransferReport(Body):
    """Report of a transfer; ``finished`` and ``failed`` end the flow."""

    status: Literal["started", "progress", "finished", "failed"]
    bytes: ReportedSize = Field(description="bytes that the receiver has")
    detail: str = Field(default="", max_length=500)


class DisplacedFlow(View):
    """Running flow that the requested flow would displace."""

    flow: str
    path: str
    to: str | None = Field(description="path after the reroute; null if it would wait")
    why: str


class PreviewView(View):
    """Decision that a request would get now; nothing is stored."""

    at: Time
    outcome: str = Field(description="admit or queue; a request that would be refused is answered with 422")
    decision: DecisionView = Field(description="possible decision; its id and its flow are 'preview'")
    path: str | None
    compute_site: str | None
    transfer_size_bytes: int = Field(description="bytes that would be transferred")
    forecast: ForecastView | None = Field(description="expected completion time; null if unknown")
    throughput: MeanRateView | None = Field(description="mean rate by the forecast")
    waits_for: list[str]
    end: ExpectedEndView | None = Field(description="present time plus the forecast; null if it would wait")
    displaced: int = Field(description="running flows that would return to the queue")
    moved: int = Field(description="running flows that would be rerouted")
    pushed: list[DisplacedFlow] = Field(description="displaced flows")
    replaced: list[str] = Field(
        description="unregistered flows that would end; the preview counts them as running"
    )
    booking: BookingView | None
    advised: bool = Field(description="whether it would be a dry run, without rules in switches")


class PathStay(View):
    """Time of a flow on one path."""

    path: str
    since: Time
    until: Time
    seconds: float


class ConditionView(View):
    """Value of a metric of the path at admission."""

    metric: str
    value: float
    unit: str


class OutcomeView(View):
    """Outcome of an ended flow: promised and achieved throughput, and events on its paths."""

    flow: str
    template: str
    source: str
    destination: str
    state: str = Field(description="final state")
    slice: str | None
    priority: int
    streams: int
    submitted_at: Time
    admitted_at: Time | None
    started_at: Time | None
    ended_at: Time
    waited_seconds: float
    duration_seconds: float | None
    requested_bytes: int
    transferred_bytes: int
    throughput_bps: float | None
    measured_by: str = Field(description="source of the value")
    promised_bps: float | None
    error: float | None = Field(description="(promised - achieved) / achieved; above zero: too high")
    kept: bool = Field(description="whether its QSpec was met whenever the quality was known")
    quality_seconds: dict[str, float]
    moves: int
    stays: list[PathStay]
    conditions: list[ConditionView]
    decision: str | None = Field(description="admitting decision")
    compute_site: str | None
    forecast: ForecastView | None
    foretold: bool | None = Field(description="whether the end was within the interval of the forecast")


class OutcomeList(ListView):
    """Outcomes, latest ended flow first."""

    items: list[OutcomeView]


class FlowQuery(NewestFirst):
    """Filters of flows."""

    state: FlowState | None = None
    requester: str | None = Field(default=None, max_length=200)
    template: str | None = Field(default=None, max_length=80, description="such as soykb or soykb@3")
    host: str | None = Field(default=None, max_length=100, description="source or destination host")
    path: Name | None = Field(default=None, description="present or last path")
    since: Time | None = Field(default=None, description="submitted at this time or later")
    until: Time | None = Field(default=None, description="submitted before this time")
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="text in label, reason, hosts, template or requester",
    )


class HistoryQuery(InOrder):
    """Number of history entries."""

    last: int | None = Field(default=None, ge=1, le=MOST, description="number of latest entries")


class OutcomeQuery(NewestFirst):
    """Filters of outcomes."""

    template: str | None = Field(default=None, max_length=80, description="such as soykb or soykb@3")
    since: Time | None = Field(default=None, description="ended at this time or later")
    limit: int = Field(default=100, ge=1, le=1000)
