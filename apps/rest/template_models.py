"""What the API takes and answers about a template's versions, their differences, and checks of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from adon.errors import Problem
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.lookup import UNITS, LookupTable
from adon.templates_catalog.model import Template, normalised, scoring_tables
from adon.templates_catalog.rspec_xml import LinkDraft
from adon.templates_catalog.template_text import compare_text, find_changes
from apps.rest.checking import Form
from apps.rest.json_body import MAX_BODY
from apps.rest.models import ListView, ProblemItem, View
from apps.rest.times import Time
from measurement.model import Metric

MARGIN = 0.15
"""How far a curve is drawn beyond its first and last point, as a share of the span between them."""


class VersionView(View):
    """A version of a template: who saved it, and when."""

    name: str
    version: int
    title: str
    author: str
    saved_at: Time

    @classmethod
    def of(cls, saved: SavedTemplate) -> Self:
        """As it is answered."""
        one = saved.template
        return cls(
            name=one.name, version=one.version, title=one.title, author=saved.author, saved_at=saved.saved_at
        )


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

    @classmethod
    def of(cls, before: Template, after: Template) -> Self:
        """The differences as they are answered."""
        found = [
            ChangeView(field=one.field, before=one.before, after=one.after)
            for one in find_changes(before, after)
        ]
        return cls(
            name=after.name,
            before=before.version,
            after=after.version,
            changes=found,
            text=compare_text(before, after),
        )


class CheckBody(BaseModel):
    """A template as it is being written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(max_length=MAX_BODY)
    form: Form = "yaml"


class CurveView(View):
    """A lookup table as a line to draw: from a value of the metric to a score."""

    metric: Metric
    unit: str
    weight: float = Field(description="of all weights together 1")
    generated: bool = Field(description="the template has none: made of its bound and target")
    points: list[tuple[float, float]] = Field(description="value and score; drawn straight between them")

    @classmethod
    def of(cls, metric: Metric, table: LookupTable, weight: float) -> Self:
        """The table of a metric as a line."""
        points = list(_drawn(table.points, step=table.step))
        if metric.is_ratio:
            points = [(min(value, 1.0), score) for value, score in points]
        return cls(metric=metric, unit=UNITS[metric], weight=weight, generated=table.generated, points=points)


def _drawn(points: Sequence[tuple[float, float]], *, step: bool) -> Iterator[tuple[float, float]]:
    (first, at_first), (last, at_last) = points[0], points[-1]
    beyond = (last - first) * MARGIN
    yield max(0.0, first - beyond), at_first
    yield points[0]
    for (_, before), (value, score) in pairwise(points):
        if step:
            yield value, before
        yield value, score
    yield last + beyond, at_last


class LinkDraftView(View):
    """What a link of a GENI RSpec asks for."""

    link: str = Field(description="its client_id")
    qspec: dict[str, Any]
    rspec: dict[str, Any]
    remarks: list[str] = Field(description="what is not kept, and what has no effect in ADON")

    @classmethod
    def of(cls, draft: LinkDraft) -> Self:
        """Return a draft as it is shown."""
        return cls(
            link=draft.link,
            qspec=draft.qspec.model_dump(mode="json"),
            rspec=draft.rspec.model_dump(mode="json", exclude={"document"}),
            remarks=list(draft.remarks),
        )


class TemplateCheck(View):
    """What was found in a template's text; nothing was saved."""

    ok: bool
    problems: list[ProblemItem]
    template: dict[str, Any] | None = Field(description="as it would be saved; null if something is wrong")
    next_version: int | None = Field(description="the version it would become")
    curves: list[CurveView] = Field(description="how its metrics would be scored")
    links: list[LinkDraftView] = Field(description="of a GENI RSpec: what each of its links asks for")


def curves(template: Template) -> list[CurveView]:
    """The lines of a template's lookup tables, those that are generated included."""
    weights = normalised(template.weights)
    tables = scoring_tables(template, template.qspec, {})
    return [CurveView.of(metric, table, weights[metric]) for metric, table in tables.items()]


def problem_items(found: Sequence[Problem]) -> list[ProblemItem]:
    """Problems as they are answered."""
    return [
        ProblemItem(
            field=one.field, cause=one.cause, code=one.code, file=one.file, line=one.line, column=one.column
        )
        for one in found
    ]
