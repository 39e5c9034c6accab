"""Charts of lookup tables: the score of each value of a metric.

A table is drawn as it scores: linear between its points or in steps, and constant beyond them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.api.templates import CurveView
from apps.dashboard import ui
from apps.dashboard.policy.formats import Document, bound_sign, bound_value, metric_name
from apps.figures.looks import BAD, SERIES

Point = tuple[float, float]
HEIGHT = 230
BEYOND = 0.15
"""Length of the constant part at each end, as a share of the table's range."""
_SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "throughput": ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")),
    "loss": ((0.01, "%"),),
    "health": ((0.01, "%"),),
}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


@dataclass(frozen=True, slots=True)
class Curve:
    """Curve of a chart: values in the unit of the metric, with their scores."""

    name: str
    points: Sequence[Point]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """Value of a candidate, with its score."""

    name: str
    value: float
    score: float


def axis_scale(metric: str, values: Iterable[float]) -> tuple[float, str]:
    """Return the unit of an axis, and its size in the unit of the metric."""
    largest = max((abs(one) for one in values), default=0.0)
    scales = _SCALES.get(metric, _TIMES)
    return next((one for one in scales if largest >= one[0]), scales[-1])


def curve_points(points: Sequence[Point], *, step: bool) -> list[Point]:
    """Return the points of a lookup table with its steps and its constant ends."""
    (first, first_score), (last, last_score) = points[0], points[-1]
    beyond = (last - first) * BEYOND
    found = [(max(0.0, first - beyond), first_score), (first, first_score)]
    for (_, before), (value, score) in pairwise(points):
        found += [(value, before), (value, score)] if step else [(value, score)]
    return [*found, (last + beyond, last_score)]


def curve_chart(
    name: str, metric: str, curves: Sequence[Curve], bound: float | None = None, marks: Sequence[Mark] = ()
) -> Component:
    """Return the chart of a metric.

    :param name: id of the chart.
    :param bound: in the unit of the metric.
    """
    inner = list(curves[-1].points[1:-1]) or list(curves[-1].points)
    (low, low_score), (high, high_score) = inner[0], inner[-1]
    caption = (
        f"{metric_name(metric)}: {ui.value(low, metric)} scores {low_score:g}, "
        f"{ui.value(high, metric)} scores {high_score:g}."
    )
    if bound is not None:
        caption += f" The bound is {bound_sign(metric)} {ui.value(bound, metric)}."
    if marks:
        scores = (f"{one.name}: {ui.value(one.value, metric)} scores {one.score:.2f}" for one in marks)
        caption += f" {'; '.join(scores)}."
    return ui.chart(name, _figure(metric, curves, bound, marks), caption, HEIGHT)


def _figure(metric: str, curves: Sequence[Curve], bound: float | None, marks: Sequence[Mark]) -> go.Figure:
    values = [value for one in curves for value, _ in one.points] + [one.value for one in marks]
    factor, unit = axis_scale(metric, [*values, *([] if bound is None else [bound])])
    traces = [_curve_trace(one, factor) for one in curves]
    traces += [_mark_trace(one, factor, SERIES[(row + 1) % len(SERIES)]) for row, one in enumerate(marks)]
    figure = ui.figure(traces, x=f"{metric_name(metric)} ({unit})", y="Score")
    several = len(curves) > 1
    figure.update_layout(hovermode="closest", showlegend=several, margin={"t": 46 if several else 26})
    figure.update_layout(legend={"y": 1.42, "yanchor": "top"}, font={"size": 12})
    figure.update_yaxes(rangemode="tozero", range=[0, 11.4], tickvals=[1, 4, 7, 10])
    if bound is not None:
        text = f"bound {bound_sign(metric)} {ui.value(bound, metric)}"
        anchor = "left" if metric == "throughput" else "right"
        figure.add_vline(
            x=bound / factor,
            line={"color": BAD, "width": 1.5, "dash": "dot"},
            annotation={"text": text, "yref": "paper", "y": 1.14, "xanchor": anchor},
        )
    return figure


def _curve_trace(curve: Curve, factor: float) -> go.Scatter:
    return go.Scatter(
        x=[value / factor for value, _ in curve.points],
        y=[score for _, score in curve.points],
        name=curve.name,
        mode="lines",
        line={
            "color": SERIES[5] if curve.dashed else SERIES[0],
            "dash": "dash" if curve.dashed else "solid",
            "width": 2,
        },
    )


def _mark_trace(mark: Mark, factor: float, color: str) -> go.Scatter:
    return go.Scatter(
        x=[mark.value / factor],
        y=[mark.score],
        name=mark.name,
        text=[mark.name],
        mode="markers+text",
        textposition="top center",
        marker={"size": 10, "color": color, "symbol": "circle"},
        showlegend=False,
    )


def template_charts(
    prefix: str,
    curves: Sequence[CurveView],
    qspec: Document,
    earlier: Sequence[CurveView] = (),
    names: tuple[str, str] = ("before", "this version"),
) -> Component:
    """Return one chart per weighted metric of a template.

    :param prefix: beginning of the ids of the charts.
    :param curves: of a template check; ``earlier``: of the version to compare with, drawn dashed.
    :param names: of both versions in the legend.
    """
    old = {one.metric: one for one in earlier}
    new = {one.metric: one for one in curves}
    metrics = list(dict.fromkeys([*new, *old]))
    if not metrics:
        return ui.empty("No metric has a weight.")
    charts = [_template_chart(prefix, new.get(one), old.get(one), qspec, names) for one in metrics]
    return html.Div(charts, className="tables")


def _template_chart(
    prefix: str, new: CurveView | None, old: CurveView | None, qspec: Document, names: tuple[str, str]
) -> Component | None:
    shown = new or old
    if shown is None:
        return None
    curves, weights = [], []
    if old is not None:
        curves.append(Curve(names[0], old.points, dashed=True))
        weights.append(ui.share(old.weight))
    if new is not None:
        curves.append(Curve(names[1], new.points))
        weights.append(ui.share(new.weight))
    weight = ui.badge(f"weight {' → '.join(dict.fromkeys(weights))}")
    removed = [] if new is not None else [ui.badge("no weight", "wait")]
    origin = "computed from bound, target and the best measured value" if shown.generated else "written"
    return html.Div(
        [
            html.H3([metric_name(shown.metric), " ", weight, *removed]),
            curve_chart(f"{prefix}-{shown.metric}", shown.metric, curves, bound_value(qspec, shown.metric)),
            html.Small(f"Lookup table: {origin}.", className="muted"),
        ]
    )
