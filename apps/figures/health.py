"""A round of health ([HEALTH] figures 9 and 10), and one pair over time: values to plotly figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import combinations, groupby

import plotly.graph_objects as go

from apps.figures.looks import INK, SERIES, figure, quiet_axes
from apps.figures.map_layout import lay_out_map
from measurement.health.model import Pair
from measurement.health.pair_scores import Score
from measurement.health.record import RoundRecord

HEALTH = ((0.0, "#8e1b1b"), (0.35, "#d9603b"), (0.7, "#f3bf7a"), (1.0, "#fbf6e3"))
"""Red is unhealthy, light is healthy, as in the paper's figure 9; ever lighter, so that it prints, too."""
UNKNOWN = "#c9ced6"
DARK, LIGHT = "#1b2430", "#ffffff"
_LIGHT_ON = 0.35
"""Up to this health a light cross is seen on a cell, above it a dark one."""
NUMBERED = 16
"""Up to so many instances each cell has its number."""
NAMED = 40
"""Above so many instances the axes have zones only."""
ALL = 15
"""Up to so many instances all pairs are joined;"""
EACH = 3
"""of more, each instance to so many that are closest to it."""
UNZONED = "no zone"
SHORTEST, LONGEST = 0.15, 1.0
"""Lengths of the edges of a perfect pair and of a dead pair."""
SCALE = {
    "title": {"text": "health", "side": "right"},
    "thickness": 12,
    "tickvals": [0, 0.25, 0.5, 0.75, 1],
    "orientation": "h",
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
}
"""At the foot: beside the map it would take a fifth of a phone's width."""
FOOT = 96
"""Pixels for that, and for the zones."""

Both = tuple[str, str]


def by_zone(record: RoundRecord) -> list[str]:
    """The instances in the order of a heat map: by zone, then by name."""
    zones = record.zones
    return sorted(zones, key=lambda name: (zones[name], name))


def tall(record: RoundRecord) -> int:
    """Pixels that a heat map of these instances should have in height."""
    return max(480, min(960, 200 + 34 * len(record.instances)))


def heat_map(record: RoundRecord, marked: Pair | None = None) -> go.Figure:
    """Each pair's health, who looks down the side and whom along the top, ordered by zone (figure 9).

    A cross is on what timed out and where a marker fired: colour alone does not tell it.  Beside a number it
    is a letter, so that it does not lie on it.

    :param marked: the pair whose cell has a frame.
    """
    names = by_zone(record)
    pairs = [[Pair(one, other) for other in names] for one in names]
    few = len(names) <= NUMBERED
    crossed = sorted(
        {pair for pair, score in record.scores.items() if score.timed_out}
        | {pair for pair, its in record.fired.items() if its}
    )
    gap = 0 if len(names) > NAMED else 1
    cells = go.Heatmap(
        z=[[_total(record.scores, pair) for pair in row] for row in pairs],
        x=names,
        y=names,
        zmin=0,
        zmax=1,
        colorscale=[list(one) for one in HEALTH],
        text=[[_number(record, pair, pair in crossed) for pair in row] for row in pairs] if few else None,
        texttemplate="%{text}" if few else None,
        hovertext=[[_told(record, pair) for pair in row] for row in pairs],
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        xgap=gap,
        ygap=gap,
        colorbar=SCALE,
    )
    drawn = quiet_axes(
        go.Figure([cells, *([] if few else [_crosses(record, crossed)])]), x="towards", y="from"
    )
    drawn.update_layout(hovermode="closest", plot_bgcolor=UNKNOWN, margin={"l": 10, "b": FOOT})
    side = {"type": "category", "showgrid": False, "automargin": True, **_ticks(record, names)}
    first, last = -0.5, len(names) - 0.5
    drawn.update_yaxes(**side, range=[last, first])
    if len(names) <= NAMED:
        side["tickangle"] = -90
    drawn.update_xaxes(**side, range=[first, last], side="top")
    _show_zones(drawn, record, names)
    if marked is not None and {*marked} <= {*names}:
        x, y = names.index(marked.destination), names.index(marked.source)
        drawn.add_shape(
            type="rect",
            x0=x - 0.5,
            x1=x + 0.5,
            y0=y - 0.5,
            y1=y + 0.5,
            line={"color": SERIES[0], "width": 3},
        )
    return drawn


def _total(health: Mapping[Pair, Score], pair: Pair) -> float | None:
    return None if pair not in health else health[pair].total


def _number(record: RoundRecord, pair: Pair, crossed: bool) -> str:
    total = _total(record.scores, pair)
    return " ".join([*([] if total is None else [f"{total:.2f}"]), *(["✕"] if crossed else [])])


def _told(record: RoundRecord, pair: Pair) -> str:
    total = _total(record.scores, pair)
    words = ["not known" if total is None else f"{total:.3f}"]
    if pair in record.scores and record.scores[pair].timed_out:
        words.append("timed out")
    words += [one.marker.value for one in record.fired.get(pair, ())]
    return f"{pair.source} > {pair.destination}: {', '.join(words)}"


def _crosses(record: RoundRecord, crossed: Sequence[Pair]) -> go.Scatter:
    health = [_total(record.scores, pair) for pair in crossed]
    dark = [DARK if value is None or value > _LIGHT_ON else LIGHT for value in health]
    return go.Scatter(
        x=[pair.destination for pair in crossed],
        y=[pair.source for pair in crossed],
        mode="markers",
        marker={"symbol": "x-thin", "size": 11, "line": {"width": 1.5, "color": dark}},
        hoverinfo="skip",
        showlegend=False,
    )


def _spans(record: RoundRecord, names: Sequence[str]) -> list[tuple[str, int, int]]:
    """Each zone with its first and last place."""
    zones = record.zones
    numbered = groupby(enumerate(names), key=lambda one: zones[one[1]])
    return [(zone, its[0][0], its[-1][0]) for zone, group in numbered if (its := list(group))]


def _show_zones(drawn: go.Figure, record: RoundRecord, names: Sequence[str]) -> None:
    """Lines between zones; their names below the columns, where the axes name instances."""
    spans = _spans(record, names)
    for _, _, last in spans[:-1]:
        drawn.add_hline(last + 0.5, line={"color": DARK, "width": 1.5})
        drawn.add_vline(last + 0.5, line={"color": DARK, "width": 1.5})
    if len(names) <= NAMED:
        # An axis of its own, by numbers: its names turn where they would lie on each other.
        drawn.add_trace(go.Scatter(x=[None], y=[None], xaxis="x2", hoverinfo="skip", showlegend=False))
        drawn.update_layout(
            xaxis2={
                "type": "linear",
                "overlaying": "x",
                "side": "bottom",
                "range": [-0.5, len(names) - 0.5],
                "tickvals": [(first + last) / 2 for _, first, last in spans],
                "ticktext": [zone or UNZONED for zone, _, _ in spans],
                "showgrid": False,
                "zeroline": False,
                "automargin": True,
                "fixedrange": True,
            }
        )


def _ticks(record: RoundRecord, names: Sequence[str]) -> dict[str, object]:
    """None for names: so that a narrow window has as many of them as there is room for."""
    if len(names) <= NAMED:
        return {}
    spans = _spans(record, names)
    middles = [names[(first + last) // 2] for _, first, last in spans]
    return {"tickvals": middles, "ticktext": [zone or UNZONED for zone, _, _ in spans]}


def graph(
    record: RoundRecord,
    health: Mapping[Pair, Score] | None = None,
    chosen: Collection[str] = (),
    place: str | None = None,
) -> tuple[go.Figure, float]:
    """Instances, the healthier a pair the nearer to each other (figure 10).

    :param health: of the pairs that are drawn; the record's own by default.
    :param chosen: who is told apart by a larger diamond.
    :param place: whose edges alone are drawn, as in the paper; else those of :func:`joined`.
    :returns: the figure, and the root of the mean squared error of the edges as a share of the longest edge.
    """
    scores = record.scores if health is None else health
    names = by_zone(record)
    wanted = edge_lengths(names, scores)
    found = lay_out_map(names, wanted)
    squares = [(found.distance(both) - length) ** 2 for both, length in wanted.items()]
    error = math.sqrt(math.fsum(squares) / len(squares)) / LONGEST if squares else 0.0
    edges = joined(names, wanted) if place is None else [both for both in wanted if place in both]
    drawn = quiet_axes(go.Figure(_edges(edges, found.positions)))
    zones = record.zones
    for number, (zone, group) in enumerate(groupby(names, key=lambda name: zones[name])):
        colour = SERIES[number % len(SERIES)]
        drawn.add_trace(_nodes(list(group), found.positions, zone or UNZONED, colour, chosen))
    if place is not None:
        drawn.add_trace(_centre(place, found.positions[place]))
    drawn.update_layout(hovermode="closest")
    drawn.update_xaxes(visible=False)
    drawn.update_yaxes(visible=False, scaleanchor="x")
    return drawn, error


def edge_lengths(names: Sequence[str], health: Mapping[Pair, Score]) -> dict[Both, float]:
    """Return the length of the edge of each two instances with a score, by the mean of both directions."""
    found: dict[Both, float] = {}
    for one, other in combinations(names, 2):
        both = (health.get(Pair(one, other)), health.get(Pair(other, one)))
        known = [score.total for score in both if score is not None and score.total is not None]
        if known:
            found[one, other] = LONGEST - (LONGEST - SHORTEST) * sum(known) / len(known)
    return found


def joined(names: Sequence[str], wanted: Mapping[Both, float]) -> list[Both]:
    """All pairs of few instances; of many those that are closest to one of the two.

    :param wanted: how long the edge of each two is to be.
    """
    best = sorted(wanted, key=lambda both: wanted[both])
    if len(names) <= ALL:
        return best
    count: Counter[str] = Counter()
    found = []
    for both in best:
        if min(count[one] for one in both) < EACH:
            found.append(both)
            count.update(both)
    return found


def _edges(edges: Sequence[Both], places: Mapping[str, tuple[float, float]]) -> go.Scatter:
    return go.Scatter(
        x=[x for one, other in edges for x in (places[one][0], places[other][0], None)],
        y=[y for one, other in edges for y in (places[one][1], places[other][1], None)],
        mode="lines",
        line={"color": "rgba(128,140,155,.45)", "width": 1},
        hoverinfo="skip",
        showlegend=False,
    )


def _nodes(
    names: Sequence[str],
    places: Mapping[str, tuple[float, float]],
    zone: str,
    colour: str,
    chosen: Collection[str],
) -> go.Scatter:
    return go.Scatter(
        x=[places[name][0] for name in names],
        y=[places[name][1] for name in names],
        mode="markers+text" if len(places) <= NAMED else "markers",
        text=list(names),
        textposition="top center",
        hovertemplate="%{text}<extra></extra>",
        name=zone,
        marker={
            "color": colour,
            "opacity": 1,
            "size": [18 if name in chosen else 11 for name in names],
            "symbol": ["diamond" if name in chosen else "circle" for name in names],
        },
    )


def _centre(name: str, where: tuple[float, float]) -> go.Scatter:
    return go.Scatter(
        x=[where[0]],
        y=[where[1]],
        mode="markers",
        marker={"symbol": "square", "size": 20, "color": INK},
        hovertemplate=f"{name}<extra></extra>",
        name=f"{name}, the place",
    )


def history(points: Sequence[tuple[datetime, float | None]]) -> go.Figure:
    """The health of one pair, round by round; a gap where it was not known."""
    trace = go.Scatter(
        x=[at for at, _ in points],
        y=[value for _, value in points],
        mode="lines+markers",
        name="health",
        connectgaps=False,
    )
    drawn = figure([trace], y="health")
    drawn.update_yaxes(range=[-0.02, 1.02])
    return drawn
