"""The API's numbers as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.units import format_duration, format_rate, format_ratio, format_size


def value(number: float | None, unit: str) -> str:
    """A metric's value; a dash where there is none."""
    if number is None:
        return "-"
    return {"bps": format_rate, "s": format_duration, "ratio": format_ratio}.get(unit, str)(number)


def seconds(span: float | str) -> str:
    """A time span of a decision."""
    return "impossible" if span == "inf" else format_duration(float(span))


def age(number: float | None) -> str:
    """``42 s ago``."""
    return "" if number is None else f"{format_duration(float(round(number)))} ago"


def reading(metric: Mapping[str, Any] | None) -> str:
    """A path's latest value of a metric with its age."""
    if metric is None:
        return "-"
    return f"{value(metric['value'], metric['unit'])} ({age(metric['age_seconds'])})"


def progress(flow: Mapping[str, Any]) -> str:
    """How much of a flow has arrived."""
    return f"{format_size(flow['bytes_moved'])} of {format_size(flow['transfer_size_bytes'])}"


def status(flow: Mapping[str, Any]) -> str:
    """A flow's state in one line."""
    where = f" on {flow['path']}" if flow["path"] else ""
    quality = f" ({flow['quality']})" if flow["quality"] in ("degraded", "violated") else ""
    reason = f": {flow['reason']}" if flow["reason"] else ""
    return f"{flow['id']} {flow['state']}{where}{quality}, {progress(flow)}{reason}"


def score(number: float | None) -> str:
    """A score or a Q."""
    return "-" if number is None else f"{number:.2f}"
