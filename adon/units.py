"""Quantities as people write them, and as the code computes with them.

Inside ADON a rate is bits/s, a time is seconds, a size is bytes and a ratio is 0..1, all plain
``float`` or ``int``.  At the border (YAML, REST, command line) people write ``700 Mbps``, ``25 GB``,
``20 ms`` or ``0.01 %``.  SI prefixes are decimal, IEC prefixes (``MiB``) binary.  A bare number is an
error: ``700`` of what?  So are fractions of a bit (``700 mbps`` is milli-bits per second) and sizes in bits,
because their authors nearly always mean another unit; the message suggests it.

The units are defined in a pint registry of our own rather than in pint's default one, so that
``3 furlong`` is unknown and loading takes milliseconds.  Only ``NUMBER UNIT`` is accepted; pint's
expression parser would evaluate ``9**9**9 s``.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from measurement.errors import InvalidValue
from measurement.units import format_count as format_count
from measurement.units import format_duration as format_duration
from measurement.units import format_rate as format_rate
from measurement.units import format_ratio as format_ratio
from measurement.units import format_share as format_share
from measurement.units import format_significant as format_significant
from measurement.units import format_size as format_size

if TYPE_CHECKING:
    import pint

_DEFINITIONS = """
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
milli- = 1e-3 = m-
micro- = 1e-6 = u- = µ-
nano- = 1e-9 = n-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
bit = [information] = b
byte = 8 bit = B
second = [time] = s = _ = sec
minute = 60 second = min
hour = 3600 second = h
day = 86400 second = d
bps = bit / second
Bps = byte / second
ratio = [] = _
percent = 0.01 ratio = pct = %
ppm = 1e-6 ratio
"""

_QUANTITY = re.compile(
    r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>(?:[A-Za-zµ]+(?:/[A-Za-z]+)?|%)?)\s*"
)

_FRACTIONS = ("milli", "micro", "nano")
_SYMBOLS = {
    "": "",
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "peta": "P",
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "tebi": "Ti",
}
_USUAL = {
    "700 Mbps": ("bps", "kbps", "Mbps", "Gbps", "Tbps", "kB/s", "MB/s", "GB/s"),
    "25 GB": ("B", "kB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB"),
}
"""What an unknown unit is compared with, by the example of its kind."""

_WHOLE_BYTES = re.compile(r"\s*(?P<bytes>[0-9]{1,40})\s*B\s*")


_NOT_FOR_PINT = ("numpy", "scipy", "uncertainties", "babel")
"""What pint loads if it is installed (the archive's sketches bring numpy); scalars need none of it."""


@contextmanager
def _without(names: Iterable[str]) -> Iterator[None]:
    """Packages that are not loaded yet cannot be imported meanwhile; for the start of a process."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None there means: not to be found
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


@cache
def _registry() -> pint.UnitRegistry[float]:
    # Here, so that a process that never reads a quantity does not load it; without 25 MiB of numpy.
    with _without(_NOT_FOR_PINT):
        import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(None)
    registry.load_definitions(_DEFINITIONS.splitlines())
    return registry


def _parse(text: object, to: str, example: str) -> float:
    if isinstance(text, bool) or not isinstance(text, int | float | str):
        raise InvalidValue(f"expected a quantity such as {example!r}, not {text!r}", "wrong-type")
    found = _QUANTITY.fullmatch(str(text)[:100])
    if found is None:
        raise InvalidValue(
            f"{str(text)[:40]!r} is not a number with a unit, such as {example!r}", "malformed"
        )
    number, unit = float(found["number"]), found["unit"]
    if not unit:
        raise InvalidValue(f"{str(text)[:40]!r} has no unit; write for example {example!r}", "no-unit")
    if not math.isfinite(number):
        raise InvalidValue(f"{str(text)[:40]!r} is too large", "out-of-range")
    value = number * _factor(unit, to, example)
    if cause := _doubt(found["number"], unit, to, example):
        raise InvalidValue(cause, "ambiguous-unit")
    if not math.isfinite(value):
        raise InvalidValue(f"{str(text)[:40]!r} is too large", "out-of-range")
    if value < 0:
        raise InvalidValue(f"{str(text)[:40]!r} is negative", "out-of-range")
    return value


def _doubt(number: str, unit: str, to: str, example: str) -> str:
    """Why a quantity of data very likely means another unit; empty if it does not."""
    prefix, base = _prefix_and_base(unit.partition("/")[0])
    if base not in ("bit", "byte", "bps", "Bps"):
        return ""
    size_in_bits = to == "byte" and base == "bit"
    if prefix in _FRACTIONS:
        meant = "M" + unit.removeprefix("milli").removeprefix("m")
        meant = "MB" if size_in_bits else meant
        hint = f"did you mean {number} {meant}?" if prefix == "milli" else f"write for example {example!r}"
        return f"'{number} {unit}' has the prefix {prefix}-, which makes fractions of a bit or byte; {hint}"
    if size_in_bits:
        symbol = _SYMBOLS[prefix]
        return (
            f"'{number} {unit}' is a size in bits, and sizes are in bytes; "
            f"write {number} {symbol}B, or {float(number) / 8:.12g} {symbol}B if bits are meant"
        )
    return ""


@lru_cache(maxsize=256)
def _prefix_and_base(unit: str) -> tuple[str, str]:
    found = _registry().parse_unit_name(unit)
    return (found[0][0], found[0][1]) if found else ("", "")


@lru_cache(maxsize=256)
def _factor(unit: str, to: str, example: str) -> float:
    """How many ``to`` one ``unit`` is; kept, since every flow that is read from the store holds a size."""
    registry = _registry()
    import pint  # after the registry, which loads it without what it does not need

    try:
        return float(registry.Quantity(1.0, registry.parse_units(unit)).to(to).magnitude)
    except pint.errors.UndefinedUnitError:
        alike = [usual for usual in _USUAL.get(example, ()) if usual.lower() == unit.lower()]
        hint = f"did you mean {alike[0]}?" if alike else f"write for example {example!r}"
        raise InvalidValue(f"{unit!r} is not a unit known here; {hint}", "unknown-unit") from None
    except (pint.errors.PintError, TypeError, ValueError, AttributeError):
        raise InvalidValue(
            f"{unit!r} does not measure this; write for example {example!r}", "wrong-unit"
        ) from None


def parse_rate(text: object) -> float:
    """A data rate in bits/s, from text such as ``700 Mbps`` or ``80 MB/s``.

    :raises ValueError: without a unit, with one that is not a rate, negative or not finite.
    """
    return _parse(text, "bit / second", "700 Mbps")


def parse_size(text: object) -> int:
    """A data size in whole bytes, from text such as ``25 GB`` or ``64 MiB``.

    :raises ValueError: as :func:`parse_rate`.
    """
    value = _parse(text, "byte", "25 GB")
    whole = _WHOLE_BYTES.fullmatch(text) if isinstance(text, str) else None
    # A float counts single bytes up to 9 PB only; what we wrote ourselves must read back exactly.
    return round(value) if whole is None else int(whole["bytes"])


def parse_duration(text: object) -> float:
    """A time span in seconds, from text such as ``20 ms`` or ``5 min``.

    :raises ValueError: as :func:`parse_rate`.
    """
    return _parse(text, "second", "20 ms")


def parse_ratio(text: object) -> float:
    """A ratio 0..1, from text such as ``0.01 %`` or ``50 ppm``.

    :raises ValueError: as :func:`parse_rate`, or above 100 %.
    """
    value = _parse(text, "ratio", "0.01 %")
    if value > 1:
        raise InvalidValue(f"{text!r} is more than 100 %; write for example '0.01 %'", "out-of-range")
    return value


def _exact(value: float, unit: str) -> str:
    # A border text that parses back to the same number: repr is the shortest such text.
    return f"{value!r} {unit}"


UNITS: Mapping[str, tuple[Callable[[object], float], Callable[[float], str]]] = {
    "bps": (parse_rate, format_rate),
    "B": (parse_size, format_size),
    "s": (parse_duration, format_duration),
    "ratio": (parse_ratio, format_ratio),
}
"""How a quantity in each of ADON's own units is read and written."""

EXAMPLES = {"rate": "700 Mbps", "size": "25 GB", "time-span": "20 ms", "ratio": "0.01 %"}
"""What is written for each kind of quantity; the kind is the ``format`` of its JSON schema
(``duration`` would be ISO 8601 there)."""
HELD_IN = {"rate": "bps", "size": "B", "time-span": "s", "ratio": "ratio"}
"""The unit that each kind is held in."""


def _text(kind: str) -> WithJsonSchema:
    # For OpenAPI: what travels is the text, not the number it is held as.
    return WithJsonSchema({"type": "string", "format": kind, "examples": [EXAMPLES[kind]]})


Rate = Annotated[
    float, BeforeValidator(parse_rate), PlainSerializer(lambda v: _exact(v, "bps")), _text("rate")
]
"""A pydantic field read from ``700 Mbps``, held as bits/s, written back exactly."""

Size = Annotated[int, BeforeValidator(parse_size), PlainSerializer(lambda v: f"{v} B"), _text("size")]
"""A pydantic field read from ``25 GB``, held as bytes."""

Duration = Annotated[
    float, BeforeValidator(parse_duration), PlainSerializer(lambda v: _exact(v, "s")), _text("time-span")
]
"""A pydantic field read from ``20 ms``, held as seconds."""

Ratio = Annotated[
    float, BeforeValidator(parse_ratio), PlainSerializer(lambda v: _exact(v, "ratio")), _text("ratio")
]
"""A pydantic field read from ``0.01 %``, held as 0..1."""
