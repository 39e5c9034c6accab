"""Forecasts of completion: how often the truth lay within what was told."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import CalibrationView
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.policy.words import error
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit
from apps.figures.looks import SERIES

PREFIX = "forecasts"
PATH = "/forecasts"
MOST = (("500", "500"), ("100", "100"), ("2000", "2000"), ("5000", "5000"))


def show(here: Visit) -> Component:
    """The heading and the filters."""
    names = [("", "any"), *((one.name, one.name) for one in here.client.templates())]
    fields = [
        filters.choice(PREFIX, "template", "Template", here, names),
        filters.choice(PREFIX, "limit", "Limit", here, MOST, "500"),
    ]
    lead = "Predicted and actual duration of flows."
    return html.Div([ui.head("Forecasts", lead), filters.form(PREFIX, fields, PATH)])


def live(here: Visit) -> Component:
    """Coverage and errors, in figures and as a curve."""
    limit = here.query.get("limit", "")
    found: Sequence[CalibrationView] = here.client.forecast_calibration(
        here.query.get("template") or None, int(limit) if limit in dict(MOST) else 500
    )
    known = [one for one in found if one.count]
    if not known:
        return ui.card(
            None,
            ui.empty(
                "No finished flows with a forecast yet.",
                ui.link("Outcomes", "/outcomes"),
            ),
        )
    columns = [
        Column("Flows", lambda one: one.flows),
        Column("Count", lambda one: str(one.count), numeric=True),
        Column("Nominal", lambda one: ui.share(one.nominal), numeric=True),
        Column("Covered", _held),
        Column("95 % interval", lambda one: f"{ui.share(one.least)} to {ui.share(one.most)}"),
        Column("Bias (median)", lambda one: error(one.bias), numeric=True),
        Column("Error (median)", lambda one: ui.share(one.error), numeric=True),
        Column("Interval score", lambda one: ui.number(one.score), numeric=True),
    ]
    return html.Div(
        [
            ui.card("Coverage of forecasts", ui.table(columns, known, "", "Coverage of forecasts")),
            ui.card("Calibration", ui.chart("forecasts-curve", figure(known), says(known), 420)),
        ]
    )


def _held(one: CalibrationView) -> Component:
    low, high = one.least, one.most
    # As long as what was promised lies within what the count can tell, it may be right.
    tone = "good" if low <= one.nominal <= high else "wait"
    return ui.bar(one.covered, ui.share(one.covered), "good" if tone == "good" else "wait")


def figure(found: Sequence[CalibrationView]) -> go.Figure:
    """Truths within the interval over what it claims to hold; on the diagonal a forecast is right."""
    traces = [
        go.Scatter(
            x=[0, 100],
            y=[0, 100],
            mode="lines",
            name="nominal",
            line={"color": "#8090a0", "dash": "dash", "width": 1.5},
        )
    ]
    traces += [
        go.Scatter(
            x=[100 * point.nominal for point in one.curve],
            y=[100 * point.observed for point in one.curve],
            mode="lines+markers",
            name=f"{one.flows} ({one.count})",
            line={"color": SERIES[row % len(SERIES)]},
        )
        for row, one in enumerate(found)
    ]
    drawn = ui.figure(traces, x="Nominal coverage (%)", y="Observed coverage (%)")
    drawn.update_xaxes(range=[0, 101])
    drawn.update_yaxes(range=[0, 103])
    return drawn


def says(found: Sequence[CalibrationView]) -> str:
    """The curve in a sentence."""
    parts = [
        f"{one.flows}: {ui.share(one.covered)} of {one.count} within the {ui.share(one.nominal)} interval"
        for one in found
    ]
    return f"Observed coverage: {'; '.join(parts)}. Below the diagonal the intervals are too narrow."


def _callbacks(app: Dash) -> None:
    filters.install(app, PREFIX, ("template", "limit"))


PAGE = Page(
    PATH, "Forecasts", Action.FORECAST_READ, show, live, 30.0, group=Group.POLICY, callbacks=_callbacks
)
