"""Templates as YAML text with readable units and without empty parts, and their differences."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from adon.templates_catalog.model import Template
from adon.units import UNITS

WIDTH = 76
FIRST = ("name", "version", "title", "description", "match", "qspec", "rspec", "weights", "tables")
PROSE = frozenset({"name", "title", "description", "notes"})
"""Parts whose text is not reformatted."""
CONTEXT = 3
"""Unchanged lines around a change, as ``diff -u`` shows them."""

_AMOUNT = re.compile(r"(-?[0-9.]+(?:e[+-]?[0-9]+)?) (bps|B|s|ratio)")


def format_units(written: Any) -> Any:
    """Return a value of a template with readable units: ``7 Mbps`` for ``7000000.0 bps``.

    The meaning is exactly the same; a value whose short form would be rounded is unchanged.  Lists and
    mappings are converted recursively.
    """
    match written:
        case str():
            return _readable(written)
        case list():
            return [format_units(one) for one in written]
        case dict():
            return {name: format_units(one) for name, one in written.items()}
        case _:
            return written


def _readable(text: str) -> str:
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return text
    read, write = UNITS[found[2]]
    short = write(float(found[1]))
    try:
        return short if read(short) == float(found[1]) else text
    except ValueError:
        return text  # "never" is no input


def write_template(template: Mapping[str, Any], *, version: bool = True) -> str:
    """Return a template's JSON as YAML, which reads back as the same template.

    :param version: False leaves the version out; the template gets one when it is saved.
    """
    plain = _bare({name: part if name in PROSE else format_units(part) for name, part in template.items()})
    if not version:
        plain.pop("version", None)
    # Non-ASCII text is escaped, as in adon.yamlfile: PyYAML writes a single U+0085 unescaped.
    return yaml.dump(plain, Dumper=_Dumper, default_flow_style=None, sort_keys=False, width=WIDTH)


class _Dumper(yaml.SafeDumper):
    """YAML dumper that writes texts of several lines as blocks where YAML allows it."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Choose the style of a text."""
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


_Dumper.add_representer(str, _Dumper.represent_str)


def order_parts(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a template in reading order."""
    known = [name for name in FIRST if name in template]
    return {name: template[name] for name in (*known, *(one for one in template if one not in known))}


def _bare(value: Any) -> Any:
    """Return a value without unset parts; an absent part means the same."""
    if not isinstance(value, Mapping):
        return value
    kept = {name: _bare(part) for name, part in order_parts(value).items() if part is not False}
    return {name: part for name, part in kept.items() if part not in (None, "", [], {})}


@dataclass(frozen=True, slots=True)
class Change:
    """Value that differs, as JSON with readable units; None if absent.

    :param field: dotted path (``qspec.throughput.min``).
    """

    field: str
    before: Any
    after: Any


def find_changes(before: Template, after: Template) -> tuple[Change, ...]:
    """Return the values in which two templates differ, by field, without name and version.

    Lists, such as the points of a lookup table, are compared as a whole.
    """
    here, there = _values(before), _values(after)
    fields = dict.fromkeys((*here, *there))
    return tuple(
        Change(field, format_units(here.get(field)), format_units(there.get(field)))
        for field in fields
        if here.get(field) != there.get(field)
    )


def compare_text(before: Template, after: Template) -> str:
    """Return a unified diff of two templates as YAML; empty if they do not differ."""
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
    for name in ("weights", "tables"):  # the order has no meaning
        body[name] = dict(sorted(body[name].items()))
    return write_template(body, version=False)


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
