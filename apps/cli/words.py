"""The API's numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from adon.units import (
    format_duration,
    format_rate,
    format_ratio,
    format_share,
    format_significant,
    format_size,
)
from apps.ages import age

if TYPE_CHECKING:
    from adon.api.decisions import ForecastView, SiteCostView
    from adon.api.flows import FlowView
    from adon.api.network import LatestValue, PathAlarm

__all__ = [
    "age",
    "alarms",
    "cost",
    "error",
    "forecast",
    "progress",
    "reading",
    "score",
    "seconds",
    "status",
    "value",
    "with_spread",
]


def value(number: float | None, unit: str) -> str:
    """A metric's value; a dash where there is none."""
    if number is None:
        return "-"
    return {"bps": format_rate, "s": format_duration, "ratio": format_ratio}.get(unit, "{:.4g}".format)(
        number
    )


def seconds(span: float | str) -> str:
    """A time span of a decision."""
    return "impossible" if span == "inf" else format_duration(float(span))


def with_spread(span: float | str, deviation: float | None) -> str:
    """A time span of a decision, with its standard deviation where one has been observed."""
    return seconds(span) if deviation is None else f"{seconds(span)} ± {format_duration(deviation)}"


def cost(site: SiteCostView) -> str:
    """What a compute site costs, in the cost function's own unit."""
    if site.cost == "inf":
        return "impossible"
    deviation = site.deviations.get("cost")
    text = format_significant(site.cost)
    return text if deviation is None else f"{text} ± {format_significant(deviation, 2)}"


def forecast(found: ForecastView) -> str:
    """``40 s; 90 % between 20 s and 80 s``."""
    low, high = seconds(found.low_seconds), seconds(found.high_seconds)
    share = format_share(found.coverage)
    return f"{seconds(found.expected_seconds)}; {share} between {low} and {high}"


def reading(metric: LatestValue | None) -> str:
    """A path's latest value of a metric with its age."""
    if metric is None:
        return "-"
    return f"{value(metric.value, metric.unit)} ({age(metric.age_seconds)})"


def alarms(found: Iterable[PathAlarm]) -> str:
    """The alarms in force on a path, in short; a dash if there are none."""
    return "; ".join(f"{alarm.severity}: {alarm.metric}" for alarm in found) or "-"


def error(share: float) -> str:
    """How far off an estimate was: ``+12 %`` promised too much."""
    return f"{100 * share:+.0f} %"


def progress(flow: FlowView) -> str:
    """How much of a flow has arrived."""
    return f"{format_size(flow.bytes_moved)} of {format_size(flow.transfer_size_bytes)}"


def status(flow: FlowView) -> str:
    """A flow's state in one line."""
    where = f" on {flow.path}" if flow.path else ""
    quality = f" ({flow.quality})" if flow.quality in ("degraded", "violated") else ""
    quality = f" (advised){quality}" if flow.advised else quality
    reason = f": {flow.reason}" if flow.reason else ""
    return f"{flow.id} {flow.state}{where}{quality}, {progress(flow)}{reason}"


def score(number: float | None) -> str:
    """A score or a Q."""
    return "-" if number is None else f"{number:.2f}"
