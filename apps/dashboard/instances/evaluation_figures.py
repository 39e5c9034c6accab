"""Pictures of a run: how steady its paths are, places as far apart as they are slow, two runs.  Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

import plotly.graph_objects as go

from apps.dashboard import ui
from apps.dashboard.ui.figures import SERIES
from measurement.evaluation.comparison import Change, Comparison, Verdict
from measurement.evaluation.layout import Drawing, drawn
from measurement.evaluation.results import Results
from measurement.evaluation.wording import name

WIDEST = 60.0
"""Pixels of the circle of the largest diameter."""
VERDICTS = {
    Verdict.HIGHER: SERIES[2],
    Verdict.LOWER: SERIES[4],
    Verdict.ALIKE: SERIES[0],
    Verdict.NOT_SHOWN: SERIES[5],
    Verdict.NOT_TESTED: "#8a94a3",
}


def covs(results: Results, varies_from: float) -> go.Figure:
    """Equation 1 by path, the steadiest first; a line from where a path is called variable."""
    known = {path: cov for path, cov in results.covs().items() if cov is not None}
    ranked = sorted(known.items(), key=lambda item: item[1])
    bars = go.Bar(
        x=[cov for _, cov in ranked],
        y=[name(path) for path, _ in ranked],
        orientation="h",
        marker={"color": [SERIES[1] if cov >= varies_from else SERIES[0] for _, cov in ranked]},
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
    figure = ui.figure([bars], x="COV")
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(hovermode="closest", margin={"l": 130})
    figure.add_vline(x=varies_from, line={"color": "#667085", "dash": "dot", "width": 1})
    return figure


def distance_map(results: Results, ratio: float = 1.0) -> tuple[go.Figure, float]:
    """Places apart by the logarithm of equation 2, nodes as large as equation 3 says; the residual stress.

    Distances of one evaluation differ by a factor of hundreds: to scale, all near places would be one.
    """
    wanted = {
        path: math.log2(1.0 + its)
        for path, its in results.distances(ratio, clients=True).items()
        if math.isfinite(its) and its > 0
    }
    names = [*results.nodes, *results.clients]
    drawing = drawn(names, wanted)
    diameters = results.diameters(ratio)
    largest = max(diameters.values(), default=1.0)
    nodes = go.Scatter(
        **_places(drawing, results.nodes),
        text=list(results.nodes),
        mode="markers+text",
        textposition="top center",
        cliponaxis=False,
        name="node (as large as its diameter)",
        marker={
            "size": [WIDEST * diameters.get(one, largest / 4) / largest + 6 for one in results.nodes],
            "color": "rgba(47,111,208,.35)",
            "line": {"color": SERIES[0], "width": 2},
        },
        hovertemplate=[
            f"{one}: diameter {diameters.get(one, math.nan):.3f}<extra></extra>" for one in results.nodes
        ],
    )
    clients = go.Scatter(
        **_places(drawing, results.clients),
        text=list(results.clients),
        mode="markers+text",
        textposition="top center",
        cliponaxis=False,
        name="client",
        marker={"size": 12, "symbol": "square", "color": SERIES[1]},
        hovertemplate="%{text}<extra></extra>",
    )
    figure = ui.quiet_axes(go.Figure([nodes, *([clients] if results.clients else [])]))
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return figure, drawing.stress


def _places(drawing: Drawing, names: tuple[str, ...]) -> Mapping[str, list[float]]:
    return {"x": [drawing.places[one][0] for one in names], "y": [drawing.places[one][1] for one in names]}


def changes(comparison: Comparison) -> go.Figure:
    """The second mean over the first, by path, coloured and named by its verdict."""
    traces = []
    for verdict, colour in VERDICTS.items():
        its = [one for one in comparison.changes if one.verdict is verdict and one.ratio is not None]
        if its:
            traces.append(
                go.Scatter(
                    x=[one.ratio for one in its],
                    y=[name(one.path) for one in its],
                    mode="markers",
                    name=verdict.value,
                    marker={"color": colour, "size": 11},
                    error_x=_spans(its),
                    hovertemplate="%{y}: %{x:.3f}<extra></extra>",
                )
            )
    figure = ui.figure(traces, x="now / before")
    figure.update_layout(hovermode="closest", margin={"l": 130})
    figure.update_yaxes(type="category", autorange="reversed")
    figure.add_vline(x=1.0, line={"color": "#667085", "dash": "dot", "width": 1})
    return figure


def _spans(its: list[Change]) -> Mapping[str, object]:
    """The interval of each difference, as a share of the first mean."""
    plus = [0.0 if one.apart is None else (one.apart.high - _apart(one)) / one.before.mean for one in its]
    minus = [0.0 if one.apart is None else (_apart(one) - one.apart.low) / one.before.mean for one in its]
    return {"type": "data", "symmetric": False, "array": plus, "arrayminus": minus, "thickness": 1}


def _apart(one: Change) -> float:
    return one.after.mean - one.before.mean
