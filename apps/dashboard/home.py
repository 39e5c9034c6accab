"""``/``: active alarms, the newest flows, and the paths with their latest values."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import PathView
from adon.errors import Unavailable
from apps.dashboard import ui
from apps.dashboard.network.alarms_page import severity
from apps.dashboard.page import Page
from apps.dashboard.transfers.flow_view import state_badge
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

FLOWS = 12


def show(_here: Visit) -> Component:
    """Return the heading with the link to a new transfer."""
    return ui.head("Overview", None, ui.link("New transfer", "/new", button=True))


def live(here: Visit) -> Component:
    """Return active alarms, flows and paths."""
    return html.Div([_alarms(here), _flows(here), _paths(here)])


def _alarms(here: Visit) -> Component:
    try:
        found = here.client.alarms(open_only=True)
    except Unavailable as error:
        return ui.failure(error)
    if not found:
        return ui.notice("No active alarms.", "good")
    worst = sorted(found, key=lambda alarm: alarm.severity != "critical")
    columns = [
        Column("Alarm", lambda one: ui.link(one.text, f"/alarms/{one.id}")),
        Column("Severity", severity),
        Column("Since", lambda one: ui.when(one.raised_at, here)),
    ]
    return ui.card("Active alarms", ui.table(columns, worst, "", "Active alarms"))


def _flows(here: Visit) -> Component:
    columns = [
        Column("Flow", lambda one: ui.link(one.id, f"/flows/{one.id}")),
        Column("State", state_badge),
        Column("Route", lambda one: f"{one.source} → {one.destination}"),
        Column("Application", lambda one: one.template),
        Column("Size", lambda one: ui.size(one.size_bytes), numeric=True),
        Column("Path", lambda one: one.path or ui.words.NONE),
        Column("Requested", lambda one: ui.when(one.submitted_at, here)),
    ]
    nothing = ui.empty("No flows yet.", ui.link("New transfer", "/new", button=True))
    table = ui.table(columns, here.client.flows(limit=FLOWS), nothing, "The newest flows")
    return ui.card("Flows", table)


def _paths(here: Visit) -> Component:
    try:
        paths = here.client.paths()
    except Unavailable as error:
        return ui.failure(error)
    columns = [
        Column("Path", lambda one: ui.link(one.path, f"/paths/{one.path}")),
        Column("Route", lambda one: f"{one.source} → {one.destination}"),
        *(Column(words, _metric(name), numeric=True) for name, words in ui.words.METRIC_NAMES.items()),
        Column("Flows", lambda one: str(len(one.flows)), numeric=True),
    ]
    return ui.card(
        "Paths", ui.table(columns, paths, "No path is configured.", "Paths with their latest values")
    )


def _metric(name: str) -> Any:
    def cell(path: PathView) -> str:
        found = path.metrics.get(name)
        return ui.words.NONE if found is None else ui.value(found.value, name)

    return cell


PAGE = Page("/", "Overview", Action.PATH_READ, show, live)
