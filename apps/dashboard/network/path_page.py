"""``/paths/<name>``: one path, its two directions, their series, and a test now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import EstimateView, PathView
from adon.errors import InvalidInput, NotFound, Unavailable
from apps.dashboard import ui
from apps.dashboard.network import health, series_page
from apps.dashboard.network.links import flow_links, map_address, series_address
from apps.dashboard.network.series_data import Direction, metric_order, metric_words
from apps.dashboard.page import Page
from apps.dashboard.visit import Visit

FORM = ui.Form("now", ("direction", "test"))
TESTS = {"throughput": "throughput", "rtt": "round trip and loss", "latency": "one-way delay and jitter"}
FIRST_METRICS = ("throughput", "rtt", "loss")


def show(here: Visit) -> Component:
    """Return the heading."""
    name = here.parts["name"]
    if not any(one.path == name for one, _ in _known(here, name)):
        raise NotFound("path", name)
    return ui.head(
        f"Path {name}",
        None,
        ui.link("On the map", map_address(path=name)),
        ui.link("Alarms", f"/alarms?path={name}"),
        ui.link("What if", f"/maintenance?failure=path-down&name={name}"),
    )


def _known(here: Visit, name: str) -> list[tuple[Direction, str]]:
    """Return the series that can be chosen: those of this path first, then other paths to compare with."""
    try:
        ways = [way for way in here.client.paths() if way.path == name]
    except Unavailable:
        ways = []  # the series are there without the controller
    series = [(Direction.of(one), one.metric) for one in here.client.series()]
    configured = [(Direction.of(way), metric) for way in ways for metric in way.metrics or FIRST_METRICS[:1]]
    pairs = dict.fromkeys([*series, *configured])
    return sorted((one for one in pairs if one[0].path), key=lambda one: one[0].path != name)


def below(here: Visit) -> Component:
    """Return the form of a test now, for users who may start one, and the series."""
    name = here.parts["name"]
    pairs = _known(here, name)
    own = list(dict.fromkeys(one for one, _ in pairs if one.path == name))
    measured = {metric for one, metric in pairs if one in own}
    metrics = [one for one in FIRST_METRICS if one in measured] or ["throughput"]
    return html.Div([_measure_form(here, own), series_page.panel(pairs, own, metrics, here)])


def _measure_form(here: Visit, directions: Sequence[Direction]) -> Component:
    if not here.may(Action.MEASUREMENT_START):
        return html.Div()
    options = [(one.key(), f"{one.source} → {one.destination}") for one in directions]
    fields = [
        ui.field("Direction", ui.choice(FORM.id_of("direction"), options, options[0][0])),
        ui.field("Test", ui.choice(FORM.id_of("test"), list(TESTS.items()), "rtt")),
    ]
    hint = html.P("Runs a configured test once, at the next free time of the schedule.", className="muted")
    form = [hint, html.Div(fields, className="controls"), FORM.submit("Measure now")]
    return ui.card(None, ui.details("Measure now", html.Div(form, className="stack")))


def _measure(here: Visit, typed: dict[str, Any]) -> Component:
    chosen = Direction.read(typed["direction"] or "")
    if chosen is None:
        raise InvalidInput.of("direction", "missing; choose one")
    made = here.client.measure(*chosen, typed["test"])
    return ui.notice([f"{made.task} starts ", ui.when(made.start, here), "."], "good")


def live(here: Visit) -> Component:
    """Return the state of the path, the values of each direction, and the error of estimates."""
    name = here.parts["name"]
    found = here.client.network()
    ways = [way for way in found.items if way.path == name]
    if not ways:
        return ui.notice("The path is no longer configured. Its time series are kept.", "wait")
    state, why = health.of_path(ways)
    first = ways[0]
    facts = ui.facts(
        ("Layer", first.layer.upper()),
        ("Capacity", ui.rate(first.capacity_bps)),
        ("MTU", f"{first.mtu} B"),
        ("Directions", ui.count(len(ways), "direction")),
    )
    return html.Div(
        [
            ui.card("Now", html.P([health.badge(state), f" {why}" if why else ""]), facts),
            ui.columns(*(_direction(way, here) for way in ways)),
            _estimates([one for one in found.estimates if one.path == name]),
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
    """Add the test; the callbacks of the series are those of ``/series``."""
    FORM.install(app, _measure)


PAGE = Page(
    "/paths/<name>",
    "Path",
    Action.MEASUREMENT_READ,
    show,
    live,
    refresh_s=10,
    callbacks=callbacks,
    below=below,
)
