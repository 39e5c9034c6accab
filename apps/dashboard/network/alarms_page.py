"""``/alarms``: what the detectors found, narrowed down, acknowledged; and who is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.alarms import AlarmView
from adon.api.measurements import SeriesView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import subscriptions
from apps.dashboard.network.links import path_link, series_link
from apps.dashboard.network.series_data import RANGES, Direction
from apps.dashboard.network.series_reading import text_of
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit, visit

WHICH, SEVERITY, PATH, METRIC, RANGE = "alm-which", "alm-severity", "alm-path", "alm-metric", "alm-range"
LIST, TAG, TICKER, SAID, SEEN = "alm-list", "alm-tag", "alarms", "alm-said", "alm-seen"
REFRESH_S = 5.0
MOST = 300
ANY = "any"
SEVERITIES: dict[str, Tone] = {"critical": "bad", "warning": "wait"}


def show(here: Visit) -> Component:
    """The filters, the list they narrow, and the subscriptions."""
    query = here.query
    paths = [(ANY, "every path"), *((name, name) for name in _paths(here, query))]
    filters = html.Div(
        [
            ui.field(
                "State",
                ui.choice(WHICH, [("open", "active"), ("all", "all")], _which(query)),
            ),
            ui.field("Severity", ui.choice(SEVERITY, [(ANY, "any"), ("critical", "critical")], ANY)),
            ui.field("Path", ui.choice(PATH, paths, query.get("path", ANY))),
            ui.field(
                "Metric",
                ui.choice(METRIC, [(ANY, "every metric"), *METRIC_NAMES.items()], query.get("metric", ANY)),
            ),
            ui.field(
                "Raised within",
                ui.choice(RANGE, [(name, words) for name, (words, _) in RANGES.items()], "30d"),
            ),
        ],
        className="controls",
    )
    return html.Div(
        [
            ui.head(
                "Alarms",
                "Level shifts, exceeded thresholds and missing values.",
                ui.link("Time series", "/series"),
            ),
            ui.card(None, filters, html.Div(id=SAID, role="status"), html.Div(id=LIST)),
            dcc.Store(id=TAG),
            *ui.ticker(TICKER, REFRESH_S),
            subscriptions.section(here),
        ]
    )


def _which(query: Mapping[str, str]) -> str:
    return "all" if query.get("open") == "false" else "open"


def _paths(here: Visit, query: Mapping[str, str]) -> list[str]:
    try:
        known = [way.path for way in here.client.paths()]
    except AdonError:
        known = []  # without the controller alarms can still be read, if not chosen by path
    return list(dict.fromkeys([*filter(None, [query.get("path")]), *known]))


def listed(here: Visit, found: Iterable[AlarmView]) -> Component:
    """Alarms, the worst first among those in force."""
    alarms = sorted(found, key=lambda one: (one.cleared_at is not None, one.severity != "critical"))
    acknowledging = here.may(Action.ALARM_ACKNOWLEDGE)

    def seen(one: AlarmView) -> Any:
        if one.acknowledged_by:
            return html.Span([f"{one.acknowledged_by}, ", ui.ago(one.acknowledged_at, here)])
        if one.cleared_at is not None or not acknowledging:
            return html.Span("not acknowledged", className="muted")
        words = {"aria-label": f"Acknowledge: {one.text}"}
        return html.Button("Acknowledge", id={"type": SEEN, "id": one.id}, className="quiet small", **words)

    columns = [
        ui.Column("Alarm", lambda one: ui.link(one.text, f"/alarms/{one.id}")),
        ui.Column("Severity", severity),
        ui.Column("Path", lambda one: _where(one.series)),
        ui.Column("Metric", lambda one: series_link(one.series)),
        ui.Column("Raised", lambda one: ui.when(one.raised_at, here)),
        ui.Column("Ended", lambda one: "active" if one.cleared_at is None else ui.when(one.cleared_at, here)),
        ui.Column("Acknowledged by", seen),
    ]
    nothing = ui.empty(
        "No alarms match these filters.",
        ui.link("Measurements", "/series"),
    )
    return html.Div(
        [
            html.P(ui.count(len(alarms), "alarm"), className="muted") if alarms else None,
            ui.table(columns, alarms, nothing, "Alarms"),
        ]
    )


def _where(series: SeriesView) -> Any:
    return path_link(series.path) if series.path else Direction.of(series).ends


def severity(one: AlarmView) -> Component:
    """Badge of the severity of an alarm; an improvement has none."""
    if not one.bad:
        return ui.badge("improvement", "good")
    return ui.badge(one.severity, SEVERITIES.get(one.severity, "plain"))


def chosen(here: Visit, which: str, severity_: str, path: str, metric: str, range_: str) -> list[AlarmView]:
    """The alarms that the filters leave."""
    asked = {"since": text_of(here.now - RANGES[range_][1]), "limit": str(MOST)}
    asked |= {name: value for name, value in (("path", path), ("metric", metric)) if value != ANY}
    found = here.client.alarms(open_only=which == "open", **asked)
    return [one for one in found if severity_ in (ANY, one.severity)]


def callbacks(app: Dash) -> None:
    """The list narrowed and kept fresh; one alarm seen."""
    filters: Sequence[str] = (WHICH, SEVERITY, PATH, METRIC, RANGE)

    @app.callback(
        Output(LIST, "children"),
        Output(TAG, "data"),
        *(Input(name, "value") for name in filters),
        ui.look(TICKER),
        Input(SAID, "children"),
        State(TAG, "data"),
    )
    def narrow(
        which: str,
        severity_: str,
        path: str,
        metric: str,
        range_: str,
        _look: int | None,
        _said: Any,
        before: str | None,
    ) -> Any:
        here = visit()
        try:
            return ui.changed(listed(here, chosen(here, which, severity_, path, metric, range_)), before)
        except AdonError as error:
            return ui.changed(ui.failure(error), before)

    @app.callback(
        Output(SAID, "children"), Input({"type": SEEN, "id": ALL}, "n_clicks"), prevent_initial_call=True
    )
    def acknowledge(clicks: list[int | None]) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        try:
            found = visit().client.acknowledge(str(ctx.triggered_id["id"]))
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"Acknowledged by {found.acknowledged_by}: {found.text}", "good")

    subscriptions.callbacks(app)


PAGE = Page("/alarms", "Alarms", Action.ALARM_READ, show, group=Group.NETWORK, callbacks=callbacks)
