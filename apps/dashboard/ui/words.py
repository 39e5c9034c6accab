"""Values as people read them: units, and times in the reader's zone.

A value is what a document holds (seconds since the epoch, bits/s, seconds, bytes, ratios); what is None, or
is not known, is a dash.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from dash import html
from dash.development.base_component import Component

from adon.units import format_count, format_duration, format_rate, format_ratio, format_size
from apps.dashboard.visit import Visit

NONE = "–"
METRIC_NAMES: Mapping[str, str] = {
    "throughput": "Throughput",
    "rtt": "Round trip",
    "one_way_delay": "One-way delay",
    "jitter": "Jitter",
    "loss": "Loss",
    "health": "Health",
}
"""In the order they are shown."""
_METRICS: Mapping[str, Callable[[float], str]] = {
    "throughput": format_rate,
    "rtt": format_duration,
    "one_way_delay": format_duration,
    "jitter": format_duration,
    "loss": format_ratio,
    "health": format_ratio,
}
_STATES: Mapping[str, str] = {
    "requested": "requested",
    "installing": "installing",
}


class _Scale(NamedTuple):
    """A span from so many seconds on is told in this unit and the next smaller one."""

    least_s: int
    unit: str
    unit_s: int
    rest: str
    rest_s: int


_SCALES = (
    _Scale(172_800, "d", 86_400, "h", 3600),
    _Scale(7200, "h", 3600, "min", 60),
    _Scale(0, "min", 60, "s", 1),
)


def _number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        return float(found)  # "inf" is how the API tells what is impossible
    except ValueError:
        return None


def rate(bps: Any) -> str:
    """``58.0 Mbps``."""
    known = _number(bps)
    return NONE if known is None else "no limit" if math.isinf(known) else format_rate(known)


def size(length: Any) -> str:
    """``25 GB``."""
    known = _number(length)
    return NONE if known is None else format_size(int(known))


def span(seconds: Any) -> str:
    """``73.6 s``, ``2 min 43 s``, ``366 d``: as exactly as somebody who reads it wants to know."""
    known = _number(seconds)
    return NONE if known is None else "never" if math.isinf(known) else _micro(_in_two(known))


def share(ratio: Any) -> str:
    """``12 %`` of 0.12."""
    known = _number(ratio)
    return NONE if known is None else format_ratio(_rounded(known))


def number(found: Any, places: int = 2) -> str:
    """To so many places."""
    known = _number(found)
    return NONE if known is None else f"{known:.{places}f}"


def count(found: int, one: str, many: str = "") -> str:
    """Return a number of things: ``1 flow``, ``3 flows``."""
    return f"{found} {many}" if many and found != 1 else format_count(found, one)


def value(found: Any, metric: str) -> str:
    """A metric's value with its unit."""
    known = _number(found)
    return NONE if known is None else _micro(_METRICS.get(metric, "{:.4g}".format)(known))


def state_words(state: str) -> str:
    """A flow's state in a word or two."""
    return _STATES.get(state, state)


def ago(at: float | None, here: Visit) -> str:
    """``3 min ago``, ``in 2 h``."""
    if at is None:
        return NONE
    passed = here.now - at
    if abs(passed) < 1:
        return "now"
    return f"{_coarse(passed)} ago" if passed > 0 else f"in {_coarse(-passed)}"


def when(at: float | None, here: Visit) -> Component | str:
    """A time of day in the reader's zone, with the date if it is not today's; exact on hovering."""
    if at is None:
        return NONE
    moment = datetime.fromtimestamp(at, UTC)
    local = moment.astimezone(here.zone)
    today = datetime.fromtimestamp(here.now, here.zone).date()
    text = f"{local:%H:%M:%S}" if local.date() == today else f"{local:%-d %b %Y, %H:%M}"
    return html.Time(
        text,
        dateTime=moment.isoformat(),
        title=f"{local:%A, %-d %B %Y, %H:%M:%S %Z}",
    )


def together(text: str) -> str:
    """Text that is not broken into lines: a bound, a name with its number."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _rounded(found: float) -> float:
    """To three digits: more are noise to a reader."""
    return float(f"{found:.3g}")


def _in_two(seconds: float) -> str:
    """Long spans by two units, where one would need a fraction."""
    short = _rounded(seconds)
    if abs(short) < 120:
        return format_duration(short)
    whole = next(
        scale for scale in _SCALES if round(abs(seconds) / scale.rest_s) * scale.rest_s >= scale.least_s
    )
    count, part = divmod(round(abs(seconds) / whole.rest_s), whole.unit_s // whole.rest_s)
    sign = "-" if seconds < 0 else ""
    return f"{sign}{count} {whole.unit}" + (f" {part} {whole.rest}" if part else "")


def _micro(text: str) -> str:
    # What is to be typed again has the letter of a keyboard; what is only read has the right one.
    return f"{text[:-2]}µs" if text.endswith(" us") else text


def _coarse(seconds: float) -> str:
    for length, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
