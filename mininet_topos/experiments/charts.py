"""Charts of a run: figures over a key of the sweep with the paper's values, and trials second by second.

A plot shows values at full scale, so that the paper's points fit beside them; a timeline shows them as built.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, NamedTuple

import numpy  # noqa: F401 - plotly's own lazy import of it is not safe in threads
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adon.units import format_count
from measurement.model import Metric
from mininet_topos.experiments.document import Experiment, Figure, Plot, Scalar, Unit, parse_quantity
from mininet_topos.experiments.measures import Observed, Sample, full_scale_factor, sample_figure, summarise
from mininet_topos.experiments.plan import POLICY, swept_values
from mininet_topos.experiments.results import MeasurementRow, RunInfo, Tables
from mininet_topos.experiments.timeline import find_turns
from mininet_topos.experiments.verdicts import format_quantity

COLOURS = ("#2f6fd0", "#c8621b", "#1f8a5b", "#8a5cc7", "#b3345a", "#7a7f0f")
"""Distinct with the usual colour vision deficiencies, on light and dark ground."""
INK = "#667085"
DASHES = {"solid": "", "dot": "2 3", "dash": "8 5", "dashdot": "8 4 2 4", "longdash": "14 6"}
"""Line styles of flows: plotly's name and SVG's ``stroke-dasharray``."""
NO_PATH = "no path"
TESTED = (Metric.THROUGHPUT, Metric.RTT, Metric.ONE_WAY_DELAY, Metric.LOSS, Metric.JITTER)
"""Metrics that a timeline can show; the first that is measured and has a bound is shown."""
_PREFIXES: Mapping[Unit, tuple[tuple[float, str], ...]] = {
    Unit.BITS_PER_SECOND: ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")),
    Unit.BYTES: ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    Unit.SECONDS: ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    Unit.RATIO: ((0.01, "%"),),
    Unit.COUNT: ((1.0, ""),),
}


class Axis(NamedTuple):
    """Unit of an axis: values are divided by ``divisor``."""

    divisor: float
    unit: str

    def title(self, text: str) -> str:
        """Return ``throughput, Gbps``."""
        return f"{text}, {self.unit}" if self.unit else text


class Moment(NamedTuple):
    """Numbered line of a timeline; ``kind`` is event, decision or flow."""

    number: int
    at: float
    kind: str
    text: str


class Key(NamedTuple):
    """Entry of a timeline's legend: a path has a colour, a flow a dash (SVG)."""

    name: str
    colour: str
    dash: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Chart of one trial with its legend and the texts of its numbered lines."""

    chart: go.Figure
    keys: list[Key]
    moments: list[Moment]


def choose_axis(values: Iterable[float], unit: Unit) -> Axis:
    """Return the unit in which the largest value is a short number."""
    largest = max(map(abs, values), default=0.0)
    prefixes = _PREFIXES[unit]
    return Axis(*next((one for one in prefixes if largest >= one[0]), prefixes[-1]))


def draw_plot(experiment: Experiment, observed: Observed, plot: Plot) -> go.Figure | None:
    """Return the chart of a line or bar plot; None if the run has no value of its figure."""
    figure = experiment.figures[str(plot.y)]
    samples = [one for one in sample_figure(observed, figure, plot.where) if one.value is not None]
    if not samples:
        return None
    factor = full_scale_factor(figure, experiment, observed.info) or 1.0
    paper = [parse_quantity(point.y, figure.unit) for point in plot.paper]
    axis = choose_axis([*(float(one.value or 0) * factor for one in samples), *paper], figure.unit)
    swept = swept_values(experiment)
    curves = [*swept.get(plot.by or "", (None,))]
    colours = dict(zip(curves, cycle(COLOURS), strict=False))
    places = [str(value) for value in swept.get(str(plot.x), ())]
    text = figure.about or str(plot.y).replace("-", " ")
    chart = go.Figure()
    for curve in curves:
        name = text if curve is None else str(curve)
        chosen = [one for one in samples if plot.by is None or _setting(one, plot.by) == curve]
        chart.add_traces(list(_curve(plot, figure, name, chosen, places, colours[curve], (factor, axis))))
    chart.add_traces(list(_paper_points(plot, figure, colours, axis)))
    _style(chart, 380)
    width = 0.2 if len(places) * len(curves) > 4 else 1 - 0.15 * len(places) * len(curves)
    chart.update_layout(barmode="group", boxmode="group", bargap=width, boxgap=width)
    chart.update_xaxes(title=_key_text(str(plot.x)), type="category", categoryarray=places)
    chart.update_yaxes(title=axis.title(text + (" at full scale" if factor != 1 else "")), rangemode="tozero")
    return chart


def _setting(sample: Sample, key: str | None) -> Scalar:
    return sample.trial.policy if key == POLICY else sample.trial.point.get(str(key))


def _key_text(key: str) -> str:
    """``size of soykb`` for ``soykb.size``."""
    of, _, field = key.partition(".")
    return f"{field.replace('.', ' ')} of {of}" if field else key


def _curve(
    plot: Plot,
    figure: Figure,
    name: str,
    samples: Sequence[Sample],
    places: Sequence[str],
    colour: str,
    scales: tuple[float, Axis],
) -> Iterator[go.Bar | go.Scatter | go.Box]:
    """Yield medians with intervals, and a ring per repetition."""
    factor, axis = scales
    scale = factor / axis.divisor
    values = {
        x: [float(one.value or 0) for one in samples if str(_setting(one, plot.x)) == x] for x in places
    }
    found = {x: summary for x in places if (summary := summarise(values[x])) is not None}
    spans = [one.interval for one in found.values()]
    ends = list(zip(found.values(), spans, strict=True))
    error = {
        "symmetric": False,
        "array": [max(0.0, span.high - one.median) * scale if span else 0 for one, span in ends],
        "arrayminus": [max(0.0, one.median - span.low) * scale if span else 0 for one, span in ends],
        "thickness": 1.2,
        "color": INK if plot.kind == "bar" else colour,
    }
    texts = [
        f"{format_quantity(one.median * factor, figure.unit)}, {format_count(one.count, 'repetition')}"
        for one in found.values()
    ]
    common = {
        "x": list(found),
        "y": [one.median * scale for one in found.values()],
        "name": name,
        "legendgroup": name,
        "error_y": error,
        "customdata": texts,
        "hovertemplate": f"{name}, %{{x}}: %{{customdata}}<extra></extra>",
    }
    rings = {
        "x": [x for x in places for _ in values[x]],
        "y": [value * scale for x in places for value in values[x]],
        "legendgroup": name,
        "showlegend": False,
        "hoverinfo": "skip",
        "marker": {"size": 5, "color": "rgba(0,0,0,0)", "line": {"color": INK, "width": 1}},
    }
    if plot.kind == "bar":
        # A box without a box: plotly places boxes, but not points, beside the other bars of a place.
        clear = "rgba(0,0,0,0)"
        yield go.Bar(**common, offsetgroup=name, marker={"color": colour})
        yield go.Box(
            **rings,
            offsetgroup=name,
            boxpoints="all",
            pointpos=0,
            jitter=0.3,
            fillcolor=clear,
            line_color=clear,
        )
        return
    yield go.Scatter(**common, mode="lines+markers", line={"color": colour, "width": 2}, marker={"size": 8})
    yield go.Scatter(**rings, mode="markers")


def _paper_points(
    plot: Plot, figure: Figure, colours: Mapping[Scalar, str], axis: Axis
) -> Iterator[go.Scatter]:
    for curve in dict.fromkeys(point.by for point in plot.paper):
        points = [point for point in plot.paper if point.by == curve]
        colour = INK if curve is None else colours.get(curve, INK)
        name = "paper" if curve is None else f"paper: {curve}"
        yield go.Scatter(
            x=[str(point.x) for point in points],
            y=[parse_quantity(point.y, figure.unit) / axis.divisor for point in points],
            name=name,
            mode="lines+markers",
            line={"dash": "dot", "width": 1, "color": colour},
            marker={"symbol": "x", "size": 9, "color": colour},
            hovertemplate=f"{name}, %{{x}}: %{{y:.4g}} {axis.unit}<extra></extra>",
        )


def draw_timeline(experiment: Experiment, info: RunInfo, tables: Tables) -> Timeline:
    """Return a trial over time: tests of each path above, bytes that receivers counted below.

    A colour is a path and a line style a flow; numbered lines are events, decisions and ends of flows.
    """
    tests, unit, bounds = _shown_tests(experiment, info, tables)
    paths = sorted({row.path for row in tests} | {row.path for row in tables.throughput if row.path})
    colours = {**dict(zip(paths, cycle(COLOURS), strict=False)), NO_PATH: INK}
    flows = dict.fromkeys(row.flow for row in tables.throughput)
    dashes = dict(zip(flows, cycle(DASHES), strict=False))
    rates = choose_axis((row.received * 8 for row in tables.throughput), Unit.BITS_PER_SECOND)
    rows = 2 if tests else 1
    chart = make_subplots(rows=rows, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    _style(chart, 240 * rows)
    if tests:
        _add_tests(chart, tests, choose_axis([row.value or 0 for row in tests], unit), colours, bounds)
    for flow in flows:
        for trace in _received(tables, flow, dashes[flow], colours, rates):
            chart.add_trace(trace, row=rows, col=1)
    chart.update_yaxes(title_text=rates.title("received"), row=rows, col=1)
    chart.update_yaxes(rangemode="tozero")
    chart.update_xaxes(title_text="seconds after the start of the trial", row=rows, col=1)
    moments = list_moments(tables)
    _add_moments(chart, moments, rows)
    chart.update_layout(margin={"t": 64}, showlegend=False)
    keys = [Key(path, colours[path], "") for path in paths]
    return Timeline(chart, [*keys, *(Key(flow, "", DASHES[dash]) for flow, dash in dashes.items())], moments)


def _shown_tests(
    experiment: Experiment, info: RunInfo, tables: Tables
) -> tuple[list[MeasurementRow], Unit, dict[str, float]]:
    """Tests of the metric to show, its unit, and the bounds of flows on it, by flow."""
    specs = {
        entry.name: experiment.catalog[entry.template].qspec.overridden(entry.qspec)
        for entry in experiment.workload
        if entry.template in experiment.catalog
    }
    for metric in TESTED:
        rows = [row for row in tables.measurements if row.metric == metric and row.value is not None]
        bounds = {flow: bound for flow, spec in specs.items() if (bound := spec.bound(metric)) is not None}
        if rows and bounds:
            is_rate = metric is Metric.THROUGHPUT
            unit = Unit.BITS_PER_SECOND if is_rate else Unit.RATIO if metric is Metric.LOSS else Unit.SECONDS
            divisor = info.scale if is_rate else 1.0
            return rows, unit, {flow: bound / divisor for flow, bound in bounds.items()}
    return [], Unit.COUNT, {}


def _add_tests(
    chart: go.Figure,
    tests: Sequence[MeasurementRow],
    axis: Axis,
    colours: Mapping[str, str],
    bounds: Mapping[str, float],
) -> None:
    source = min(tests, key=lambda row: row.at).source  # one direction of each path
    for path in dict.fromkeys(row.path for row in sorted(tests, key=lambda row: row.path)):
        points = sorted((row.at, row.value or 0) for row in tests if (row.path, row.source) == (path, source))
        trace = go.Scatter(
            x=[at for at, _ in points],
            y=[value / axis.divisor for _, value in points],
            name=f"test of {path}",
            mode="lines+markers",
            line={"color": colours[path], "width": 1, "dash": "dot"},  # nothing is measured between two tests
            marker={"size": 8},
            hovertemplate=f"%{{y:.4g}} {axis.unit}",
        )
        chart.add_trace(trace, row=1, col=1)
    corners = cycle(("bottom right", "top left", "bottom left"))  # labels of neighbours do not overlap
    for value in sorted(set(bounds.values())):
        flows = ", ".join(flow for flow, bound in bounds.items() if bound == value)
        chart.add_hline(
            y=value / axis.divisor,
            line={"dash": "dot", "color": INK, "width": 1},
            annotation={"text": f"bound of {flows}", "font": {"size": 11, "color": INK}},
            annotation_position=next(corners),
            row=1,
            col=1,
        )
    chart.update_yaxes(title_text=axis.title(f"test: {Metric(tests[0].metric).value}"), row=1, col=1)


def _received(
    tables: Tables, flow: str, dash: str, colours: Mapping[str, str], axis: Axis
) -> Iterator[go.Scatter]:
    """Yield one trace per path of a flow; a line is broken where the flow is on another path."""
    seconds = sorted((row for row in tables.throughput if row.flow == flow), key=lambda row: row.at)
    for path in dict.fromkeys(row.path or NO_PATH for row in seconds):
        yield go.Scatter(
            x=[row.at + 0.5 for row in seconds],
            y=[row.received * 8 / axis.divisor if (row.path or NO_PATH) == path else None for row in seconds],
            name=f"{flow} on {path}",
            mode="lines" if len(seconds) > 1 else "markers",
            line={"color": colours[path], "width": 1.8, "dash": dash},
            hovertemplate=f"%{{y:.4g}} {axis.unit}",
        )


def list_moments(tables: Tables) -> list[Moment]:
    """Return events, decisions that changed a flow's state, and starts and ends of flows, in order."""
    found: list[tuple[float, str, str]] = []
    for row in tables.events:
        problem = f" (failed: {row.problem})" if row.problem else ""
        found.append((row.at, "event", f"{row.event} {row.phase}: {row.about}{problem}"))
    for flow in tables.flows:
        found += [(at, "decision", f"{flow.flow}: {turn}") for at, turn in find_turns(tables, flow.flow)]
        ends = ((flow.began, "starts"), (flow.ended, "ends"))
        found += [(at, "flow", f"{flow.flow} {what}") for at, what in ends if at is not None]
    return [Moment(number, *one) for number, one in enumerate(sorted(found), 1)]


def _add_moments(chart: go.Figure, moments: Sequence[Moment], rows: int) -> None:
    """Add a line per moment; the numbers of moments that are close together become one label."""
    whole = max((one.at for one in moments), default=1.0) or 1.0
    for one in moments:
        dash = {"event": "solid", "decision": "dash", "flow": "dot"}[one.kind]
        for row in range(1, rows + 1):
            chart.add_vline(
                x=one.at, line={"color": INK, "width": 1, "dash": dash}, opacity=0.55, row=row, col=1
            )
    groups: list[list[Moment]] = []
    for one in moments:
        if groups and one.at - groups[-1][0].at < whole / 40:
            groups[-1].append(one)
        else:
            groups.append([one])
    last, level = float("-inf"), 0
    for group in groups:
        level = (level + 1) % 3 if group[0].at - last < whole / 16 else 0
        last = group[0].at
        numbers = str(group[0].number) if len(group) == 1 else f"{group[0].number}–{group[-1].number}"
        chart.add_annotation(
            x=last, xref="x", y=1, yref="y domain", yshift=2 + 14 * level, text=f"<b>{numbers}</b>",
            showarrow=False, yanchor="bottom", font={"size": 12},
            hovertext="<br>".join(f"{one.number} {one.text}" for one in group),
        )  # fmt: skip


def _style(chart: go.Figure, height: int) -> None:
    grid: dict[str, Any] = {"gridcolor": "rgba(128,140,155,.25)", "zeroline": False}
    chart.update_layout(
        height=height,
        margin={"l": 64, "r": 12, "t": 12, "b": 48},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13, "color": INK},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="closest",
        hoverlabel={"font": {"color": "#1b2430"}, "bgcolor": "#ffffff"},
    )
    chart.update_xaxes(**grid)
    chart.update_yaxes(**grid)
