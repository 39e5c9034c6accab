"""Pictures of a round of health ([HEALTH] figures 9 and 10), and of one pair over time.  Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from apps.dashboard import ui
from apps.dashboard.ui.figures import BAD, SERIES
from measurement.evaluation.layout import drawn
from measurement.evaluation.results import Path
from measurement.health.choosing import Health
from measurement.health.model import Pair
from measurement.health.record import RoundRecord

HEALTHY, DEAD = 1.0, 0.0
SCALE = "Cividis"
"""Rises in lightness all the way, and is read alike with the usual colour blindnesses (Nuñez et al. 2018)."""
TOLD = 16
"""So many instances, and each cell has its number."""
EACH = 3
"""Of many instances, each is joined to so many that are closest to it."""
ALL = 15
"""So many, and all pairs are joined."""
NEAR = 0.05
"""How far apart instances are drawn whose health is perfect, where those that are dead are 1 apart."""
UNZONED = "no zone"


def ordered(record: RoundRecord) -> tuple[str, ...]:
    """The instances by zone, then by name: who stands together is near together."""
    zones = record.zones
    return tuple(sorted(zones, key=lambda name: (zones[name], name)))


def heat_map(record: RoundRecord, marked: Pair | None = None) -> go.Figure:
    """The health from the instance of a row to that of a column, by zone; a cross where a marker fired."""
    names = ordered(record)
    values = [[_total(record.scores, one, other) for other in names] for one in names]
    few = len(names) <= TOLD
    fired = [pair for pair, its in record.fired.items() if its]
    told = [
        [_told(value, Pair(one, other) in fired) for other, value in zip(names, row, strict=True)]
        for one, row in zip(names, values, strict=True)
    ]
    cells = go.Heatmap(
        z=values,
        x=list(names),
        y=list(names),
        zmin=DEAD,
        zmax=HEALTHY,
        colorscale=SCALE,
        xgap=1,
        ygap=1,
        text=told if few else None,
        texttemplate="%{text}" if few else None,
        hovertemplate="%{y} > %{x}: %{z:.3f}<extra></extra>",
        hoverongaps=False,
        colorbar={"title": {"text": "health", "side": "right"}, "thickness": 12},
    )
    crosses = go.Scatter(
        x=[pair.destination for pair in fired],
        y=[pair.source for pair in fired],
        mode="markers",
        marker={"symbol": "x-thin", "size": 10, "line": {"width": 2, "color": BAD}},
        hoverinfo="skip",
        showlegend=False,
    )
    figure = ui.quiet_axes(go.Figure([cells, *([] if few else [crosses])]), x="to", y="from")
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(type="category", tickangle=-60, showgrid=False)
    zones = [record.zones[name] for name in names]
    for place, (one, other) in enumerate(pairwise(zones)):
        if one != other:
            line: dict[str, Any] = {"color": "#667085", "width": 1.5, "dash": "dot"}
            figure.add_hline(y=place + 0.5, line=line)
            figure.add_vline(x=place + 0.5, line=line)
    if marked is not None and {*marked} <= {*names}:
        x, y = names.index(marked.destination), names.index(marked.source)
        figure.add_shape(
            type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line={"color": BAD, "width": 2}
        )
    return figure


def _told(health: float | None, fired: bool) -> str:
    return " ".join([*([] if health is None else [f"{health:.2f}"]), *(["✕"] if fired else [])])


def _total(scores: Health, one: str, other: str) -> float | None:
    score = scores.get(Pair(one, other))
    return None if score is None else score.total


def joint(record: RoundRecord) -> Mapping[Path, float]:
    """The mean health of both directions, of each two instances of which both are known."""
    found = {}
    names = ordered(record)
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            there, back = _total(record.scores, one, other), _total(record.scores, other, one)
            if there is not None and back is not None:
                found[Path(one, other)] = (there + back) / 2
    return found


def graph(record: RoundRecord, taken: Sequence[str] = ()) -> tuple[go.Figure, float]:
    """Instances as far apart as their health is poor, and the residual stress of the drawing.

    :param taken: those that are chosen.
    """
    health = joint(record)
    names = ordered(record)
    drawing = drawn(names, {path: NEAR + HEALTHY - its for path, its in health.items()})
    traces: list[Any] = [_edges(_joined(names, health), drawing.places)]
    zones = record.zones
    colours = {zone: SERIES[place % len(SERIES)] for place, zone in enumerate(sorted({*zones.values()}))}
    for zone, colour in colours.items():
        its = [name for name in names if zones[name] == zone]
        traces.append(
            go.Scatter(
                x=[drawing.places[name][0] for name in its],
                y=[drawing.places[name][1] for name in its],
                mode="markers+text" if len(names) <= 2 * TOLD else "markers",
                text=its,
                textposition="top center",
                name=zone or UNZONED,
                marker={
                    "size": [18 if name in taken else 11 for name in its],
                    "symbol": ["diamond" if name in taken else "circle" for name in its],
                    "color": colour,
                },
                hovertemplate="%{text}<extra></extra>",
            )
        )
    figure = ui.quiet_axes(go.Figure(traces))
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return figure, drawing.stress


def _joined(names: Sequence[str], health: Mapping[Path, float]) -> list[Path]:
    """All pairs of few instances; of many those that are closest to one of the two."""
    best = sorted(health, key=lambda path: -health[path])
    if len(names) <= ALL:
        return best
    count: Counter[str] = Counter()
    found = []
    for path in best:
        if min(count[path.one], count[path.other]) < EACH:
            found.append(path)
            count.update(path)
    return found


def _edges(paths: Sequence[Path], places: Mapping[str, tuple[float, float]]) -> Any:
    x: list[float | None] = []
    y: list[float | None] = []
    for path in paths:
        (x0, y0), (x1, y1) = places[path.one], places[path.other]
        x += [x0, x1, None]
        y += [y0, y1, None]
    line = {"width": 1, "color": "rgba(128,140,155,.45)"}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def history(points: Sequence[tuple[datetime, float | None]]) -> go.Figure:
    """The health of one pair, round by round; a gap where it was not known."""
    trace = go.Scatter(
        x=[at for at, _ in points],
        y=[value for _, value in points],
        mode="lines+markers",
        name="health",
        connectgaps=False,
    )
    figure = ui.figure([trace], y="health")
    figure.update_yaxes(range=[-0.02, 1.02])
    return figure
