"""Two versions of a template side by side.  Pure: texts to rows and tables."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.templates import ChangeView, TemplateDiff
from adon.templates_catalog.template_text import format_units
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column


@dataclass(frozen=True, slots=True)
class Row:
    """One line of each text beside the other; None where one has none.

    :param same: whether they are equal.
    """

    left: str | None
    right: str | None
    same: bool


def rows(before: str, after: str) -> list[Row]:
    """Both texts, line beside line."""
    return list(_rows(before.splitlines(), after.splitlines()))


def _rows(here: list[str], there: list[str]) -> Iterator[Row]:
    for tag, a, b, c, d in difflib.SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        for left, right in zip_longest(here[a:b], there[c:d]):
            yield Row(left, right, tag == "equal")


def side_by_side(before: str, after: str, names: tuple[str, str]) -> Component:
    """The texts beside each other, what differs marked."""
    body = [
        html.Tr(
            [
                html.Td(_marked(one.left, "−", same=one.same), className=_class(one.left, "gone", one.same)),
                html.Td(
                    _marked(one.right, "+", same=one.same), className=_class(one.right, "come", one.same)
                ),
            ]
        )
        for one in rows(before, after)
    ]
    heads = html.Tr([html.Th(name, scope="col") for name in names])
    caption = html.Caption(f"{names[0]} and {names[1]}")
    return html.Div(
        html.Table([caption, html.Thead(heads), html.Tbody(body)], className="side-by-side"),
        className="table",
        tabIndex=0,
        role="region",
        **{"aria-label": f"{names[0]} and {names[1]}, as text"},
    )


def changes(found: Sequence[ChangeView]) -> Component:
    """The values that differ, as the API tells them."""
    columns = [
        Column("Field", lambda one: html.Code(one.field)),
        Column("Before", lambda one: _value(one.before)),
        Column("After", lambda one: _value(one.after)),
    ]
    return ui.table(columns, found, "No differences.", "Values that differ")


def _value(value: Any) -> str:
    shown = format_units(value)
    if shown in (None, [], {}):
        return ui.words.NONE
    if isinstance(shown, list):
        return ", ".join(_pair(one) for one in shown)
    return str(shown)


def _pair(one: Any) -> str:
    match one:
        case [value, score]:
            return f"{value} → {score:g}" if isinstance(score, int | float) else f"{value} → {score}"
        case dict():
            return str(one.get("name", one))
        case _:
            return str(one)


def _marked(text: str | None, mark: str, *, same: bool) -> str:
    # The sign says without colour what the colour says.
    return "" if text is None else f"{' ' if same else mark} {text}"


def _class(text: str | None, name: str, same: bool) -> str:
    return "" if same or text is None else name


def summary(found: TemplateDiff) -> str:
    """How many values differ."""
    count = len(found.changes)
    return "no differences" if not count else f"{count} value{'s differ' if count > 1 else ' differs'}"
