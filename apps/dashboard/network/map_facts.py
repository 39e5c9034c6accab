"""What is known of the one thing on the map that somebody chose.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.network import CircuitView, LinkView, PathView, SiteView, SwitchDetail
from apps.dashboard import ui
from apps.dashboard.network import health
from apps.dashboard.network.drawing import Scene, path_of
from apps.dashboard.network.series_data import Direction
from apps.dashboard.network.where import (
    flow_links,
    map_address,
    path_link,
    plural,
    series_address,
    switch_link,
)
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

HINT = "Choose a site, switch or line on the map."


def of(scene: Scene, chosen: str, here: Visit) -> Component:
    """The facts about an element of the map (``switch:mu-edge``), or of ``flow:f-17``; a hint for nothing."""
    kind, _, name = chosen.partition(":")
    match kind:
        case "flow":
            path = path_of(scene.network, chosen)
            if path is None:
                return ui.empty(f"{name} has no path now.", ui.link("Show flow", f"/flows/{name}"))
            return html.Div(
                [html.P(["Flow ", flow_links([name]), " is on"]), of(scene, f"path:{path}", here)]
            )
        case "path" if (circuit := scene.circuit(name)) is not None:
            return _path(scene, circuit, here)
        case "switch":
            found = next((one for one in scene.network.switches if one.name == name), None)
            return _nothing() if found is None else _switch(scene, found)
        case "site":
            site = next((one for one in scene.network.sites if one.name == name), None)
            return _nothing() if site is None else _site(scene, site)
        case "link":
            links = scene.network.links
            link = next((one for number, one in enumerate(links) if name in (one.name, str(number))), None)
            return _nothing() if link is None else _link(scene, link, here)
    return _nothing()


def _nothing() -> Component:
    return ui.empty(HINT)


def state_badge(state: health.Health | health.Load) -> Component:
    """A state's word."""
    return ui.badge(state.value, health.TONES.get(state, "plain"))


def _path(scene: Scene, circuit: CircuitView, here: Visit) -> Component:
    name = circuit.name
    state, why = health.of_path(scene.of_path(name))
    rate, capacity = scene.rate(name), scene.capacity(name)
    load = health.of_load(rate, capacity)
    used: Any = ui.words.NONE
    if rate is not None:
        tone = health.TONES.get(load, "plain")
        used = ui.bar(rate / capacity, ui.rate(rate), tone) if capacity else ui.rate(rate)
    content = [
        html.H3(path_link(name)),
        html.P([state_badge(state), f" {why}" if why else ""]),
        ui.facts(
            ("Between", f"{circuit.source} – {circuit.destination}"),
            ("Layer", circuit.layer.upper()),
            ("VLAN", None if circuit.vlan is None else str(circuit.vlan)),
            ("Capacity", ui.rate(capacity)),
            ("Used by flows", used),
            ("Flows", flow_links(circuit.flows)),
            ("Route", _way(circuit)),
        ),
        *(_direction(way, here) for way in scene.of_path(name)),
    ]
    return html.Div(content, className="known")


def _way(circuit: CircuitView) -> str:
    if circuit.overlay is not None:
        return " → ".join(circuit.switches)
    over = f": {', '.join(circuit.links)}" if circuit.links else ""
    return f"external networks{over}"


def _direction(way: PathView, here: Visit) -> Component:
    known = [
        html.Li(
            [
                ui.link(words, series_address(Direction.of(way), metric)),
                f" {ui.value(reading.value, metric)}, {ui.ago(reading.observed_at, here)}",
            ]
        )
        for metric, words in METRIC_NAMES.items()
        if (reading := way.metrics.get(metric)) is not None
    ]
    alarms = [html.Li(ui.link(alarm.text, f"/alarms/{alarm.id}")) for alarm in way.alarms if alarm.bad]
    return html.Div(
        [
            html.H4(Direction.of(way).ends),
            html.Ul([*known, *alarms]) if known or alarms else html.P("not measured", className="muted"),
        ]
    )


def _switch(scene: Scene, switch: SwitchDetail) -> Component:
    sites = [site for site in scene.network.sites if site.edge == switch.name]
    over = [one for one in scene.network.circuits if switch.name in one.switches]
    return html.Div(
        [
            html.H3(switch_link(switch)),
            html.P(connection_badges(switch)),
            ui.facts(
                ("Datapath id", html.Code(switch.dpid)),
                ("Edge of", ", ".join(site.name for site in sites)),
                ("DTNs", ", ".join(host for site in sites for host in site.hosts)),
                ("Rules", f"{switch.rules} of ADON, {switch.foreign_rules} foreign"),
                ("Table", table_words(switch.table)),
                ("Mode", driven(switch)),
                ("Ports down", ports_down(switch)),
                ("Paths", _paths(over)),
            ),
        ],
        className="known",
    )


def connection_badges(switch: SwitchDetail) -> list[Any]:
    """Whether a switch is connected, and whether anything is sent to it."""
    there = switch.connected
    found: list[Any] = [
        ui.badge("connected" if there else "not connected", "good" if there else "bad"),
    ]
    if switch.mode == "dry-run":
        found += [" ", ui.badge("dry run", "wait")]
    return found


def table_words(table: Mapping[str, Any] | None) -> str:
    """``12 of 1000``; what is known of a switch's table."""
    if table is None:
        return "not reported"
    most = f" of {table['maximum']:,}" if table["maximum"] else ""
    budget = f", budget {table['budget']:,}" if table["budget"] else ""
    return f"{table['active']:,}{most}{budget}{', full: ' + table['full'] if table['full'] else ''}"


DRIVEN: Mapping[str, Mapping[str, str]] = {
    "pipeline": {"single": "one table", "staged": "own tables"},
    "control": {"exclusive": "ADON only", "shared": "shared with another controller"},
    "drift": {"heal": "differences are repaired", "report": "differences are reported"},
}
"""Settings of a switch (``adon.config.network``) in words; one that is not here is shown as it is called."""


def driven(switch: SwitchDetail) -> str:
    """How a switch is driven: ``one table, ADON only; differences are repaired``."""
    table, control, drift = (
        words.get(getattr(switch, name), getattr(switch, name)) for name, words in DRIVEN.items()
    )
    return f"{table}, {control}; {drift}"


def ports_down(switch: SwitchDetail) -> str:
    """The ports without a link."""
    return ", ".join(switch.down) or "none" if switch.ports else "not reported"


def _paths(circuits: Sequence[CircuitView]) -> Any:
    if not circuits:
        return None
    parts: list[Any] = []
    for one in circuits[:8]:
        parts += [path_link(one.name), " "]
    if len(circuits) > 8:
        parts.append(f"and {len(circuits) - 8} more")
    return html.Span(parts)


def _site(scene: Scene, site: SiteView) -> Component:
    switch = next((one for one in scene.network.switches if one.name == site.edge), None)
    ends = [one for one in scene.network.circuits if site.name in (one.source, one.destination)]
    return html.Div(
        [
            html.H3(f"Site {site.name}"),
            ui.facts(
                ("Edge switch", site.edge if switch is None else switch_link(switch)),
                ("Connection", None if switch is None else html.Span(connection_badges(switch))),
                ("DTNs", ", ".join(site.hosts) or "none"),
                ("Paths", _paths(ends)),
            ),
        ],
        className="known",
    )


def _link(scene: Scene, link: LinkView, here: Visit) -> Component:
    state, why = health.of_link(link)
    over = [one for one in scene.network.circuits if link.name and link.name in one.links]
    until = link.penalised_until
    return html.Div(
        [
            html.H3(f"Link {link.name or '(not configured)'}"),
            html.P([state_badge(state), f" {link.state}{': ' + why if why else ''}"]),
            ui.facts(
                ("Between", html.Span(ends_of(link))),
                ("Capacity", ui.rate(link.capacity_bps)),
                ("Delay", delays(link)),
                ("Since", ui.when(link.since, here)),
                ("Usable from", None if until is None else ui.when(until, here)),
                ("Paths over it", _paths(over)),
            ),
            html.P(
                [ui.link("Highlight a path", map_address(path=over[0].name))] if over else [],
                className="muted",
            ),
        ],
        className="known",
    )


def ends_of(link: LinkView) -> list[Any]:
    """Where a link meets switches, with what its ports say."""
    parts: list[Any] = []
    for end in link.ends:
        said = " switched off" if end.admin is False else " no carrier" if end.oper is False else ""
        parts += [
            " – " if parts else "",
            f"{end.switch or end.dpid} ",
            html.Code(str(end.port or end.number)),
            html.Small(said),
        ]
    return parts


def delays(link: LinkView) -> str:
    """One way, from each end."""
    return ", ".join(ui.span(one) for one in link.delays_seconds if one is not None) or ui.words.NONE


def summary(scene: Scene) -> str:
    """The map in a sentence, for who does not see it."""
    network = scene.network
    states = [health.of_path(scene.of_path(one.name))[0] for one in network.circuits]
    told = ", ".join(f"{states.count(state)} {state.value}" for state in health.Health if states.count(state))
    away = sum(not switch.connected for switch in network.switches)
    flows = len({flow for one in network.circuits for flow in one.flows})
    return (
        f"{plural(len(network.sites), 'site')}, {plural(len(network.switches), 'switch', 'switches')}"
        f"{f' ({away} not connected)' if away else ''}, {plural(len(network.links), 'link')}, "
        f"{plural(len(states), 'path')}{f': {told}' if told else ''}; {plural(flows, 'flow')} on them. "
        "The tables below have the same data."
    )
