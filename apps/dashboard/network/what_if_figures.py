"""Rehearsed failures as charts.  Pure."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from adon.api.maintenance import LoadView, RehearsalView
from apps.dashboard import ui
from apps.figures.looks import BAD, GOOD, SERIES, WAIT

MEGA = 1e-6
ROW = 46
FATES = (
    ("kept", ("met",), GOOD, ""),
    ("degraded", ("degraded",), WAIT, "/"),
    ("unknown", ("unknown",), "#7d8896", "."),
    ("broken", ("none",), BAD, "x"),
)
"""Word, the API's qualities, colour and hatching of what would become of a flow's QSpec."""


def loads_figure(loads: Sequence[LoadView]) -> go.Figure:
    """Per directed path the bounds on it, before and after, against its capacity."""
    rows = [f"{one.path} {one.source} → {one.destination}{' (down)' if one.down else ''}" for one in loads]

    def bars(name: str, words: str, colour: str, width: float, offset: float, hatching: str = "") -> go.Bar:
        return go.Bar(
            y=rows,
            x=[MEGA * getattr(one, name) for one in loads],
            orientation="h",
            name=words,
            width=width,
            offset=offset,
            marker={"color": colour, "pattern": {"shape": hatching}},
            customdata=[ui.rate(getattr(one, name)) for one in loads],
            hovertemplate=f"{words}: %{{customdata}}<extra></extra>",
        )

    over = [BAD if one.after_bps > one.carries_bps else SERIES[0] for one in loads]
    after = bars("after_bps", "after", SERIES[0], 0.3, 0.02, "/")
    after.marker.color = over
    figure = ui.figure(
        [
            bars("capacity_bps", "capacity", "rgba(125,136,150,.25)", 0.84, -0.42),
            bars("before_bps", "before", "#7d8896", 0.3, -0.32),
            after,
            go.Scatter(
                y=[row for row, one in zip(rows, loads, strict=True) if not one.down],
                x=[MEGA * one.carries_bps for one in loads if not one.down],
                mode="markers",
                marker={"symbol": "line-ns-open", "size": 30, "color": "#667085", "line": {"width": 3}},
                name="capacity after",
                hovertemplate="capacity %{x:.3g} Mbps<extra></extra>",
            ),
        ],
        x="Mbps",
    )
    figure.update_layout(barmode="overlay", hovermode="closest", height=110 + ROW * len(rows))
    figure.update_layout(margin={"t": 44}, legend={"y": 1.0, "yanchor": "bottom"})
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(rangemode="tozero")
    return figure


def ranking_figure(reports: Sequence[RehearsalView]) -> go.Figure:
    """Per failure how many flows it would hit, by what would become of them."""
    rows = [f"{one.failure} {one.name}" for one in reports]
    traces = [
        go.Bar(
            y=rows,
            x=[sum(flow.quality in qualities for flow in one.flows) for one in reports],
            orientation="h",
            name=word,
            marker={"color": colour, "pattern": {"shape": hatching}},
            hovertemplate=f"%{{x}} {word}<extra></extra>",
        )
        for word, qualities, colour, hatching in FATES
    ]
    figure = ui.figure(traces, x="Flows")
    figure.update_layout(barmode="stack", hovermode="closest", height=110 + 30 * len(rows))
    figure.update_layout(margin={"t": 44}, legend={"y": 1.0, "yanchor": "bottom"})
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure
