"""The network in tables: what the map shows, and more, for the keyboard and for screen readers."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.network import CircuitView, LinkView, NetworkView, PathView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import health, maintenance
from apps.dashboard.network.map_facts import (
    connection_badges,
    delays,
    driven,
    ends_of,
    ports_down,
    state_badge,
    table_words,
)
from apps.dashboard.network.where import flow_links, map_address, path_link, switch_link
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

FEW = 25
"""Rows that are shown without being asked for."""


def all_of(here: Visit) -> Component:
    """Paths, links, switches, controllers, maintenance."""
    try:
        network = here.client.topology()
        ways = here.client.network().items
        told = [
            _circuits(network, ways, here),
            _links(network, here),
            _switches(network),
        ]
    except AdonError as error:
        told = [ui.failure(error)]
    return html.Div([*told, _controllers(here), maintenance.windows(here)])


def _circuits(network: NetworkView, ways: list[PathView], here: Visit) -> Component:
    directions: dict[str, list[PathView]] = {}
    for way in ways:
        directions.setdefault(way.path, []).append(way)

    def state(one: CircuitView) -> Component:
        found, why = health.of_path(directions.get(one.name, []))
        return html.Span([state_badge(found), html.Small(f" {why}")])

    columns = [
        Column("Path", lambda one: html.Span([path_link(one.name), f" {one.layer.upper()}"])),
        Column("State", state),
        Column("Between", lambda one: f"{one.source} – {one.destination}"),
        Column("VLAN", lambda one: ui.words.NONE if one.vlan is None else str(one.vlan), numeric=True),
        Column("Capacity", lambda one: ui.rate(one.capacity_bps), numeric=True),
        Column("Route", _way),
        Column("Flows", lambda one: flow_links(one.flows)),
        Column("On the map", lambda one: ui.link("show", map_address(path=one.name))),
    ]
    nothing = "No paths. Add one in section paths of the configuration."
    marked = here.query.get("path")
    table = ui.table(
        columns,
        network.circuits,
        nothing,
        "Circuits and routed paths between sites",
        lambda one: one.name == marked or here.query.get("flow") in one.flows,
    )
    return ui.card("Circuits and paths", table)


def _way(one: CircuitView) -> Any:
    if one.overlay is None:
        over = f": {', '.join(one.links)}" if one.links else ""
        return html.Span(f"external networks{over}", className="muted")
    return html.Span([" → ".join(one.switches), html.Small(f" {', '.join(one.links)}")])


def _links(network: NetworkView, here: Visit) -> Component:
    def state(one: LinkView) -> Component:
        parts: list[Any] = [ui.badge(one.state, health.TONES.get(health.of_link(one)[0], "plain"))]
        if one.penalised_until is not None:
            parts.append(html.Small([" usable from ", ui.when(one.penalised_until, here)]))
        return html.Span(parts)

    columns = [
        Column("Link", lambda one: one.name or html.Span("not configured", className="muted")),
        Column("State", state),
        Column("Between", lambda one: html.Span(ends_of(one))),
        Column("Capacity", lambda one: ui.rate(one.capacity_bps), numeric=True),
        Column("Delay", delays, numeric=True),
        Column(
            "Reason",
            lambda one: f"connected to {one.neighbour}" if one.neighbour else one.reason or ui.words.NONE,
        ),
    ]
    nothing = "No links between switches. Section discovery of the configuration enables LLDP."
    found = network.links
    unusual = [one for one in found if health.of_link(one)[0] is not health.Health.GOOD]
    return ui.card("Links", _folded(columns, found, unusual, nothing, "Links between switches"))


def _switches(network: NetworkView) -> Component:
    columns = [
        Column("Switch", switch_link),
        Column("State", lambda one: html.Span(connection_badges(one))),
        Column("Mode", driven),
        Column("Rules", lambda one: f"{one.rules} of ADON, {one.foreign_rules} foreign", numeric=True),
        Column("Table", lambda one: table_words(one.table), numeric=True),
        Column("Ports down", ports_down),
    ]
    found = network.switches
    unusual = [one for one in found if not one.connected or one.mode == "dry-run" or one.lacks]
    table = _folded(columns, found, unusual, "No switch is configured.", "Switches")
    differences = ", ".join(f"{number} {kind}" for kind, number in network.reconcile.items())
    said = html.P(f"Differences since the start of the controller: {differences}.", className="muted")
    return ui.card("Switches", table, said if network.switches and differences else None)


def _folded(
    columns: list[Column], found: list[Any], unusual: list[Any], nothing: str, caption: str
) -> Component:
    """A table; of a large network what is not as usual, and the rest to be opened."""
    if len(found) <= FEW:
        return ui.table(columns, found, nothing, caption)
    first = ui.table(columns, unusual, "All are normal.", f"{caption}: exceptions")
    return html.Div([first, ui.details(f"All {len(found)}", ui.table(columns, found, nothing, caption))])


def _controllers(here: Visit) -> Component:
    columns = [
        Column("Controller", lambda one: one.name),
        Column(
            "State",
            lambda one: ui.badge("active" if one.active else "away", "good" if one.active else "wait"),
        ),
        Column("Generation", lambda one: str(one.generation), numeric=True),
        Column(
            "Lease",
            lambda one: (
                "none (single controller)"
                if one.lease_s is None
                else f"{ui.span(max(one.lease_s, 0.0))} more"
            ),
        ),
    ]
    nothing = "No controllers yet. Start one with `adon serve`."
    return ui.card("Controllers", ui.table(columns, here.client.controllers(), nothing, "Controllers"))
