"""Pictures of placements: times by method, and the rates they were placed over.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from adon.placement.model import Method, Placement
from apps.dashboard import ui
from apps.figures.looks import SERIES
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

TOLD = 12
"""So many machines, and each cell has its number."""


def by_method(found: Mapping[Method, Placement], seconds_of: str = "completion time") -> go.Figure:
    """Completion time by method, the shortest first; a line at the best bound there is."""
    ranked = sorted(found.items(), key=lambda item: item[1].completion_time_s)
    names = [method.value for method, _ in ranked]
    times = [one.completion_time_s for _, one in ranked]
    bars = go.Bar(
        x=times,
        y=names,
        orientation="h",
        marker={"color": SERIES[0]},
        text=[ui.span(one) for one in times],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.3g} s<extra></extra>",
    )
    figure = ui.figure([bars], x=f"{seconds_of} in s")
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(hovermode="closest", margin={"l": 130, "r": 60})
    bound = max((one.lower_bound_s for _, one in ranked), default=0.0)
    if bound > 0:
        figure.add_vline(x=bound, line={"color": SERIES[1], "dash": "dot", "width": 2})
    return figure


def rates(snapshot: Snapshot, used: Sequence[str] = ()) -> go.Figure:
    """What one connection has from the instance of a row to that of a column, rack by rack.

    :param used: the machines that tasks are on, which are marked.
    """
    racks = {name: place for place, rack in enumerate(snapshot.racks) for name in rack}
    names = sorted(snapshot.instances, key=lambda name: (racks.get(name, len(racks)), name))
    shown = [f"● {name}" if name in used else name for name in names]
    values = [[_rate(snapshot, one, other) for other in names] for one in names]
    few = len(names) <= TOLD
    cells = go.Heatmap(
        z=[[None if value is None else value / 1e6 for value in row] for row in values],
        x=shown,
        y=shown,
        zmin=0,
        zmax=max((rate / 1e6 for rate in snapshot.rates.values()), default=1.0),
        colorscale="Cividis",
        xgap=1,
        ygap=1,
        text=[["" if value is None else f"{value / 1e6:.4g}" for value in row] for row in values]
        if few
        else None,
        texttemplate="%{text}" if few else None,
        hovertemplate="%{y} > %{x}: %{z:.4g} Mbps<extra></extra>",
        hoverongaps=False,
        colorbar={"title": {"text": "Mbps", "side": "right"}, "thickness": 12},
    )
    figure = ui.quiet_axes(go.Figure([cells]), x="to", y="from")
    figure.update_layout(hovermode="closest", margin={"l": 80})
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(type="category", tickangle=-60, showgrid=False)
    return figure


def _rate(snapshot: Snapshot, one: str, other: str) -> float | None:
    return snapshot.rates.get(Pair(one, other))
