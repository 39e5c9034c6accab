"""What the pages about decisions and templates say alike: tones, names of terms, bounds as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
"""Of a decision; an outcome that is not here is shown as it is called."""

HIGHER_IS_BETTER = frozenset({"throughput"})


def allowed(here: Visit, action: Action) -> bool:
    """Whether a button for this is offered; the API decides by itself."""
    return here.may(action, here.actor.name)


def outcome(name: str) -> Component:
    """What was decided, as a badge."""
    text, tone = OUTCOMES.get(name, (name, "plain"))
    return ui.badge(text, tone)


def metric(name: str) -> str:
    """A metric's name."""
    return ui.words.METRIC_NAMES.get(name, name)


def sign(name: str) -> str:
    """How a metric's bound is meant."""
    return "≥" if name in HIGHER_IS_BETTER else "≤"


def error(share: Any) -> str:
    """How far off an estimate was: ``+12 %`` promised too much."""
    return ui.words.NONE if share is None else f"{100 * share:+.0f} %".replace("-", "−")


def bounds(qspec: Document) -> list[str]:
    """The bounds of a template's QSpec, as they were written: ``throughput ≥ 7 Mbps``."""
    found = []
    for name in ui.words.METRIC_NAMES:
        part = qspec.get(name)
        if part:
            bound = part.get("min", part.get("max"))
            amount = ui.together(f"{sign(name)} {ui.value(PARSERS[Metric(name)](bound), name)}")
            found.append(f"{metric(name).lower()} {amount}")
    return found


def weights(given: Document) -> str:
    """Weights as shares: ``throughput 80 %, loss 20 %``."""
    total = sum(given.values()) or 1.0
    parts = [
        f"{metric(name).lower()} {ui.together(format_share(value / total))}"
        for name, value in ranked(given)
        if value
    ]
    return ", ".join(parts)


def ranked(given: Document) -> list[tuple[str, float]]:
    """Weights, the greatest first."""
    return sorted(given.items(), key=lambda one: -one[1])


def template_link(reference: str) -> Component:
    """The way to a template, or to the version of it that ``soykb@3`` names."""
    name, _, version = reference.partition("@")
    return ui.link(reference, f"/templates/{name}" + (f"?version={version}" if version else ""))


def joined(parts: Iterable[Any], between: str = ", ") -> list[Any]:
    """Parts with text between them."""
    found: list[Any] = []
    for one in parts:
        found += [between, one] if found else [one]
    return found
