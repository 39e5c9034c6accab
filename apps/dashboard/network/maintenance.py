"""Maintenance windows: which there are, announcing one, cancelling one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.maintenance import WindowView
from adon.api.network import CircuitView, LinkView, NetworkView, SiteView, SwitchDetail
from adon.errors import AdonError, InvalidInput, Problem
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit, visit

SCOPE, NAME, BEGINS, ENDS, LEAD, NOTE = (
    "window-scope",
    "window-name",
    "window-begins",
    "window-ends",
    "window-lead",
    "window-note",
)
ANNOUNCE, SAID, CANCEL, CANCELLED = "window-announce", "window-said", "window-cancel", "window-cancelled"
TABLE = "window-table"
FIELDS: Mapping[str, str] = {
    "scope": SCOPE,
    "name": NAME,
    "begins": BEGINS,
    "ends": ENDS,
    "lead": LEAD,
    "note": NOTE,
}
"""The API's names of what the form asks for."""
EXAMPLE = "expected for example 2026-11-30 14:00"
SCOPES = ("path", "link", "switch", "site")
_TONES: dict[str, Tone] = {"draining": "wait", "active": "wait", "cancelled": "bad"}


def windows(here: Visit) -> Component:
    """Those that are announced or under way, each with what it would do, and a way to cancel it."""
    return ui.card(
        "Maintenance",
        html.Div(_table(here), id=TABLE),
        html.Div(id=CANCELLED, role="status"),
        id="maintenance",
    )


def _table(here: Visit) -> Component:
    cancelling = here.may(Action.MAINTENANCE_CANCEL)

    def deeds(one: WindowView) -> Component:
        rehearse = ui.link("What if", f"/what-if?failure=maintenance&name={one.id}")
        if not cancelling or one.stage == "cancelled":
            return html.Div([rehearse])
        cancel = dcc.ConfirmDialogProvider(
            html.Button("Cancel", className="danger small"),
            id={"type": CANCEL, "id": one.id},
            message=f"Cancel {one.id}? The {one.scope} becomes available immediately.",
        )
        return html.Div([rehearse, cancel], className="deeds")

    columns = [
        Column("Window", lambda one: one.id),
        Column("Stage", lambda one: ui.badge(one.stage, _TONES.get(one.stage, "plain"))),
        Column("Resource", lambda one: html.Span([f"{one.scope} {one.name}", html.Small(f" {one.note}")])),
        Column("From", lambda one: ui.when(one.begins, here)),
        Column("Until", lambda one: ui.when(one.ends, here)),
        Column("Lead time", lambda one: f"{ui.span(one.lead_seconds)} before"),
        Column("By", lambda one: one.requester),
        Column("", deeds),
    ]
    found = here.client.maintenance(all_=False)
    return ui.table(columns, found, "No maintenance windows.", "Maintenance windows")


def form(network: NetworkView, here: Visit) -> Component:
    """For who may announce one: what is closed, from when to when, in the reader's time zone."""
    if not here.may(Action.MAINTENANCE_ADD):
        return html.Div()
    fields = html.Div(
        [
            ui.field("Resource", ui.choice(SCOPE, [(scope, scope) for scope in SCOPES], "path")),
            ui.field("Name", ui.choice(NAME, names_of(network, "path"))),
            ui.field("From", _moment(BEGINS), f"in {here.zone.key} time"),
            ui.field("Until", _moment(ENDS), f"in {here.zone.key} time"),
            ui.field(
                "Lead time", ui.text_input(LEAD, "10 min"), "Flows leave the path this long before the start."
            ),
            ui.field("Note", ui.text_input(NOTE, maxLength=200)),
        ],
        className="grid",
    )
    content = [fields, html.Button("Announce", id=ANNOUNCE), html.Div(id=SAID, role="status")]
    return ui.card(None, ui.details("Announce a maintenance window", html.Div(content, className="stack")))


def _moment(name: str) -> Component:
    # Dash's control for dates knows no time of day.
    return ui.text_input(name, placeholder="2026-11-30 14:00")


def names_of(network: NetworkView, scope: str) -> list[tuple[str, str]]:
    """What a window of this kind can be about."""
    parts: Mapping[str, Sequence[CircuitView | LinkView | SwitchDetail | SiteView]] = {
        "path": network.circuits,
        "link": network.links,
        "switch": network.switches,
        "site": network.sites,
    }
    return [(one.name, one.name) for one in parts[scope] if one.name]


def asked(typed: Mapping[str, str | None], zone: ZoneInfo) -> dict[str, str]:
    """The window that a filled-in form describes, as the API takes it.

    :param typed: by the API's names; times as ``2026-11-30 14:00`` in the reader's zone.
    :raises InvalidInput: for a time that is none.
    """
    known = {name: (text or "").strip() for name, text in typed.items()}
    found = {name: text for name, text in known.items() if text}
    problems = [Problem(name, f"missing; {EXAMPLE}") for name in ("begins", "ends") if name not in found]
    for name in ("begins", "ends"):
        if name in found:
            try:
                read = datetime.fromisoformat(found[name])
            except ValueError:
                problems.append(Problem(name, f"{found[name][:40]!r} is not a time; {EXAMPLE}"))
                continue
            found[name] = (read if read.tzinfo else read.replace(tzinfo=zone)).isoformat()
    if "name" not in found:
        problems.append(Problem("name", "missing; choose a path, link or switch"))
    if problems:
        raise InvalidInput(tuple(problems))
    return found


def callbacks(app: Dash) -> None:
    """The names of a kind, announcing, cancelling."""

    @app.callback(
        Output(NAME, "options"), Output(NAME, "value"), Input(SCOPE, "value"), prevent_initial_call=True
    )
    def names(scope: str) -> tuple[list[dict[str, str]], None]:
        found = names_of(visit().client.topology(), scope)
        return [{"value": value, "label": label} for value, label in found], None

    @app.callback(
        Output(SAID, "children"),
        *(Output(f"{one}-problem", "children") for one in FIELDS.values()),
        Output(TABLE, "children", allow_duplicate=True),
        Input(ANNOUNCE, "n_clicks"),
        *(State(one, "value") for one in FIELDS.values()),
        prevent_initial_call=True,
        running=[(Output(ANNOUNCE, "disabled"), True, False)],
    )
    def announce(clicks: int | None, *typed: str | None) -> tuple[Any, ...]:
        here = visit()
        if not clicks:
            return (no_update,) * (len(FIELDS) + 2)
        try:
            wanted = asked(dict(zip(FIELDS, typed, strict=True)), here.zone)
            made = here.client.add_maintenance(wanted)
        except AdonError as error:
            found = ui.problems_of(error)
            beside = tuple(found.get(name, "") for name in FIELDS)
            rest = "; ".join(cause for name, cause in found.items() if name not in FIELDS)
            said = ui.notice(f"Not announced: {rest or 'see the marked fields'}.", "bad")
            return said, *beside, no_update
        said = ui.notice(
            [
                f"{made.id} is announced: {made.scope} {made.name} from ",
                ui.when(made.begins, here),
                ".",
            ],
            "good",
        )
        return said, *([""] * len(FIELDS)), _table(here)

    @app.callback(
        Output(TABLE, "children", allow_duplicate=True),
        Output(CANCELLED, "children"),
        Input({"type": CANCEL, "id": ALL}, "submit_n_clicks"),
        prevent_initial_call=True,
    )
    def cancel(clicks: list[int | None]) -> tuple[Any, Any]:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update, no_update
        here, window = visit(), str(ctx.triggered_id["id"])
        try:
            here.client.cancel_maintenance(window)
        except AdonError as error:
            return no_update, ui.failure(error)
        return _table(here), ui.notice(f"{window} is cancelled. Its paths are available again.", "good")
