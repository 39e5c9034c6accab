"""``/series``: any series beside any others, over the time that one chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.measurements import SeriesView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import series_panel, series_reading
from apps.dashboard.network.links import path_link, series_link
from apps.dashboard.network.series_data import Direction
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit, visit

FIRST = 2
"""Directions that are shown before anybody chose."""
FIRST_METRICS = ("throughput", "rtt")
LISTED = 200
EVERY = "every-series"


def show(here: Visit) -> Component:
    """The chart of what the address names, or else of the first series there are; a list of all."""
    known = here.client.series()
    if not known:
        return html.Div(
            [
                ui.head("Time series"),
                ui.empty(
                    "No measurements yet, or no permission.",
                    ui.link("Show schedule", "/schedule"),
                ),
            ]
        )
    pairs = [(Direction.of(one), one.metric) for one in known]
    directions, metrics = series_reading.asked_for(here.query)
    if not directions:
        directions = list(dict.fromkeys(one for one, _ in pairs if one.path))[:FIRST] or [pairs[0][0]]
    if not metrics:
        of_these = {metric for one, metric in pairs if one in directions}
        metrics = [name for name in FIRST_METRICS if name in of_these] or sorted(of_these)[:1]
    return html.Div(
        [
            ui.head(
                "Time series",
                "Measurements of paths and hosts, with alarms and decisions.",
                ui.link("Mesh", "/mesh"),
            ),
            series_panel.panel(pairs, directions, metrics, here),
            ui.card(None, ui.folded(EVERY, f"All series ({len(known)})")),
        ]
    )


def _all(known: Sequence[SeriesView]) -> Component:
    columns = [
        ui.Column("Path", lambda one: path_link(one.path) if one.path else "host"),
        ui.Column("Route", lambda one: Direction.of(one).ends),
        ui.Column("Metric", series_link),
    ]
    more = (
        html.P(f"The first {LISTED} of {len(known)}; choose others above.", className="muted")
        if len(known) > LISTED
        else None
    )
    return html.Div([ui.table(columns, known[:LISTED], "None.", "All series"), more])


def _callbacks(app: Dash) -> None:
    series_panel.callbacks(app)

    @app.callback(ui.inside(EVERY), ui.opening(EVERY), prevent_initial_call=True)
    def list_all(clicks: int | None) -> Any:
        if not clicks:
            return no_update
        try:
            return _all(visit().client.series())
        except AdonError as error:
            return ui.failure(error)


PAGE = Page(
    "/series",
    "Time series",
    Action.MEASUREMENT_READ,
    show,
    group=Group.NETWORK,
    callbacks=_callbacks,
)
