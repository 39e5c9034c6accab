"""Series as charts: means in their bands, gaps left open, what happened above them; boxes per hour.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adon.api.measurements import BucketView
from apps.dashboard import ui
from apps.dashboard.network.series_data import Curve, Direction, Mark, metric_order, metric_words, split_runs
from apps.figures.looks import BAD, SERIES, WAIT, quiet_axes

UNITS: Mapping[str, tuple[float, str]] = {
    "throughput": (1e-6, "Mbps"),
    "rtt": (1e3, "ms"),
    "one_way_delay": (1e3, "ms"),
    "jitter": (1e3, "ms"),
    "loss": (100.0, "%"),
    "health": (100.0, "%"),
}
"""What the API's value is multiplied by to be drawn, and the unit that it then has."""
ROW = 230
"""Pixels of one metric."""
EDGE = 0.01
"""Of the whole time, so that what is newest is not cut off by the edge."""
EVENTS = 46
"""Pixels of the row above, in which things happen."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
"""Told apart without colours."""


SYMBOLS: Mapping[str, tuple[str, str, str]] = {
    "critical": ("triangle-down", BAD, "critical alarm"),
    "warning": ("triangle-down-open", WAIT, "warning"),
    "better": ("triangle-up-open", SERIES[2], "improvement"),
    "decision": ("diamond", SERIES[0], "decision for this path"),
}


def chart(
    curves: Sequence[Curve],
    marks: Sequence[Mark],
    zone: ZoneInfo,
    *,
    since: float,
    until: float,
    zero: bool,
) -> go.Figure:
    """A panel per metric, one time axis for all.

    :param since: where the axis begins and ends, seconds since the epoch, whatever was measured.
    :param zero: whether the axes of values begin at 0.
    """
    metrics = metric_order(curve.metric for curve in curves)
    directions = list(dict.fromkeys(curve.direction for curve in curves))
    whole = EVENTS + ROW * len(metrics)
    figure = make_subplots(
        rows=1 + len(metrics),
        shared_xaxes=True,
        vertical_spacing=min(0.06, 18 / whole),
        row_heights=[EVENTS, *[ROW] * len(metrics)],
    )
    for mark in _marks(marks, zone):
        figure.add_trace(mark, row=1, col=1)
    named: set[Direction] = set()
    for number, metric in enumerate(metrics, 2):
        for curve in curves:
            if curve.metric == metric:
                place = directions.index(curve.direction)
                for trace in _traces(curve, place, zone, named=curve.direction not in named):
                    figure.add_trace(trace, row=number, col=1)
                named.add(curve.direction)
    quiet_axes(figure)
    for number, metric in enumerate(metrics, 2):
        figure.update_yaxes(
            title=axis_title(metric), rangemode="tozero" if zero else "normal", row=number, col=1
        )
    figure.update_yaxes(visible=False, range=[-1, 1], fixedrange=True, row=1, col=1)
    figure.update_xaxes(type="date", range=[local(since, zone), local(until + EDGE * (until - since), zone)])
    figure.update_layout(
        hovermode="x", showlegend=True, legend={"y": 1.0, "yanchor": "bottom"}, height=whole + 60
    )
    return figure


def scale_of(metric: str) -> float:
    """Return the factor from the API's value to the drawn value."""
    return UNITS.get(metric, (1.0, ""))[0]


def axis_title(metric: str) -> str:
    """Return the name of a metric with its unit: ``Round trip (ms)``."""
    unit = UNITS.get(metric, (1.0, ""))[1]
    return f"{metric_words(metric)} ({unit})" if unit else metric_words(metric)


def local(at: float, zone: ZoneInfo) -> str:
    """A moment as plotly takes it: the reader's time of day."""
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M:%S.%f")


def _marks(marks: Iterable[Mark], zone: ZoneInfo) -> Iterable[go.Scatter]:
    found = list(marks)
    for kind, (symbol, colour, words) in SYMBOLS.items():
        its = [mark for mark in found if mark.kind == kind]
        if its:
            yield go.Scatter(
                x=[local(mark.at, zone) for mark in its],
                y=[0.0] * len(its),
                mode="markers",
                marker={"symbol": symbol, "color": colour, "size": 11},
                name=words,
                text=[mark.text for mark in its],
                hovertemplate="%{text}<extra></extra>",
            )


def _traces(curve: Curve, place: int, zone: ZoneInfo, *, named: bool) -> Iterable[go.Scatter]:
    """Yield, per run without a gap, the means over the bands of all values and of the middle half."""
    runs = split_runs(curve.buckets)
    markers = len(curve.buckets) <= 60 or sum(len(run) == 1 for run in runs) > len(curve.buckets) / 2
    words = curve.direction.words
    colour, dash = SERIES[place % len(SERIES)], DASHES[place % len(DASHES)]
    for number, run in enumerate(runs):
        x = [local(one.start + one.seconds / 2, zone) for one in run]
        if len(run) > 1 and any(one.count > 1 for one in run):
            yield _band(run, x, "minimum", "maximum", faint(colour, 0.13), curve)
            yield _band(run, x, "0.25", "0.75", faint(colour, 0.25), curve)
        yield go.Scatter(
            x=x,
            y=[scale_of(curve.metric) * one.mean for one in run],
            mode="lines+markers" if markers else "lines",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"size": 4},
            name=words,
            legendgroup=words,
            showlegend=named and number == 0,
            customdata=[_said(one, curve.metric) for one in run],
            hovertemplate=f"{words}: %{{customdata}}<extra></extra>",
        )


def _band(
    run: Sequence[BucketView], x: Sequence[str], low: str, high: str, colour: str, curve: Curve
) -> go.Scatter:
    ends = [*(_figure(one, low) for one in run), *(_figure(one, high) for one in reversed(run))]
    return go.Scatter(
        x=[*x, *reversed(x)],
        y=[scale_of(curve.metric) * end for end in ends],
        fill="toself",
        fillcolor=colour,
        mode="lines",
        line={"width": 0},
        showlegend=False,
        legendgroup=curve.direction.words,
        hoverinfo="skip",
    )


def _said(bucket: BucketView, metric: str) -> str:
    if bucket.count == 1:
        return ui.value(bucket.mean, metric)
    ends = f"{ui.value(bucket.minimum, metric)} to {ui.value(bucket.maximum, metric)}"
    return f"mean {ui.value(bucket.mean, metric)} ({ends}, {bucket.count} values)"


def _figure(bucket: BucketView, name: str) -> float:
    """``minimum``, ``mean``, ``maximum``, or a quantile by its share."""
    return float(getattr(bucket, name, bucket.quantiles.get(name, bucket.mean)))


def faint(colour: str, ground: float) -> str:
    """Return a colour with this opacity."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{ground})"


def boxes(
    found: Sequence[tuple[Direction, Sequence[BucketView]]], metric: str, zone: ZoneInfo, *, zero: bool
) -> go.Figure:
    """A box per stretch and direction: half of the values in it, nine of ten between the whiskers."""
    factor = scale_of(metric)
    traces = []
    for place, (direction, its) in enumerate(found):
        if not its:
            continue
        colour = SERIES[place % len(SERIES)]

        def drawn(name: str, its: Sequence[BucketView] = its) -> list[float]:
            return [factor * _figure(one, name) for one in its]

        traces.append(
            go.Box(
                x=[local(one.start, zone) for one in its],
                lowerfence=drawn("0.05"),
                q1=drawn("0.25"),
                median=drawn("0.5"),
                q3=drawn("0.75"),
                upperfence=drawn("0.95"),
                mean=drawn("mean"),
                name=direction.words,
                marker={"color": colour},
                fillcolor=faint(colour, 0.25),
                line={"width": 1.5},
            )
        )
    figure = ui.figure(traces, y=axis_title(metric))
    figure.update_layout(boxmode="group", hovermode="closest", showlegend=True)
    figure.update_yaxes(rangemode="tozero" if zero else "normal")
    return figure


def says(curves: Sequence[Curve], marks: Sequence[Mark], words: str) -> str:
    """A chart in a sentence or two, for who does not see it."""
    parts = []
    for curve in curves:
        name = f"{metric_words(curve.metric)} on {curve.direction.words}"
        if not curve.buckets:
            parts.append(f"{name}: no value")
            continue
        low = min(one.minimum for one in curve.buckets)
        high = max(one.maximum for one in curve.buckets)
        count = sum(one.count for one in curve.buckets)
        mean = sum(one.mean * (one.count / count) for one in curve.buckets)
        parts.append(
            f"{name}: {ui.value(low, curve.metric)} to {ui.value(high, curve.metric)}, mean "
            f"{ui.value(mean, curve.metric)}"
        )
    alarms = sum(mark.kind != "decision" for mark in marks)
    counted = f"{ui.count(alarms, 'alarm')} and {ui.count(len(marks) - alarms, 'decision')}"
    happened = f" {counted} marked above." if marks else ""
    return f"The last {words}. {'; '.join(parts)}.{happened}"
