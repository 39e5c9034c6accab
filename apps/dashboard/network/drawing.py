"""The map as cytoscape's elements: sites or switches, links, and paths through networks of others.  Pure.

Three views: *switches* (each a box; a path through networks of others is a dotted line between the two
switches that are ours), *grouped* (the same, the switches of a site together in a frame), and *sites* (a box
per site, a line per path).  Classes name what a line is like; :mod:`.map_style` gives them colours and
strokes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from adon.api.network import CircuitView, NetworkView, PathView, SwitchDetail
from apps.dashboard import ui
from apps.dashboard.network import health, places, rates
from apps.dashboard.network.health import Health, Load
from apps.dashboard.network.where import plural

Element = dict[str, Any]

MANY_LINES = 30
"""Of more lines than these only those are named on which something is to be seen."""
FITS = 15
"""Letters in a box."""
FEW_SWITCHES = 24
"""A larger network is first shown by sites."""


class View(StrEnum):
    """What the map shows."""

    SWITCHES = "switches"
    GROUPED = "grouped"
    SITES = "sites"


class Colour(StrEnum):
    """What a line's colour tells."""

    HEALTH = "health"
    LOAD = "load"


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything the map is drawn from.

    :param network: ``/network``.
    :param ways: the directed paths, ``items`` of ``/paths``.
    :param readings: how fast flows go (:mod:`.rates`).
    """

    network: NetworkView
    ways: Sequence[PathView]
    readings: Mapping[str, rates.Reading]

    def of_path(self, name: str) -> list[PathView]:
        """The directions of a path."""
        return [way for way in self.ways if way.path == name]

    def rate(self, name: str) -> float | None:
        """Bits/s of our flows on a path, in the fuller direction; None if it is not known."""
        known = [rates.of(self.readings, way.flows) if way.flows else 0.0 for way in self.of_path(name)]
        return max((rate for rate in known if rate is not None), default=None)

    def capacity(self, name: str) -> float | None:
        """Bits/s of a path."""
        return next((way.capacity_bps for way in self.of_path(name)), None)

    def circuit(self, name: str | None) -> CircuitView | None:
        """A path as ``/network`` tells it."""
        return next((one for one in self.network.circuits if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Line:
    """A link or a path, before it is an element."""

    id: str
    ends: tuple[str, str]
    words: str
    health: Health
    load: Load
    flows: int
    ours: bool
    marked: bool


def first_view(network: NetworkView) -> View:
    """What is shown before anybody chose."""
    return View.SWITCHES if len(network.switches) <= FEW_SWITCHES else View.SITES


def path_of(network: NetworkView, shown: str) -> str | None:
    """The path that is to be marked.

    :param shown: ``path:al2s``, ``flow:f-17``, or nothing.
    """
    kind, _, name = shown.partition(":")
    if kind == "flow":
        return next((one.name for one in network.circuits if name in one.flows), None)
    return next((one.name for one in network.circuits if kind == "path" and one.name == name), None)


def elements(scene: Scene, view: View, colour: Colour, shown: str) -> list[Element]:
    """What cytoscape draws.

    :param shown: see :func:`path_of`.
    """
    marked = path_of(scene.network, shown)
    if view is View.SITES:
        return _sites(scene, colour, marked)
    return _switches(scene, colour, marked, grouped=view is View.GROUPED)


# -- sites ---------------------------------------------------------------------------------------------


def _sites(scene: Scene, colour: Colour, marked: str | None) -> list[Element]:
    network = scene.network
    names = [site.name for site in network.sites]
    at = places.of_sites(names)
    chosen = scene.circuit(marked)
    ends = set() if chosen is None else {chosen.source, chosen.destination}
    boxes = [
        _node(
            f"site:{site.name}",
            f"{site.name}\n{plural(len(site.hosts), 'DTN')}",
            at[site.name],
            ["site", _there(network, site.edge), _emphasis(chosen, site.name in ends)],
        )
        for site in network.sites
    ]
    lines = [
        _line_of(scene, one, (f"site:{one.source}", f"site:{one.destination}"), marked)
        for one in network.circuits
        if one.source in at and one.destination in at
    ]
    return [*boxes, *_edges(lines, colour, chosen is not None)]


def _there(network: NetworkView, name: str) -> str:
    switch = next((one for one in network.switches if one.name == name), None)
    return "away" if switch is None or not switch.connected else "there"


# -- switches ------------------------------------------------------------------------------------------


def _switches(scene: Scene, colour: Colour, marked: str | None, *, grouped: bool) -> list[Element]:
    network = scene.network
    lines = [*_links(scene, marked), *_foreign(scene, marked)]
    pairs = [line.ends for line in lines]
    names = [(one.removeprefix("switch:"), other.removeprefix("switch:")) for one, other in pairs]
    known = _known(network)
    inside = [
        (ends[0], ends[1])
        for link in network.links
        if len(ends := [end.switch for end in link.ends if end.switch in known]) == len(link.ends) == 2
    ]
    groups = places.by_site(network, inside) if grouped else {}
    at = places.of_groups(groups, inside) if grouped else places.of_switches(network, names)
    chosen = scene.circuit(marked)
    frames = [
        {"data": {"id": f"group:{site}", "label": site or "no site"}, "classes": "group"}
        for site in dict.fromkeys(groups.values())
    ]
    boxes = [_switch(network, one, at[one.name], groups.get(one.name), chosen) for one in network.switches]
    return [*frames, *boxes, *_edges(lines, colour, chosen is not None)]


def _fit(text: str) -> str:
    return text if len(text) <= FITS else f"{text[: FITS - 1]}…"


def _known(network: NetworkView) -> set[str]:
    return {switch.name for switch in network.switches}


def _switch(
    network: NetworkView,
    switch: SwitchDetail,
    at: places.Point,
    group: str | None,
    chosen: CircuitView | None,
) -> Element:
    sites = [site.name for site in network.sites if site.edge == switch.name]
    under = f"site {', '.join(sites)}" if sites else f"{switch.rules} rules"
    state = "there" if switch.connected else "away"
    if not switch.connected:
        under = "not connected"
    elif switch.mode == "dry-run":
        under = "dry run"
    classes = ["edge" if sites else "inner", state]
    on_way = chosen is not None and switch.name in chosen.switches
    made = _node(
        f"switch:{switch.name}",
        f"{_fit(switch.name)}\n{_fit(under)}",
        at,
        [*classes, _emphasis(chosen, on_way)],
    )
    if group is not None:
        made["data"]["parent"] = f"group:{group}"
    return made


def _links(scene: Scene, marked: str | None) -> Iterator[Line]:
    network, known = scene.network, _known(scene.network)
    chosen = scene.circuit(marked)
    for number, link in enumerate(network.links):
        ends = [end.switch for end in link.ends]
        if len(ends) != 2 or not known.issuperset(ends):
            continue  # it leads to what is not ours: the table tells
        over = [one for one in network.circuits if link.name and link.name in one.links]
        state = health.of_link(link)[0]
        if state is Health.GOOD:
            state = health.worst(
                [
                    state,
                    *(
                        one
                        for circuit in over
                        if (one := health.of_path(scene.of_path(circuit.name))[0]) is not Health.NO_DATA
                    ),
                ]
            )
        known_rates = [rate for one in over if (rate := scene.rate(one.name)) is not None]
        rate = sum(known_rates) if known_rates else None
        flows = len({flow for one in over for flow in one.flows})
        yield Line(
            f"link:{link.name or number}",
            (f"switch:{ends[0]}", f"switch:{ends[1]}"),
            _words(link.name or "not configured", flows, rate),
            state,
            health.of_load(rate, link.capacity_bps),
            flows,
            ours=True,
            marked=chosen is not None and bool(link.name) and link.name in chosen.links,
        )


def _foreign(scene: Scene, marked: str | None) -> Iterator[Line]:
    """The paths that no link of ours is known of: only their ends are ours."""
    ours = {link.name for link in scene.network.links}
    for one in scene.network.circuits:
        if len(one.switches) != 2 or one.overlay is not None or ours.intersection(one.links):
            continue
        ends = (f"switch:{one.switches[0]}", f"switch:{one.switches[1]}")
        yield _line_of(scene, one, ends, marked)


def _line_of(scene: Scene, circuit: CircuitView, ends: tuple[str, str], marked: str | None) -> Line:
    name = circuit.name
    rate, flows = scene.rate(name), len(circuit.flows)
    return Line(
        f"path:{name}",
        ends,
        _words(f"{name} · {circuit.layer.upper()}" if circuit.layer else name, flows, rate),
        health.of_path(scene.of_path(name))[0],
        health.of_load(rate, scene.capacity(name)),
        flows,
        ours=circuit.overlay is not None,
        marked=name == marked,
    )


def _words(name: str, flows: int, rate: float | None) -> str:
    parts = [name]
    if flows:
        parts.append(plural(flows, "flow"))
        if rate:
            parts.append(ui.rate(rate))
    return " · ".join(parts)


# -- elements ------------------------------------------------------------------------------------------


def _emphasis(chosen: CircuitView | None, on_way: bool) -> str:
    return "" if chosen is None else "marked" if on_way else "faded"


def _node(name: str, label: str, at: places.Point, classes: Sequence[str]) -> Element:
    x, y = at
    return {
        "data": {"id": name, "label": label},
        "position": {"x": x, "y": y},
        "classes": " ".join(filter(None, classes)),
    }


def _edges(lines: Sequence[Line], colour: Colour, choosing: bool) -> list[Element]:
    named = len(lines) <= MANY_LINES
    return [_edge(line, colour, choosing, named) for line in lines if line.ends[0] != line.ends[1]]


def _edge(line: Line, colour: Colour, choosing: bool, named: bool) -> Element:
    state: Health | Load = line.health if colour is Colour.HEALTH else line.load
    usual = line.health is Health.GOOD and not line.flows and not line.marked
    source, target = line.ends
    classes = [
        "ours" if line.ours else "foreign",
        class_of(state),
        "marked" if line.marked else "faded" if choosing else "",
    ]
    label = "" if usual and not named else line.words
    return {
        "data": {
            "id": line.id,
            "source": source,
            "target": target,
            "label": label,
            "width": 3 + min(line.flows, 5),
            "shift": 0,
        },
        "classes": " ".join(filter(None, classes)),
    }


def class_of(state: Health | Load) -> str:
    """The class of a line in this state."""
    return f"is-{state.value.replace(' ', '-')}"
