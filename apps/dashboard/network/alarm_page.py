"""``/alarms/<id>``: one alarm with the values before and after it."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.alarms import AlarmView, EvidenceView
from apps.dashboard import ui
from apps.dashboard.network.alarms_page import ANSWER, acknowledged, severity
from apps.dashboard.network.links import path_link, series_address
from apps.dashboard.network.series_data import Direction, metric_words
from apps.dashboard.network.series_figure import axis_title, faint, local, scale_of
from apps.dashboard.page import Page
from apps.dashboard.visit import Visit
from apps.figures.looks import BAD, SERIES

LEAST_DEVIATION = 1e-12
"""Equal values have a smaller deviation, which is rounding."""
KINDS = {
    "plateau": "level shift of the values",
    "absence": "the expected value is missing",
    "threshold": "a configured threshold was exceeded",
}


def show(here: Visit) -> Component:
    """Return the heading."""
    found = here.client.alarm(here.parts["id"])
    series = found.series
    state = html.Span([severity(found), " ", "active" if found.cleared_at is None else "ended"])
    others = f"/alarms?open=false&path={series.path}" if series.path else "/alarms"
    values = ui.link("Time series", series_address(Direction.of(series), series.metric))
    head = ui.head(found.text, state, values, ui.link("All alarms", others))
    return html.Div([head, html.Div(id=ANSWER, role="status")])


def live(here: Visit) -> Component:
    """Return the facts of the alarm and its evidence."""
    found = here.client.alarm(here.parts["id"])
    series = found.series
    facts = ui.facts(
        ("Path", path_link(series.path) if series.path else "a host"),
        ("Direction", Direction.of(series).ends),
        ("Metric", metric_words(series.metric)),
        ("Kind", html.Span([found.kind, html.Small(f" {KINDS.get(found.kind, '')}")])),
        ("Raised", ui.when(found.raised_at, here)),
        ("Ended", None if found.cleared_at is None else ui.when(found.cleared_at, here)),
        ("Acknowledged by", acknowledged(found, here)),
    )
    return html.Div([ui.card(None, facts), ui.card("Evidence", *_evidence(found, here))])


def _parts(found: AlarmView) -> list[tuple[str, EvidenceView]]:
    parts = (("before", found.before), ("after", found.after))
    return [(name, evidence) for name, evidence in parts if evidence is not None]


def _evidence(found: AlarmView, here: Visit) -> list[Component]:
    metric, rows = found.series.metric, _parts(found)

    def deviation(one: tuple[str, EvidenceView]) -> str:
        known = one[1].deviation
        return ui.value(known if known > LEAST_DEVIATION else 0.0, metric)

    columns = [
        ui.Column("", lambda one: one[0]),
        ui.Column("Mean", lambda one: ui.value(one[1].mean, metric), numeric=True),
        ui.Column("Standard deviation", deviation, numeric=True),
        ui.Column("Values", lambda one: str(len(one[1].samples)), numeric=True),
    ]
    samples = [(name, at, value) for name, evidence in rows for at, value in evidence.samples]
    value_columns = [
        ui.Column("", lambda one: one[0]),
        ui.Column("Time", lambda one: ui.when(one[1], here)),
        ui.Column("Value", lambda one: ui.value(one[2], metric), numeric=True),
    ]
    values = ui.table(value_columns, samples, "No values.", "Values before and after")
    caption = f"{metric_words(metric)} before and after: values, means and one standard deviation."
    return [
        ui.chart("alarm-evidence", figure(found, here.zone), caption),
        ui.table(columns, rows, "", "Before and after"),
        ui.details("Values", values),
    ]


def figure(found: AlarmView, zone: ZoneInfo) -> go.Figure:
    """Return values before and after, their means and deviations, and the time of the alarm."""
    raised = local(found.raised_at, zone)
    traces: list[go.Scatter] = []
    for name, evidence in _parts(found):
        if evidence.samples:
            traces += _traces(found, name, evidence, zone)
    drawn = ui.figure(traces, y=axis_title(found.series.metric))
    drawn.add_vline(x=raised, line={"color": BAD, "dash": "dot", "width": 1.5})
    drawn.add_annotation(x=raised, yref="paper", y=1, text="raised", showarrow=False, xanchor="left")
    drawn.update_layout(hovermode="closest")
    return drawn


def _traces(found: AlarmView, name: str, evidence: EvidenceView, zone: ZoneInfo) -> list[go.Scatter]:
    metric = found.series.metric
    factor = scale_of(metric)
    earlier = name == "before"
    later_colour = BAD if found.bad else SERIES[2]
    colour = SERIES[0] if earlier else later_colour
    x = [local(at, zone) for at, _ in evidence.samples]
    ends = [x[0], local(found.raised_at, zone) if earlier or len(x) == 1 else x[-1]]
    mean, spread = factor * evidence.mean, factor * evidence.deviation
    quiet: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip"}
    return [
        go.Scatter(
            x=[*ends, *reversed(ends)],
            y=[mean - spread] * 2 + [mean + spread] * 2,
            fill="toself",
            fillcolor=faint(colour, 0.16),
            line={"width": 0},
            showlegend=False,
            **quiet,
        ),
        go.Scatter(
            x=ends,
            y=[mean, mean],
            line={"color": colour, "dash": "solid" if earlier else "dash"},
            name=f"mean {name}",
            **quiet,
        ),
        go.Scatter(
            x=x,
            y=[factor * value for _, value in evidence.samples],
            mode="markers",
            marker={"color": colour, "size": 9, "symbol": "circle" if earlier else "diamond"},
            name=name,
            customdata=[ui.value(value, metric) for _, value in evidence.samples],
            hovertemplate="%{customdata}<extra></extra>",
        ),
    ]


PAGE = Page("/alarms/<id>", "Alarm", Action.ALARM_READ, show, live, refresh_s=15)
