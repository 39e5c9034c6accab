"""Charts of a run: figures over a key of the sweep with the paper's values, and trials second by second.

A plot shows values at full scale, so that the paper's points fit beside them; a timeline shows them as built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy  # noqa: F401 - plotly's own lazy import of it is not safe in threads
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adon.templates_catalog.builtin_templates import scale_qspec
from measurement.model import Metric
from measurement.statistics import Interval
from mininet_topos.experiments import document
from mininet_topos.experiments.measures import full_scale_factor, sample_figure, summarise
from mininet_topos.experiments.plan import swept_values
from mininet_topos.experiments.results import MeasurementRow, RunInfo, RunResult, Tables

COLOURS = ("#2f6fd0", "#c8621b", "#1f8a5b", "#8a5cc7", "#b3345a", "#7a7f0f")
"""Distinct with the usual colour vision deficiencies, on light and dark ground."""
INK, GRID, CLEAR = "#667085", "rgba(128,140,155,.25)", "rgba(0,0,0,0)"
DASHES = ("solid", "dot", "dash", "dashdot", "longdash")
MARKER_DASHES = {"event": "solid", "decision": "dash", "flow": "dot"}
LABELS = 24
"""Numbers of markers that fit side by side."""
TESTED = (Metric.THROUGHPUT, Metric.RTT, Metric.ONE_WAY_DELAY, Metric.LOSS, Metric.JITTER)
"""Metrics that a timeline can show; the first that is measured and has a bound is shown."""
_AXIS: dict[str, Any] = {"gridcolor": GRID, "zeroline": False}
LOOK = go.layout.Template(
    layout={
        "margin": {"l": 104, "r": 12, "t": 34, "b": 48},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13, "color": INK},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "modebar": {"bgcolor": CLEAR},
        "hovermode": "closest",
        "hoverlabel": {"font": {"color": "#1b2430"}, "bgcolor": "#ffffff"},
        "xaxis": _AXIS,
        "yaxis": {**_AXIS, "rangemode": "tozero", "automargin": True, "title": {"standoff": 12}},
    }
)


class Marker(NamedTuple):
    """Vertical line of a timeline; ``kind`` is a key of :data:`MARKER_DASHES`."""

    at: float
    kind: str
    text: str


def scale_axis(values: Iterable[float], unit: document.Unit) -> tuple[float, dict[str, str]]:
    """Return the divisor of an axis and how it writes its numbers: in the unit of the largest value."""
    _, _, name = document.format_quantity(max(map(abs, values), default=0.0), unit).partition(" ")
    divisor = document.parse_quantity(f"1 {name}", unit) if name else 1.0
    return divisor, {"ticksuffix": f" {name}", "hoverformat": ".4~r"}


def draw_plot(experiment: document.Experiment, result: RunResult, plot: document.Plot) -> go.Figure | None:
    """Return the chart of a figure over a swept value; None if the run has no value of the figure."""
    figure, x, by = experiment.figures[str(plot.y)], str(plot.x), plot.by or ""
    full = full_scale_factor(figure, experiment, result.info) or 1.0
    measured = sample_figure(result, figure)
    samples = [(trial.settings, value * full) for trial, value in measured if value is not None]
    if not samples:
        return None
    paper = [(where, value) for where, value in _find_paper_values(experiment, figure) if x in where]
    divisor, ticks = scale_axis([value for _, value in (*samples, *paper)], figure.unit)
    swept, is_line = swept_values(experiment), x in experiment.sweep
    places = [str(value) for value in swept[x]]
    text = figure.about or str(plot.y).replace("-", " ")
    chart = go.Figure()
    for curve, colour in zip(swept.get(by, (None,)), cycle(COLOURS), strict=False):
        found = [(str(where[x]), value / divisor) for where, value in samples if where.get(by) == curve]
        values = {place: [value for at, value in found if at == place] for place in places}
        expected = [(str(where[x]), value / divisor) for where, value in paper if where.get(by) == curve]
        name = text if curve is None else str(curve)
        chart.add_traces(list(_draw_curve(name, values, expected, colour, is_line=is_line)))
    layout = {"scattermode": "overlay" if is_line else "group", "scattergap": 0.7}
    chart.update_layout(layout, template=LOOK, height=380, legend_title_text=by)
    chart.update_xaxes(title=x, type="category", categoryarray=places)
    chart.update_yaxes(title=text + (" at full scale" if full != 1 else ""), **ticks)
    return chart


def _find_paper_values(
    experiment: document.Experiment, figure: document.Figure
) -> Iterator[tuple[Mapping[str, document.Scalar], float]]:
    """Yield ``where`` and the paper's value of each figure that differs in ``where`` only."""
    for one in experiment.figures.values():
        alike = one.model_copy(update={"where": figure.where, "about": figure.about, "paper": figure.paper})
        if one.paper is not None and alike == figure and one.where.items() >= figure.where.items():
            yield one.where, document.parse_quantity(one.paper, figure.unit)


def _draw_curve(
    name: str,
    values: Mapping[str, Sequence[float]],
    expected: Sequence[tuple[str, float]],
    colour: str,
    *,
    is_line: bool,
) -> Iterator[go.Scatter]:
    """Yield medians with intervals, a ring per repetition, and the values of the paper."""
    found = {x: summarise(its) for x, its in values.items() if its}
    spans = [(one.median, one.interval or Interval(one.median, one.median)) for one in found.values()]
    error = {
        "symmetric": False,
        "array": [max(0.0, span.high - median) for median, span in spans],
        "arrayminus": [max(0.0, median - span.low) for median, span in spans],
    }
    medians = [(x, one.median) for x, one in found.items()]
    rings = [(x, value) for x, its in values.items() for value in its]
    ring = {"size": 5, "color": CLEAR, "line": {"color": INK, "width": 1}}
    dot, cross = {"color": colour, "size": 9}, {"color": colour, "size": 9, "symbol": "x"}
    mode = "lines+markers" if is_line else "markers"
    group = {"offsetgroup": name, "legendgroup": name}
    yield _trace(medians, name, mode, marker=dot, error_y=error, **group)
    yield _trace(rings, name, "markers", marker=ring, showlegend=False, hoverinfo="skip", **group)
    if expected:
        yield _trace(expected, f"paper: {name}", "markers", marker=cross, offsetgroup=name)


def _trace(
    points: Sequence[tuple[str | float, float | None]], name: str, mode: str, **options: Any
) -> go.Scatter:
    x, y = [x for x, _ in points], [y for _, y in points]
    return go.Scatter(x=x, y=y, name=name, mode=mode, **options)


def draw_timeline(experiment: document.Experiment, info: RunInfo, tables: Tables) -> go.Figure:
    """Return a trial over time: tests of each path above, bytes that receivers counted below.

    A colour is a path and a line style a flow; vertical lines are the markers of :func:`list_markers`.
    """
    tests, unit, bounds = _shown_tests(experiment, info, tables)
    paths = sorted({row.path for row in tests} | {row.path for row in tables.throughput if row.path})
    colours: dict[str | None, str] = {**dict(zip(paths, cycle(COLOURS), strict=False)), None: INK}
    flows = dict.fromkeys(row.flow for row in tables.throughput)
    dashes = dict(zip(flows, cycle(DASHES), strict=False))
    rows = 2 if tests else 1
    chart = make_subplots(rows=rows, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    if tests:
        divisor, ticks = scale_axis([row.value or 0 for row in tests], unit)
        chart.add_traces(list(_draw_tests(tests, divisor, colours)), rows=1, cols=1)
        chart.update_yaxes(title=f"test: {tests[0].metric}", **ticks, row=1)
        _add_bounds(chart, {flow: bound / divisor for flow, bound in bounds.items()})
    rates = [row.received * 8 for row in tables.throughput]
    divisor, ticks = scale_axis(rates, document.Unit.BITS_PER_SECOND)
    for flow, dash in dashes.items():
        chart.add_traces(list(_draw_throughput(tables, flow, divisor, dash, colours)), rows=rows, cols=1)
    chart.update_yaxes(title="received", **ticks, row=rows)
    chart.update_xaxes(title="seconds after the start of the trial", row=rows)
    keys = {path: {"color": colours[path], "width": 6} for path in paths}
    keys |= {flow: {"color": INK, "width": 2, "dash": dash} for flow, dash in dashes.items()}
    for name, line in keys.items():
        chart.add_scatter(x=[None], y=[None], name=name, legendgroup=name, mode="lines", line=line)
    _add_markers(chart, list_markers(tables))
    height = 240 * rows
    legend = {"y": -60 / (height - 100), "yanchor": "top"}
    chart.update_layout(template=LOOK, height=height + 20, legend=legend)
    return chart


def _shown_tests(
    experiment: document.Experiment, info: RunInfo, tables: Tables
) -> tuple[list[MeasurementRow], document.Unit, dict[str, float]]:
    """Return tests of the metric to show, its unit, and bounds of flows on it as built, by flow."""
    specs = {}
    for entry in experiment.workload:
        spec = experiment.catalog[entry.template].qspec.override(entry.qspec)
        specs[entry.name] = scale_qspec(spec, 1 / info.scale)
    for metric in TESTED:
        rows = [row for row in tables.measurements if row.metric == metric and row.value is not None]
        bounds = {flow: bound for flow, spec in specs.items() if (bound := spec.bound(metric)) is not None}
        if rows and bounds:
            return rows, document.METRIC_UNITS.get(metric, document.Unit.SECONDS), bounds
    return [], document.Unit.COUNT, {}


def _draw_tests(
    tests: Sequence[MeasurementRow], divisor: float, colours: Mapping[str | None, str]
) -> Iterator[go.Scatter]:
    """Yield the tests of one direction of each path."""
    source = min(tests, key=lambda row: row.at).source
    for path in sorted({row.path for row in tests}):
        rows = [row for row in tests if (row.path, row.source) == (path, source)]
        points = sorted((row.at, (row.value or 0) / divisor) for row in rows)
        line = {"color": colours[path], "width": 1, "dash": "dot"}  # nothing is measured between two tests
        name = f"test of {path}"
        yield _trace(points, name, "lines+markers", line=line, legendgroup=path, showlegend=False)


def _add_bounds(chart: go.Figure, bounds: Mapping[str, float]) -> None:
    corners = cycle(("bottom right", "top left", "bottom left"))  # labels of neighbours do not overlap
    line = {"dash": "dot", "color": INK, "width": 1}
    for value in sorted(set(bounds.values())):
        flows = ", ".join(flow for flow, bound in bounds.items() if bound == value)
        label = {"text": f"bound of {flows}", "font": {"size": 11, "color": INK}}
        chart.add_hline(y=value, line=line, annotation=label, annotation_position=next(corners), row=1)


def _draw_throughput(
    tables: Tables, flow: str, divisor: float, dash: str, colours: Mapping[str | None, str]
) -> Iterator[go.Scatter]:
    """Yield one trace per path of a flow; a line is broken where the flow is on another path."""
    seconds = sorted((row for row in tables.throughput if row.flow == flow), key=lambda row: row.at)
    for path in dict.fromkeys(row.path for row in seconds):
        points = [(row.at + 0.5, row.received * 8 / divisor if row.path == path else None) for row in seconds]
        line = {"color": colours[path], "width": 1.8, "dash": dash}
        mode = "lines" if len(points) > 1 else "markers"
        name = f"{flow} on {path or 'no path'}"
        yield _trace(points, name, mode, line=line, legendgroup=flow, showlegend=False)


def list_markers(tables: Tables) -> list[Marker]:
    """Return events, decisions that changed a flow's state, and starts and ends of flows, in order."""
    found = []
    for row in tables.events:
        problem = f" (failed: {row.problem})" if row.problem else ""
        found.append(Marker(row.at, "event", f"{row.event} {row.phase}: {row.about}{problem}"))
    for flow in tables.flows:
        turns = tables.find_turns(flow.flow)
        found += [Marker(turn.at, "decision", f"{flow.flow}: {turn.change}") for turn in turns]
        ends = ((flow.began, "starts"), (flow.ended, "ends"))
        found += [Marker(at, "flow", f"{flow.flow} {what}") for at, what in ends if at is not None]
    return sorted(found)


def _add_markers(chart: go.Figure, markers: Sequence[Marker]) -> None:
    """Add a line per marker, with its number if that does not overlap the previous number."""
    numbered_at = -math.inf
    for number, one in enumerate(markers, 1):
        line = {"color": INK, "width": 1, "dash": MARKER_DASHES[one.kind]}
        chart.add_shape(x0=one.at, x1=one.at, y0=0, y1=1, yref="paper", line=line, opacity=0.55)
        if one.at - numbered_at >= markers[-1].at / LABELS:
            label = {"text": f"<b>{number}</b>", "showarrow": False, "yref": "paper", "yanchor": "bottom"}
            chart.add_annotation(label, x=one.at, y=1, hovertext=one.text)
            numbered_at = one.at
