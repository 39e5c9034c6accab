"""``/audit``: changes and refusals, verification of the log, and its copy as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, Input, Output, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.audit import csv_rows
from adon.access.policy import Action
from adon.api.access import AuditLine
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit, visit

SHOWN = 40
OUTCOMES: Mapping[str, Tone] = {"done": "good", "refused": "bad", "failed": "wait"}
FILTERS = ui.Filters("audit", ("actor", "action", "outcome"))


def show(here: Visit) -> Component:
    """Return the heading and the filters."""
    known = FILTERS.values(here)
    outcomes = [("", "every outcome"), *((one, one) for one in OUTCOMES)]
    actor = ui.text_input("audit-actor", known.get("actor", ""), "any", debounce=0.4)
    action = ui.text_input("audit-action", known.get("action", ""), "flow.submit", debounce=0.4)
    filters = FILTERS.form(
        ui.field("User", actor),
        ui.field("Action", action),
        ui.field("Outcome", ui.choice("audit-outcome", outcomes, known.get("outcome"))),
    )
    head = ui.head(
        "Audit log",
        "Every change and every refusal. Entries cannot be removed.",
        html.Button("Verify", id="audit-verify", className="quiet"),
        html.Button("Download CSV", id="audit-csv", className="quiet"),
    )
    answer = html.Div(id="audit-done", role="status")
    return html.Div([head, answer, dcc.Download(id="audit-file"), ui.card(None, filters)])


def live(here: Visit) -> Component:
    """Return the newest entries."""
    chosen = dict(FILTERS.values(here))
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


def _verify(here: Visit) -> Component:
    found = here.client.verify_audit()
    if found.problem is not None:
        return ui.notice(f"Verification failed: {found.problem}.", "bad")
    text = f"Verified {found.lines} entries; digest of the last entry: {found.head[:16]}."
    return ui.notice(text, "good")


def callbacks(app: Dash) -> None:
    """Add the filters, the verification and the download."""
    FILTERS.install(app)
    ui.install_button(app, "audit-verify", "audit-done", _verify)

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
