"""``/paths/<name>``: one path, its two directions, their series, and a test now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import EstimateView, PathView
from adon.errors import AdonError, NotFound, Unavailable
from apps.dashboard import ui
from apps.dashboard.network import health, series_panel
from apps.dashboard.network.links import flow_links, map_address, series_address
from apps.dashboard.network.series_data import Direction, metric_order, metric_words
from apps.dashboard.page import Page
from apps.dashboard.visit import Visit, visit

WHICH, TEST, MEASURE, SAID = "now-direction", "now-test", "now-measure", "now-said"
NOW, TAG, TICKER, NAME = "path-now", "path-tag", "path", "path-name"
REFRESH_S = 10.0
TESTS = {"throughput": "throughput", "rtt": "round trip and loss", "latency": "one-way delay and jitter"}
FIRST_METRICS = ("throughput", "rtt", "loss")


def show(here: Visit) -> Component:
    """The path's series with their controls, and a test beside the plan for who may."""
    name = here.parts["name"]
    try:
        ways = _ways(here, name)
    except Unavailable:
        ways = []  # what moves says so above; the series are there all the same
    pairs = _known(here, name, ways)
    if not ways and all(one.path != name for one, _ in pairs):
        raise NotFound("path", name)
    own = list(dict.fromkeys(one for one, _ in pairs if one.path == name))
    own = own or [Direction.of(way) for way in ways]
    there = {metric for one, metric in pairs if one in own}
    metrics = [one for one in FIRST_METRICS if one in there] or ["throughput"]
    return html.Div(
        [
            ui.head(
                f"Path {name}",
                None,
                ui.link("On the map", map_address(path=name)),
                ui.link("Alarms", f"/alarms?path={name}"),
                ui.link("What if", f"/maintenance?failure=path-down&name={name}"),
            ),
            html.Div(now(here, name), id=NOW),
            dcc.Store(id=TAG),
            *ui.ticker(TICKER, REFRESH_S),
            dcc.Store(id=NAME, data=name),
            _measure(here, own),
            series_panel.panel(pairs, own, metrics, here),
        ]
    )


def _ways(here: Visit, name: str) -> list[PathView]:
    return [way for way in here.client.paths() if way.path == name]


def _known(here: Visit, name: str, ways: Sequence[PathView]) -> list[tuple[Direction, str]]:
    """What can be chosen: this path's series first, then other paths to compare with."""
    series = [(Direction.of(one), one.metric) for one in here.client.series()]
    configured = [(Direction.of(way), metric) for way in ways for metric in way.metrics]
    pairs = dict.fromkeys([*series, *configured])
    return sorted((one for one in pairs if one[0].path), key=lambda one: one[0].path != name)


def _measure(here: Visit, directions: Sequence[Direction]) -> Component:
    """The form of a test beside the plan."""
    if not here.may(Action.MEASUREMENT_START) or not directions:
        return html.Div()
    options = [(one.key(), f"{one.source} → {one.destination}") for one in directions]
    fields = html.Div(
        [
            ui.field("Direction", ui.choice(WHICH, options, options[0][0])),
            ui.field("Test", ui.choice(TEST, list(TESTS.items()), "rtt")),
            html.Div(html.Button("Measure now", id=MEASURE), className="deeds field"),
        ],
        className="controls",
    )
    hint = html.P(
        "Runs a configured test once, at the next free time of the schedule.",
        className="muted",
    )
    return ui.card(
        None, ui.details("Measure now", html.Div([hint, fields, html.Div(id=SAID)], className="stack"))
    )


def now(here: Visit, name: str) -> Component:
    """How it is, each direction, and how good estimates of it were."""
    try:
        found = here.client.network()
    except Unavailable as error:
        return ui.failure(error)
    ways = [way for way in found.items if way.path == name]
    if not ways:
        return ui.notice("The path is no longer configured. Its time series are kept.", "wait")
    state, why = health.of_path(ways)
    estimates = [one for one in found.estimates if one.path == name]
    first = ways[0]
    return html.Div(
        [
            ui.card(
                "Now",
                html.P([health.badge(state), f" {why}" if why else ""]),
                ui.facts(
                    ("Layer", first.layer.upper()),
                    ("Capacity", ui.rate(first.capacity_bps)),
                    ("MTU", f"{first.mtu} B"),
                    ("Directions", ui.count(len(ways), "direction")),
                ),
            ),
            ui.columns(*(_direction(way, here) for way in ways)),
            _estimates(estimates),
        ]
    )


def _direction(way: PathView, here: Visit) -> Component:
    rows = [(metric, way.metrics[metric]) for metric in metric_order(way.metrics)]
    # What a value was made of is worth a column only where it is more than a test.
    by = [ui.Column("Source", lambda one: one[1].basis or ui.words.NONE)]
    columns = [
        ui.Column(
            "Metric",
            lambda one: ui.link(metric_words(one[0]), series_address(Direction.of(way), one[0])),
        ),
        ui.Column("Latest", lambda one: ui.value(one[1].value, one[0]), numeric=True),
        ui.Column("Measured", lambda one: ui.ago(one[1].observed_at, here)),
        *(by if any(one.basis for _, one in rows) else []),
    ]
    table = ui.table(
        columns,
        rows,
        "No measurements, or no permission.",
        f"Latest values, {Direction.of(way).ends}",
    )
    alarms = [
        html.Li(
            [
                ui.badge(one.severity, "bad" if one.severity == "critical" else "wait"),
                " ",
                ui.link(one.text, f"/alarms/{one.id}"),
            ]
        )
        for one in way.alarms
    ]
    state = [] if way.usable else [html.P([ui.badge("down", "bad"), f" {way.reason}"])]
    return ui.card(
        Direction.of(way).ends,
        *state,
        table,
        html.Ul(alarms, className="alarms") if alarms else None,
        html.P(["Flows: ", flow_links(way.flows)]),
    )


def _estimates(found: Sequence[EstimateView]) -> Component:
    if not found:
        return html.Div()
    columns = [
        ui.Column("Direction", lambda one: Direction.of(one).ends),
        ui.Column("Estimated from", lambda one: one.basis),
        ui.Column("Median error", lambda one: error_words(one.median), numeric=True),
        ui.Column("Interquartile range", lambda one: f"{100 * one.spread:.0f} points", numeric=True),
        ui.Column("Flows", lambda one: str(one.count), numeric=True),
    ]
    return ui.card(
        "Estimate error",
        ui.table(columns, found, "", "Error of estimated throughput"),
        html.P("Positive: the estimate was too high.", className="muted"),
    )


def error_words(share: float) -> str:
    """How far off an estimate was: ``+12 %`` expected too much."""
    return f"{100 * share:+.0f} %".replace("-", "−")


def callbacks(app: Dash) -> None:
    """What moves, and measuring now."""

    @app.callback(
        Output(NOW, "children"),
        Output(TAG, "data"),
        ui.look(TICKER),
        State(NAME, "data"),
        State(TAG, "data"),
        prevent_initial_call=True,
    )
    def refresh(_look: int | None, name: str, before: str | None) -> tuple[object, object]:
        return ui.changed(now(visit(), name), before)

    @app.callback(
        Output(SAID, "children"),
        Input(MEASURE, "n_clicks"),
        State(WHICH, "value"),
        State(TEST, "value"),
        prevent_initial_call=True,
        running=[(Output(MEASURE, "disabled"), True, False)],
    )
    def measure(clicks: int | None, which: str, test: str) -> Any:
        chosen = Direction.read(which or "")
        if not clicks or chosen is None:
            return no_update
        here = visit()
        try:
            made = here.client.measure(*chosen, test)
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(
            [
                f"{made.task} starts ",
                ui.when(made.start, here),
                ".",
            ],
            "good",
        )


PAGE = Page("/paths/<name>", "Path", Action.MEASUREMENT_READ, show, callbacks=callbacks)
