"""A chart of series with its controls: which directions and metrics, which time, as what; and as CSV.

On ``/series`` and, for its own directions, on a path's page; one of the two is there at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import dash_bootstrap_components as dbc
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import series_figure, series_reading
from apps.dashboard.network.series_data import (
    FINE,
    MOST,
    PIECES,
    RANGES,
    Direction,
    as_csv,
    metric_order,
    metric_words,
)
from apps.dashboard.visit import Visit, visit

DIRECTIONS, METRICS, RANGE, OPTIONS = "ser-directions", "ser-metrics", "ser-range", "ser-options"
CHART, BOXES, BOX_GROUP, BOX_METRIC = "ser-chart", "ser-boxes", "ser-box-group", "ser-box-metric"
TICKER, CSV, FILE, VALUES, LINK = "series", "ser-csv", "ser-file", "ser-values", "ser-link"
REFRESH_S = 30.0
BOX_SPANS = {"hour": 2 * 86_400.0, "day": 60 * 86_400.0}


def panel(
    known: Iterable[tuple[Direction, str]],
    chosen: Sequence[Direction],
    metrics: Sequence[str],
    here: Visit,
) -> Component:
    """The controls, and the places that :func:`callbacks` fill.

    :param known: every direction that can be chosen, with each of its metrics.
    """
    query = here.query
    pairs = list(known)
    directions = list(dict.fromkeys([*chosen, *(one for one, _ in pairs)]))
    names = metric_order([*metrics, *(metric for _, metric in pairs)])
    ranges = [(name, words) for name, (words, _) in RANGES.items()]
    asked = query.get("range", "")
    controls = html.Div(
        [
            _several(
                DIRECTIONS,
                "Directions",
                [(one.key(), one.words) for one in directions],
                [one.key() for one in chosen],
            ),
            _several(METRICS, "Metrics", [(one, metric_words(one)) for one in names], list(metrics)),
            ui.field(
                "Time",
                ui.choice(
                    RANGE, ranges, asked if asked in RANGES else series_reading.first_range(here, chosen)
                ),
            ),
            html.Fieldset(
                [
                    html.Legend("Options"),
                    dbc.Checklist(
                        id=OPTIONS,
                        options=[
                            {"value": "zero", "label": "axes from 0"},
                            {"value": "fine", "label": "raw values"},
                        ],
                        value=[name for name in ("zero", "fine") if query.get(name)],
                    ),
                ],
                className="field",
            ),
        ],
        className="controls wider",
    )
    boxed = [(name, metric_words(name)) for name in names]
    box_controls = html.Div(
        [
            ui.field("Metric", ui.choice(BOX_METRIC, boxed, metrics[0] if metrics else None)),
            ui.field(
                "Interval",
                ui.choice(BOX_GROUP, [("hour", "hour, two days"), ("day", "day, 60 days")], "hour"),
            ),
        ],
        className="controls",
    )
    return html.Div(
        [
            ui.card(
                None,
                controls,
                html.Div(id=CHART),
                html.Div(
                    [
                        html.Button("Save as CSV", id=CSV, className="quiet small"),
                        html.Span(id=LINK),
                        dcc.Download(id=FILE),
                    ],
                    className="deeds",
                ),
            ),
            ui.card("Distribution", box_controls, html.Div(id=BOXES)),
            ui.card(None, ui.folded(VALUES, "Latest values and sources")),
            *ui.ticker(TICKER, REFRESH_S),
        ]
    )


def _several(name: str, words: str, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> Component:
    """Some of many; the browser's own boxes, in a part that scrolls if they are many."""
    shown = [{"value": value, "label": label} for value, label in options]
    boxes = html.Div(
        dbc.Checklist(id=name, options=shown, value=list(chosen)), className="several", tabIndex=0
    )
    return html.Fieldset([html.Legend(words), boxes], className="field")


def chosen_of(
    directions: Sequence[str] | None, metrics: Sequence[str] | None
) -> tuple[list[Direction], list[str]]:
    """What controls say, no more than can be told apart."""
    read = [Direction.read(key) for key in directions or ()]
    return [one for one in read if one is not None][:MOST], list(metrics or ())[:MOST]


def callbacks(app: Dash) -> None:
    """The chart, the boxes, the values, the file."""
    chosen = (Input(DIRECTIONS, "value"), Input(METRICS, "value"))

    @app.callback(
        Output(CHART, "children"),
        Output(LINK, "children"),
        *chosen,
        Input(RANGE, "value"),
        Input(OPTIONS, "value"),
        ui.look(TICKER),
    )
    def draw(
        directions: list[str] | None,
        metrics: list[str] | None,
        range_: str,
        options: list[str] | None,
        _look: int | None,
    ) -> tuple[Any, Any]:
        here, (ends, names) = visit(), chosen_of(directions, metrics)
        if not ends or not names:
            return ui.empty("Choose a direction and a metric."), ""
        words, span = RANGES[range_]
        since = here.now - span
        as_ = options or []
        try:
            found = series_reading.curves(here, ends, names, since, FINE if "fine" in as_ else PIECES)
            happened = series_reading.marks(here, ends, names, since)
        except AdonError as error:
            return ui.failure(error), ""
        if not any(curve.buckets for curve in found):
            return ui.empty(f"No value in the last {words}. Choose a longer time."), ""
        figure = series_figure.chart(
            found, happened, here.zone, since=since, until=here.now, zero="zero" in as_
        )
        shown = ui.chart(
            "ser-figure", figure, series_figure.says(found, happened, words), int(figure.layout.height)
        )
        return shown, ui.link("Link to this view", series_reading.address(ends, names, range_, as_))

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
        here, (ends, _) = visit(), chosen_of(directions, ())
        if not ends or not metric:
            return ui.empty("Choose a direction and a metric.")
        since = series_reading.text_of(here.now - BOX_SPANS[group])
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
        told = f"{metric_words(metric)} per {group}. Box: quartiles; whiskers: 5th and 95th percentile."
        return ui.chart("ser-box-figure", figure, told)

    @app.callback(ui.inside(VALUES), ui.opening(VALUES), *chosen, ui.look(TICKER))
    def tell(
        clicks: int | None, directions: list[str] | None, metrics: list[str] | None, _look: int | None
    ) -> Any:
        if not clicks:
            return no_update
        try:
            return series_reading.latest(visit(), *chosen_of(directions, metrics))
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
        here, (ends, names) = visit(), chosen_of(directions, metrics)
        points = FINE if "fine" in (options or ()) else PIECES
        found = series_reading.curves(here, ends, names, here.now - RANGES[range_][1], points)
        name = f"adon-{datetime.fromtimestamp(here.now, UTC):%Y%m%dT%H%M%SZ}.csv"
        return {"content": as_csv(found), "filename": name, "type": "text/csv"}
