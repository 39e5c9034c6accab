"""One trial over time, as the thesis's figure 18: tests, what receivers counted, events and decisions.

What happened is a numbered line in the chart and a row of the list below it: words along lines cannot be read
on a phone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adon.experiments.figures import Unit
from adon.experiments.happened import turns
from adon.experiments.results import MeasurementRow, Tables
from apps.experiments.axes import Axis
from apps.figures.looks import INK, SERIES, quiet_axes
from measurement.model import Metric

DASHES = {"solid": "", "dot": "2 3", "dash": "8 5", "dashdot": "8 4 2 4", "longdash": "14 6"}
"""Kinds of lines: plotly's name of each, and the same in SVG."""
NOWHERE = "no path known"


@dataclass(frozen=True, slots=True)
class Marked:
    """One moment of a trial.

    :param kind: ``event``, ``decision`` or ``flow``.
    """

    number: int
    at: float
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class Key:
    """What a line's look means.

    :param colour: of a path; empty for a flow, whose lines have any colour.
    :param dash: of a flow as SVG has it; empty for an unbroken line, and for a path.
    """

    name: str
    colour: str
    dash: str


def keys(tables: Tables) -> list[Key]:
    """The legend, paths first; apart from the chart, where on a phone it would cover what it explains."""
    colours, dashes = _colours(tables), _dashes(tables)
    paths = [Key(path, colour, "") for path, colour in colours.items() if path != NOWHERE]
    return [*paths, *(Key(flow, "", DASHES[dash]) for flow, dash in dashes.items())]


def _colours(tables: Tables) -> dict[str, str]:
    # What no flow and no test was on needs no colour.
    paths = sorted({row.path for row in _tests(tables)} | {row.path for row in tables.throughput if row.path})
    return {**{path: SERIES[n % len(SERIES)] for n, path in enumerate(paths)}, NOWHERE: INK}


def _dashes(tables: Tables) -> dict[str, str]:
    flows = dict.fromkeys(row.flow for row in tables.throughput)
    return {flow: list(DASHES)[n % len(DASHES)] for n, flow in enumerate(flows)}


def _tests(tables: Tables) -> list[MeasurementRow]:
    return [row for row in tables.measurements if row.metric == Metric.THROUGHPUT and row.value is not None]


def marked(tables: Tables) -> list[Marked]:
    """Events, turns of decisions, beginnings and ends of flows, in order."""
    found = sorted(_moments(tables))
    return [Marked(number, at, kind, what) for number, (at, kind, what) in enumerate(found, 1)]


def _moments(tables: Tables) -> Iterator[tuple[float, str, str]]:
    for row in tables.events:
        done = f": not done: {row.trouble}" if row.trouble else ""
        yield row.at, "event", f"{row.event} {row.phase}: {row.about}{done}"
    for flow in tables.flows:
        for at, turn in turns(tables, flow.flow):
            yield at, "decision", f"{flow.flow}: {turn}"
        if flow.began is not None:
            yield flow.began, "flow", f"{flow.flow} begins"
        if flow.ended is not None:
            yield flow.ended, "flow", f"{flow.flow} ends"


def timeline(tables: Tables) -> go.Figure:
    """The chart: tests on each path above (where there were any), what receivers counted below.

    A colour is a path, a kind of line a flow.
    """
    tests, colours, dashes = _tests(tables), _colours(tables), _dashes(tables)
    rates = [row.received * 8 for row in tables.throughput] + [row.value or 0.0 for row in tests]
    axis = Axis.of(rates, Unit.BITS_PER_SECOND)
    rows = 2 if tests else 1
    chart = make_subplots(rows=rows, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    for path in dict.fromkeys(row.path for row in sorted(tests, key=lambda row: row.path)):
        chart.add_trace(_tested(tests, path, colours[path], axis), row=1, col=1)
    for flow, dash in dashes.items():
        for path in dict.fromkeys(row.path or NOWHERE for row in tables.throughput if row.flow == flow):
            chart.add_trace(_received(tables, flow, path, (colours[path], dash), axis), row=rows, col=1)
    quiet_axes(chart)
    chart.update_yaxes(rangemode="tozero", title_text=axis.title("received"), row=rows, col=1)
    if tests:
        chart.update_yaxes(rangemode="tozero", title_text=axis.title("tested"), row=1, col=1)
    chart.update_xaxes(title_text="seconds since the trial's beginning", row=rows, col=1)
    _mark(chart, marked(tables), rows)
    chart.update_layout(margin={"t": 64}, showlegend=False)
    return chart


def _tested(tests: list[MeasurementRow], path: str, colour: str, axis: Axis) -> go.Scatter:
    points = sorted((row.at, (row.value or 0.0) / axis.factor) for row in tests if row.path == path)
    return go.Scatter(
        x=[at for at, _ in points],
        y=[value for _, value in points],
        name=f"tests of {path}",
        mode="lines+markers",
        # The dotted line leads the eye; between two tests nothing was measured.
        line={"color": colour, "width": 1, "dash": "dot"},
        marker={"size": 8},
        hovertemplate=f"%{{y:.4g}} {axis.unit}",
    )


def _received(tables: Tables, flow: str, path: str, look: tuple[str, str], axis: Axis) -> go.Scatter:
    """One flow on one path; where it is on another, the line is broken."""
    seconds = sorted((row for row in tables.throughput if row.flow == flow), key=lambda row: row.at)
    colour, dash = look
    return go.Scatter(
        x=[row.at + 0.5 for row in seconds],
        y=[row.received * 8 / axis.factor if (row.path or NOWHERE) == path else None for row in seconds],
        name=f"{flow} on {path}" if path != NOWHERE else flow,
        mode="lines" if len(seconds) > 1 else "markers",
        line={"color": colour, "width": 1.8, "dash": dash},
        hovertemplate=f"%{{y:.4g}} {axis.unit}",
    )


def _mark(chart: go.Figure, moments: list[Marked], rows: int) -> None:
    """A line through every part for each moment; numbers of moments close together are told as one."""
    whole = max((one.at for one in moments), default=1.0) or 1.0
    for one in moments:
        dash = {"event": "solid", "decision": "dash", "flow": "dot"}[one.kind]
        for row in range(1, rows + 1):
            line = {"color": INK, "width": 1, "dash": dash}
            chart.add_vline(x=one.at, line=line, opacity=0.55, row=row, col=1)
    last, level = float("-inf"), 0
    for close in together(moments, whole / 50):
        at = close[0].at
        level = (level + 1) % 4 if at - last < whole / 8 else 0
        last = close[-1].at
        label = str(close[0].number) if len(close) == 1 else f"{close[0].number}–{close[-1].number}"
        chart.add_annotation(
            x=at, xref="x", y=1, yref="y domain", yshift=2 + 14 * level, text=f"<b>{label}</b>",
            showarrow=False, yanchor="bottom", font={"size": 12},
            hovertext="<br>".join(f"{one.number} {one.what}" for one in close),
        )  # fmt: skip


def together(moments: list[Marked], within: float) -> list[list[Marked]]:
    """Moments in order, those together that come within so many seconds of the first of them."""
    found: list[list[Marked]] = []
    for one in moments:
        if found and one.at - found[-1][0].at < within:
            found[-1].append(one)
        else:
            found.append([one])
    return found
