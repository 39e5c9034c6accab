"""Documents of templates: versions, differences, checks, curves and backtests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from adon.api.base import ProblemItem
from adon.api.templates import (
    BacktestSummary,
    BacktestView,
    ChangeView,
    CurveView,
    FoundView,
    LinkDraftView,
    TemplateDiff,
    TemplateSummary,
    VersionView,
)
from adon.errors import Problem
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.lookup import UNITS, LookupTable
from adon.templates_catalog.model import Template, normalised, scoring_tables
from adon.templates_catalog.rspec_xml import LinkDraft
from adon.templates_catalog.template_text import compare_text, find_changes
from apps.rest.backtests import Backtest
from measurement.model import Metric

MARGIN = 0.15
"""How far a curve is drawn beyond its first and last point, as a share of the span between them."""


def to_backtest_view(one: Backtest) -> BacktestView:
    """The backtest as it is answered."""
    same = ("id", "template", "requester", "asked_at", "since", "until", "state", "ended_at", "cause")
    found = None if one.found is None else _found(one.found)
    return BacktestView(**{name: getattr(one, name) for name in same}, found=found)


def to_backtest_summary(one: Backtest) -> BacktestSummary:
    """The backtest as it is listed."""
    return BacktestSummary(**{name: getattr(one, name) for name in BacktestSummary.model_fields})


def _found(body: Mapping[str, Any]) -> FoundView:
    """The comparison out of the command's JSON, which tells ``since`` and ``until`` as well."""
    return FoundView.model_validate({name: body[name] for name in FoundView.model_fields})


def to_version_view(saved: SavedTemplate) -> VersionView:
    """As it is answered."""
    one = saved.template
    return VersionView(
        name=one.name, version=one.version, title=one.title, author=saved.author, saved_at=saved.saved_at
    )


def to_template_diff(before: Template, after: Template) -> TemplateDiff:
    """The differences as they are answered."""
    found = [
        ChangeView(field=one.field, before=one.before, after=one.after) for one in find_changes(before, after)
    ]
    return TemplateDiff(
        name=after.name,
        before=before.version,
        after=after.version,
        changes=found,
        text=compare_text(before, after),
    )


def to_curve_view(metric: Metric, table: LookupTable, weight: float) -> CurveView:
    """The table of a metric as a line."""
    points = list(_drawn(table.points, step=table.step))
    if metric.is_ratio:
        points = [(min(value, 1.0), score) for value, score in points]
    return CurveView(
        metric=metric, unit=UNITS[metric], weight=weight, generated=table.generated, points=points
    )


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


def to_link_draft_view(draft: LinkDraft) -> LinkDraftView:
    """Return a draft as it is shown."""
    return LinkDraftView(
        link=draft.link,
        qspec=draft.qspec.model_dump(mode="json"),
        rspec=draft.rspec.model_dump(mode="json", exclude={"document"}),
        remarks=list(draft.remarks),
    )


def curves(template: Template) -> list[CurveView]:
    """The lines of a template's lookup tables, those that are generated included."""
    weights = normalised(template.weights)
    tables = scoring_tables(template, template.qspec, {})
    return [to_curve_view(metric, table, weights[metric]) for metric, table in tables.items()]


def problem_items(found: Sequence[Problem]) -> list[ProblemItem]:
    """Problems as they are answered."""
    return [
        ProblemItem(
            field=one.field, cause=one.cause, code=one.code, file=one.file, line=one.line, column=one.column
        )
        for one in found
    ]


def to_template_summary(versions: Sequence[SavedTemplate]) -> TemplateSummary:
    """The summary of a template, of all its versions in order."""
    latest = versions[-1]
    same = ("name", "version", "title", "description", "priority")
    return TemplateSummary(
        **{name: getattr(latest.template, name) for name in same},
        author=latest.author,
        saved_at=latest.saved_at,
        versions=[saved.template.version for saved in versions],
    )
