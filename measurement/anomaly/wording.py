"""Values and times as people read them, for the one line of an alarm."""

from __future__ import annotations

from datetime import UTC, datetime

from measurement.model import Metric

_BIT_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))
_DELAYS = (Metric.RTT, Metric.ONE_WAY_DELAY, Metric.JITTER)


def quantity(metric: str, value: float) -> str:
    """A value with its unit; a custom metric's unit is not known here."""
    if metric == Metric.THROUGHPUT:
        factor, unit = next((pair for pair in _BIT_RATES if abs(value) >= pair[0]), (1.0, "bit/s"))
        return f"{value / factor:.3g} {unit}"
    if metric in _DELAYS:
        return f"{value * 1e3:.3g} ms"
    if metric in (Metric.LOSS, Metric.HEALTH):
        return f"{value * 100:.3g} %"
    return f"{value:.4g}"


def moment(at: float) -> str:
    """A time as RFC 3339, UTC, to the second; a time no calendar has as its number."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{at!r} s"


def span(seconds: float) -> str:
    """A duration in its largest fitting unit."""
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
