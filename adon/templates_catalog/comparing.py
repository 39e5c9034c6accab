"""Two versions of a template beside each other: which values differ, and as a text.  Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adon.templates_catalog.model import Template
from adon.templates_catalog.writing import as_text, readable

CONTEXT = 3
"""Unchanged lines around a change, as ``diff -u`` shows them."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs; JSON values with units, as people write them; None where it is not there.

    :param field: where, as a dotted path (``qspec.throughput.min``).
    """

    field: str
    before: Any
    after: Any


def changes(before: Template, after: Template) -> tuple[Change, ...]:
    """The values in which two templates differ, by their place; name and version are left out.

    Lists, such as the points of a lookup table, are compared whole.
    """
    here, there = _values(before), _values(after)
    fields = dict.fromkeys((*here, *there))
    return tuple(
        Change(field, readable(here.get(field)), readable(there.get(field)))
        for field in fields
        if here.get(field) != there.get(field)
    )


def text(before: Template, after: Template) -> str:
    """The same as a unified diff of both as YAML; empty if they do not differ."""
    lines = difflib.unified_diff(
        _text(before).splitlines(keepends=True),
        _text(after).splitlines(keepends=True),
        before.reference,
        after.reference,
        n=CONTEXT,
    )
    return "".join(lines)


def _text(template: Template) -> str:
    body = template.model_dump(mode="json", by_alias=True)
    for name in ("weights", "tables"):  # the order in which somebody wrote these means nothing
        body[name] = dict(sorted(body[name].items()))
    return as_text(body, version=False)


def _values(template: Template) -> dict[str, Any]:
    body = template.model_dump(mode="json", by_alias=True, exclude={"name", "version"})
    return dict(_flat(body, ""))


def _flat(value: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        place = f"{above}.{name}" if above else name
        if isinstance(part, Mapping):
            yield from _flat(part, place)
        elif part is not None:
            yield place, part
