"""Decisions: candidates, costs, forecasts, and why an alternative was not taken."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from adon.api.base import ListView, NewestFirst, Query, Seconds, Time, View, listed_values
from adon.broker.decision import Outcome
from adon.values import Name


class ForecastView(View):
    """When a transfer was expected to be over, in seconds from its admission on."""

    expected_seconds: Seconds
    low_seconds: Seconds
    high_seconds: Seconds
    coverage: float = Field(description="nominal share of intervals that contain the true value")
    terms: dict[str, Seconds] = Field(description="terms of the expected time in seconds")


class MeanRateView(View):
    """How fast a transfer is expected to be on average, in bits/s."""

    expected_bps: float
    low_bps: float
    high_bps: float
    coverage: float = Field(description="nominal share of intervals that contain the true value")


class ForeseenEndView(View):
    """When a transfer would be over."""

    earliest: Time
    expected: Time
    latest: Time


class CurvePoint(View):
    """Of the intervals that should hold so many truths, so many did."""

    nominal: float
    observed: float


class CalibrationView(View):
    """How well the forecasts of some finished flows held.

    ``least`` and ``most`` bound the coverage with 95 % confidence; ``bias`` and ``error`` are the median of
    (expected - took) / took and of its size; ``score`` is the median interval score over what was taken.
    """

    flows: str = Field(description="all, at once, after a wait")
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
    """Forecasts of all finished flows, and apart of those that ran at once and that had waited."""

    items: list[CalibrationView]


class ForecastQuery(Query):
    """Flows whose forecasts are compared with their ends."""

    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    limit: int = Field(default=500, ge=1, le=5000, description="number of flows that ended last")


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
    available_basis: str = Field(
        default="",
        validation_alias=AliasChoices("available_basis", "basis"),
        description="what the available rate rests on; empty: unknown",
    )
    deviations: dict[str, float] = Field(
        default_factory=dict, description="standard deviations of terms, in their units; none: not observed"
    )
    origins: dict[str, str] = Field(default_factory=dict, description="who says what a term is")


class GrantedView(View):
    """What the queue ladder of a port gives a flow; rates in bits/s."""

    port: str
    share: float = Field(description="of its queue, of the port's capacity")
    asked: float
    guaranteed: float
    lent: float
    ceiling: float = Field(description="all that it may use at present")
    by: str = Field(description="what holds it to that: `queue`, `meter` or `nothing`")
    why: str
    number: int | None = Field(description="of the queue or meter")


class DecisionBase(View):
    """Fields of a decision that its summary has, too."""

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
    compute_site: str | None
    alarm: str | None = Field(description="the alarm that led to the decision; null: none")
    slice: str | None


class DecisionView(DecisionBase):
    """The recorded outcome for one flow at one time, with everything it was based on."""

    weights: dict[str, float]
    candidates: list[CandidateView]
    tables: dict[str, Any] | None
    compute: list[SiteCostView]
    granted: GrantedView | None = Field(description="by the queue ladder, in addition to what was asked")
    trigger: str | None = Field(default=None, description="the template's trigger that led to it, if one did")
    forecast: ForecastView | None = None


class DecisionList(ListView):
    """Decisions about one flow, the oldest first."""

    items: list[DecisionView]


class DecisionSummary(DecisionBase):
    """What was decided about one flow at one time."""

    outcome: Annotated[Outcome, listed_values(Outcome)]
    candidates: int = Field(description="paths that it chose among")
    trigger: str | None = Field(description="the template's trigger that led to it, if one did")


class DecisionPage(ListView):
    """Decisions about all flows, the newest first."""

    items: list[DecisionSummary]


class Quantity(View):
    """Base of documents about an input of a decision that the search for alternatives changes."""

    kind: str = Field(
        description="metric, weight, bound, priority, size, switch_margin, patience, dwell or closed"
    )
    name: str = Field(description="the metric; for the kind `closed`, the reason")
    path: str | None
    unit: str
    value: float | None = Field(description="null if it was not known")


class QuantityView(Quantity):
    """Quantity with the range of values that the search considers."""

    low: float
    high: float


class FlipView(Quantity):
    """Smallest change of one quantity with which the decision, made again, selects the alternative."""

    needed: float = Field(description="the nearest value with which it would have been taken")
    short_of: float | None = Field(description="the value beside that, with which it would not")
    told: float = Field(description="about the needed one, with few digits; it would have been taken too")
    size: float | None = Field(description="the logarithm of the ratio of needed and value; none: no ratio")
    text: str


class AlternativeView(View):
    """A path, or a compute site by a path, that was not taken."""

    path: str
    site: str | None = Field(description="none: whatever site goes with the path")
    verdict: str | None
    q: float | None
    why: str = Field(description="what was said of it then")
    text: str = Field(description="the smallest change in words, or that there is none")
    flips: list[FlipView] = Field(description="the smallest change first")


class WhyNotView(View):
    """Per alternative the nearest changes that would have had it taken."""

    decision: str
    outcome: str
    path: str | None
    compute_site: str | None
    alternatives: list[AlternativeView]
    searched: list[QuantityView]
    left_out: list[QuantityView] = Field(description="not looked at: that would have taken too long")
    decisions_made: int = Field(description="how often the decision was made again")
    code: str = Field(description="the version of the code that made the decision")
    this_code: str
    as_recorded: bool = Field(description="whether this code makes the same decision of what it saw")


class DecisionQuery(NewestFirst):
    """Filters of decisions."""

    flow: str | None = Field(default=None, max_length=20, description="as in f-17")
    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    outcome: Annotated[Outcome, listed_values(Outcome)] | None = None
    path: Name | None = Field(default=None, description="the selected path")
    site: Name | None = Field(default=None, description="the selected compute site")
    since: Time | None = Field(default=None, description="made at this time or later")
    until: Time | None = Field(default=None, description="made before this time")
