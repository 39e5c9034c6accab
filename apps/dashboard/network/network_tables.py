"""The network in tables, and one row of them as facts: the content of the map as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.network import CircuitView, LinkView, NetworkView, PathView, SwitchDetail
from apps.dashboard import ui
from apps.dashboard.network import health
from apps.dashboard.network.links import flow_links, path_link, path_links, series_address, switch_link
from apps.dashboard.network.scene import Scene
from apps.dashboard.network.series_data import Direction
from apps.dashboard.ui.blocks import Column
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

FEW = 25
"""Rows that are shown at once; a longer table shows its exceptions."""
HINT = "Choose a site, switch or line on the map."
MODES: Mapping[str, Mapping[str, str]] = {
    "pipeline": {"single": "one table", "staged": "own tables"},
    "control": {"exclusive": "ADON only", "shared": "shared with another controller"},
    "drift": {"heal": "differences are repaired", "report": "differences are reported"},
}
"""Settings of a switch (``adon.config.network``) in words."""


def path_table(scene: Scene, here: Visit) -> Component:
    """Return the card of all circuits and routed paths."""
    asked = scene.marked(f"path:{here.query.get('path')}") or scene.marked(f"flow:{here.query.get('flow')}")
    table = ui.table(
        path_columns(scene),
        scene.network.circuits,
        "No paths. Add one in section paths of the configuration.",
        "Circuits and routed paths between sites",
        lambda one: one is asked,
    )
    return ui.card("Circuits and paths", table)


def link_table(network: NetworkView, here: Visit) -> Component:
    """Return the card of the links between switches."""
    unusual = [one for one in network.links if health.of_link(one)[0] is not health.Health.GOOD]
    nothing = "No links between switches. Section discovery of the configuration enables LLDP."
    columns = link_columns(network, here)
    return ui.card("Links", _exceptions_first(columns, network.links, unusual, nothing, "Links"))


def switch_table(network: NetworkView) -> Component:
    """Return the card of the switches, with the differences that were found in them."""
    unusual = [one for one in network.switches if not one.connected or one.mode == "dry-run" or one.lacks]
    nothing = "No switches. Add one in section switches of the configuration."
    table = _exceptions_first(switch_columns(network)[:-2], network.switches, unusual, nothing, "Switches")
    found = ", ".join(f"{number} {kind}" for kind, number in network.reconcile.items())
    text = f"Differences since the start of the controller: {found}."
    return ui.card("Switches", table, html.P(text, className="muted") if found else None)


def _exceptions_first(
    columns: Sequence[Column], rows: Sequence[Any], unusual: Sequence[Any], nothing: str, caption: str
) -> Component:
    if len(rows) <= FEW:
        return ui.table(columns, rows, nothing, caption)
    first = ui.table(columns, unusual, "All are normal.", f"{caption}: exceptions")
    return html.Div([first, ui.details(f"All {len(rows)}", ui.table(columns, rows, nothing, caption))])


def path_columns(scene: Scene) -> list[Column]:
    """Return the columns of a path."""

    def state(one: CircuitView) -> Component:
        found, why = health.of_path(scene.directions(one.name))
        return html.Span([health.badge(found), html.Small(f" {why}")])

    return [
        Column("Path", lambda one: html.Span([path_link(one.name), f" {one.layer.upper()}"])),
        Column("State", state),
        Column("Between", lambda one: f"{one.source} – {one.destination}", whole=True),
        Column("VLAN", lambda one: ui.words.NONE if one.vlan is None else str(one.vlan), numeric=True),
        Column("Capacity", lambda one: ui.rate(one.capacity_bps), numeric=True),
        Column("Route", _route),
        Column("Flows", lambda one: flow_links(one.flows)),
    ]


def _route(one: CircuitView) -> Component:
    links = ", ".join(one.links)
    if one.overlay is None:
        return html.Span(f"external networks{': ' if links else ''}{links}", className="muted")
    return html.Span([" → ".join(one.switches), html.Small(f" {links}")])


def link_columns(network: NetworkView, here: Visit) -> list[Column]:
    """Return the columns of a link."""

    def state(one: LinkView) -> Component:
        parts: list[Any] = [ui.badge(one.state, health.TONES.get(health.of_link(one)[0], "plain"))]
        if one.penalised_until is not None:
            parts.append(html.Small([" usable from ", ui.when(one.penalised_until, here)]))
        return html.Span(parts)

    def paths(one: LinkView) -> Component:
        return path_links([path.name for path in network.circuits if one.name in path.links])

    def reason(one: LinkView) -> str:
        return f"connected to {one.neighbour}" if one.neighbour else one.reason or ui.words.NONE

    return [
        Column("Link", lambda one: one.name or html.Span("not configured", className="muted")),
        Column("State", state),
        Column("Between", lambda one: html.Span(_ends(one))),
        Column("Capacity", lambda one: ui.rate(one.capacity_bps), numeric=True),
        Column("Delay", _delays, numeric=True),
        Column("Reason", reason),
        Column(
            "Paths",
            lambda one: path_links([path.name for path in network.circuits if one.name in path.links]),
        ),
    ]


def _ends(link: LinkView) -> list[Any]:
    parts: list[Any] = []
    for end in link.ends:
        parts += [" – "] if parts else []
        parts += [f"{end.switch or end.dpid} ", html.Code(str(end.port or end.number))]
        if end.admin is False:
            parts.append(html.Small(" switched off"))
        elif end.oper is False:
            parts.append(html.Small(" no carrier"))
    return parts


def _delays(link: LinkView) -> str:
    return ", ".join(ui.span(one) for one in link.delays_seconds if one is not None) or ui.words.NONE


def switch_columns(network: NetworkView) -> list[Column]:
    """Return the columns of a switch; the last two are not needed beside a table of paths."""

    def paths(one: SwitchDetail) -> Component:
        return path_links([path.name for path in network.circuits if one.name in path.switches])

    return [
        Column("Switch", switch_link, whole=True),
        Column("State", _connection),
        Column("Rules", _table_use, numeric=True),
        Column("Foreign rules", lambda one: str(one.foreign_rules), numeric=True),
        Column("Ports", _ports),
        Column("Mode", _mode),
        Column("Missing features", lambda one: _list(one.lacks)),
        Column("Datapath id", lambda one: html.Code(one.dpid)),
        Column(
            "Paths",
            lambda one: path_links([path.name for path in network.circuits if one.name in path.switches]),
        ),
    ]


def _connection(switch: SwitchDetail) -> Component:
    there = switch.connected
    parts: list[Any] = [ui.badge("connected", "good") if there else ui.badge("not connected", "bad")]
    if switch.mode == "dry-run":
        parts += [" ", ui.badge("dry run", "wait")]
    return html.Span(parts)


def _table_use(switch: SwitchDetail) -> Any:
    table = switch.table or {}
    most = table.get("budget") or table.get("maximum")
    if not most or table.get("active") is None:
        return str(switch.rules)
    tone: ui.Tone = "bad" if table["active"] >= 0.9 * most else "plain"
    return ui.bar(table["active"] / most, f"{switch.rules:,} of {most:,}", tone)


def _ports(switch: SwitchDetail) -> Any:
    if not switch.ports:
        return "not reported"
    up = f"{len(switch.ports) - len(switch.down)} up"
    if not switch.down:
        return up
    return html.Span([f"{up}, ", ui.badge(f"down: {', '.join(switch.down)}", "bad")])


def _mode(switch: SwitchDetail) -> str:
    table, control, drift = (
        words.get(getattr(switch, name), getattr(switch, name)) for name, words in MODES.items()
    )
    return f"{table}, {control}; {drift}"


def _list(items: Sequence[str]) -> Any:
    return html.Ul([html.Li(one) for one in items]) if items else ui.words.NONE


def site_columns(network: NetworkView) -> list[Column]:
    """Return the columns of a site."""
    switches = {switch.name: switch for switch in network.switches}

    def paths(name: str) -> list[str]:
        return [one.name for one in network.circuits if name in (one.source, one.destination)]

    return [
        Column("Site", lambda one: f"Site {one.name}"),
        Column(
            "Edge switch", lambda one: switch_link(switches[one.edge]) if one.edge in switches else one.edge
        ),
        Column("Connection", lambda one: _connection(switches[one.edge]) if one.edge in switches else None),
        Column("DTNs", lambda one: ", ".join(one.hosts) or "none"),
        Column("Paths", lambda one: path_links(paths(one.name))),
    ]


def describe(scene: Scene, chosen: str, here: Visit) -> Component:
    """Return the facts of an element of the map (``switch:mu-edge``) or of ``flow:f-17``; else a hint."""
    kind, _, name = chosen.partition(":")
    network = scene.network
    if kind in ("flow", "path"):
        return _describe_path(scene, kind, name, here)
    tables: Mapping[str, tuple[list[Column], Sequence[Any]]] = {
        "switch": (switch_columns(network), network.switches),
        "site": (site_columns(network), network.sites),
        "link": (link_columns(network, here), network.links),
    }
    columns, rows = tables.get(kind, ([], ()))
    for number, row in enumerate(rows):
        if name in (row.name, str(number)):
            return html.Div(_facts(columns, row), className="known")
    return ui.empty(HINT)


def _facts(columns: Sequence[Column], row: Any) -> list[Component]:
    pairs = [(column.name, column.cell(row)) for column in columns[1:]]
    return [html.H3(columns[0].cell(row)), ui.facts(*pairs)]


def _describe_path(scene: Scene, kind: str, name: str, here: Visit) -> Component:
    circuit = scene.marked(f"{kind}:{name}")
    if circuit is None and kind == "flow":
        return ui.empty(f"{name} has no path now.", ui.link("Show flow", f"/flows/{name}"))
    if circuit is None:
        return ui.empty(HINT)
    flow = [html.P(["Flow ", flow_links([name]), " is on"])] if kind == "flow" else []
    used = html.P(["Used by flows: ", _use(scene, circuit.name)])
    directions = [_direction(way, here) for way in scene.directions(circuit.name)]
    return html.Div([*flow, *_facts(path_columns(scene), circuit), used, *directions], className="known")


def _use(scene: Scene, path: str) -> Any:
    rate, capacity = scene.rate(path), scene.capacity(path)
    if rate is None or not capacity:
        return ui.rate(rate)
    tone = health.TONES.get(health.of_load(rate, capacity), "plain")
    return ui.bar(rate / capacity, ui.rate(rate), tone)


def _direction(way: PathView, here: Visit) -> Component:
    values = [
        html.Li(
            [
                ui.link(words, series_address(Direction.of(way), metric)),
                f" {ui.value(way.metrics[metric].value, metric)}, ",
                ui.ago(way.metrics[metric].observed_at, here),
            ]
        )
        for metric, words in METRIC_NAMES.items()
        if metric in way.metrics
    ]
    alarms = [html.Li(ui.link(alarm.text, f"/alarms/{alarm.id}")) for alarm in way.alarms if alarm.bad]
    found = [*values, *alarms]
    listed = html.Ul(found) if found else html.P("not measured", className="muted")
    return html.Div([html.H4(Direction.of(way).ends), listed])


def summarise(scene: Scene) -> str:
    """Return the map in a sentence, for screen readers."""
    network = scene.network
    states = [health.of_path(scene.directions(one.name))[0] for one in network.circuits]
    counts = ", ".join(f"{states.count(one)} {one.value}" for one in health.Health if one in states)
    away = sum(not switch.connected for switch in network.switches)
    flows = len({flow for one in network.circuits for flow in one.flows})
    return (
        f"{ui.count(len(network.sites), 'site')}, {ui.count(len(network.switches), 'switch', 'switches')}"
        f"{f' ({away} not connected)' if away else ''}, {ui.count(len(network.links), 'link')}, "
        f"{ui.count(len(states), 'path')}{f': {counts}' if counts else ''}; "
        f"{ui.count(flows, 'flow')} on them. The tables below have the same data."
    )
