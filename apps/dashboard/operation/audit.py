"""The audit log: every change and every refusal, and whether the log is whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.audit import csv_rows
from adon.access.policy import Action
from adon.api.access import AuditLine
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit, visit

SHOWN = 40
ANY = "any"
OUTCOMES: Mapping[str, Tone] = {"done": "good", "refused": "bad", "failed": "wait"}
FILTERS = ("actor", "action", "outcome")


def show(here: Visit) -> Component:
    """The heading and the filters."""
    outcomes = [(ANY, "every outcome"), *((one, one) for one in OUTCOMES)]
    filters = html.Div(
        [
            ui.field("User", ui.text_input("audit-actor", here.query.get("actor", ""), "any", debounce=0.4)),
            ui.field(
                "Action",
                ui.text_input("audit-action", here.query.get("action", ""), "flow.submit", debounce=0.4),
            ),
            ui.field("Outcome", ui.choice("audit-outcome", outcomes, here.query.get("outcome", ANY))),
        ],
        className="grid",
    )
    deeds = [
        html.Button("Verify", id="audit-verify", className="quiet"),
        html.Button("Download CSV", id="audit-csv", className="quiet"),
    ]
    return html.Div(
        [
            ui.head(
                "Audit log",
                "Every change and every refusal. Entries cannot be removed.",
                *deeds,
            ),
            html.Div(id="audit-done"),
            dcc.Download(id="audit-file"),
            ui.card(None, filters),
        ]
    )


def live(here: Visit) -> Component:
    """The newest lines."""
    chosen = _chosen(here.query)
    columns = [
        Column("No.", lambda one: str(one.number), numeric=True),
        Column("Time", lambda one: ui.when(one.at, here)),
        Column(
            "User",
            lambda one: html.Span([one.actor or "anonymous", html.Small(f"{one.via} {one.address}")]),
        ),
        Column("Action", lambda one: one.action),
        Column("Object", lambda one: html.Code(f"{one.method} {one.object}".strip())),
        Column("Outcome", lambda one: _outcome(one)),
        Column("", lambda one: html.Small(one.detail)),
    ]
    lines = here.client.audit(chosen, SHOWN)
    nothing = ui.empty("No entries match these filters." if chosen else "No entries yet.")
    table = ui.table(columns, lines, nothing, "Newest entries of the audit log")
    more = [html.Small(f"The newest {SHOWN}; the CSV file has all.")] if len(lines) == SHOWN else []
    return ui.card(None, table, *more)


def _outcome(line: AuditLine) -> Component:
    times = html.Small(f" {line.times} times") if line.times > 1 else ""
    # That it went well needs no number; which refusal it was does.
    told = bool(line.status) and line.outcome != "done"
    said = f"{line.outcome}, {line.status}" if told else line.outcome
    return html.Span([ui.badge(said, OUTCOMES.get(line.outcome, "plain")), times])


def _chosen(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in FILTERS if query.get(name)}


def callbacks(app: Dash) -> None:
    """Filters are part of the address; checking and taking a copy."""

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        [Input(f"audit-{name}", "value") for name in FILTERS],
        prevent_initial_call=True,
    )
    def narrow(*values: str | None) -> str:
        given = {
            name: value.strip()
            for name, value in zip(FILTERS, values, strict=True)
            if value and value.strip() not in ("", ANY)
        }
        return f"?{urlencode(given)}" if given else ""

    @app.callback(
        Output("audit-done", "children"),
        Input("audit-verify", "n_clicks"),
        running=[(Output("audit-verify", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def verify(clicks: int | None) -> Any:
        if not clicks:
            return no_update
        try:
            told = visit().client.verify_audit()
        except AdonError as error:
            return ui.failure(error)
        if told.problem is not None:
            return ui.notice(f"Verification failed: {told.problem}.", "bad")
        return ui.notice(
            f"Verified {told.lines} entries; digest of the last entry: {told.head[:16]}.", "good"
        )

    @app.callback(
        Output("audit-file", "data"),
        Input("audit-csv", "n_clicks"),
        prevent_initial_call=True,
    )
    def copy(clicks: int | None) -> Any:
        if not clicks:
            return no_update
        return {
            "content": "".join(csv_rows(visit().client.audit_values({}))),
            "filename": "adon-audit.csv",
            "type": "text/csv",
        }


PAGE = Page(
    "/audit",
    "Audit log",
    Action.AUDIT_READ,
    show,
    live,
    refresh_s=15.0,
    group=Group.OPERATION,
    callbacks=callbacks,
)
