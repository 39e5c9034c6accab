"""The pictures of [CEEM]: the variation of each path (figure 11), distances and diameters (figure 12).

Results of runs to plotly figures.
"""

from __future__ import annotations

import math

import plotly.graph_objects as go

from apps.figures.looks import INK, SERIES, quiet_axes
from measurement.evaluation.layout import Drawing, drawn
from measurement.evaluation.results import Path, Results
from measurement.evaluation.wording import name

CALM, VARIED, CLIENT, *_ = SERIES
LINE, FILL = "#999999", "rgba(47, 111, 208, 0.22)"
SHARE = 0.55
"""Of the shortest drawn distance the widest circle takes so much."""
OFF = 0.2
"""A line that is longer or shorter than it should be by a larger share is dotted."""
ROOM = 0.16
"""Of the map's width, on either side of it."""


def variation(results: Results, bound: float) -> go.Figure:
    """The COV of each path as bars, in the order of table V; those from ``bound`` on stand out."""
    covs = {path: cov for path, cov in results.covs().items() if cov is not None}
    names = [name(path) for path in covs]
    values = [*covs.values()]
    chart = quiet_axes(
        go.Figure(
            go.Bar(
                x=values,
                y=names,
                orientation="h",
                marker={"color": [VARIED if value >= bound else CALM for value in values]},
                text=[f"{value:.3f}" for value in values],
                textposition="outside",
                cliponaxis=False,
                hovertemplate="%{y}: %{x:.4f}<extra></extra>",
            )
        ),
        x="standard deviation / mean",
    )
    chart.add_vline(x=bound, line={"color": INK, "width": 1, "dash": "dot"})
    chart.update_layout(hovermode="closest", margin={"l": 10, "r": 45})
    chart.update_xaxes(rangemode="tozero")
    chart.update_yaxes(autorange="reversed", automargin=True, type="category")
    return chart


def scaled(results: Results, ratio: float) -> dict[Path, float]:
    """What the map draws as distance: 1 + log10 of equation 2, since those differ by orders of magnitude."""
    distances = results.distances(clients=True)
    return {
        path: ratio * (1 + math.log10(its)) if its > 1 else ratio * its for path, its in distances.items()
    }


def distance_map(results: Results, ratio: float) -> tuple[go.Figure, float]:
    """Nodes as circles, wide as they are fast within, far from each other as the paths between are slow.

    :returns: with the drawing's residual stress.
    """
    drawing = drawn((*results.nodes, *results.clients), scaled(results, ratio))
    chart = quiet_axes(go.Figure())
    distances = results.distances(ratio, clients=True)
    wanted = scaled(results, ratio)
    for path, its in distances.items():
        _line(chart, drawing, path, its, wanted[path])
    _circles(chart, results, drawing, ratio)
    low, high = (bound(x for x, _ in drawing.places.values()) for bound in (min, max))
    room = ROOM * (high - low or 1.0)  # for the names of the outermost places
    chart.update_layout(
        hovermode="closest",
        margin={"l": 5, "r": 5, "t": 5, "b": 5},
        showlegend=False,
        xaxis={"visible": False, "range": [low - room, high + room]},
        yaxis={"visible": False, "scaleanchor": "x", "scaleratio": 1},
    )
    return chart, drawing.stress


def _line(chart: go.Figure, drawing: Drawing, path: Path, its: float, wanted: float) -> None:
    (x0, y0), (x1, y1) = (drawing.places[place] for place in path)
    told = f"{its:.1f}" if math.isfinite(its) else "nothing came through"
    near = math.isfinite(its) and abs(drawing.apart(path) - wanted) <= OFF * wanted
    style = {"color": LINE, "width": 1.2, "dash": "solid" if near else "dot"}
    chart.add_trace(go.Scatter(x=[x0, x1], y=[y0, y1], mode="lines", line=style, hoverinfo="skip"))
    chart.add_trace(
        go.Scatter(
            x=[(x0 + x1) / 2],
            y=[(y0 + y1) / 2],
            mode="text",
            text=[told],
            textfont={"size": 11, "color": INK},
            hovertemplate=f"{name(path)}: {told}<extra></extra>",
        )
    )


def _circles(chart: go.Figure, results: Results, drawing: Drawing, ratio: float) -> None:
    wide = results.diameters(ratio)
    apart = [drawing.apart(path) for path in results.distances(clients=True)]
    unit = SHARE * min([one for one in apart if one > 0], default=1.0) / max(wide.values(), default=1.0)
    for node, its in wide.items():
        x, y = drawing.places[node]
        half = its * unit / 2
        chart.add_shape(
            type="circle", x0=x - half, x1=x + half, y0=y - half, y1=y + half,
            line={"color": CALM, "width": 1.5}, fillcolor=FILL,
        )  # fmt: skip
    for places, colour, symbol in ((results.nodes, CALM, "circle"), (results.clients, CLIENT, "square")):
        chart.add_trace(
            go.Scatter(
                x=[drawing.places[place][0] for place in places],
                y=[drawing.places[place][1] for place in places],
                mode="markers+text",
                marker={"size": 7, "color": colour, "symbol": symbol},
                text=[f"<b>{place}</b>" for place in places],
                textposition=[_side(drawing, place) for place in places],
                hovertext=[
                    f"{place}: diameter {wide[place]:.3f}" if place in wide else place for place in places
                ],
                hoverinfo="text",
            )
        )


def _side(drawing: Drawing, place: str) -> str:
    """Where a place's name stands: towards the middle of the map, so that a narrow window does not cut it."""
    across = [x for x, _ in drawing.places.values()]
    low, high = min(across), max(across)
    at = (drawing.places[place][0] - low) / (high - low or 1.0)
    return "top right" if at < 0.15 else "top left" if at > 0.85 else "top center"
