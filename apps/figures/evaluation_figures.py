"""Figures of [CEEM]: the variation of each path (figure 11), distances and diameters (figure 12)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from apps.figures.looks import INK, SERIES, quiet_axes
from apps.figures.map_layout import MapLayout, lay_out_map
from measurement.ceem.run import EvaluationRun
from measurement.ceem.template import PlacePath

STABLE, VARIABLE, CLIENT, *_ = SERIES
LINE, FILL = "#999999", "rgba(47, 111, 208, 0.22)"
CIRCLE_SHARE = 0.55
"""Diameter of the widest circle as a share of the shortest drawn distance."""
MAX_ERROR = 0.2
"""Relative error of a drawn distance from which its line is dotted."""
MARGIN = 0.16
"""Margin on either side of the map, as a share of its width."""


def draw_variation(run: EvaluationRun, bound: float) -> go.Figure:
    """Return the COV of each path as bars in the order of table V; bars from ``bound`` on stand out."""
    covs = {str(path): its.cov for path, its in run.path_statistics().items() if its.cov is not None}
    chart = quiet_axes(
        go.Figure(
            go.Bar(
                x=[*covs.values()],
                y=[*covs],
                orientation="h",
                marker={"color": [VARIABLE if cov >= bound else STABLE for cov in covs.values()]},
                text=[f"{cov:.3f}" for cov in covs.values()],
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


def draw_distance_map(run: EvaluationRun, ratio: float) -> tuple[go.Figure, float]:
    """Return a map with its residual stress: circles as wide as the diameters, apart by the distances.

    Distances differ by orders of magnitude, so the map draws 1 + log10 of equation 2.
    """
    distances = run.distances(ratio, clients=True)
    lengths = {path: _drawn_length(its, ratio) for path, its in distances.items()}
    layout = lay_out_map((*run.nodes, *run.clients), lengths)
    chart = quiet_axes(go.Figure())
    for path, distance in distances.items():
        _add_line(chart, layout, path, distance, lengths[path])
    _add_circles(chart, layout, run.diameters(ratio), [*distances])
    _add_names(chart, layout, run, ratio)
    low, high = _extent(layout)
    margin = MARGIN * (high - low or 1.0)  # for the names of the outermost places
    chart.update_layout(
        hovermode="closest",
        margin={"l": 5, "r": 5, "t": 5, "b": 5},
        showlegend=False,
        xaxis={"visible": False, "range": [low - margin, high + margin]},
        yaxis={"visible": False, "scaleanchor": "x", "scaleratio": 1},
    )
    return chart, layout.stress


def _drawn_length(distance: float, ratio: float) -> float:
    multiple = distance / ratio
    return ratio * (1 + math.log10(multiple)) if multiple > 1 else distance


def _extent(layout: MapLayout) -> tuple[float, float]:
    across = [x for x, _ in layout.positions.values()]
    return min(across), max(across)


def _add_line(chart: go.Figure, layout: MapLayout, path: PlacePath, distance: float, length: float) -> None:
    (x0, y0), (x1, y1) = (layout.positions[place] for place in path)
    is_known = math.isfinite(distance)
    text = f"{distance:.1f}" if is_known else "nothing came through"
    is_exact = is_known and abs(layout.distance(path) - length) <= MAX_ERROR * length
    style = {"color": LINE, "width": 1.2, "dash": "solid" if is_exact else "dot"}
    chart.add_trace(go.Scatter(x=[x0, x1], y=[y0, y1], mode="lines", line=style, hoverinfo="skip"))
    chart.add_trace(
        go.Scatter(
            x=[(x0 + x1) / 2],
            y=[(y0 + y1) / 2],
            mode="text",
            text=[text],
            textfont={"size": 11, "color": INK},
            hovertemplate=f"{path}: {text}<extra></extra>",
        )
    )


def _add_circles(
    chart: go.Figure, layout: MapLayout, diameters: Mapping[str, float], paths: Sequence[PlacePath]
) -> None:
    drawn = [layout.distance(path) for path in paths]
    shortest = min((distance for distance in drawn if distance > 0), default=1.0)
    unit = CIRCLE_SHARE * shortest / max(diameters.values(), default=1.0)
    for node, diameter in diameters.items():
        x, y = layout.positions[node]
        half = diameter * unit / 2
        chart.add_shape(
            type="circle", x0=x - half, x1=x + half, y0=y - half, y1=y + half,
            line={"color": STABLE, "width": 1.5}, fillcolor=FILL,
        )  # fmt: skip


def _add_names(chart: go.Figure, layout: MapLayout, run: EvaluationRun, ratio: float) -> None:
    hover = {place: place for place in layout.positions}
    hover |= {node: f"{node}: diameter {its:.3f}" for node, its in run.diameters(ratio).items()}
    for places, colour, symbol in ((run.nodes, STABLE, "circle"), (run.clients, CLIENT, "square")):
        chart.add_trace(
            go.Scatter(
                x=[layout.positions[place][0] for place in places],
                y=[layout.positions[place][1] for place in places],
                mode="markers+text",
                marker={"size": 7, "color": colour, "symbol": symbol},
                text=[f"<b>{place}</b>" for place in places],
                textposition=[_name_position(layout, place) for place in places],
                hovertext=[hover[place] for place in places],
                hoverinfo="text",
            )
        )


def _name_position(layout: MapLayout, place: str) -> str:
    """Return the position of a name: towards the middle, so that a narrow window does not cut it."""
    low, high = _extent(layout)
    share = (layout.positions[place][0] - low) / (high - low or 1.0)
    if share < 0.15:
        return "top right"
    return "top left" if share > 0.85 else "top center"
