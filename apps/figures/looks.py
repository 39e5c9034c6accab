"""One look for every figure, on a page of the dashboard and in a report that needs no other file.

In the dashboard text and grid take their colours from the style sheet (assets/adon.css), so that a figure
drawn once fits light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy  # noqa: F401 - plotly takes what another thread has only half imported
import plotly.graph_objects as go

SERIES = ("#2f6fd0", "#c8621b", "#1f8a5b", "#8a5cc7", "#b3345a", "#7a7f0f")
"""Told apart with the usual colour blindnesses, and on light and dark ground."""
GOOD, BAD, WAIT = "#1f8a5b", "#c2303f", "#c07800"
INK = "#667085"
"""Of lines that are no data; legible on light and dark ground."""


def quiet_axes(figure: go.Figure, *, x: str = "", y: str = "") -> go.Figure:
    """The project's look for a figure: no box, faint grid, axes named with units."""
    figure.update_layout(
        margin={"l": 60, "r": 12, "t": 12, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13, "color": INK},
        # At its foot, so that a second row of names on a phone pushes the plot down and does not cover it.
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        colorway=list(SERIES),
        hovermode="x unified",
        hoverlabel={"font": {"color": "#1b2430"}, "bgcolor": "#ffffff"},
    )
    figure.update_xaxes(title=x, gridcolor="rgba(128,140,155,.25)", zeroline=False)
    figure.update_yaxes(title=y, gridcolor="rgba(128,140,155,.25)", zeroline=False)
    return figure


def figure(traces: Sequence[Any], *, x: str = "", y: str = "") -> go.Figure:
    """A figure of these traces in the project's look."""
    return quiet_axes(go.Figure(list(traces)), x=x, y=y)
