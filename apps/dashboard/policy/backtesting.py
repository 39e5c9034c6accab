"""What a template's text would have done in the past: asked for, waited for, shown beside the editor."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.errors import AdonError, Conflict, InvalidInput, NotFound
from apps.dashboard import ui
from apps.dashboard.policy import backtested
from apps.dashboard.policy.spans import since
from apps.dashboard.visit import Visit, visit

ID, START, STOP, SPAN, STATE, TICK = (
    "backtest-id",
    "backtest-start",
    "backtest-stop",
    "backtest-span",
    "backtest-state",
    "backtest-tick",
)
SPANS = (
    ("1h", "the last hour"),
    ("6h", "the last 6 hours"),
    ("1d", "the last day"),
    ("7d", "the last week"),
    ("31d", "the last month"),
)
TICK_MS = 1500


def card(here: Visit, name: str) -> Component:
    """The part of the page; the newest backtest of this template is shown at once."""
    return ui.card(
        "Backtest",
        html.P(
            "Replays recorded requests and measurements with this text and the saved version.",
            className="muted",
        ),
        html.Div(
            [
                ui.field("Period", ui.choice(SPAN, SPANS, "1d")),
                html.Div(
                    [
                        html.Button("Backtest this text", id=START, type="button"),
                        html.Button("Cancel", id=STOP, type="button", className="quiet", disabled=True),
                    ],
                    className="deeds field",
                ),
            ]
        ),
        dcc.Store(id=ID, data=_newest(here, name)),
        dcc.Interval(id=TICK, interval=TICK_MS, disabled=True),
        html.Div(id=STATE, **{"aria-live": "polite"}),
    )


def _newest(here: Visit, name: str) -> str | None:
    try:
        found = [one for one in here.client.backtests() if one.template == name]
    except AdonError:
        return None  # whether there are any is told when one is asked for
    return found[0].id if found else None


def begin(here: Visit, text: str, span: str) -> str:
    """Have the text replayed; the backtest's id.

    :raises AdonError: what the API says against it.
    """
    found = here.client.check_template(text)
    if found.template is None:
        raise InvalidInput.of("text", "has problems; correct them first")
    question: Any = {"template": found.template, "since": since(span, here.now)}
    return here.client.start_backtest(question).id


def stand(here: Visit, backtest: str | None) -> tuple[Any, bool]:
    """How a backtest stands, and whether it is still running."""
    if backtest is None:
        return [], False
    try:
        found = here.client.backtest(backtest)
        if found.state == "running":
            return backtested.running(found, here), True
    except NotFound:
        return ui.notice("The result has expired. Start the backtest again."), False
    except AdonError as error:
        return ui.failure(error), False
    return backtested.ended(found, here), False


def install(app: Dash, text: str) -> None:
    """Start, wait, end.  ``text`` is the id of the editor's text."""

    @app.callback(
        Output(ID, "data"),
        Output(STATE, "children", allow_duplicate=True),
        Input(START, "n_clicks"),
        State(text, "value"),
        State(SPAN, "value"),
        prevent_initial_call=True,
        running=[(Output(START, "disabled"), True, False)],
    )
    def start(clicks: int | None, written: str | None, span: str) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            return begin(visit(), written or "", span), "The backtest runs."
        except Conflict as error:
            return no_update, ui.notice(error.cause, "wait")
        except AdonError as error:
            return no_update, ui.failure(error)

    @app.callback(
        Output(STATE, "children"),
        Output(TICK, "disabled"),
        Output(STOP, "disabled"),
        Input(ID, "data"),
        Input(TICK, "n_intervals"),
    )
    def look(backtest: str | None, _ticks: int | None) -> Any:
        shown, runs = stand(visit(), backtest)
        return shown, not runs, not runs

    @app.callback(
        Output(STATE, "children", allow_duplicate=True),
        Input(STOP, "n_clicks"),
        State(ID, "data"),
        prevent_initial_call=True,
    )
    def stop(clicks: int | None, backtest: str | None) -> Any:
        if not clicks or backtest is None:
            return no_update
        try:
            visit().client.cancel_backtest(backtest)
        except AdonError as error:
            return ui.failure(error)
        return ui.notice("The backtest was cancelled.")
