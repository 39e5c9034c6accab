"""Which metrics predict what was observed ([HEALTH] figures 6 to 8): diagnoses to plotly figures."""

from __future__ import annotations

from collections.abc import Iterable

import plotly.graph_objects as go

from apps.figures.looks import INK, SERIES, quiet_axes
from measurement.health.diagnostics import Diagnosis, quantiles

FIT = ((0.0, "#efe0c5"), (1.0, "#8e1b1b"))
"""The darker, the better a subset predicts."""


def subset_map(found: Diagnosis) -> go.Figure:
    """The adjusted R² of all subsets (figure 6): a row each, the best at the top, its metrics filled."""
    metrics = list(found.data.metrics)
    rows = [[one.adjusted if name in one.metrics else None for name in metrics] for one in found.subsets]
    # A row is named by its number as well: two may have the same R².
    labels = [f"{one.adjusted:.4f}" for one in found.subsets]
    figure = quiet_axes(
        go.Figure(
            go.Heatmap(
                z=rows,
                x=metrics,
                y=list(range(len(rows))),
                colorscale=[list(one) for one in FIT],
                xgap=2,
                ygap=2,
                showscale=False,
                hovertemplate="%{x}: adjusted R² %{z:.4f}<extra></extra>",
                hoverongaps=False,
            )
        )
    )
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(
        autorange="reversed",
        tickvals=list(range(len(rows))),
        ticktext=labels,
        showgrid=False,
        title="adjusted R²",
    )
    return figure


def residuals(found: Diagnosis) -> go.Figure:
    """Residuals over fitted values, of the model of all metrics (figure 7)."""
    model = found.whole
    figure = quiet_axes(go.Figure(_dots(model.fitted, model.residuals)))
    figure.update_layout(hovermode="closest")
    figure.add_hline(0, line={"color": INK, "width": 1})
    figure.update_xaxes(title=f"fitted {found.data.response}", exponentformat="SI")
    figure.update_yaxes(title="residual", exponentformat="SI")
    return figure


def q_q(found: Diagnosis) -> go.Figure:
    """Standardised residuals beside normal quantiles (figure 8): on the line if they are normal."""
    points = quantiles(found.whole.standardised)
    figure = quiet_axes(go.Figure(_dots([q for q, _ in points], [value for _, value in points])))
    ends = [points[0][0], points[-1][0]]
    figure.add_trace(
        go.Scatter(
            x=ends, y=ends, mode="lines", line={"color": INK, "width": 1}, hoverinfo="skip", showlegend=False
        )
    )
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(title="normal quantile")
    figure.update_yaxes(title="standardised residual")
    return figure


def _dots(x: Iterable[float], y: Iterable[float]) -> go.Scatter:
    dot = {"color": SERIES[0], "size": 5, "opacity": 0.6}
    return go.Scatter(
        x=list(x),
        y=list(y),
        mode="markers",
        marker=dot,
        showlegend=False,
        hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
    )
