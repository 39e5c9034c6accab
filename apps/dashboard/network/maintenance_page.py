"""``/maintenance``: rehearsal of failures, maintenance windows, and the announcement of a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from dash import Dash, Input, Output, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.maintenance import WindowView
from adon.api.network import CircuitView, LinkView, NetworkView, SiteView, SwitchDetail
from adon.errors import InvalidInput, Problem
from apps.dashboard import ui
from apps.dashboard.network import what_if
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit, visit

FORM = ui.Form("window", ("scope", "name", "begins", "ends", "lead", "note"))
CANCEL, CANCELLED = "window-cancel", "window-cancelled"
EXAMPLE = "expected for example 2026-11-30 14:00"
SCOPES = ("path", "link", "switch", "site")
TONES: Mapping[str, ui.Tone] = {"draining": "wait", "active": "wait", "cancelled": "bad"}


def show(here: Visit) -> Component:
    """Return the form of the rehearsal and its answer."""
    lead = "A rehearsal changes nothing. A window closes a path, link, switch or site for a time."
    return html.Div([ui.head("Maintenance", lead, ui.link("Map", "/network")), what_if.section(here)])


def live(here: Visit) -> Component:
    """Return the windows that are announced or active."""
    cancelling = here.may(Action.MAINTENANCE_CANCEL)

    def actions(one: WindowView) -> Component:
        parts = [ui.link("What if", what_if.address("maintenance", one.id))]
        if cancelling and one.stage != "cancelled":
            question = f"Cancel {one.id}? The {one.scope} becomes available immediately."
            parts.append(ui.button(CANCEL, one.id, "Cancel", confirm=question))
        return html.Div(parts, className="deeds")

    columns = [
        ui.Column("Window", lambda one: one.id),
        ui.Column("Stage", lambda one: ui.badge(one.stage, TONES.get(one.stage, "plain"))),
        ui.Column("Resource", lambda one: html.Span([f"{one.scope} {one.name}", html.Small(f" {one.note}")])),
        ui.Column("From", lambda one: ui.when(one.begins, here)),
        ui.Column("Until", lambda one: ui.when(one.ends, here)),
        ui.Column("Lead time", lambda one: f"{ui.span(one.lead_seconds)} before"),
        ui.Column("By", lambda one: one.requester),
        ui.Column("", actions),
    ]
    found = here.client.maintenance(all_=False)
    table = ui.table(columns, found, "No maintenance windows.", "Maintenance windows")
    return ui.card("Maintenance windows", table, id="maintenance")


def below(here: Visit) -> Component:
    """Return the form of an announcement, for users who may announce."""
    answer = html.Div(id=CANCELLED, role="status")
    if not here.may(Action.MAINTENANCE_ADD):
        return answer
    zone = f"in {here.zone.key} time"
    network = here.client.topology()
    moment = {"placeholder": "2026-11-30 14:00"}
    fields = [
        ui.field("Resource", ui.choice(FORM.id_of("scope"), [(one, one) for one in SCOPES], "path")),
        ui.field("Name", ui.choice(FORM.id_of("name"), names_of(network, "path"))),
        # Dash's control for dates knows no time of day.
        ui.field("From", ui.text_input(FORM.id_of("begins"), **moment), zone),
        ui.field("Until", ui.text_input(FORM.id_of("ends"), **moment), zone),
        ui.field(
            "Lead time",
            ui.text_input(FORM.id_of("lead"), "10 min"),
            "Flows leave the path this long before the start.",
        ),
        ui.field("Note", ui.text_input(FORM.id_of("note"), maxLength=200)),
    ]
    form = html.Div([html.Div(fields, className="grid"), FORM.submit("Announce")], className="stack")
    return html.Div([answer, ui.card(None, ui.details("Announce a maintenance window", form))])


def names_of(network: NetworkView, scope: str) -> list[tuple[str, str]]:
    """Return the options for the name of a resource of this kind."""
    resources: Mapping[str, Sequence[CircuitView | LinkView | SwitchDetail | SiteView]] = {
        "path": network.circuits,
        "link": network.links,
        "switch": network.switches,
        "site": network.sites,
    }
    return [(one.name, one.name) for one in resources[scope] if one.name]


def read_window(typed: Mapping[str, str | None], zone: ZoneInfo) -> dict[str, str]:
    """Return the window that a filled-in form describes, as the API takes it.

    :param typed: by the API's names; times as ``2026-11-30 14:00`` in the reader's zone.
    :raises InvalidInput: for a missing name, and for a time that cannot be read.
    """
    known = {name: (text or "").strip() for name, text in typed.items()}
    found = {name: text for name, text in known.items() if text}
    problems = []
    for name in ("begins", "ends"):
        try:
            read = datetime.fromisoformat(found.get(name, ""))
        except ValueError:
            wrong = f"{found[name][:40]!r} is not a time" if name in found else "missing"
            problems.append(Problem(name, f"{wrong}; {EXAMPLE}"))
        else:
            found[name] = (read if read.tzinfo else read.replace(tzinfo=zone)).isoformat()
    if "name" not in found:
        problems.append(Problem("name", "missing; choose a path, link or switch"))
    if problems:
        raise InvalidInput(tuple(problems))
    return found


def _announce(here: Visit, typed: dict[str, Any]) -> Component:
    made = here.client.add_maintenance(read_window(typed, here.zone))
    begins = ui.when(made.begins, here)
    return ui.notice([f"{made.id} is announced: {made.scope} {made.name} from ", begins, "."], "good")


def _cancel(here: Visit, window: str) -> str:
    here.client.cancel_maintenance(window)
    return f"{window} is cancelled. Its paths are available again."


def callbacks(app: Dash) -> None:
    """Add the rehearsal, the announcement and the cancellation."""
    what_if.callbacks(app)
    FORM.install(app, _announce)
    ui.install_buttons(app, CANCEL, CANCELLED, _cancel, confirmed=True)
    name = FORM.id_of("name")

    @app.callback(
        Output(name, "options"),
        Output(name, "value"),
        Input(FORM.id_of("scope"), "value"),
        prevent_initial_call=True,
    )
    def offer_names(scope: str) -> tuple[list[dict[str, str]], None]:
        found = names_of(visit().client.topology(), scope)
        return [{"value": value, "label": label} for value, label in found], None


PAGE = Page(
    "/maintenance",
    "Maintenance",
    Action.WHAT_IF,
    show,
    live,
    refresh_s=10,
    group=Group.NETWORK,
    callbacks=callbacks,
    below=below,
)
