"""``/alarms``: the alarms of the detectors with filters, their acknowledgement, and the subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.alarms import AlarmView
from adon.api.measurements import SeriesView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import subscriptions
from apps.dashboard.network.links import path_link, series_link
from apps.dashboard.network.series_data import RANGES, Direction, text_of
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

FILTERS = ui.Filters("alarms", ("open", "severity", "path", "metric", "range"))
ACKNOWLEDGE, ANSWER = "alarm-acknowledge", "alm-said"
MOST = 300
FIRST_RANGE = "30d"
SEVERITIES: Mapping[str, ui.Tone] = {"critical": "bad", "warning": "wait"}


def show(here: Visit) -> Component:
    """Return the heading and the filters."""
    known = FILTERS.values(here)
    ranges = [(name, words) for name, (words, _) in RANGES.items()]
    paths = [("", "every path"), *((name, name) for name in _paths(here, known))]
    filters = FILTERS.form(
        ui.field("State", ui.choice("alarms-open", [("", "active"), ("false", "all")], known.get("open"))),
        ui.field(
            "Severity",
            ui.choice("alarms-severity", [("", "any"), ("critical", "critical")], known.get("severity")),
        ),
        ui.field("Path", ui.choice("alarms-path", paths, known.get("path"))),
        ui.field(
            "Metric",
            ui.choice("alarms-metric", [("", "every metric"), *METRIC_NAMES.items()], known.get("metric")),
        ),
        ui.field("Raised within", ui.choice("alarms-range", ranges, known.get("range", FIRST_RANGE))),
    )
    lead = "Level shifts, exceeded thresholds and missing values."
    head = ui.head("Alarms", lead, ui.link("Time series", "/series"))
    return html.Div([head, ui.card(None, filters), html.Div(id=ANSWER, role="status")])


def _paths(here: Visit, chosen: Mapping[str, str]) -> list[str]:
    try:
        known = [way.path for way in here.client.paths()]
    except AdonError:
        known = []  # without the controller, alarms can be read, but not chosen by path
    return list(dict.fromkeys([*filter(None, [chosen.get("path")]), *known]))


def live(here: Visit) -> Component:
    """Return the alarms that the filters leave; active and critical alarms are first."""
    found = sorted(_chosen(here), key=lambda one: (one.cleared_at is not None, one.severity != "critical"))
    columns = [
        ui.Column("Alarm", lambda one: ui.link(one.text, f"/alarms/{one.id}")),
        ui.Column("Severity", severity),
        ui.Column("Path", lambda one: _where(one.series)),
        ui.Column("Metric", lambda one: series_link(one.series)),
        ui.Column("Raised", lambda one: ui.when(one.raised_at, here)),
        ui.Column("Ended", lambda one: "active" if one.cleared_at is None else ui.when(one.cleared_at, here)),
        ui.Column("Acknowledged by", lambda one: acknowledged(one, here)),
    ]
    nothing = ui.empty("No alarms match these filters.", ui.link("Measurements", "/series"))
    counted = html.P(ui.count(len(found), "alarm"), className="muted") if found else None
    return ui.card(None, counted, ui.table(columns, found, nothing, "Alarms"))


def _chosen(here: Visit) -> list[AlarmView]:
    known = FILTERS.values(here)
    _, span = RANGES.get(known.get("range", ""), RANGES[FIRST_RANGE])
    asked = {name: known[name] for name in ("path", "metric") if name in known}
    since = text_of(here.now - span)
    found = here.client.alarms(open_only="open" not in known, since=since, limit=str(MOST), **asked)
    return [one for one in found if known.get("severity") in (None, one.severity)]


def _where(series: SeriesView) -> Any:
    return path_link(series.path) if series.path else Direction.of(series).ends


def severity(one: AlarmView) -> Component:
    """Return the badge of the severity of an alarm; an improvement has none."""
    if not one.bad:
        return ui.badge("improvement", "good")
    return ui.badge(one.severity, SEVERITIES.get(one.severity, "plain"))


def acknowledged(one: AlarmView, here: Visit) -> Component:
    """Return who acknowledged an alarm and when, or the button for it."""
    if one.acknowledged_by:
        return html.Span([f"{one.acknowledged_by}, ", ui.ago(one.acknowledged_at, here)])
    if one.cleared_at is not None or not here.may(Action.ALARM_ACKNOWLEDGE):
        return html.Span("not acknowledged", className="muted")
    label = f"Acknowledge: {one.text}"
    return ui.button(ACKNOWLEDGE, one.id, "Acknowledge", danger=False, label=label)


def _acknowledge(here: Visit, alarm: str) -> str:
    found = here.client.acknowledge(alarm)
    return f"Acknowledged by {found.acknowledged_by}: {found.text}"


def callbacks(app: Dash) -> None:
    """Add the filters, the acknowledgement and the subscriptions."""
    FILTERS.install(app)
    ui.install_buttons(app, ACKNOWLEDGE, ANSWER, _acknowledge)
    subscriptions.callbacks(app)


PAGE = Page(
    "/alarms",
    "Alarms",
    Action.ALARM_READ,
    show,
    live,
    group=Group.NETWORK,
    callbacks=callbacks,
    below=subscriptions.section,
)
