"""Templates as YAML text, and the difference of two: quantities in readable units, nothing empty."""

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
"""Texts that stay as they are written."""
CONTEXT = 3
"""Unchanged lines around a change, as ``diff -u`` shows them."""

_AMOUNT = re.compile(r"(-?[0-9.]+(?:e[+-]?[0-9]+)?) (bps|B|s|ratio)")


def readable(written: Any) -> Any:
    """A value of a template as a person would write it: ``7 Mbps`` for ``7000000.0 bps``.

    It means exactly the same; what cannot be said shorter without rounding stays as it is.  Lists and
    mappings are read through.
    """
    match written:
        case str():
            return _readable(written)
        case list():
            return [readable(one) for one in written]
        case dict():
            return {name: readable(one) for name, one in written.items()}
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
        return text  # "never": nothing to be typed


def write_template(template: Mapping[str, Any], *, version: bool = True) -> str:
    """A template's JSON as YAML, which reads back as the same template.

    :param version: without, it reads back as one that gets its version when it is saved.
    """
    plain = _bare({name: part if name in PROSE else readable(part) for name, part in template.items()})
    if not version:
        plain.pop("version", None)
    # Text beyond ASCII is escaped, as in adon.yamlfile: PyYAML writes a lone U+0085 as it is.
    return yaml.dump(plain, Dumper=_Dumper, default_flow_style=None, sort_keys=False, width=WIDTH)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, where YAML can."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Choose the style of a text."""
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


_Dumper.add_representer(str, _Dumper.represent_str)


def ordered(template: Mapping[str, Any]) -> dict[str, Any]:
    """A template's parts in the order in which one reads them."""
    known = [name for name in FIRST if name in template]
    return {name: template[name] for name in (*known, *(one for one in template if one not in known))}


def _bare(value: Any) -> Any:
    """Without what is not set: a left-out part means the same."""
    if not isinstance(value, Mapping):
        return value
    kept = {name: _bare(part) for name, part in ordered(value).items() if part is not False}
    return {name: part for name, part in kept.items() if part not in (None, "", [], {})}


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs; JSON values with units, as people write them; None where it is not there.

    :param field: where, as a dotted path (``qspec.throughput.min``).
    """

    field: str
    before: Any
    after: Any


def find_changes(before: Template, after: Template) -> tuple[Change, ...]:
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


def compare_text(before: Template, after: Template) -> str:
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
