"""Text of bounds, weights, outcomes and periods on the pages about decisions and templates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dash.development.base_component import Component

from adon.access.policy import Action
from adon.templates_catalog.lookup import PARSERS
from adon.units import format_share
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.visit import Visit
from measurement.model import Metric

Document = Mapping[str, Any]
"""A template as it is written, or a part of it."""

OUTCOMES: Mapping[str, tuple[str, Tone]] = {
    "admit": ("admitted", "good"),
    "stay": ("stays", "plain"),
    "move": ("moved", "wait"),
    "queue": ("waits", "wait"),
}
"""Text and tone of the outcome of a decision."""
PERIODS: tuple[tuple[str, str], ...] = (
    ("", "at any time"),
    ("1h", "in the last hour"),
    ("1d", "in the last day"),
    ("7d", "in the last week"),
    ("30d", "in the last 30 days"),
)
_PERIOD_UNITS = {"h": 3_600.0, "d": 86_400.0}


def may_own(here: Visit, action: Action) -> bool:
    """Whether the user may do this with an object of their own."""
    return here.may(action, here.actor.name)


def outcome_badge(outcome: str) -> Component:
    """Return the outcome of a decision as a badge."""
    return ui.badge(*OUTCOMES.get(outcome, (outcome, "plain")))


def metric_name(metric: str) -> str:
    """Return the name of a metric in words."""
    return ui.words.METRIC_NAMES.get(metric, metric)


def bound_sign(metric: str) -> str:
    """Return ``≥`` for the bound of a metric whose higher values are better, else ``≤``."""
    return "≥" if metric == "throughput" else "≤"


def error_text(error: float | None) -> str:
    """Return the relative error of a prediction: ``+12 %`` for a prediction that was too high."""
    return ui.words.NONE if error is None else f"{round(100 * error):+d} %".replace("-", "−")


def bound_value(qspec: Document, metric: str) -> float | None:
    """Return a template's bound of a metric, in the unit of the metric."""
    part = qspec.get(metric)
    return None if not part else PARSERS[Metric(metric)](part.get("min", part.get("max")))


def bound_texts(qspec: Document) -> list[str]:
    """Return the bounds of a template's QSpec: ``throughput ≥ 7 Mbps``."""
    bounds = {name: bound_value(qspec, name) for name in ui.words.METRIC_NAMES}
    return [
        f"{metric_name(name).lower()} " + ui.together(f"{bound_sign(name)} {ui.value(bound, name)}")
        for name, bound in bounds.items()
        if bound is not None
    ]


def weight_text(weights: Mapping[str, float]) -> str:
    """Return weights as shares, the largest first: ``throughput 80 %, loss 20 %``."""
    total = sum(weights.values()) or 1.0
    ranked = sorted(weights.items(), key=lambda one: -one[1])
    parts = [(metric_name(name).lower(), format_share(weight / total)) for name, weight in ranked if weight]
    return ", ".join(f"{name} {ui.together(share)}" for name, share in parts)


def period_start(period: str | None, now: float) -> str | None:
    """Return the start (RFC 3339) of a period of :data:`PERIODS`; None for all time."""
    if not period:
        return None
    number, unit = period[:-1], period[-1]
    if not number.isdecimal() or len(number) > 4 or unit not in _PERIOD_UNITS:
        return period  # a time in a link
    start = datetime.fromtimestamp(now - int(number) * _PERIOD_UNITS[unit], UTC)
    return start.isoformat().replace("+00:00", "Z")
