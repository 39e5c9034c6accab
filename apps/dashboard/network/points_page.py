"""``/points``: the measurement points, as they are configured and as they have announced themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from apps.dashboard import ui
from apps.dashboard.network.where import Doc, plural
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit

QUIET = "configured"
"""The standing of a point that the configuration names, and that says nothing of itself."""


def show(_here: Visit) -> Component:
    """The heading."""
    return ui.head(
        "Measurement points",
        "Who measures: as configured, and by what they say of themselves. A point that is not expected is "
        "listed, and not used.",
        ui.link("Schedule", "/schedule"),
    )


def live(here: Visit) -> Component:
    """Each point with its state."""
    found = here.client.points()
    nothing = ui.empty(
        "No measurement point is configured, and none has announced itself. Add one under "
        "measurements.points: in the configuration; a point of ours announces itself when it is given the "
        "collector's address (docs/measurement-point.md).",
        ui.link("To the schedule", "/schedule"),
    )
    columns = [
        ui.Column(
            "Point", lambda one: html.Span([html.Strong(one["name"]), html.Small(one.get("version", ""))])
        ),
        ui.Column("State", state),
        ui.Column("Heard", lambda one: _ago(one.get("last_seen"), here)),
        ui.Column("Known since", lambda one: _when(one.get("first_seen"), here)),
        ui.Column("Tests", lambda one: ", ".join(one.get("tests", ())) or ui.words.NONE),
        ui.Column("Addresses", lambda one: ", ".join(one.get("addresses", ())) or ui.words.NONE),
        ui.Column("At", lambda one: html.Code(one.get("url", ui.words.NONE))),
        ui.Column("Certificate", _certificate),
    ]
    silent = sum(bool(one.get("silent")) for one in found)
    quiet = sum(one.get("standing") == QUIET for one in found)
    told = [f"{silent} silent"] if silent else []
    told += [f"{quiet} that did not announce {'itself' if quiet == 1 else 'themselves'}"] if quiet else []
    said = f"{', '.join([plural(len(found), 'point'), *told])}." if found else None
    return ui.card(None, said, ui.table(columns, found, nothing, "Measurement points"))


def state(one: Doc) -> Component:
    """Whether it is expected, and whether it is heard."""
    if one.get("standing") == QUIET:
        words = html.Small("has not announced itself, and need not")
        return html.Span([ui.badge("configured", "good"), words])
    known = one.get("standing") == "known"
    parts: list[Any] = [ui.badge("expected" if known else "not expected", "good" if known else "wait")]
    if one.get("silent"):
        parts += [" ", ui.badge("silent", "bad")]
    return html.Span(parts)


def _text(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat()


def _ago(at: float | None, here: Visit) -> str:
    return ui.ago(_text(at), here)


def _when(at: float | None, here: Visit) -> Component | str:
    return ui.when(_text(at), here)


def _certificate(one: Doc) -> Component | str:
    text = str(one.get("certificate_sha256") or "")
    return html.Code(f"{text[:12]}…", title=text) if text else ui.words.NONE


PAGE = Page(
    "/points", "Measurement points", Action.NETWORK_READ, show, live, refresh_s=15, group=Group.NETWORK
)
