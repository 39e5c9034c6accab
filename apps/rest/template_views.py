"""Documents of templates: versions, differences, checks and curves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flask.json.provider import JSONProvider

from adon import yamlfile
from adon.api.templates import (
    CurveView,
    Form,
    LinkDraftView,
    TemplateDiff,
    TemplateSummary,
)
from adon.errors import InvalidInput, Problem
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.lookup import UNITS, LookupTable
from adon.templates_catalog.model import Template, normalise_weights, scoring_tables
from adon.templates_catalog.rspec_xml import LinkDraft, draft_links
from adon.templates_catalog.template_text import compare_text, find_changes
from measurement.model import Metric


@dataclass(frozen=True, slots=True)
class Checked:
    """What a text was found to be.

    :param template: what it says, if nothing is wrong with it.
    :param drafts: of an RSpec, what each of its links asks for.
    """

    problems: tuple[Problem, ...] = ()
    template: Template | None = None
    drafts: tuple[LinkDraft, ...] = ()


def checked(text: str, form: Form, reader: JSONProvider) -> Checked:
    """What a text says, or everything that is wrong with it.

    :param reader: reads JSON as it is read everywhere here.
    """
    try:
        match form:
            case "yaml":
                return _template(*yamlfile.read_yaml(text))
            case "json":
                return _template(*_read_json(text, reader))
            case "rspec":
                drafts, wrong = draft_links(text)
                return Checked(wrong, drafts=drafts)
    except InvalidInput as error:
        return Checked(error.problems)


def _template(data: Any, lines: yamlfile.Lines | None) -> Checked:
    if data is not None and not isinstance(data, Mapping):
        return Checked(
            (
                Problem(
                    "",
                    "is not a mapping; expected the parts of a template, for example name: soykb",
                    line=1,
                    column=1,
                ),
            )
        )
    return Checked(template=yamlfile.check_model(data, Template, lines=lines))


def _read_json(text: str, reader: JSONProvider) -> tuple[Any, yamlfile.Lines | None]:
    try:
        data = reader.loads(text)
    except json.JSONDecodeError as error:
        where = Problem("", f"is not JSON: {error.msg}", None, error.lineno, error.colno)
        raise InvalidInput(where) from error
    except ValueError as error:
        raise InvalidInput(Problem("", f"is not JSON: {error}")) from error
    try:
        # To YAML a tab is no white space.
        _, lines = yamlfile.read_yaml(text.replace("\t", " "))
    except InvalidInput:
        return data, None  # JSON that is no YAML: then without lines
    return data, lines


MARGIN = 0.15
"""How far a curve is drawn beyond its first and last point, as a share of the span between them."""


def to_template_diff(before: Template, after: Template) -> TemplateDiff:
    """The differences as they are answered."""
    return TemplateDiff(
        name=after.name,
        before=before.version,
        after=after.version,
        changes=find_changes(before, after),
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
    weights = normalise_weights(template.weights)
    tables = scoring_tables(template, template.qspec, {})
    return [to_curve_view(metric, table, weights[metric]) for metric, table in tables.items()]


def to_template_summary(versions: Sequence[SavedTemplate]) -> TemplateSummary:
    """The summary of a template, of all its versions in order."""
    latest = versions[-1]
    return TemplateSummary.of(
        latest.template,
        author=latest.author,
        saved_at=latest.saved_at,
        versions=[saved.template.version for saved in versions],
    )
