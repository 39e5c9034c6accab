"""Flows: requests, states, history, previews and outcomes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field

from adon.api.base import MOST, Body, InOrder, ListView, NewestFirst, Time, View
from adon.api.decisions import DecisionView, ForecastView, ForeseenEndView, GrantedView, MeanRateView
from adon.broker.flow import FlowRequest, FlowState, Quality
from adon.values import Name


class Connection(View):
    """A transport connection of a flow; no source port means any."""

    protocol: int
    destination_port: int
    source_port: int | None = None


class FiredView(View):
    """What a trigger of a flow's template saw and did, the last time."""

    name: str = Field(validation_alias=AliasChoices("name", "trigger"))
    at: Time
    count: int = Field(description="how often it has fired for this flow")
    on: bool = Field(description="its condition was not over since")
    text: str


class BookingView(View):
    """Bandwidth of a path that is reserved for a time to come."""

    path: str
    rate_bps: float
    begins: Time
    ends: Time


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
    granted: GrantedView | None = Field(description="by the queue ladder, in addition to what was asked")
    not_before: Time | None = None
    deadline: Time | None = None
    booking: BookingView | None = Field(default=None, description="what it has reserved")
    aggregated: bool = Field(description="its connections share one pair of rules: a switch has no room")
    forecast: ForecastView | None = Field(default=None, description="told when it was admitted")
    forecast_at: Time | None = None
    connections: list[Connection]
    triggers: list[FiredView] = Field(description="those of its template that have fired, the latest last")


class FlowList(ListView):
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


class FlowBody(FlowRequest, defer_build=True):
    """What a researcher asks for; quantities with units, as ``25 GB``."""


class ReportBody(Body):
    """What a transfer says about itself; ``finished`` and ``failed`` end the flow."""

    status: Literal["started", "progress", "finished", "failed"]
    bytes: int = Field(ge=0, le=10**18, description="bytes the receiver has")
    detail: str = Field(default="", max_length=500)


class PushedView(View):
    """What would become of a running flow by the one that is asked for."""

    flow: str
    path: str
    to: str | None = Field(description="the path that it would move to; none if it would wait")
    why: str


class PreviewView(View):
    """What would be decided about a request if it were made now; nothing is kept of it."""

    at: Time
    outcome: str = Field(description="admit or queue; a request that would be refused is answered with 422")
    decision: DecisionView = Field(description="as it would be recorded; its id and its flow are 'preview'")
    path: str | None
    compute_site: str | None
    transfer_size_bytes: int = Field(description="what would travel")
    forecast: ForecastView | None = Field(description="expected completion time; null if unknown")
    throughput: MeanRateView | None = Field(description="by the forecast, on average")
    waits_for: list[str]
    end: ForeseenEndView | None = Field(description="now and its forecast together; none if it would wait")
    displaced: int = Field(description="running flows that would go back to the queue")
    moved: int = Field(description="running flows that would get another path")
    pushed: list[PushedView] = Field(description="those flows")
    replaced: list[str] = Field(
        description="flows that were seen but not announced, and would end; counted as still there"
    )
    booking: BookingView | None
    advised: bool = Field(description="decided and shown only: no switch would be told")


class StayView(View):
    """So long was a flow on one path."""

    path: str
    since: Time
    until: Time
    seconds: float


class ConditionView(View):
    """What the admitting decision saw on the path."""

    metric: str
    value: float
    unit: str


class OutcomeView(View):
    """What a flow leaves behind: what it was promised, what it got, and what it met on its way."""

    flow: str
    template: str
    source: str
    destination: str
    state: str = Field(description="how it ended")
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
    measured_by: str = Field(description="who says so")
    promised_bps: float | None
    error: float | None = Field(description="(promised - achieved) / achieved; above zero: too much")
    kept: bool = Field(description="whether its QSpec was kept all the time that it was known")
    quality_seconds: dict[str, float]
    moves: int
    stays: list[StayView]
    conditions: list[ConditionView]
    decision: str | None = Field(description="the one that admitted it")
    compute_site: str | None
    forecast: ForecastView | None
    foretold: bool | None = Field(description="whether the forecast's interval held")


class OutcomeList(ListView):
    """Outcomes, those of the flows that ended last first."""

    items: list[OutcomeView]


class FlowQuery(NewestFirst):
    """Filters of flows."""

    state: FlowState | None = None
    requester: str | None = Field(default=None, max_length=200)
    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    host: str | None = Field(default=None, max_length=100, description="source or destination host")
    path: Name | None = Field(default=None, description="present or last path")
    since: Time | None = Field(default=None, description="submitted at this time or later")
    until: Time | None = Field(default=None, description="submitted before this time")
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="part of label, reason, hosts, template or requester",
    )


class HistoryQuery(InOrder):
    """Steps of a flow's life to show."""

    last: int | None = Field(default=None, ge=1, le=MOST, description="number of the last steps")


class OutcomeQuery(NewestFirst):
    """Filters of outcomes."""

    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    since: Time | None = Field(default=None, description="of flows that ended at this time or later")
    limit: int = Field(default=100, ge=1, le=1000)
