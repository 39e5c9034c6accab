"""``/reservations``: reserved resources of compute sites and paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.queue import ReservationView
from adon.broker.resources.amounts import Amounts, Place
from apps.dashboard import ui
from apps.dashboard.entry_form import EntryForm, FormField, on_row_button, row_button
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table, object_link
from apps.dashboard.visit import Visit

TONES: Mapping[str, Tone] = {"active": "good", "ahead": "wait"}
RELEASE, ADD, RESULT = "reservation-release", "reservation-add", "reservation-done"
FORM = EntryForm(
    "reservation",
    (
        FormField("where", "Resource", kind="choice"),
        FormField("worker_nodes", "Worker nodes", "4", kind="integer"),
        FormField("cores", "Cores", "64", kind="integer"),
        FormField("gpus", "GPUs", "1", kind="integer"),
        FormField("memory", "Memory", "64 GB"),
        FormField("storage", "Storage", "10 TB"),
        FormField("bandwidth", "Bandwidth", "5 Gbps", "For a path only."),
        FormField("begins", "From", "now, or 2026-11-23 22:00", kind="time"),
        FormField("ends", "Until", "8 h, or 2026-11-24 06:00", kind="time"),
        FormField("note", "Note"),
    ),
)


def show(here: Visit) -> Component:
    """Heading, and the form for users who may reserve."""
    parts = [ui.head("Reservations", "Reserved resources of compute sites and paths.")]
    if here.may(Action.RESERVATION_ADD, here.actor.name):
        parts.append(ui.card(None, ui.details("Reserve", *_form(here))))
    return html.Div([*parts, html.Div(id=RESULT)])


def _form(here: Visit) -> list[Component]:
    resources = [(f"compute {one.name}", f"compute site {one.name}") for one in here.client.sites()]
    for one in here.client.paths():
        label = f"path {one.path}, {one.source} → {one.destination}"
        resources.append((f"path {one.path} {one.source} {one.destination}", label))
    first = {"where": resources[0][0]} if resources else {}
    where, *others = FORM.draw(first, {"where": resources})
    return [where, html.Div(others, className="grid"), html.Button("Reserve", id=ADD, type="button")]


def live(here: Visit) -> Component:
    """Reservations that have not ended."""
    columns: Columns = {
        "Reservation": lambda one: html.Strong(one.id),
        "Stage": lambda one: ui.badge(one.stage, TONES.get(one.stage, "plain")),
        "Resources": lambda one: html.Span([_amounts(one), html.Small(one.note)]),
        "From": "begins",
        "Until": "ends",
        "Owner": lambda one: object_link("flow", one.flow) if one.flow else one.owner,
        "": lambda one: _release_button(one, here),
    }
    found = here.client.reservations(all_=False)
    return ui.card(None, document_table(here, columns, found, ui.empty("No reservations."), "Reservations"))


def _amounts(one: ReservationView) -> str:
    """Return the amounts and their place: ``4 worker nodes, 16 GB of memory of osu-hpc``."""
    amounts = Amounts(
        one.worker_nodes, one.cores, one.memory_bytes, one.gpus, one.storage_bytes, one.bandwidth_bps
    )
    place = Place(one.compute or "", one.path or "", one.source or "", one.destination or "")
    return f"{amounts.words} of {place.words}"


def _release_button(one: ReservationView, here: Visit) -> Any:
    return row_button(RELEASE, one.id, "Release") if here.may(Action.RESERVATION_RELEASE, one.owner) else ""


def reservation_request(entered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of a filled-in form."""
    amounts = {name: value for name, value in entered.items() if name != "where"}
    kind, *names = entered["where"].split(" ")
    keys = ("compute",) if kind == "compute" else ("path", "source", "destination")
    return dict(zip(keys, names, strict=True)) | amounts


def reserve(here: Visit, entered: dict[str, Any]) -> Component:
    """Reserve resources and report the reservation."""
    made = here.client.reserve(reservation_request(entered))
    return ui.notice(f"{made.id}: {made.words}.", "good")


def release(here: Visit, reservation: str) -> Component:
    """Release a reservation and report it."""
    return ui.notice(f"{here.client.release(reservation).id} is released.", "good")


def register_callbacks(app: Dash) -> None:
    """Reserve and release."""
    FORM.on_submit(app, ADD, RESULT, reserve)
    on_row_button(app, RELEASE, RESULT, release)


PAGE = Page(
    "/reservations",
    "Reservations",
    Action.RESERVATION_READ,
    show,
    live,
    group=Group.TRANSFERS,
    callbacks=register_callbacks,
)
