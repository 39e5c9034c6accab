"""Values and times as people read them, for the one line of an alarm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from measurement.model import Metric
from measurement.units import format_duration, format_rate, format_ratio

_FORMATS: Mapping[str, Callable[[float], str]] = {
    Metric.THROUGHPUT: format_rate,
    Metric.RTT: format_duration,
    Metric.ONE_WAY_DELAY: format_duration,
    Metric.JITTER: format_duration,
    Metric.LOSS: format_ratio,
    Metric.HEALTH: format_ratio,
}


def quantity(metric: str, value: float) -> str:
    """A value with its unit; a custom metric's unit is not known here."""
    return _FORMATS.get(metric, "{:.4g}".format)(value)


def moment(at: float) -> str:
    """A time as RFC 3339, UTC, to the second; a time no calendar has as its number."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{at!r} s"
