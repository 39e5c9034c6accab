"""The figures of [HEALTH] 6 and 7, from rounds and diagnoses of ours: values to plotly figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

import plotly.graph_objects as go

from measurement.health.diagnostics import Diagnosis, quantiles
from measurement.health.layout import layout
from measurement.health.model import Pair
from measurement.health.record import RoundRecord
from measurement.health.scoring import Score

HEALTH = ((0.0, "#8e1b1b"), (0.35, "#d9603b"), (0.7, "#f3bf7a"), (1.0, "#fbf6e3"))
"""Red is unhealthy, light is healthy, as in the paper's figure 9; ever lighter, so that it prints, too."""
UNKNOWN = "#c9ced6"
ZONES = ("#2f6fd0", "#c8621b", "#1f8a5b", "#8a5cc7", "#b3345a", "#7a7f0f")
_INK = "#1b2430"
_FONT = {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13, "color": _INK}
_NAMED = 40
"""Above so many instances the axes have zones only."""


def by_zone(record: RoundRecord) -> list[str]:
    """The instances in the order of a heat map: by zone, then by name."""
    zones = record.zones
    return sorted(zones, key=lambda name: (zones[name], name))


def heat_map(record: RoundRecord) -> go.Figure:
    """Each pair's health, who looks down the side and whom along the top, ordered by zone (figure 9)."""
    names = by_zone(record)
    rows = [[_total(record.scores, Pair(one, other)) for other in names] for one in names]
    told = [[_told(record, Pair(one, other)) for other in names] for one in names]
    figure = go.Figure(
        go.Heatmap(
            z=rows,
            x=list(range(len(names))),
            y=list(range(len(names))),
            zmin=0,
            zmax=1,
            colorscale=[list(one) for one in HEALTH],
            text=told,
            hovertemplate="%{text}<extra></extra>",
            hoverongaps=False,
            xgap=0 if len(names) > _NAMED else 1,
            ygap=0 if len(names) > _NAMED else 1,
            colorbar={"title": "health", "thickness": 14, "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        )
    )
    _mark_dead(figure, record, names)
    _zone_lines(figure, record, names)
    if len(names) <= _NAMED:
        _name_zones(figure, record, names)
    side = {"showgrid": False, "zeroline": False, "constrain": "domain"}
    ticks = _ticks(record, names)
    tilt = -90 if len(names) <= _NAMED else 0
    first, last = -0.5, len(names) - 0.5
    figure.update_xaxes(**side, **ticks, range=[first, last], side="top", title="towards", tickangle=tilt)
    figure.update_yaxes(**side, **ticks, range=[last, first], scaleanchor="x", title="from")
    return _looks(figure, height=max(420, min(900, 140 + 34 * len(names)))).update_layout(
        plot_bgcolor=UNKNOWN
    )


def _total(health: Mapping[Pair, Score], pair: Pair) -> float | None:
    return None if pair not in health else health[pair].total


def _told(record: RoundRecord, pair: Pair) -> str:
    total = _total(record.scores, pair)
    if pair not in record.scores or total is None:
        return f"{pair.source} > {pair.destination}: not known"
    dead = ", timed out" if record.scores[pair].timed_out else ""
    return f"{pair.source} > {pair.destination}: {total:.2f}{dead}"


def _mark_dead(figure: go.Figure, record: RoundRecord, names: Sequence[str]) -> None:
    """A cross on what has timed out, for colour alone does not tell it from what is merely bad."""
    place = {name: number for number, name in enumerate(names)}
    dead = [pair for pair, score in record.scores.items() if score.timed_out]
    if dead:
        figure.add_trace(
            go.Scatter(
                x=[place[pair.destination] for pair in dead],
                y=[place[pair.source] for pair in dead],
                mode="markers",
                marker={"symbol": "x-thin-open", "color": "#ffffff", "size": 9},
                hoverinfo="skip",
                showlegend=False,
            )
        )


def _spans(record: RoundRecord, names: Sequence[str]) -> list[tuple[str, int, int]]:
    """Each zone with its first and last place."""
    zones = record.zones
    numbered = groupby(enumerate(names), key=lambda one: zones[one[1]])
    return [(zone, its[0][0], its[-1][0]) for zone, group in numbered if (its := list(group))]


def _zone_lines(figure: go.Figure, record: RoundRecord, names: Sequence[str]) -> None:
    for _, _, last in _spans(record, names)[:-1]:
        figure.add_hline(last + 0.5, line={"color": _INK, "width": 1.5})
        figure.add_vline(last + 0.5, line={"color": _INK, "width": 1.5})


def _name_zones(figure: go.Figure, record: RoundRecord, names: Sequence[str]) -> None:
    """Below the columns of each zone, where the axes name instances."""
    for zone, first, last in _spans(record, names):
        middle = (first + last) / 2
        figure.add_annotation(
            text=zone or "no zone", x=middle, y=-0.01, yref="paper", yanchor="top", showarrow=False
        )


def _ticks(record: RoundRecord, names: Sequence[str]) -> dict[str, object]:
    if len(names) <= _NAMED:
        return {"tickvals": list(range(len(names))), "ticktext": list(names)}
    spans = _spans(record, names)
    middles = [(first + last) / 2 for _, first, last in spans]
    return {"tickvals": middles, "ticktext": [zone or "no zone" for zone, _, _ in spans]}


def graph(
    record: RoundRecord,
    health: Mapping[Pair, Score] | None = None,
    chosen: Collection[str] = (),
    place: str | None = None,
    seed: int = 1,
) -> go.Figure:
    """Instances, the healthier a pair the nearer to each other (figure 10).

    :param health: of the pairs that are drawn; the record's own by default.
    :param chosen: who is told apart by a ring.
    :param place: whose edges alone are drawn, as in the paper; all are where there are few.
    """
    scores = record.scores if health is None else health
    names = by_zone(record)
    found = layout(names, scores, seed)
    figure = go.Figure()
    edges = [
        (one, other)
        for number, one in enumerate(names)
        for other in names[number + 1 :]
        if Pair(one, other) in scores or Pair(other, one) in scores
        if place in (one, other) or (place is None and len(names) <= _NAMED)
    ]
    figure.add_trace(
        go.Scatter(
            x=[x for one, other in edges for x in (found.places[one][0], found.places[other][0], None)],
            y=[y for one, other in edges for y in (found.places[one][1], found.places[other][1], None)],
            mode="lines",
            line={"color": "rgba(100,112,133,.35)", "width": 1},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    zones = record.zones
    for number, (zone, group) in enumerate(groupby(names, key=lambda name: zones[name])):
        _nodes(figure, list(group), found.places, zone or "no zone", ZONES[number % len(ZONES)], chosen)
    if place is not None:
        _centre(figure, place, found.places[place])
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    note = f"edges are off by {found.stress:.0%} of the longest (root mean square)"
    figure.add_annotation(text=note, xref="paper", yref="paper", x=0, y=-0.06, showarrow=False)
    return _looks(figure, height=560)


def _nodes(
    figure: go.Figure,
    names: Sequence[str],
    places: Mapping[str, tuple[float, float]],
    zone: str,
    colour: str,
    chosen: Collection[str],
) -> None:
    figure.add_trace(
        go.Scatter(
            x=[places[name][0] for name in names],
            y=[places[name][1] for name in names],
            mode="markers+text" if len(places) <= _NAMED else "markers",
            text=list(names),
            textposition="top center",
            hovertemplate="%{text}<extra></extra>",
            name=zone,
            marker={
                "color": colour,
                "size": 12,
                "line": {
                    "color": [_INK if name in chosen else "#ffffff" for name in names],
                    "width": [3 if name in chosen else 1 for name in names],
                },
            },
        )
    )


def _centre(figure: go.Figure, name: str, where: tuple[float, float]) -> None:
    figure.add_trace(
        go.Scatter(
            x=[where[0]],
            y=[where[1]],
            mode="markers",
            marker={"symbol": "square", "size": 20, "color": _INK},
            hovertemplate=f"{name}<extra></extra>",
            name=f"{name}, the place",
        )
    )


def subset_map(found: Diagnosis) -> go.Figure:
    """The adjusted R² of all subsets (figure 6): a row each, the best at the top, its metrics filled."""
    metrics = list(found.data.metrics)
    rows = [[one.adjusted if name in one.metrics else None for name in metrics] for one in found.subsets]
    # A row is named by its number as well: two may have the same R².
    labels = [f"{one.adjusted:.4f}" for one in found.subsets]
    figure = go.Figure(
        go.Heatmap(
            z=rows,
            x=metrics,
            y=list(range(len(rows))),
            colorscale=[[0, "#efe0c5"], [1, "#8e1b1b"]],
            xgap=2,
            ygap=2,
            showscale=False,
            hovertemplate="%{x}: adjusted R² %{z:.4f}<extra></extra>",
            hoverongaps=False,
        )
    )
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(
        autorange="reversed",
        tickvals=list(range(len(rows))),
        ticktext=labels,
        showgrid=False,
        zeroline=False,
        title="adjusted R²",
    )
    return _looks(figure, height=120 + 22 * len(rows))


def residuals(found: Diagnosis) -> go.Figure:
    """Residuals over fitted values, of the model of all metrics (figure 7)."""
    model = found.whole
    figure = go.Figure(_dots(model.fitted, model.residuals))
    figure.add_hline(0, line={"color": _INK, "width": 1})
    figure.update_xaxes(title=f"fitted {found.data.response}", exponentformat="SI")
    figure.update_yaxes(title="residual", exponentformat="SI")
    return _looks(figure, height=360)


def q_q(found: Diagnosis) -> go.Figure:
    """Standardised residuals beside normal quantiles (figure 8): on the line if they are normal."""
    points = quantiles(found.whole.standardised)
    figure = go.Figure(_dots([q for q, _ in points], [value for _, value in points]))
    ends = [points[0][0], points[-1][0]]
    figure.add_trace(
        go.Scatter(
            x=ends, y=ends, mode="lines", line={"color": _INK, "width": 1}, hoverinfo="skip", showlegend=False
        )
    )
    figure.update_xaxes(title="normal quantile")
    figure.update_yaxes(title="standardised residual")
    return _looks(figure, height=360)


def _dots(x: Iterable[float], y: Iterable[float]) -> go.Scatter:
    dot = {"color": ZONES[0], "size": 5, "opacity": 0.6}
    return go.Scatter(
        x=list(x),
        y=list(y),
        mode="markers",
        marker=dot,
        showlegend=False,
        hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
    )


def _looks(figure: go.Figure, height: int) -> go.Figure:
    figure.update_layout(
        height=height,
        font=_FONT,
        paper_bgcolor="#ffffff",
        plot_bgcolor="#ffffff",
        margin={"l": 70, "r": 20, "t": 40, "b": 50},
        legend={"orientation": "h", "y": 1.04, "yanchor": "bottom", "x": 0},
    )
    figure.update_xaxes(gridcolor="#e6e9ee", zeroline=False)
    figure.update_yaxes(gridcolor="#e6e9ee", zeroline=False)
    return figure
