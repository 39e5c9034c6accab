"""``/series``: chart of series with its controls: directions, metrics, time, options; distribution; CSV.

The panel is also on the page of a path, for the directions of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.measurements import MeasurementView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import series_figure
from apps.dashboard.network.series_data import (
    FINE,
    MOST,
    PIECES,
    RANGES,
    Curve,
    Direction,
    address,
    as_csv,
    first_range,
    metric_order,
    metric_words,
    read_address,
    read_curves,
    read_marks,
    text_of,
)
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit, visit

DIRECTIONS, METRICS, RANGE, OPTIONS = "ser-directions", "ser-metrics", "ser-range", "ser-options"
CHART, BOXES, BOX_GROUP, BOX_METRIC = "ser-chart", "ser-boxes", "ser-box-group", "ser-box-metric"
CSV, FILE, VALUES, LINK = "ser-csv", "ser-file", "ser-values", "ser-link"
REFRESH_S = 30.0
SHOWN_OPTIONS = [("zero", "axes from 0"), ("fine", "raw values")]
BOX_SPANS = {"hour": 2 * 86_400.0, "day": 60 * 86_400.0}
BOX_GROUPS = [("hour", "hour, two days"), ("day", "day, 60 days")]
FIRST = 2
"""Directions that are shown before anybody chose."""
FIRST_METRICS = ("throughput", "rtt")
SHOWN_VALUES, READ_VALUES = 15, 60
"""Latest values in the table, and those that are read of all metrics of a direction."""


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
            panel(pairs, directions, metrics, here),
        ]
    )


def panel(
    known: Sequence[tuple[Direction, str]],
    chosen: Sequence[Direction],
    metrics: Sequence[str],
    here: Visit,
) -> Component:
    """Return the controls, and the places that :func:`callbacks` fill.

    :param known: every direction that can be chosen, with each of its metrics.
    """
    names = metric_order([*metrics, *(metric for _, metric in known)])
    boxed = [(name, metric_words(name)) for name in names]
    box_controls = [
        ui.field("Metric", ui.choice(BOX_METRIC, boxed, metrics[0] if metrics else None)),
        ui.field("Interval", ui.choice(BOX_GROUP, BOX_GROUPS, "hour")),
    ]
    below = [
        html.Button("Save as CSV", id=CSV, className="quiet small"),
        html.Span(id=LINK),
        dcc.Download(id=FILE),
    ]
    controls = _controls(
        list(dict.fromkeys([*chosen, *(one for one, _ in known)])), names, chosen, metrics, here
    )
    distribution = html.Div(box_controls, className="controls"), html.Div(id=BOXES)
    return html.Div(
        [
            ui.card(None, controls, html.Div(id=CHART), html.Div(below, className="deeds")),
            ui.card("Distribution", *distribution),
            ui.card(None, ui.folded(VALUES, "Latest values and sources")),
            *ui.ticker("series", REFRESH_S),
        ]
    )


def _controls(
    directions: Sequence[Direction],
    names: Sequence[str],
    chosen: Sequence[Direction],
    metrics: Sequence[str],
    here: Visit,
) -> Component:
    ranges = [(name, words) for name, (words, _) in RANGES.items()]
    asked = here.query.get("range", "")
    shown = asked if asked in RANGES else first_range(here, chosen)
    options = [name for name, _ in SHOWN_OPTIONS if here.query.get(name)]
    directed = [(one.key(), one.words) for one in directions]
    fields = [
        ui.several("Directions", DIRECTIONS, directed, [one.key() for one in chosen]),
        ui.several("Metrics", METRICS, [(one, metric_words(one)) for one in names], metrics),
        ui.field("Time", ui.choice(RANGE, ranges, shown)),
        ui.several("Options", OPTIONS, SHOWN_OPTIONS, options),
    ]
    return html.Div(fields, className="controls wider")


def _read(
    directions: Sequence[str] | None, metrics: Sequence[str] | None
) -> tuple[list[Direction], list[str]]:
    """Return what the controls say, at most as many as can be told apart."""
    read = [Direction.read(key) for key in directions or ()]
    return [one for one in read if one is not None][:MOST], list(metrics or ())[:MOST]


def _curves(
    here: Visit,
    directions: Sequence[Direction],
    metrics: Sequence[str],
    range_: str,
    options: Sequence[str] | None,
) -> list[Curve]:
    points = FINE if "fine" in (options or ()) else PIECES
    return read_curves(here, directions, metrics, here.now - RANGES[range_][1], points)


def _latest(here: Visit, directions: Sequence[Direction], metrics: Sequence[str]) -> Component:
    """Return the newest values, each with its tool and the run that it is from."""
    found: list[MeasurementView] = []
    for direction in directions:
        if direction.path:
            its = here.client.measurements(**direction._asdict(), limit=str(READ_VALUES))
            found += [one for one in its if one.metric in metrics]
    found.sort(key=lambda one: one.observed_at, reverse=True)

    def origin(one: MeasurementView) -> Any:
        if one.origin.startswith(("https://", "http://")):
            # The address of a pScheduler run is too long to show.
            return html.A(one.origin.split("/")[2], href=one.origin, title=one.origin, rel="noreferrer")
        return html.Code(one.origin[:60])

    columns = [
        ui.Column("Observed", lambda one: ui.when(one.observed_at, here)),
        ui.Column("Direction", lambda one: Direction.of(one).words),
        ui.Column("Metric", lambda one: metric_words(one.metric)),
        ui.Column("Value", lambda one: ui.value(one.value, one.metric), numeric=True),
        ui.Column("Tool", lambda one: one.tool),
        ui.Column("Source", origin),
    ]
    nothing = ui.empty("No measurements of these directions.", ui.link("Show schedule", "/schedule"))
    return ui.table(columns, found[:SHOWN_VALUES], nothing, "Latest values with tool and source")


def callbacks(app: Dash) -> None:
    """Add the chart, the boxes, the values and the file."""
    _install_chart(app)
    _install_boxes(app)

    @app.callback(
        ui.inside(VALUES),
        ui.opening(VALUES),
        Input(DIRECTIONS, "value"),
        Input(METRICS, "value"),
        ui.look("series"),
    )
    def list_values(
        clicks: int | None, directions: list[str] | None, metrics: list[str] | None, _look: int | None
    ) -> Any:
        if not clicks:
            return no_update
        try:
            return _latest(visit(), *_read(directions, metrics))
        except AdonError as error:
            return ui.failure(error)

    @app.callback(
        Output(FILE, "data"),
        Input(CSV, "n_clicks"),
        State(DIRECTIONS, "value"),
        State(METRICS, "value"),
        State(RANGE, "value"),
        State(OPTIONS, "value"),
        prevent_initial_call=True,
        running=[(Output(CSV, "disabled"), True, False)],
    )
    def save(
        clicks: int | None,
        directions: list[str] | None,
        metrics: list[str] | None,
        range_: str,
        options: list[str] | None,
    ) -> Any:
        if not clicks:
            return no_update
        here = visit()
        found = _curves(here, *_read(directions, metrics), range_, options)
        name = f"adon-{datetime.fromtimestamp(here.now, UTC):%Y%m%dT%H%M%SZ}.csv"
        return {"content": as_csv(found), "filename": name, "type": "text/csv"}


def _install_chart(app: Dash) -> None:
    @app.callback(
        Output(CHART, "children"),
        Output(LINK, "children"),
        Input(DIRECTIONS, "value"),
        Input(METRICS, "value"),
        Input(RANGE, "value"),
        Input(OPTIONS, "value"),
        ui.look("series"),
    )
    def draw(
        directions: list[str] | None,
        metrics: list[str] | None,
        range_: str,
        options: list[str] | None,
        _look: int | None,
    ) -> tuple[Any, Any]:
        here, (ends, names) = visit(), _read(directions, metrics)
        if not ends or not names:
            return ui.empty("Choose a direction and a metric."), ""
        words, span = RANGES[range_]
        since = here.now - span
        try:
            found = _curves(here, ends, names, range_, options)
            marks = read_marks(here, ends, names, since)
        except AdonError as error:
            return ui.failure(error), ""
        if not any(curve.buckets for curve in found):
            return ui.empty(f"No value in the last {words}. Choose a longer time."), ""
        zero = "zero" in (options or ())
        figure = series_figure.chart(found, marks, here.zone, since=since, until=here.now, zero=zero)
        caption = series_figure.says(found, marks, words)
        shown = ui.chart("ser-figure", figure, caption, int(figure.layout.height))
        return shown, ui.link("Link to this view", address(ends, names, range_, options or []))


def _install_boxes(app: Dash) -> None:
    @app.callback(
        Output(BOXES, "children"),
        Input(DIRECTIONS, "value"),
        Input(BOX_METRIC, "value"),
        Input(BOX_GROUP, "value"),
        Input(OPTIONS, "value"),
    )
    def draw_boxes(
        directions: list[str] | None, metric: str | None, group: str, options: list[str] | None
    ) -> Any:
        here, (ends, _) = visit(), _read(directions, ())
        if not ends or not metric:
            return ui.empty("Choose a direction and a metric.")
        since = text_of(here.now - BOX_SPANS[group])
        found = []
        try:
            for end in ends:
                items = here.client.boxes(**end._asdict(), metric=metric, group=group, since=since)
                found.append((end, [box for one in items.items for box in one.boxes]))
        except AdonError as error:
            return ui.failure(error)
        if not any(its for _, its in found):
            return ui.empty("No values in this time.")
        figure = series_figure.boxes(found, metric, here.zone, zero="zero" in (options or ()))
        caption = f"{metric_words(metric)} per {group}. Box: quartiles; whiskers: 5th and 95th percentile."
        return ui.chart("ser-box-figure", figure, caption)


PAGE = Page(
    "/series",
    "Time series",
    Action.MEASUREMENT_READ,
    show,
    group=Group.NETWORK,
    callbacks=callbacks,
)
