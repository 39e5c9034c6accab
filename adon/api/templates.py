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
    """A version of a template: who saved it, and when."""

    name: str
    version: int
    title: str
    author: str
    saved_at: Time


class TemplateSummary(VersionView):
    """A template in a list: its latest version, without its parts."""

    description: str
    priority: int
    versions: list[int] = Field(description="all versions, in ascending order")


class TemplateList(ListView):
    """The latest version of every template, by name."""

    items: list[TemplateSummary]


class TemplateBody(Template, defer_build=True):
    """A template; without a ``version`` it is saved as the next one."""

    # As inherited, but with a default that pydantic can leave out of a JSON schema without a warning.
    tables: Frozen[MetricName, LookupTable] = Field(default_factory=FrozenMap)


Form = Literal["yaml", "json", "rspec"]


class VersionList(ListView):
    """The versions of a template, the first first."""

    items: list[VersionView]


class ChangeView(View):
    """A value that differs; null where it is not there."""

    field: str
    before: Any
    after: Any


class TemplateDiff(View):
    """How two versions of a template differ."""

    name: str
    before: int
    after: int
    changes: list[ChangeView]
    text: str = Field(description="a unified diff of both as YAML; empty if they do not differ")


class CheckBody(Body):
    """A template as it is being written."""

    text: str = Field(max_length=MAX_BODY)
    form: Form = "yaml"


class CurveView(View):
    """A lookup table as a line to draw: from a value of the metric to a score."""

    metric: Metric
    unit: str
    weight: float = Field(description="of all weights together 1")
    generated: bool = Field(description="the template has none: made of its bound and target")
    points: list[tuple[float, float]] = Field(description="value and score; drawn straight between them")


class LinkDraftView(View):
    """What a link of a GENI RSpec asks for."""

    link: str = Field(description="its client_id")
    qspec: dict[str, Any]
    rspec: dict[str, Any]
    remarks: list[str] = Field(description="what is not kept, and what has no effect in ADON")


class TemplateCheck(View):
    """What was found in a template's text; nothing was saved."""

    ok: bool
    problems: list[ProblemItem]
    template: dict[str, Any] | None = Field(description="as it would be saved; null if something is wrong")
    next_version: int | None = Field(description="the version it would become")
    curves: list[CurveView] = Field(description="how its metrics would be scored")
    links: list[LinkDraftView] = Field(description="of a GENI RSpec: what each of its links asks for")


class State(StrEnum):
    """How far a backtest is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BacktestBody(Body):
    """Which version of a template is to be tried on which past."""

    template: TemplateBody
    since: Time
    until: Time | None = Field(default=None, description="now, if it is left out")


class HappenedView(View):
    """What really became of a flow."""

    paths: list[str]
    took_seconds: float | None


class ReplayedView(View):
    """What becomes of a flow with one version of the template."""

    template: str
    state: str
    refused: str
    paths: list[str]
    moves: int
    violations: int
    violated_seconds: float
    took_seconds: float | None


class ComparedView(View):
    """One flow: as it was, with today's version, with the one that is tried."""

    flow: str
    template: str
    size_bytes: int
    submitted_at: Time
    happened: HappenedView
    present: ReplayedView
    proposed: ReplayedView
    moved: bool
    saved_seconds: float | None = Field(description="negative: lost; null: one of the two did not finish")


class FoundView(View):
    """The comparison of the two versions."""

    present: str
    proposed: str
    model: str
    moved: int
    saved_seconds: float
    model_off_by: float | None = Field(description="median of |replayed - real| / real, with today's version")
    flows: list[ComparedView]


class BacktestSummary(View):
    """A backtest without its results."""

    id: str
    template: str
    requester: str
    asked_at: Time
    since: Time
    until: Time
    state: State
    ended_at: Time | None
    cause: str = Field(description="why it failed")


class BacktestView(BacktestSummary):
    """A backtest with its results."""

    found: FoundView | None


class BacktestList(ListView):
    """Backtests, the newest first."""

    items: list[BacktestSummary]


class TemplateName(Ids):
    """Name of a template."""

    name: str = Field(max_length=64, description="as in soykb")


class TemplateVersion(TemplateName):
    """Name and version of a template."""

    version: int = Field(ge=1, le=10**9)


class DiffQuery(Query):
    """Versions to compare; the latest two by default."""

    from_: int | None = Field(default=None, alias="from", ge=1, le=10**9)
    to: int | None = Field(default=None, ge=1, le=10**9)
