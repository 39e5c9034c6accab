"""Templates: the catalog, versions, differences, checks and backtests."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from adon.api.base import MAX_BODY, Body, Ids, ListView, ProblemItem, Query, Time, View
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import MetricName, Template
from adon.values import Frozen, FrozenMap
from measurement.model import Metric


class VersionView(View):
    """Version of a template, with its author and time."""

    name: str
    version: int
    title: str
    author: str
    saved_at: Time


class TemplateSummary(VersionView):
    """Summary of the latest version of a template."""

    description: str
    priority: int
    versions: list[int] = Field(description="all versions, in ascending order")


class TemplateList(ListView):
    """Latest version of every template, by name."""

    items: list[TemplateSummary]


class TemplateBody(Template, defer_build=True):
    """Template to save; without a ``version`` it becomes the next version."""

    # As inherited, but with a default that pydantic can leave out of a JSON schema without a warning.
    tables: Frozen[MetricName, LookupTable] = Field(default_factory=FrozenMap)


Form = Literal["yaml", "json", "rspec"]


class VersionList(ListView):
    """Versions of a template, oldest first."""

    items: list[VersionView]


class ChangeView(View):
    """Value that differs; null where it is absent."""

    field: str
    before: Any
    after: Any


class TemplateDiff(View):
    """Difference of two versions of a template."""

    name: str
    before: int
    after: int
    changes: list[ChangeView]
    text: str = Field(description="unified diff of both as YAML; empty if equal")


class CheckBody(Body):
    """Text of a template to check."""

    text: str = Field(max_length=MAX_BODY)
    form: Form = "yaml"


class CurveView(View):
    """Curve of a lookup table: score by value of the metric."""

    metric: Metric
    unit: str
    weight: float = Field(description="share of the sum of weights")
    generated: bool = Field(description="whether the table is generated from bound and target")
    points: list[tuple[float, float]] = Field(description="value and score; linear between points")


class LinkDraftView(View):
    """Requirements of a link of a GENI RSpec."""

    link: str = Field(description="client_id of the link")
    qspec: dict[str, Any]
    rspec: dict[str, Any]
    remarks: list[str] = Field(description="dropped parts, and parts without effect in ADON")


class TemplateCheck(View):
    """Result of the check of a template's text; nothing is saved."""

    ok: bool
    problems: list[ProblemItem]
    template: dict[str, Any] | None = Field(description="template as it would be saved; null if invalid")
    next_version: int | None = Field(description="version that it would get")
    curves: list[CurveView] = Field(description="curves of its metrics")
    links: list[LinkDraftView] = Field(description="requirements of each link of a GENI RSpec")


class BacktestState(StrEnum):
    """State of a backtest."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BacktestBody(Body):
    """Backtest to start: template version and period."""

    template: TemplateBody
    since: Time
    until: Time | None = Field(default=None, description="end of the period; by default now")


class ActualOutcome(View):
    """Actual outcome of a flow."""

    paths: list[str]
    took_seconds: float | None


class ReplayedOutcome(View):
    """Replayed outcome of a flow with one version of the template."""

    template: str
    state: str
    refused: str
    paths: list[str]
    moves: int
    violations: int
    violated_seconds: float
    took_seconds: float | None


class FlowComparison(View):
    """Comparison of a flow: actual outcome, and replays with the present and the tested version."""

    flow: str
    template: str
    size_bytes: int
    submitted_at: Time
    happened: ActualOutcome
    present: ReplayedOutcome
    proposed: ReplayedOutcome
    moved: bool
    saved_seconds: float | None = Field(description="negative: slower; null: a replay did not finish")


class BacktestResult(View):
    """Comparison of two versions."""

    present: str
    proposed: str
    model: str
    moved: int
    saved_seconds: float
    model_off_by: float | None = Field(description="median of |replayed - actual| / actual, present version")
    flows: list[FlowComparison]


class BacktestSummary(View):
    """Backtest without its results."""

    id: str
    template: str
    requester: str
    asked_at: Time
    since: Time
    until: Time
    state: BacktestState
    ended_at: Time | None
    cause: str = Field(description="reason of a failure")


class BacktestView(BacktestSummary):
    """Backtest with its results."""

    found: BacktestResult | None


class BacktestList(ListView):
    """Backtests, newest first."""

    items: list[BacktestSummary]


class TemplateName(Ids):
    """Name of a template."""

    name: str = Field(max_length=64, description="name of the template, such as soykb")


class TemplateVersion(TemplateName):
    """Name and version of a template."""

    version: int = Field(ge=1, le=10**9)


class DiffQuery(Query):
    """Versions to compare; the latest two by default."""

    from_: int | None = Field(default=None, alias="from", ge=1, le=10**9)
    to: int | None = Field(default=None, ge=1, le=10**9)
