"""Values as people read them, for the page's templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from adon.units import format_duration, format_rate, format_ratio, format_size

METRICS: Mapping[str, str] = {
    "throughput": "Throughput",
    "rtt": "Round trip",
    "one_way_delay": "One-way delay",
    "jitter": "Jitter",
    "loss": "Loss",
}
"""The metrics' names, in the order they are shown."""

_FORMATS: Mapping[str, Callable[[float], str]] = {"throughput": format_rate, "loss": format_ratio}


def value(number: float | None, metric: str) -> str:
    """A metric's value with its unit; a dash where there is none."""
    return "–" if number is None else _FORMATS.get(metric, format_duration)(number)


def age(seconds: float | None) -> str:
    """``3 min ago``."""
    return "" if seconds is None else f"{_rounded(seconds)} ago"


def _rounded(seconds: float) -> str:
    return format_duration(float(round(seconds)))


def seconds(span: float | str) -> str:
    """A time span of a decision, in which ``"inf"`` means impossible."""
    return "impossible" if span == "inf" else format_duration(float(span))


def rate(number: float | str) -> str:
    """A rate of a decision, in which ``"inf"`` means not limited here."""
    return "no limit" if number == "inf" else format_rate(float(number))


def time(at: float | None) -> str:
    """A time to the second, UTC."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def score(number: float | None) -> str:
    """A score or a Q to two places; a dash where there is none."""
    return "–" if number is None else f"{number:.2f}"


def name(metric: str) -> str:
    """A metric's name."""
    return METRICS.get(metric, metric)


FILTERS: Mapping[str, Callable[..., str]] = {
    "age": age,
    "metric": name,
    "rate": rate,
    "score": score,
    "seconds": seconds,
    "size": format_size,
    "time": time,
    "value": value,
}
