"""Quantities: their text with units, and the numbers that the code computes with.

Inside ADON a rate is bits/s, a time is seconds, a size is bytes and a ratio is 0..1, all plain
``float`` or ``int``.  At the border (YAML, REST, command line) people write ``700 Mbps``, ``25 GB``,
``20 ms`` or ``0.01 %``.  SI prefixes are decimal, IEC prefixes (``MiB``) binary.  A bare number is an
error: ``700`` of what?  So are fractions of a bit (``700 mbps`` is milli-bits per second) and sizes in bits,
because their authors nearly always mean another unit; the message suggests it.

Only ``NUMBER UNIT`` is accepted, with the units of :data:`_BASES`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from measurement.errors import InvalidValue
from measurement.units import format_count as format_count
from measurement.units import format_duration as format_duration
from measurement.units import format_rate as format_rate
from measurement.units import format_ratio as format_ratio
from measurement.units import format_share as format_share
from measurement.units import format_significant as format_significant
from measurement.units import format_size as format_size

_PREFIXES = (
    ("", "", 1.0),
    ("k", "kilo", 1e3),
    ("M", "mega", 1e6),
    ("G", "giga", 1e9),
    ("T", "tera", 1e12),
    ("P", "peta", 1e15),
    ("Ki", "kibi", 2.0**10),
    ("Mi", "mebi", 2.0**20),
    ("Gi", "gibi", 2.0**30),
    ("Ti", "tebi", 2.0**40),
    ("m", "milli", 1e-3),
    ("u", "micro", 1e-6),
    ("µ", "micro", 1e-6),
    ("n", "nano", 1e-9),
)
"""Symbol, name and factor."""
_BASES = (
    ("B", 1.0, ("B", "byte", "bytes")),
    ("B", 0.125, ("b", "bit", "bits")),
    ("bps", 1.0, ("bps",)),
    ("bps", 8.0, ("Bps",)),
    ("s", 1.0, ("s", "sec", "second", "seconds")),
    ("s", 60.0, ("min", "minute", "minutes")),
    ("s", 3600.0, ("h", "hour", "hours")),
    ("s", 86400.0, ("d", "day", "days")),
    ("ratio", 1.0, ("ratio",)),
    ("ratio", 0.01, ("%", "pct", "percent")),
    ("ratio", 1e-6, ("ppm",)),
)
"""Unit of ADON, number of them per unit, and names of the unit."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Unit of a quantity in text.

    :param held_in: the unit of ADON of the same dimension.
    :param factor: number of ADON's units per unit.
    :param symbol: of its prefix.
    :param prefix: its prefix in words.
    :param is_bits: whether it counts bits.
    """

    held_in: str
    factor: float
    symbol: str
    prefix: str
    is_bits: bool


_KNOWN = {
    before + name: _Unit(held_in, factor * size, symbol, prefix, "bit" in names)
    for symbol, prefix, factor in _PREFIXES
    for before in (symbol, prefix)
    for held_in, size, names in _BASES
    for name in names
}

_QUANTITY = re.compile(
    r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>(?:[A-Za-zµ]+(?:/[A-Za-z]+)?|%)?)\s*"
)

_WHOLE_BYTES = re.compile(r"\s*(?P<bytes>[0-9]{1,40})\s*B\s*")


def _parse(text: object, held_in: str, example: str) -> float:
    if isinstance(text, bool) or not isinstance(text, int | float | str):
        raise InvalidValue(f"expected a quantity such as {example!r}, not {text!r}", "wrong-type")
    shown = f"{str(text)[:40]!r}"
    found = _QUANTITY.fullmatch(str(text)[:100])
    if found is None:
        raise InvalidValue(f"{shown} is not a number with a unit, such as {example!r}", "malformed")
    number, name = float(found["number"]), found["unit"]
    if not name:
        raise InvalidValue(f"{shown} has no unit; write for example {example!r}", "no-unit")
    unit = _find_unit(name, held_in, example)
    if unit.held_in != held_in:
        raise InvalidValue(f"{name!r} does not measure this; write for example {example!r}", "wrong-unit")
    if cause := _find_likely_mistake(found["number"], name, unit, example):
        raise InvalidValue(cause, "ambiguous-unit")
    value = number * unit.factor
    if not math.isfinite(value):
        raise InvalidValue(f"{shown} is too large; write for example {example!r}", "out-of-range")
    if value < 0:
        raise InvalidValue(f"{shown} is negative; write for example {example!r}", "out-of-range")
    return value


def _find_unit(name: str, held_in: str, example: str) -> _Unit:
    """Return a unit, or the rate of a size per time such as ``MB/s``.

    :raises InvalidValue: for a unit that is not known.
    """
    first, _, per = name.partition("/")
    unit, time = _KNOWN.get(first), _KNOWN.get(per or "s")
    if unit is None or time is None:
        measures = "B" if per else held_in
        alike = [one for one in _KNOWN if one.lower() == first.lower() and _KNOWN[one].held_in == measures]
        hint = f"did you mean {name.replace(first, alike[0])}?" if alike else f"write for example {example!r}"
        raise InvalidValue(f"{name!r} is not a unit known here; {hint}", "unknown-unit")
    if not per:
        return unit
    is_rate = (unit.held_in, time.held_in) == ("B", "s")
    return replace(unit, held_in="bps" if is_rate else name, factor=8 * unit.factor / time.factor)


def _find_likely_mistake(number: str, name: str, unit: _Unit, example: str) -> str:
    """Return the reason why a quantity of data probably means another unit; empty without one."""
    is_size_in_bits = unit.held_in == "B" and unit.is_bits
    if unit.prefix in ("milli", "micro", "nano") and unit.held_in in ("B", "bps"):
        meant = "MB" if is_size_in_bits else "M" + name.removeprefix("milli").removeprefix("m")
        hint = (
            f"did you mean {number} {meant}?" if unit.prefix == "milli" else f"write for example {example!r}"
        )
        return (
            f"'{number} {name}' has the prefix {unit.prefix}-, which makes fractions of a bit or byte; {hint}"
        )
    if is_size_in_bits:
        return (
            f"'{number} {name}' is a size in bits, and sizes are in bytes; write {number} {unit.symbol}B, "
            f"or {float(number) / 8:.12g} {unit.symbol}B if bits are meant"
        )
    return ""


def parse_rate(text: object) -> float:
    """Return a data rate in bits/s, from text such as ``700 Mbps`` or ``80 MB/s``.

    :raises ValueError: without a unit, with one that is not a rate, negative or not finite.
    """
    return _parse(text, "bps", "700 Mbps")


def parse_size(text: object) -> int:
    """Return a data size in whole bytes, from text such as ``25 GB`` or ``64 MiB``.

    :raises ValueError: as :func:`parse_rate`.
    """
    value = _parse(text, "B", "25 GB")
    whole = _WHOLE_BYTES.fullmatch(text) if isinstance(text, str) else None
    # A float has exact bytes up to 9 PB only; text written by ADON must be read back exactly.
    return round(value) if whole is None else int(whole["bytes"])


def parse_duration(text: object) -> float:
    """Return a time span in seconds, from text such as ``20 ms`` or ``5 min``.

    :raises ValueError: as :func:`parse_rate`.
    """
    return _parse(text, "s", "20 ms")


def parse_ratio(text: object) -> float:
    """Return a ratio 0..1, from text such as ``0.01 %`` or ``50 ppm``.

    :raises ValueError: as :func:`parse_rate`, or above 100 %.
    """
    value = _parse(text, "ratio", "0.01 %")
    if value > 1:
        raise InvalidValue(f"{text!r} is more than 100 %; write for example '0.01 %'", "out-of-range")
    return value


def _exact(value: float, unit: str) -> str:
    # repr is the shortest text that parses back to the same number.
    return f"{value!r} {unit}"


UNITS: Mapping[str, tuple[Callable[[object], float], Callable[[float], str]]] = {
    "bps": (parse_rate, format_rate),
    "B": (parse_size, format_size),
    "s": (parse_duration, format_duration),
    "ratio": (parse_ratio, format_ratio),
}
"""Parser and text of a quantity in each unit of ADON."""

EXAMPLES = {"rate": "700 Mbps", "size": "25 GB", "time-span": "20 ms", "ratio": "0.01 %"}
"""What is written for each kind of quantity; the kind is the ``format`` of its JSON schema
(``duration`` would be ISO 8601 there)."""
HELD_IN = {"rate": "bps", "size": "B", "time-span": "s", "ratio": "ratio"}
"""Unit of ADON of each kind."""


def _text(kind: str) -> WithJsonSchema:
    # For OpenAPI: JSON has the text, not the number.
    return WithJsonSchema({"type": "string", "format": kind, "examples": [EXAMPLES[kind]]})


Rate = Annotated[
    float, BeforeValidator(parse_rate), PlainSerializer(lambda v: _exact(v, "bps")), _text("rate")
]
"""Pydantic field that is read from ``700 Mbps``, has bits/s, and is written exactly."""

Size = Annotated[int, BeforeValidator(parse_size), PlainSerializer(lambda v: f"{v} B"), _text("size")]
"""Pydantic field that is read from ``25 GB``, in bytes."""

Duration = Annotated[
    float, BeforeValidator(parse_duration), PlainSerializer(lambda v: _exact(v, "s")), _text("time-span")
]
"""Pydantic field that is read from ``20 ms``, in seconds."""

Ratio = Annotated[
    float, BeforeValidator(parse_ratio), PlainSerializer(lambda v: _exact(v, "ratio")), _text("ratio")
]
"""Pydantic field that is read from ``0.01 %``, as 0..1."""
