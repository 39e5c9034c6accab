"""Backtest of the editor's text: recorded requests replayed with this text and with the saved version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.api.templates import ActualOutcome, BacktestResult, BacktestView, FlowComparison, ReplayedOutcome
from adon.errors import AdonError, InvalidInput, NotFound
from apps.dashboard import ui
from apps.dashboard.policy.formats import PERIODS, period_start
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit, visit

ID, START, CANCEL, PERIOD = "backtest-id", "backtest-start", "backtest-stop", "backtest-span"
RESULT, TICK = "backtest-state", "backtest-tick"
TICK_MS = 1500
LISTED = 100
"""Flows of the table, changed ones first."""
EQUAL_S = 0.05
"""A shorter difference in time is shown as none."""


def card(here: Visit, name: str) -> Component:
    """Return the part of the page, with the newest backtest of a template."""
    lead = "Replays recorded requests and measurements with this text and the saved version."
    start = html.Button("Backtest this text", id=START, type="button")
    cancel = html.Button("Cancel", id=CANCEL, type="button", className="quiet", disabled=True)
    return ui.card(
        "Backtest",
        html.P(lead, className="muted"),
        ui.field("Period", ui.choice(PERIOD, PERIODS[1:], "1d")),
        html.Div([start, cancel], className="deeds field"),
        dcc.Store(id=ID, data=_newest_backtest(here, name)),
        dcc.Interval(id=TICK, interval=TICK_MS, disabled=True),
        html.Div(id=RESULT, **{"aria-live": "polite"}),
    )


def _newest_backtest(here: Visit, name: str) -> str | None:
    try:
        return next((one.id for one in here.client.backtests() if one.template == name), None)
    except AdonError:
        return None  # a start reports why there are no backtests


def start_backtest(here: Visit, text: str, period: str) -> str:
    """Start a backtest of a text; return its id.

    :raises AdonError: if the text has problems, or the API refuses.
    """
    found = here.client.check_template(text)
    if found.template is None:
        raise InvalidInput.of("text", "has problems; correct them first")
    request: Any = {"template": found.template, "since": period_start(period, here.now)}
    return here.client.start_backtest(request).id


def backtest_state(here: Visit, backtest: str | None) -> tuple[Any, bool]:
    """Return the state or the result of a backtest, and whether it is running."""
    if backtest is None:
        return [], False
    try:
        found = here.client.backtest(backtest)
    except NotFound:
        return ui.notice("The result has expired. Start the backtest again."), False
    except AdonError as error:
        return ui.failure(error), False
    if found.state == "running":
        since = ui.when(found.since, here)
        started = f"; started {ui.ago(found.asked_at, here)}."
        return ui.notice(["Replaying since ", since, started], "wait"), True
    return backtest_result(found, here), False


def backtest_result(found: BacktestView, here: Visit) -> Component:
    """Return the result of a backtest that has ended."""
    result = found.found
    if result is None:
        cause = f": {found.cause}" if found.cause else ""
        return ui.notice(f"The backtest is {found.state}{cause}.", "bad" if found.cause else "plain")
    error = result.model_off_by
    trust = (
        ""
        if error is None
        else f" Median error of the replay: {ui.share(error)}; ignore smaller differences."
    )
    compared = f"{result.proposed} compared with {result.present}, since "
    return html.Div(
        [
            html.P(html.Strong(summary(result))),
            html.Small([compared, ui.when(found.since, here), ".", trust], className="muted"),
            flow_table(here, result.flows),
            ui.details("Replay method", html.P(result.model, className="muted")),
        ]
    )


def summary(result: BacktestResult) -> str:
    """Return the comparison in a sentence."""
    if not result.flows:
        return "No flows in this period."
    saved = result.saved_seconds
    time = "no difference in time"
    if abs(saved) >= EQUAL_S:
        time = f"{ui.span(abs(saved))} {'saved' if saved > 0 else 'lost'} in total"
    return f"{result.moved or 'None'} of {len(result.flows)} flows would have taken another path; {time}."


def flow_table(here: Visit, flows: Sequence[FlowComparison]) -> Component:
    """Return the replayed flows; those on another path first."""
    ranked = sorted(flows, key=lambda one: (not one.moved, -abs(one.saved_seconds or 0.0)))
    columns: Columns = {
        "Flow": "flow",
        "Size": "size_bytes",
        "Recorded": lambda one: _paths(one.happened),
        "Saved version": lambda one: _replayed(one.present),
        "This text": lambda one: _replayed(one.proposed),
        "Time saved": lambda one: _signed_time(one.saved_seconds),
    }
    table = document_table(
        here,
        columns,
        ranked[:LISTED],
        "No flows in this period.",
        "Flows",
        numeric={"Time saved"},
        marked=lambda one: one.moved,
    )
    note = f"{LISTED} of {len(ranked)} flows are shown." if len(ranked) > LISTED else ""
    return html.Div([table, html.P(note, className="muted") if note else None])


def _paths(one: ActualOutcome | ReplayedOutcome) -> Component:
    paths = " → ".join(one.paths) or "no path"
    return html.Span([paths, html.Br(), html.Small(ui.span(one.took_seconds), className="muted")])


def _replayed(one: ReplayedOutcome) -> Component:
    if one.refused:
        return html.Span([ui.badge("refused", "bad"), html.Br(), html.Small(one.refused)])
    violated = ui.badge(f"violated {ui.span(one.violated_seconds)}", "bad") if one.violations else ""
    return html.Span([_paths(one), " ", violated])


def _signed_time(seconds: float | None) -> str:
    if seconds is None:
        return ui.words.NONE
    return f"{'−' if seconds < 0 else ''}{ui.span(abs(seconds))}"


def register_callbacks(app: Dash, text: str) -> None:
    """Start, follow and cancel a backtest.

    :param text: id of the editor's text area.
    """

    @app.callback(
        Output(ID, "data"),
        Output(RESULT, "children", allow_duplicate=True),
        Input(START, "n_clicks"),
        State(text, "value"),
        State(PERIOD, "value"),
        prevent_initial_call=True,
        running=[(Output(START, "disabled"), True, False)],
    )
    def start(clicks: int | None, written: str | None, period: str) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            return start_backtest(visit(), written or "", period), "The backtest runs."
        except AdonError as error:
            return no_update, ui.failure(error)

    @app.callback(
        Output(RESULT, "children"),
        Output(TICK, "disabled"),
        Output(CANCEL, "disabled"),
        Input(ID, "data"),
        Input(TICK, "n_intervals"),
    )
    def follow(backtest: str | None, _ticks: int | None) -> Any:
        shown, runs = backtest_state(visit(), backtest)
        return shown, not runs, not runs

    @app.callback(
        Output(RESULT, "children", allow_duplicate=True),
        Input(CANCEL, "n_clicks"),
        State(ID, "data"),
        prevent_initial_call=True,
    )
    def cancel(clicks: int | None, backtest: str | None) -> Any:
        if not clicks or backtest is None:
            return no_update
        try:
            visit().client.cancel_backtest(backtest)
        except AdonError as error:
            return ui.failure(error)
        return ui.notice("The backtest was cancelled.")
