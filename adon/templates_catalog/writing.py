"""A template, or a part of one, as the text that a person writes: amounts in their units, nothing empty."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from adon.units import (
    format_duration,
    format_rate,
    format_ratio,
    format_size,
    parse_duration,
    parse_rate,
    parse_ratio,
    parse_size,
)

WIDTH = 76
FIRST = ("name", "version", "title", "description", "match", "qspec", "rspec", "weights", "tables")
PROSE = frozenset({"name", "title", "description", "notes"})
"""Parts in which an amount is a word of somebody's."""

_AMOUNT = re.compile(r"(-?[0-9.]+(?:e[+-]?[0-9]+)?) (bps|B|s|ratio)")
_READABLE: Mapping[str, tuple[Callable[[float], str], Callable[[object], float]]] = {
    "bps": (format_rate, parse_rate),
    "B": (format_size, parse_size),
    "s": (format_duration, parse_duration),
    "ratio": (format_ratio, parse_ratio),
}


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
    write, read = _READABLE[found[2]]
    short = write(float(found[1]))
    try:
        return short if read(short) == float(found[1]) else text
    except ValueError:
        return text  # "never": nothing to be typed


def as_text(template: Mapping[str, Any], *, version: bool = True) -> str:
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
