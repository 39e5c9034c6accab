"""Text of the values of documents: quantities with units, times, spans of time.

The unit of a number is the end of its field's name (``rtt_seconds``), or the field ``unit`` beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any

from adon.units import format_duration, format_rate, format_ratio, format_size
from apps.ages import age

UTC_WANTED: ContextVar[bool] = ContextVar("adon_utc", default=False)
"""Whether ``--utc`` was given; set by the root command at each start."""
UNITS = ("_bps", "_bytes", "_seconds", "_s", "_ratio")
LABELS = ("text", "name", "id", "flow", "metric", "task")
"""Fields of which the first one that an object has names it within a cell."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def format_title(field: str) -> str:
    """Return the title of a column: ``metrics.rtt_seconds`` as ``Rtt``."""
    first, _, last = field.rpartition(".")
    name = last if last.isidentifier() or not first else field
    for unit in UNITS:
        name = name.removesuffix(unit)
    return name.replace("_", " ").replace(".", " ", 1).strip().capitalize()


def format_titles(fields: Sequence[str]) -> list[str]:
    """Return the titles of columns; of fields with equal titles, their whole names."""
    titles = [format_title(field) for field in fields]
    return [
        title if titles.count(title) == 1 else field.replace(".", " ").replace("_", " ").capitalize()
        for field, title in zip(fields, titles, strict=True)
    ]


def format_cell(field: str, value: Any, unit: str | None = None) -> str:
    """Return a JSON value of a document as text; a dash where there is none.

    :param unit: unit of the value and of all decimal fractions, if its name does not say it.
    """
    if value is None or value in ("", []):
        return "-"
    if value == {}:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _format_text(value)
    if isinstance(value, int | float):
        return _format_number(field, value, unit)
    if isinstance(value, Mapping):
        return _format_object(value)
    separator = "; " if any(isinstance(one, Mapping | list) for one in value) else " "
    return separator.join(format_cell(field, _label(one)) for one in value)


def _format_text(text: str) -> str:
    if text == "inf":
        return "impossible"
    if _TIME.fullmatch(text):
        return format_time(datetime.fromisoformat(text).timestamp())
    return text


def _format_number(field: str, value: float, unit: str | None) -> str:
    words = field.rpartition(".")[2].split("_")
    by_name: Mapping[str, Callable[[Any], str]] = {
        "bps": format_rate,
        "bytes": format_size,
        "seconds": _format_seconds,
        "s": _format_seconds,
        "ratio": format_ratio,
    }
    for word in (words[-1], words[0]):
        if word in by_name:
            return by_name[word](value)
    if isinstance(value, float):
        return f"{value:.4g}" if unit is None else format_value(value, unit)
    return str(value)


def _format_seconds(value: float) -> str:
    return f"-{format_duration(-value)}" if value < 0 else format_duration(value)


def _format_object(value: Mapping[str, Any]) -> str:
    if "value" in value and "unit" in value:
        text = format_cell("value", value["value"], value["unit"])
        seconds = value.get("age_seconds")
        return text if seconds is None else f"{text} ({age(seconds)})"
    return ", ".join(f"{name} {format_cell(name, one)}" for name, one in value.items())


def _label(value: Any) -> Any:
    """Return what stands for an object within a list."""
    if not isinstance(value, Mapping):
        return value
    found = next((value[name] for name in LABELS if value.get(name)), None)
    return json.dumps(value, ensure_ascii=False) if found is None else found


def format_value(number: float | None, unit: str) -> str:
    """Return the value of a metric; a dash where there is none."""
    if number is None:
        return "-"
    formats = {"bps": format_rate, "s": format_duration, "ratio": format_ratio}
    return formats.get(unit, "{:.4g}".format)(number)


def format_score(number: float | None) -> str:
    """Return a score or a Q."""
    return "-" if number is None else f"{number:.2f}"


def format_span(span: float | str) -> str:
    """Return a time span of a decision."""
    return "impossible" if span == "inf" else format_duration(float(span))


# -- times -----------------------------------------------------------------------------------------------


def local_time(at: float) -> datetime:
    """Return a time (seconds since the epoch) in the user's zone (``TZ``, else the machine's), or in UTC."""
    return datetime.fromtimestamp(at, UTC).astimezone(UTC if UTC_WANTED.get() else None)


def format_time(at: float | None) -> str:
    """Return ``2026-11-21 21:04:05 CET``; a dash for none."""
    return "-" if at is None else f"{local_time(at):%Y-%m-%d %H:%M:%S %Z}"


def format_short_time(at: float) -> str:
    """Return ``11-21 21:04:05``, for events as they occur."""
    return f"{local_time(at):%m-%d %H:%M:%S}"


def parse_past(text: str, now: datetime, option: str) -> str:
    """Return a time of RFC 3339 from such a time, or from a span before now (``7 d``).

    :raises InvalidInput: for another text, with the option.
    """
    from adon.errors import InvalidInput
    from adon.units import parse_duration

    try:
        return (now - timedelta(seconds=parse_duration(text))).isoformat()
    except (ValueError, OverflowError):
        found = _parse_time(text)
    if found is None:
        cause = f"{text[:60]!r} is not a time; expected for example 2026-11-21T02:00:00Z or '7 d'"
        raise InvalidInput.of(option, cause)
    return found.isoformat()


def _parse_time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
