"""What a check of a template's text found, drawn beside the text.  Pure: the API's answer to components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.base import ProblemItem
from adon.api.templates import TemplateCheck
from adon.errors import AdonError, Conflict, InvalidInput, Problem
from apps.dashboard import ui
from apps.dashboard.policy import tables

LEAST_ROWS = 16
MOST_SHOWN = 40


def rows_of(text: str) -> int:
    """As many rows as the text has lines, so that its numbers stand beside them; and some to go on."""
    return max(LEAST_ROWS, text.count("\n") + 3)


def gutter(text: str, wrong: Sequence[int]) -> list[Component]:
    """The numbers of the lines; those with a problem marked."""
    marked = set(wrong)
    return [
        html.Span(f"{'! ' if line in marked else ''}{line}", className="at wrong" if line in marked else "at")
        for line in range(1, rows_of(text) + 1)
    ]


def problems(found: Sequence[ProblemItem | Problem]) -> Component:
    """What is wrong: line, field and cause; a line can be gone to."""
    if not found:
        return ui.notice("No problems.", "good")
    lines = [html.Li([*_place(one), one.cause]) for one in found[:MOST_SHOWN]]
    more = [] if len(found) <= MOST_SHOWN else [html.P(f"… and {len(found) - MOST_SHOWN} more")]
    count = "One problem" if len(found) == 1 else f"{len(found)} problems"
    return html.Div([html.H2(count), html.Ul(lines, className="lines"), *more], className="notice bad")


def _place(one: ProblemItem | Problem) -> list[Any]:
    found: list[Any] = []
    line = one.line
    if line:
        name = {"type": "editor-line", "line": line, "field": one.field}
        found += [html.Button(f"line {line}", id=name, className="quiet small", type="button"), " "]
    if one.field:
        found += [html.Code(one.field), ": "]
    return found


def wrong_lines(found: Sequence[ProblemItem | Problem]) -> list[int]:
    """The lines with a problem."""
    return [one.line for one in found if one.line]


def picture(checked: TemplateCheck, older: TemplateCheck | None) -> Component:
    """The lookup tables as the text has them, over those of the version that it follows."""
    template = checked.template
    if template is None:
        return ui.empty("Correct the text to show the lookup tables.")
    before = () if older is None else older.curves
    names = ("saved version", "this text")
    return tables.pictures("editor", checked.curves, template["qspec"], before, names)


def refused(error: AdonError) -> Sequence[Problem]:
    """A refusal as problems, like those of a check."""
    if isinstance(error, InvalidInput):
        return error.problems
    if isinstance(error, Conflict):
        return [Problem(error.field, error.cause)]
    return [Problem("", str(error))]
