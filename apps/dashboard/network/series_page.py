"""``/series``: any series beside any others, over the time that one chooses."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from apps.dashboard import ui
from apps.dashboard.network import series_panel
from apps.dashboard.network.series_data import Direction, read_address
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit

FIRST = 2
"""Directions that are shown before anybody chose."""
FIRST_METRICS = ("throughput", "rtt")


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
    directions, metrics = read_address(here.query)
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
        ]
    )


PAGE = Page(
    "/series",
    "Time series",
    Action.MEASUREMENT_READ,
    show,
    group=Group.NETWORK,
    callbacks=series_panel.callbacks,
)
