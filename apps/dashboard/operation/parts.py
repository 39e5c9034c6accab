"""``/health``: state of the processes, databases and connections of ADON, and age of their data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit

STATES: Mapping[str, tuple[str, Tone]] = {
    "ok": ("healthy", "good"),
    "degraded": ("degraded", "wait"),
    "away": ("not available", "bad"),
}
ROLES: Mapping[bool, tuple[str, Tone]] = {True: ("active", "good"), False: ("not active", "bad")}
NAMES = frozenset({"generation"})
"""Values that are names, not counts."""


def show(_here: Visit) -> Component:
    """Return the heading."""
    return ui.head("System status", "State of every part of ADON and age of its data.")


def live(here: Visit) -> Component:
    """Return the state of the parts, the controllers and the version."""
    told, version = here.client.health(), here.client.version()
    worst = [one.name for one in told.parts if one.state != "ok"]
    said = f"Check: {', '.join(worst)}." if worst else "All parts that flows need are healthy."
    columns = [
        Column("Part", lambda one: html.Strong(one.name)),
        Column("State", lambda one: ui.badge(*STATES.get(one.state, (one.state, "plain")))),
        Column("Since", lambda one: ui.when(one.since, here)),
        Column("Latest data", lambda one: ui.ago(one.data_at, here)),
        Column("Cause", lambda one: one.text or "–"),
        Column("Values", lambda one: _figures(one.figures)),
    ]
    facts = ui.facts(
        ("Version", version.version),
        ("Decision code", html.Code(version.code[:12])),
        ("Database", version.schema_revision),
        ("Python", version.python),
    )
    return html.Div(
        [
            ui.notice(said, STATES.get(told.state, ("", "plain"))[1]),
            ui.card("Parts", ui.table(columns, told.parts, "No parts.", "Parts of ADON")),
            _controllers(here),
            ui.card("Version", facts),
        ]
    )


def _controllers(here: Visit) -> Component:
    columns = [
        Column("Controller", lambda one: html.Strong(one.name)),
        Column(
            "State", lambda one: ui.badge("active", "good") if one.active else ui.badge("standby", "wait")
        ),
        Column("Generation", lambda one: str(one.generation), numeric=True),
        Column("Lease", lambda one: "none" if one.lease_s is None else f"for {ui.span(one.lease_s)}"),
    ]
    nothing = ui.empty("No controllers yet. Start one with `adon serve`.")
    return ui.card("Controllers", ui.table(columns, here.client.controllers(), nothing, "Controllers"))


def _figures(found: Mapping[str, Any]) -> Component | str:
    shown = [html.Li(f"{_named(name)}: {_worded(name, value)}") for name, value in found.items()]
    return html.Ul(shown, className="plain") if shown else "–"


def _named(name: str) -> str:
    for unit in ("_bytes", "_seconds", "_bps"):
        name = name.removesuffix(unit)
    return name.replace("_", " ")


def _worded(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_named(key)} {_worded(key, one)}" for key, one in value.items())
    if name.endswith("_bytes"):
        return ui.size(value)
    if name.endswith("_seconds"):
        return ui.span(value)
    if name in NAMES or isinstance(value, bool) or not isinstance(value, int):
        return str(value)
    return f"{value:,}".replace(",", " ")


PAGE = Page("/health", "System status", Action.NETWORK_READ, show, live, group=Group.OPERATION)
