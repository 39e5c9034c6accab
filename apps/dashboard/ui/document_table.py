"""Tables of documents of the API.

A column is a heading with the name of a field, or with a function of the row.  The name of a field decides
its format: a unit (``size_bytes``), a time (``ended_at``), or a link to the named object (``flow``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dash.development.base_component import Component

from apps.dashboard.ui import words
from apps.dashboard.ui.blocks import Column, link, table
from apps.dashboard.visit import Visit

Cell = Callable[[Any], Any]
Columns = Mapping[str, str | Cell]
UNITS: Mapping[str, Callable[[Any], str]] = {
    "bps": words.rate,
    "bytes": words.size,
    "seconds": words.span,
    "ratio": words.share,
}
TIMES = frozenset({"at", "begins", "ends", "since", "until", "deadline"})
PAGES: Mapping[str, str] = {
    "flow": "/flows",
    "path": "/paths",
    "decision": "/decisions",
    "compute_site": "/sites",
    "template": "/templates",
}
"""Address of the page of an object, by the field that names it."""


def document_table(
    here: Visit,
    columns: Columns,
    rows: Iterable[Any],
    nothing: Any,
    caption: str,
    *,
    numeric: Iterable[str] = (),
    whole: Iterable[str] = (),
    marked: Callable[[Any], bool] | None = None,
) -> Component:
    """Table of documents.

    :param columns: field or function of the row, by heading.
    :param nothing: shown in place of an empty table.
    :param numeric: headings of functions whose values are numbers; fields with a unit are numbers anyway.
    :param whole: headings of functions whose values are not broken into lines.
    :param marked: whether a row is marked.
    """
    numbers, wholes = set(numeric), set(whole)
    shown = [
        Column(heading, source, heading in numbers, heading in wholes)
        if callable(source)
        else _field_column(here, heading, source, heading in numbers)
        for heading, source in columns.items()
    ]
    return table(shown, rows, nothing, caption, marked)


def object_link(kind: str, name: str | None) -> Any:
    """Link to the page of an object: ``object_link("flow", "f-17")``; a dash without a name.

    A template can have a version: ``soykb@3``.
    """
    if name is None:
        return words.NONE
    page, _, version = name.partition("@")
    return link(name, f"{PAGES[kind]}/{page}" + (f"?version={version}" if version else ""))


def _field_column(here: Visit, heading: str, field: str, numeric: bool) -> Column:
    unit = field.rpartition("_")[2]
    return Column(heading, _cell(here, field, unit), numeric or unit in UNITS, whole=field in PAGES)


def _cell(here: Visit, field: str, unit: str) -> Cell:
    if field in PAGES:
        return lambda row: object_link(field, getattr(row, field))
    if unit in UNITS:
        return lambda row: UNITS[unit](getattr(row, field))
    if unit in TIMES:
        return lambda row: words.when(getattr(row, field), here)
    return lambda row: _text(getattr(row, field))


def _text(value: Any) -> Any:
    return words.NONE if value in (None, "") else str(value)
