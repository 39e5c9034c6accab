"""``/alarms/<id>``: one alarm with its evidence, before and after."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import plotly.graph_objects as go
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.alarms import AlarmView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network.alarms_page import severity
from apps.dashboard.network.links import path_link, series_address
from apps.dashboard.network.series_data import Direction, metric_words
from apps.dashboard.network.series_figure import UNITS, local
from apps.dashboard.page import Page
from apps.dashboard.visit import Visit, visit
from apps.figures.looks import BAD, SERIES

SEEN, SAID, WHICH = "alarm-seen", "alarm-said", "alarm-which"
TINY = 1e-12
KINDS = {
    "plateau": "level shift of the values",
    "absence": "the expected value is missing",
    "threshold": "a configured threshold was exceeded",
}


def show(here: Visit) -> Component:
    """What happened, on what evidence, and whether anybody has seen it."""
    found = here.client.alarm(here.parts["id"])
    series = found.series
    return html.Div(
        [
            ui.head(
                found.text,
                html.Span([severity(found), " ", "active" if found.cleared_at is None else "ended"]),
                ui.link("Time series", series_address(Direction.of(series), series.metric)),
                ui.link("All alarms", f"/alarms?open=false&path={series.path}" if series.path else "/alarms"),
            ),
            ui.card(None, _facts(found, here), dcc.Store(id=WHICH, data=found.id)),
            ui.card("Evidence", *_evidence(found, here)),
        ]
    )


def _facts(found: AlarmView, here: Visit) -> Component:
    series = found.series
    return ui.facts(
        ("Path", path_link(series.path) if series.path else "a host"),
        ("Direction", Direction.of(series).ends),
        ("Metric", metric_words(series.metric)),
        ("Kind", html.Span([found.kind, html.Small(f" {KINDS.get(found.kind, '')}")])),
        ("Raised", ui.when(found.raised_at, here)),
        ("Ended", None if found.cleared_at is None else ui.when(found.cleared_at, here)),
        ("Acknowledged by", html.Div(_seen(found, here), id=SAID)),
    )


def _seen(found: AlarmView, here: Visit) -> Any:
    if found.acknowledged_by:
        return html.Span([found.acknowledged_by, ", ", ui.when(found.acknowledged_at, here)])
    allowed = here.may(Action.ALARM_ACKNOWLEDGE)
    if found.cleared_at is not None or not allowed:
        return "not acknowledged"
    return html.Button("Acknowledge", id=SEEN, className="quiet small")


def _evidence(found: AlarmView, here: Visit) -> list[Any]:
    metric = found.series.metric
    rows = [
        (name, evidence)
        for name, evidence in (("before", found.before), ("after", found.after))
        if evidence is not None
    ]
    columns = [
        ui.Column("", lambda one: one[0]),
        ui.Column("Mean", lambda one: ui.value(one[1].mean, metric), numeric=True),
        ui.Column("Standard deviation", lambda one: ui.value(_plain(one[1].deviation), metric), numeric=True),
        ui.Column("Values", lambda one: str(len(one[1].samples)), numeric=True),
    ]
    samples = [(words, at, value) for words, evidence in rows for at, value in evidence.samples]
    values = ui.table(
        [
            ui.Column("", lambda one: one[0]),
            ui.Column("Time", lambda one: ui.when(one[1], here)),
            ui.Column("Value", lambda one: ui.value(one[2], metric), numeric=True),
        ],
        samples,
        "No values.",
        "Values before and after",
    )
    told = f"{metric_words(metric)} before and after: values, means and one standard deviation."
    return [
        ui.chart("alarm-evidence", figure(found, here.zone), told),
        ui.table(columns, rows, "", "Before and after"),
        ui.details("Values", values),
    ]


def _plain(deviation: float) -> float:
    # What remains of values that are all the same is rounding, not a deviation.
    return deviation if deviation > TINY else 0.0


def figure(found: AlarmView, zone: ZoneInfo) -> go.Figure:
    """Values before and after, their means and deviations, and when it was raised."""
    metric = found.series.metric
    factor, unit = UNITS.get(metric, (1.0, ""))
    traces: list[Any] = []
    raised = local(found.raised_at, zone)
    after = BAD if found.bad else SERIES[2]
    for name, evidence, colour in (("before", found.before, SERIES[0]), ("after", found.after, after)):
        if evidence is None or not evidence.samples:
            continue
        x = [local(at, zone) for at, _ in evidence.samples]
        ends = [x[0], raised if name == "before" or len(x) == 1 else x[-1]]
        mean, spread = factor * evidence.mean, factor * evidence.deviation
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        traces += [
            go.Scatter(
                x=[*ends, *reversed(ends)],
                y=[mean - spread] * 2 + [mean + spread] * 2,
                fill="toself",
                fillcolor=f"rgba({red},{green},{blue},.16)",
                line={"width": 0},
                mode="lines",
                showlegend=False,
                hoverinfo="skip",
            ),
            go.Scatter(
                x=ends,
                y=[mean, mean],
                mode="lines",
                line={"color": colour, "dash": "solid" if name == "before" else "dash"},
                name=f"mean {name}",
                hoverinfo="skip",
            ),
            go.Scatter(
                x=x,
                y=[factor * value for _, value in evidence.samples],
                mode="markers",
                marker={"color": colour, "size": 9, "symbol": "circle" if name == "before" else "diamond"},
                name=name,
                customdata=[ui.value(value, metric) for _, value in evidence.samples],
                hovertemplate="%{customdata}<extra></extra>",
            ),
        ]
    drawn = ui.figure(traces, y=f"{metric_words(metric)}{f' ({unit})' if unit else ''}")
    drawn.add_vline(x=raised, line={"color": BAD, "dash": "dot", "width": 1.5})
    drawn.add_annotation(x=raised, yref="paper", y=1, text="raised", showarrow=False, xanchor="left")
    drawn.update_layout(hovermode="closest")
    return drawn


def callbacks(app: Dash) -> None:
    """Saying that one has seen it."""

    @app.callback(
        Output(SAID, "children"),
        Input(SEEN, "n_clicks"),
        State(WHICH, "data"),
        prevent_initial_call=True,
        running=[(Output(SEEN, "disabled"), True, False)],
    )
    def acknowledge(clicks: int | None, which: str) -> Any:
        if not clicks:
            return no_update
        here = visit()
        try:
            return _seen(here.client.acknowledge(which), here)
        except AdonError as error:
            return ui.failure(error)


PAGE = Page("/alarms/<id>", "Alarm", Action.ALARM_READ, show, callbacks=callbacks)
