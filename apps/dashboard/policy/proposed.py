"""A proposal's pictures: each table today and as proposed, with the outcomes as points.  Pure.

An outcome stands at its metric's value and at the score that its response would have in the proposed table,
so that the line of the proposed table runs through the middle of the points if it is right, and how far they
are from it shows what the metric does not explain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
from dash.development.base_component import Component

from adon.templates_catalog.lookup import BEST_SCORE, PARSERS, WORST_SCORE
from apps.dashboard import ui
from apps.dashboard.policy import curves
from apps.dashboard.policy.words import Document
from apps.dashboard.policy.words import metric as metric_name
from apps.figures.looks import SERIES
from measurement.model import Metric


def points(metric: str, table: Document) -> list[curves.Point]:
    """A table's points as numbers in the metric's unit."""
    read = PARSERS[Metric(metric)]
    return [(read(value), float(score)) for value, score in table["points"]]


def scored(response: float, scale: Sequence[float]) -> float:
    """The score that a response stands for: the scale's ends score 1 and 10."""
    low, high = scale
    return WORST_SCORE + (response - low) / (high - low) * (BEST_SCORE - WORST_SCORE)


SCORES = (1.0, 4.0, 7.0, 10.0)


def response_of(score: float, scale: Sequence[float]) -> float:
    """The response that a score stands for."""
    low, high = scale
    return float(low + (score - WORST_SCORE) / (BEST_SCORE - WORST_SCORE) * (high - low))


def figure(found: Document, words: Callable[[float], str]) -> go.Figure | None:
    """One metric's picture; None for one that nothing was learnt of.

    :param words: a response as it is read.
    """
    scale = found["scale"]
    if scale is None or not found["points"] or scale[0] == scale[1]:
        return None
    name = found["metric"]
    met = [value for value, _ in found["points"]]
    low, high = min(met), max(met)
    tables = {"today": found["table_today"], "proposed": found["table"]}
    lines = [
        curves.Line(
            words,
            within(curves.drawn(points(name, table), step=table["step"]), low, high),
            dashed=words == "today",
        )
        for words, table in tables.items()
    ]
    drawn = curves.table_figure(name, lines)
    factor, _ = curves.scale(name, [value for line in lines for value, _ in line.points])
    drawn.add_trace(
        go.Scatter(
            x=[value / factor for value in met],
            y=[scored(response, scale) for _, response in found["points"]],
            name="an outcome",
            mode="markers",
            marker={"size": 5, "color": SERIES[2], "opacity": 0.55},
        )
    )
    drawn.update_yaxes(
        range=None,
        autorange=True,
        tickvals=list(SCORES),
        ticktext=[f"{score:g} ({words(response_of(score, scale))})" for score in SCORES],
        title="Score (what it stands for)",
        automargin=True,
    )
    return drawn


def within(line: Sequence[curves.Point], low: float, high: float) -> list[curves.Point]:
    """The part of a line over these values, level beyond its ends."""
    inner = [point for point in line if low < point[0] < high]
    return [(low, _at(line, low)), *inner, (high, _at(line, high))]


def _at(line: Sequence[curves.Point], value: float) -> float:
    before = [point for point in line if point[0] <= value]
    after = [point for point in line if point[0] > value]
    if not before or not after:
        return (after or before)[0 if after else -1][1]
    (left, at_left), (right, at_right) = before[-1], after[0]
    return at_left + (at_right - at_left) * (value - left) / (right - left)


def picture(found: Document, words: Callable[[float], str]) -> Component | None:
    """The figure with its sentence; ``words`` as of :func:`figure`."""
    drawn = figure(found, words)
    if drawn is None:
        return None
    name = found["metric"]
    told = (
        f"{metric_name(name)}: today's table, the proposed one, and {len(found['points'])} outcomes, "
        "each at the score that what it got stands for."
    )
    return ui.chart(f"proposal-{name}", drawn, told, 300)


def rests_on(one: Document) -> str:
    """Where a metric's table comes from."""
    if one["scale"]:
        return "learnt"
    return "its values moved nothing" if one["varied"] else "as today: its values hardly differed"


def change(evidence: Document) -> str:
    """By how much the error is smaller, in percent."""
    today: Any = evidence["error_today"]
    return "" if not today else f"{100 * (evidence['error'] / today - 1):+.0f} %".replace("-", "−")
