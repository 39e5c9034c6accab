"""Reservations: resources of a site, or bandwidth of a path, kept for somebody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.queue import ReservationView
from adon.broker.resources.amounts import Amounts, Place
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.transfers.wish import moment
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit, visit

TONES: Mapping[str, Tone] = {"active": "good", "ahead": "wait"}
RELEASE = "reservation-release"
AT_SITE = (
    ("worker_nodes", "Worker nodes", "4"),
    ("cores", "Cores", "64"),
    ("gpus", "GPUs", "1"),
    ("memory", "Memory", "64 GB"),
    ("storage", "Storage", "10 TB"),
)
TIMES = (("begins", "From", "now, or 2026-11-23 22:00"), ("ends", "Until", "8 h, or 2026-11-24 06:00"))
WHOLE = ("worker_nodes", "cores", "gpus")
FIELDS = ("where", *(name for name, _, _ in AT_SITE), "bandwidth", "begins", "ends", "note")


def show(here: Visit) -> Component:
    """Heading, and the form for users who may reserve."""
    parts = [ui.head("Reservations", "Reserved resources of compute sites and paths.")]
    if here.may(Action.RESERVATION_ADD, here.actor.name):
        parts.append(ui.card(None, ui.details("Reserve", _form(here))))
    return html.Div([*parts, html.Div(id="reservation-done")])


def _form(here: Visit) -> Component:
    sites = [(f"compute {one.name}", f"compute site {one.name}") for one in here.client.sites()]
    paths = [
        (
            f"path {one.path} {one.source} {one.destination}",
            f"path {one.path}, {one.source} → {one.destination}",
        )
        for one in here.client.paths()
    ]
    where = [*sites, *paths]
    lines = [ui.field(label, ui.text_input(_id(name), "", like)) for name, label, like in AT_SITE]
    return html.Div(
        [
            ui.field("Resource", ui.choice(_id("where"), where, where[0][0] if where else None)),
            html.Div(
                [
                    *lines,
                    ui.field("Bandwidth", ui.text_input(_id("bandwidth"), "", "5 Gbps"), "For a path only."),
                    *(ui.field(label, ui.text_input(_id(name), "", like)) for name, label, like in TIMES),
                    ui.field("Note", ui.text_input(_id("note"))),
                ],
                className="grid",
            ),
            html.Button("Reserve", id="reservation-add", type="button"),
        ]
    )


def _what(one: ReservationView) -> str:
    """``4 worker nodes, 16 GB of memory of osu-hpc``; whose it is and when stands in columns of its own."""
    held = Amounts(
        one.worker_nodes,
        one.cores,
        one.memory_bytes,
        one.gpus,
        one.storage_bytes,
        one.bandwidth_bps,
    )
    place = Place(one.compute or "", one.path or "", one.source or "", one.destination or "")
    return f"{held.words} of {place.words}"


def live(here: Visit) -> Component:
    """Those that are not over."""
    columns = [
        Column("Reservation", lambda one: html.Strong(one.id)),
        Column("Stage", lambda one: ui.badge(one.stage, TONES.get(one.stage, "plain"))),
        Column("What", lambda one: html.Span([_what(one), html.Small(one.note)])),
        Column("From", lambda one: ui.when(one.begins, here)),
        Column("Until", lambda one: ui.when(one.ends, here)),
        Column("Owner", lambda one: (one.flow and ui.link(one.flow, f"/flows/{one.flow}")) or one.owner),
        Column("", lambda one: _release(one, here)),
    ]
    nothing = ui.empty("No reservations.")
    return ui.card(None, ui.table(columns, here.client.reservations(all_=False), nothing, "Reservations"))


def _release(one: ReservationView, here: Visit) -> Any:
    if not here.may(Action.RESERVATION_RELEASE, one.owner):
        return ""
    return html.Button("Release", id={"type": RELEASE, "index": one.id}, className="danger small")


def _id(name: str) -> str:
    return f"reservation-{name.replace('_', '-')}"


def asked(typed: Mapping[str, str | None], here: Visit) -> dict[str, Any]:
    """The request that a filled-in form makes; whole numbers as such, what is no number as it is."""
    texts = {name: (text or "").strip() for name, text in typed.items()}
    kind, _, rest = texts["where"].partition(" ")
    if kind == "compute":
        request: dict[str, Any] = {"compute": rest}
    else:
        path, source, destination = rest.split(" ")
        request = {"path": path, "source": source, "destination": destination}
    for name in (*(name for name, _, _ in AT_SITE), "bandwidth", "note"):
        if texts[name]:
            request[name] = int(texts[name]) if name in WHOLE and texts[name].isdecimal() else texts[name]
    return request | {name: moment(texts[name], here.zone) for name, _, _ in TIMES if texts[name]}


def callbacks(app: Dash) -> None:
    """Reserving and releasing."""

    @app.callback(
        [
            Output("reservation-done", "children"),
            *(Output(f"{_id(name)}-problem", "children") for name in FIELDS),
        ],
        [Input("reservation-add", "n_clicks"), *(State(_id(name), "value") for name in FIELDS)],
        running=[(Output("reservation-add", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def add(clicks: int | None, *values: str | None) -> list[Any]:
        if not clicks:
            return [no_update] * (1 + len(FIELDS))
        here = visit()
        try:
            made = here.client.reserve(asked(dict(zip(FIELDS, values, strict=True)), here))
        except AdonError as error:
            found = ui.problems_of(error)
            box = "" if set(found) <= set(FIELDS) else ui.failure(error)
            return [box, *(found.get(name, "") for name in FIELDS)]
        return [ui.notice(f"{made.id}: {made.words}.", "good"), *("" for _ in FIELDS)]

    @app.callback(
        Output("reservation-done", "children", allow_duplicate=True),
        Input({"type": RELEASE, "index": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    def release(clicks: list[int | None]) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        try:
            gone = visit().client.release(str(ctx.triggered_id["index"]))
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"{gone.id} is released.", "good")


PAGE = Page(
    "/reservations",
    "Reservations",
    Action.RESERVATION_READ,
    show,
    live,
    group=Group.TRANSFERS,
    callbacks=callbacks,
)
