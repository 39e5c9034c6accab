"""Decisions: candidates, costs, forecasts, and reasons against alternatives."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from adon.api.base import ListView, NewestFirst, Query, Seconds, Time, View, enumeration_schema
from adon.broker.decision import Outcome
from adon.values import Name


class ForecastView(View):
    """Forecast of a transfer's end, in seconds after its admission."""

    expected_seconds: Seconds
    low_seconds: Seconds
    high_seconds: Seconds
    coverage: float = Field(description="nominal share of intervals that contain the true value")
    terms: dict[str, Seconds] = Field(description="terms of the expected time in seconds")


class MeanRateView(View):
    """Expected mean rate of a transfer, in bits/s."""

    expected_bps: float
    low_bps: float
    high_bps: float
    coverage: float = Field(description="nominal share of intervals that contain the true value")


class ExpectedEndView(View):
    """Expected end of a transfer."""

    earliest: Time
    expected: Time
    latest: Time


class CurvePoint(View):
    """Nominal and observed share of intervals that contain the true value."""

    nominal: float
    observed: float


class CalibrationView(View):
    """Calibration of the forecasts of finished flows.

    ``least`` and ``most`` bound the coverage with 95 % confidence; ``bias`` and ``error`` are the median of
    (expected - took) / took and of its size; ``score`` is the median interval score over what was taken.
    """

    flows: str = Field(description="group of flows: all, admitted at once, or admitted after a wait")
    count: int
    nominal: float
    covered: float
    least: float
    most: float
    bias: float
    error: float
    score: float | None
    curve: list[CurvePoint]


class CalibrationList(View):
    """Calibration of all finished flows, of those admitted at once, and of those that waited."""

    items: list[CalibrationView]


class ForecastQuery(Query):
    """Filters of the flows whose forecasts are evaluated."""

    template: str | None = Field(default=None, max_length=80, description="such as soykb or soykb@3")
    limit: int = Field(default=500, ge=1, le=5000, description="number of latest flows")


class MetricView(View):
    """Metric of a candidate: value, origin, bound and score, or the reason of a missing value."""

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
    """Candidate path at the time of the decision; ``q`` is the weighted score, equation 3."""

    path: str
    layer: str
    verdict: str
    code: str = Field(description="reason of the verdict")
    why: str
    q: float | None
    metrics: list[MetricView]


class SiteCostView(View):
    """Cost of a compute site by algorithm 4; the terms have their names of the paper's table 3."""

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
    available_basis: str = Field(
        default="",
        validation_alias=AliasChoices("available_basis", "basis"),
        description="basis of the available rate; empty: unknown",
    )
    deviations: dict[str, float] = Field(
        default_factory=dict, description="standard deviations of terms, in their units; absent: not observed"
    )
    origins: dict[str, str] = Field(default_factory=dict, description="source of each term")


class GrantView(View):
    """Grant of a flow in the queue ladder of a port; rates in bits/s."""

    port: str
    share: float = Field(description="share of its queue in the port's capacity")
    asked: float
    guaranteed: float
    lent: float
    ceiling: float = Field(description="present maximum rate")
    by: str = Field(description="enforcement: `queue`, `meter` or `nothing`")
    why: str
    number: int | None = Field(description="number of the queue or meter")


class DecisionBase(View):
    """Base of a decision and its summary."""

    id: str
    flow: str
    at: Time
    cause: str = Field(description="id of the event that led to it")
    cause_text: str = Field(default="", description="what the event was; empty: unknown")
    outcome: str
    path: str | None
    previous_path: str | None
    code: str = Field(description="rule that led to the outcome")
    reason: str
    template: str
    compute_site: str | None
    alarm: str | None = Field(description="alarm that caused the decision; null: none")
    slice: str | None


class DecisionView(DecisionBase):
    """Recorded decision about a flow, with its inputs."""

    weights: dict[str, float]
    candidates: list[CandidateView]
    tables: dict[str, Any] | None
    compute: list[SiteCostView]
    granted: GrantView | None = Field(description="additional rate by the queue ladder")
    trigger: str | None = Field(default=None, description="the template's trigger that led to it, if one did")
    forecast: ForecastView | None = None


class DecisionList(ListView):
    """Decisions about a flow, oldest first."""

    items: list[DecisionView]


class DecisionSummary(DecisionBase):
    """Summary of a decision about a flow."""

    outcome: Annotated[Outcome, enumeration_schema(Outcome)]
    candidates: int = Field(description="number of candidate paths")
    trigger: str | None = Field(description="the template's trigger that led to it, if one did")


class DecisionPage(ListView):
    """Decisions about all flows, newest first."""

    items: list[DecisionSummary]


class Quantity(View):
    """Base of documents about an input of a decision that the search for alternatives changes."""

    kind: str = Field(
        description="metric, weight, bound, priority, size, switch_margin, patience, dwell or closed"
    )
    name: str = Field(description="metric; for the kind `closed` the reason")
    path: str | None
    unit: str
    value: float | None = Field(description="null if unknown")


class QuantityView(Quantity):
    """Quantity with the range of values that the search considers."""

    low: float
    high: float


class FlipView(Quantity):
    """Smallest change of a quantity with which a repeated decision selects the alternative."""

    needed: float = Field(description="nearest value with which the alternative is selected")
    short_of: float | None = Field(description="adjacent value with which the alternative is not selected")
    told: float = Field(description="value with few digits that selects the alternative, too")
    size: float | None = Field(description="logarithm of the ratio of `needed` and `value`; null: no ratio")
    text: str


class AlternativeView(View):
    """Path, or compute site with a path, that was not selected."""

    path: str
    site: str | None = Field(description="null: any site with the path")
    verdict: str | None
    q: float | None
    why: str = Field(description="reason in the decision")
    text: str = Field(description="smallest change in words, or its absence")
    flips: list[FlipView] = Field(description="changes, smallest first")


class WhyNotView(View):
    """Nearest changes that select each alternative."""

    decision: str
    outcome: str
    path: str | None
    compute_site: str | None
    alternatives: list[AlternativeView]
    searched: list[QuantityView]
    left_out: list[QuantityView] = Field(description="quantities that were not examined, to limit the time")
    decisions_made: int = Field(description="number of repeated decisions")
    code: str = Field(description="version of the code that made the decision")
    this_code: str
    as_recorded: bool = Field(description="whether the present code makes the same decision")


class DecisionQuery(NewestFirst):
    """Filters of decisions."""

    flow: str | None = Field(default=None, max_length=20, description="flow, such as f-17")
    template: str | None = Field(default=None, max_length=80, description="such as soykb or soykb@3")
    outcome: Annotated[Outcome, enumeration_schema(Outcome)] | None = None
    path: Name | None = Field(default=None, description="selected path")
    site: Name | None = Field(default=None, description="selected compute site")
    since: Time | None = Field(default=None, description="made at this time or later")
    until: Time | None = Field(default=None, description="made before this time")
