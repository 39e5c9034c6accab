"""Lookup tables as pictures: the score of each value of a metric.  Pure: documents to figures.

A table is drawn as it scores: straight between its points or in steps, level beyond them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go
from dash.development.base_component import Component

from apps.dashboard import ui
from apps.dashboard.policy.words import metric as metric_name
from apps.dashboard.policy.words import sign
from apps.figures.looks import BAD, SERIES

Point = tuple[float, float]
HEIGHT = 230
BEYOND = 0.15
"""How far a line goes on beyond a table's ends, as a share of what it spans."""
_SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "throughput": ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")),
    "loss": ((0.01, "%"),),
    "health": ((0.01, "%"),),
}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


@dataclass(frozen=True, slots=True)
class Line:
    """One table to be drawn.

    :param name: in the legend.
    :param points: values in the metric's unit and scores.
    """

    name: str
    points: Sequence[Point]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that something has: where it stands on the line."""

    name: str
    value: float
    score: float


def scale(metric: str, values: Iterable[float]) -> tuple[float, str]:
    """By how much to divide a metric's values, and the unit they are in then."""
    most = max((abs(one) for one in values), default=0.0)
    steps = _SCALES.get(metric, _TIMES)
    return next(((factor, unit) for factor, unit in steps if most >= factor), steps[-1])


def drawn(points: Sequence[Point], *, step: bool) -> list[Point]:
    """A table's points as a line."""
    return list(_drawn(points, step=step))


def _drawn(points: Sequence[Point], *, step: bool) -> Iterator[Point]:
    (first, at_first), (last, at_last) = points[0], points[-1]
    beyond = (last - first) * BEYOND
    yield max(0.0, first - beyond), at_first
    yield first, at_first
    for (_, before), (value, score) in pairwise(points):
        if step:
            yield value, before
        yield value, score
    yield last + beyond, at_last


def table_figure(
    metric: str, lines: Sequence[Line], bound: float | None = None, marks: Sequence[Mark] = ()
) -> go.Figure:
    """Lines of one metric, its bound, and the values that something has.

    :param bound: what must not be missed, in the metric's unit.
    """
    values = [value for line in lines for value, _ in line.points] + [mark.value for mark in marks]
    factor, unit = scale(metric, [*values, *(() if bound is None else (bound,))])
    traces: list[go.Scatter] = [
        go.Scatter(
            x=[value / factor for value, _ in line.points],
            y=[score for _, score in line.points],
            name=line.name,
            mode="lines",
            line={
                "width": 2.5,
                "color": SERIES[row % len(SERIES)],
                "dash": "dash" if line.dashed else "solid",
            },
        )
        for row, line in enumerate(lines)
    ]
    traces += [
        go.Scatter(
            x=[mark.value / factor],
            y=[mark.score],
            name=mark.name,
            text=[mark.name],
            mode="markers+text",
            textposition="top center",
            marker={"size": 10, "color": SERIES[(row + 1) % len(SERIES)], "symbol": "circle"},
            showlegend=False,
        )
        for row, mark in enumerate(marks)
    ]
    found = ui.figure(traces, x=f"{metric_name(metric)} ({unit})", y="Score")
    found.update_layout(
        hovermode="closest", showlegend=len(lines) > 1, margin={"t": 46 if len(lines) > 1 else 26}
    )
    found.update_layout(legend={"y": 1.42, "yanchor": "top"}, font={"size": 12})
    found.update_yaxes(rangemode="tozero", range=[0, 11.4], tickvals=[1, 4, 7, 10])
    if bound is not None:
        where = "right" if metric == "throughput" else "left"
        found.add_vline(
            x=bound / factor,
            line={"color": BAD, "width": 1.5, "dash": "dot"},
            annotation={
                "text": f"bound {sign(metric)} {ui.value(bound, metric)}",
                "yref": "paper",
                "y": 1.14,
                "xanchor": "left" if where == "right" else "right",
            },
        )
    return found


def says(metric: str, points: Sequence[Point]) -> str:
    """The line in a sentence."""
    (low, at_low), (high, at_high) = points[0], points[-1]
    return (
        f"{metric_name(metric)}: {ui.value(low, metric)} scores {at_low:g}, "
        f"{ui.value(high, metric)} scores {at_high:g}."
    )


def picture(
    name: str, metric: str, lines: Sequence[Line], bound: float | None = None, marks: Sequence[Mark] = ()
) -> Component:
    """The figure on a page, with its sentence."""
    inner = list(lines[-1].points[1:-1]) or list(lines[-1].points)
    told = says(metric, inner)
    if bound is not None:
        told += f" The bound is {sign(metric)} {ui.value(bound, metric)}."
    if marks:
        told += " " + "; ".join(
            f"{mark.name}: {ui.value(mark.value, metric)} scores {mark.score:.2f}" for mark in marks
        )
        told += "."
    return ui.chart(name, table_figure(metric, lines, bound, marks), told, HEIGHT)
