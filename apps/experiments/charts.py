"""The plots of a file, drawn from a run: values with their intervals, beside the paper's.

What scales is drawn as it would be at full scale, so that the paper's points fit beside it; the value that
was measured is told where one points.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from adon.experiments.document import Experiment
from adon.experiments.figures import Figure, Plot, parse_quantity
from adon.experiments.full_scale import at_full_scale
from adon.experiments.measures import Observed, samples
from adon.experiments.parts import Scalar
from adon.experiments.results import TrialDone
from adon.experiments.summary import summary
from adon.experiments.sweeping import POLICY, swept
from adon.experiments.wording import text
from adon.units import format_count
from apps.experiments.axes import Axis
from apps.figures.looks import INK, SERIES, quiet_axes

PAPER = "paper"


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What a plot is drawn with.

    :param factor: from measured values to those that are drawn.
    """

    plot: Plot
    figure: Figure
    what: str
    factor: float
    axis: Axis
    cells: Mapping[Scalar, Mapping[Scalar, Sequence[float]]]

    def shown(self, value: float) -> float:
        return value * self.factor / self.axis.factor

    def told(self, value: float) -> str:
        measured = text(value, self.figure.unit)
        if self.factor == 1:
            return measured
        return f"{text(value * self.factor, self.figure.unit)} ({measured} measured)"


def drawn(experiment: Experiment, observed: Observed, plot: Plot) -> go.Figure | None:
    """The chart of a plot that is no timeline; None if the run has no value of it."""
    assert plot.y is not None  # noqa: S101 - only timelines have none
    figure = experiment.figures[plot.y]
    cells = _cells(experiment, observed, plot, figure)
    values = [value for curve in cells.values() for its in curve.values() for value in its]
    if not values:
        return None
    factor = at_full_scale(figure, experiment, observed.about) or 1.0
    paper = [parse_quantity(point.y, figure.unit) for point in plot.paper]
    axis = Axis.of([*(value * factor for value in values), *paper], figure.unit)
    its = _Drawn(plot, figure, figure.about or plot.y.replace("-", " "), factor, axis, cells)
    chart = quiet_axes(go.Figure(list(_traces(its))), x=_name(plot.x), y=_title(its))
    chart.update_layout(hovermode="closest", barmode="group", boxmode="group")
    order = [_category(value) for value in (swept(experiment).get(plot.x or "", ()))]
    chart.update_xaxes(type="category", categoryorder="array", categoryarray=order)
    chart.update_yaxes(rangemode="tozero")
    places = max(1, len(order)) * max(1, len(cells))
    chart.update_layout(bargap=0.2 if places > 4 else 1 - 0.15 * places)  # a single bar is no wall
    return chart


def _cells(
    experiment: Experiment, observed: Observed, plot: Plot, figure: Figure
) -> dict[Scalar, dict[Scalar, list[float]]]:
    """Per curve and x the values of the trials."""
    found: dict[Scalar, dict[Scalar, list[float]]] = {}
    for sample in samples(observed, figure, plot.where):
        curve, x = (_setting(sample.trial, key) for key in (plot.by, plot.x))
        known = found.setdefault(curve, {}).setdefault(x, [])
        if sample.value is not None:
            known.append(sample.value)
    order = list(swept(experiment).get(plot.by or "", (None,)))
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else 0))


def _setting(trial: TrialDone, key: str | None) -> Scalar:
    if key is None:
        return None
    return trial.policy if key == POLICY else trial.point.get(key)


def _title(its: _Drawn) -> str:
    return its.axis.title(its.what) + ("" if its.factor == 1 else " at full scale")


def _name(key: str | None) -> str:
    """``soykb.size`` as people read it: ``size of soykb``."""
    if key is None:
        return ""
    of, _, field = key.partition(".")
    return f"{field.replace('.', ' ')} of {of}" if field else key


def _category(value: Scalar) -> str:
    return "" if value is None else str(value)


def _traces(its: _Drawn) -> Iterator[go.Scatter | go.Bar | go.Box]:
    for (curve, cells), colour in zip(its.cells.items(), _colours(), strict=False):
        name = its.what if curve is None else str(curve)
        yield _middles(its, name, cells, colour)
        yield _singles(its, name, cells, colour)
    yield from _paper(its)


def _colours() -> Iterator[str]:
    while True:
        yield from SERIES


def _middles(
    its: _Drawn, name: str, cells: Mapping[Scalar, Sequence[float]], colour: str
) -> go.Scatter | go.Bar:
    # A place without a value keeps its room on the axis.
    its_all = [(x, summary(values), values) for x, values in cells.items()]
    middles = [None if one is None else statistics.median(values) for _, one, values in its_all]
    spans = [
        (0.0, 0.0)
        if one is None or one.interval is None or middle is None
        else (max(0.0, one.interval.high - middle), max(0.0, middle - max(0.0, one.interval.low)))
        for (_, one, _), middle in zip(its_all, middles, strict=True)
    ]
    error = {
        "type": "data",
        "symmetric": False,
        "array": [its.shown(above) for above, _ in spans],
        "arrayminus": [its.shown(below) for _, below in spans],
        "thickness": 1.2,
        "width": 4,
        "color": INK if its.plot.kind == "bar" else colour,
    }
    common = {
        "x": [_category(x) for x, _, _ in its_all],
        "y": [None if middle is None else its.shown(middle) for middle in middles],
        "name": name,
        "error_y": error,
        "customdata": [
            "no value" if middle is None else f"{its.told(middle)}, {format_count(len(values), 'repetition')}"
            for middle, (_, _, values) in zip(middles, its_all, strict=True)
        ],
        "hovertemplate": f"{name}, %{{x}}: %{{customdata}}<extra></extra>",
        "legendgroup": name,
        "offsetgroup": name,
    }
    if its.plot.kind == "bar":
        return go.Bar(**common, marker={"color": colour})
    del common["offsetgroup"]
    return go.Scatter(**common, mode="lines+markers", line={"color": colour, "width": 2}, marker={"size": 8})


def _singles(
    its: _Drawn, name: str, cells: Mapping[Scalar, Sequence[float]], colour: str
) -> go.Scatter | go.Box:
    """Every repetition as a small ring: three values are seen better than described."""
    x = [_category(x) for x, values in cells.items() for _ in values]
    y = [its.shown(value) for values in cells.values() for value in values]
    told = [its.told(value) for values in cells.values() for value in values]
    ring = {"size": 5, "color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 1}}
    hover = {"customdata": told, "hovertemplate": f"{name}, %{{x}}: %{{customdata}}<extra></extra>"}
    if its.plot.kind == "bar":
        # A box without a box: it is put beside the other bars of its place, as points are not.
        return go.Box(
            x=x, y=y, name=name, legendgroup=name, offsetgroup=name, showlegend=False, boxpoints="all",
            pointpos=0, jitter=0.3, fillcolor="rgba(0,0,0,0)", line={"color": "rgba(0,0,0,0)"},
            marker={**ring, "line": {"color": INK, "width": 1}}, hoverinfo="skip",
        )  # fmt: skip
    return go.Scatter(
        x=x, y=y, mode="markers", name=name, legendgroup=name, showlegend=False, marker=ring, **hover
    )


def _paper(its: _Drawn) -> Iterator[go.Scatter]:
    curves = dict.fromkeys(point.by for point in its.plot.paper)
    colours = dict(zip(its.cells, _colours(), strict=False))
    for curve in curves:
        points = [point for point in its.plot.paper if point.by == curve]
        name = PAPER if curve is None else f"{PAPER}: {curve}"
        yield go.Scatter(
            x=[_category(point.x) for point in points],
            y=[parse_quantity(point.y, its.figure.unit) / its.axis.factor for point in points],
            name=name,
            mode="lines+markers",
            line={"dash": "dot", "width": 1, "color": colours.get(curve, INK)},
            marker={"symbol": "x", "size": 9, "color": colours.get(curve, INK)},
            hovertemplate=f"{name}, %{{x}}: %{{y:.4g}} {its.axis.unit}<extra></extra>",
        )
