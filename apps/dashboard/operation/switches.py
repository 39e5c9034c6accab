"""Switches: connected or not, how full, what they lack; which controller drives them."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import SwitchDetail
from apps.dashboard import ui
from apps.dashboard.network.map_facts import driven
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit


def show(_here: Visit) -> Component:
    """The heading."""
    return ui.head("Switches", "Connections, table use and controllers.")


def live(here: Visit) -> Component:
    """Every switch, and the controllers."""
    return html.Div([_switches(here), _controllers(here)])


def _switches(here: Visit) -> Component:
    columns = [
        Column("Switch", lambda one: ui.link(one.name, f"/rules?dpid={one.dpid}")),
        Column("", _connected),
        Column("Rules", lambda one: _fullness(one), numeric=True),
        Column("Foreign rules", lambda one: str(one.foreign_rules), numeric=True),
        Column("Ports", lambda one: _ports(one)),
        Column("Mode", driven),
        Column(
            "Missing features",
            lambda one: html.Ul([html.Li(lack) for lack in one.lacks]) if one.lacks else "–",
        ),
    ]
    nothing = ui.empty("No switch is configured. Add one under switches: in the configuration.")
    return ui.card(None, ui.table(columns, here.client.topology().switches, nothing, "Switches"))


def _connected(switch: SwitchDetail) -> Component:
    if not switch.connected:
        return ui.badge("not connected", "bad")
    return ui.badge("dry run", "wait") if switch.mode == "dry-run" else ui.badge("connected", "good")


def _fullness(switch: SwitchDetail) -> Any:
    table = switch.table or {}
    most = table.get("budget") or table.get("maximum")
    if not most or table.get("active") is None:
        return str(switch.rules)
    tone: Tone = "bad" if table["active"] >= 0.9 * most else "plain"
    return ui.bar(table["active"] / most, f"{switch.rules:,} of {most:,}", tone)


def _ports(switch: SwitchDetail) -> Any:
    if not (down := switch.down):
        return f"{len(switch.ports)} up"
    return html.Span([f"{len(switch.ports) - len(down)} up, ", ui.badge(f"down: {', '.join(down)}", "bad")])


def _controllers(here: Visit) -> Component:
    columns = [
        Column("Controller", lambda one: html.Strong(one.name)),
        Column("", lambda one: ui.badge("active", "good") if one.active else ui.badge("not active", "bad")),
        Column("Generation", lambda one: str(one.generation), numeric=True),
        Column("Lease", lambda one: "none" if one.lease_s is None else f"for {ui.span(one.lease_s)}"),
    ]
    nothing = ui.empty("No controllers yet. Start one with adon serve.")
    return ui.card("Controllers", ui.table(columns, here.client.controllers(), nothing, "Controllers"))


PAGE = Page("/switches", "Switches", Action.NETWORK_READ, show, live, group=Group.OPERATION)
