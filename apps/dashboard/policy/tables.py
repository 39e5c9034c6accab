"""The lookup tables of a template, or of two versions of it, as pictures with their weights."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from adon.api.templates import CurveView
from adon.templates_catalog.lookup import PARSERS
from apps.dashboard import ui
from apps.dashboard.policy import curves
from apps.dashboard.policy.words import Document
from apps.dashboard.policy.words import metric as metric_name
from measurement.model import Metric


def bound_of(qspec: Document, metric: str) -> float | None:
    """A template's bound of a metric, in the metric's unit."""
    part = qspec.get(metric)
    written = None if not part else part.get("min", part.get("max"))
    return None if written is None else PARSERS[Metric(metric)](written)


def pictures(
    prefix: str,
    found: Sequence[CurveView],
    qspec: Document,
    before: Sequence[CurveView] = (),
    names: tuple[str, str] = ("before", "this version"),
) -> Component:
    """One picture per weighted metric.

    :param prefix: begins the ids of the charts.
    :param found: ``curves`` of a template check; ``before``: of what it is held against, drawn dashed.
    :param names: of the two in the legend.
    """
    older = {one.metric: one for one in before}
    newer = {one.metric: one for one in found}
    metrics = [*newer, *(name for name in older if name not in newer)]
    if not metrics:
        return ui.empty("No metric has a weight.")
    return html.Div(
        [
            _one(prefix, newer.get(name) or older[name], newer.get(name), older.get(name), qspec, names)
            for name in metrics
        ],
        className="tables",
    )


def _one(
    prefix: str,
    shown: CurveView,
    new: CurveView | None,
    old: CurveView | None,
    qspec: Document,
    names: tuple[str, str],
) -> Component:
    metric = shown.metric
    lines = [] if old is None else [curves.Line(names[0], old.points, dashed=True)]
    lines += [] if new is None else [curves.Line(names[1], new.points)]
    weight = ui.share(shown.weight) if old is None or new is None else _change(old, new)
    gone = [] if new is not None else [ui.badge("no weight", "wait")]
    origin = "computed from bound, target and the best measured value" if shown.generated else "written"
    return html.Div(
        [
            html.H3([metric_name(metric), " ", ui.badge(f"weight {weight}"), *gone]),
            curves.picture(f"{prefix}-{metric}", metric, lines, bound_of(qspec, metric)),
            html.Small(f"Lookup table: {origin}.", className="muted"),
        ]
    )


def _change(old: CurveView, new: CurveView) -> str:
    before, after = ui.share(old.weight), ui.share(new.weight)
    return after if before == after else f"{before} → {after}"
