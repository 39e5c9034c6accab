"""Map of the network as cytoscape's elements. Pure.

The view *switches* has a box for each switch and a line for each link; a path over external networks is a
line between its edge switches. The view *sites* has a box for each site and a line for each path. Positions
are those of Kamada and Kawai ("An algorithm for drawing general undirected graphs", 1989): the same network
has the same map. Classes name the state of a line; :mod:`.map_style` gives them colours and strokes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Any

import networkx as nx

from adon.api.network import CircuitView, LinkView, NetworkView, SwitchDetail
from apps.dashboard import ui
from apps.dashboard.network import health
from apps.dashboard.network.health import Health, Load
from apps.dashboard.network.scene import Scene

Element = dict[str, Any]

NAMED_LINES = 30
"""With more lines, only lines with a flow or an unusual state have a name."""
LABEL_LENGTH = 15
FEW_SWITCHES = 24
"""A larger network is shown by sites first."""
BOX = 170.0
"""Pixels between the two nearest boxes."""
LEAST_SCALE, MOST_SCALE = 150.0, 3000.0
WIDE = 1.5
"""Width of a map relative to its height."""


class View(StrEnum):
    """What the boxes of the map are."""

    SWITCHES = "switches"
    SITES = "sites"


class Colour(StrEnum):
    """What the colour of a line shows."""

    HEALTH = "health"
    LOAD = "load"


@dataclass(frozen=True, slots=True)
class Line:
    """A link or a path between two boxes."""

    id: str
    ends: tuple[str, str]
    label: str
    health: Health
    load: Load
    flows: int
    marked: bool


def first_view(network: NetworkView) -> View:
    """Return the view before the user chooses one."""
    return View.SWITCHES if len(network.switches) <= FEW_SWITCHES else View.SITES


def elements(scene: Scene, view: View, colour: Colour, shown: str) -> list[Element]:
    """Return what cytoscape draws.

    :param shown: what is highlighted (:meth:`.Scene.marked`).
    """
    marked = scene.marked(shown)
    if view is View.SITES:
        boxes, lines = _sites(scene, marked), list(_paths_of_sites(scene, marked))
    else:
        boxes, lines = _switches(scene, marked), [*_links(scene, marked), *_external_paths(scene, marked)]
    known = {box["data"]["id"] for box in boxes}
    lines = [line for line in lines if line.ends[0] != line.ends[1] and known.issuperset(line.ends)]
    at = place(tuple(sorted(known)), tuple(sorted({line.ends for line in lines})))
    for box in boxes:
        box["position"] = at[box["data"]["id"]]
    named = len(lines) <= NAMED_LINES
    return [*boxes, *(_edge(line, colour, choosing=marked is not None, named=named) for line in lines)]


@lru_cache(maxsize=32)
def place(names: tuple[str, ...], pairs: tuple[tuple[str, str], ...]) -> Mapping[str, Mapping[str, float]]:
    """Return the position of each box in pixels.

    :param pairs: the boxes that a line joins.
    """
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from(pairs)
    first, *others = [min(part) for part in nx.connected_components(graph)] or [""]
    graph.add_edges_from((first, other) for other in others)  # parts without a line stand beside each other
    found = nx.kamada_kawai_layout(graph)
    nearest = min((math.dist(found[a], found[b]) for a, b in combinations(names, 2)), default=1.0)
    scale = min(max(BOX / max(nearest, 1e-6), LEAST_SCALE), MOST_SCALE)
    return {
        name: {"x": round(-WIDE * scale * float(x), 1), "y": round(scale * float(y), 1)}
        for name, (x, y) in found.items()
    }


def _sites(scene: Scene, marked: CircuitView | None) -> list[Element]:
    ends = set() if marked is None else {marked.source, marked.destination}
    connected = {switch.name for switch in scene.network.switches if switch.connected}
    return [
        _box(
            f"site:{site.name}",
            f"{site.name}\n{ui.count(len(site.hosts), 'DTN')}",
            ["site", "" if site.edge in connected else "away", _emphasis(marked, site.name in ends)],
        )
        for site in scene.network.sites
    ]


def _switches(scene: Scene, marked: CircuitView | None) -> list[Element]:
    over = () if marked is None else marked.switches
    boxes = []
    for switch in scene.network.switches:
        sites = [site.name for site in scene.network.sites if site.edge == switch.name]
        classes = ["" if sites else "inner", "" if switch.connected else "away"]
        boxes.append(
            _box(
                f"switch:{switch.name}",
                f"{_shorten(switch.name)}\n{_shorten(_second_line(switch, sites))}",
                [*classes, _emphasis(marked, switch.name in over)],
            )
        )
    return boxes


def _second_line(switch: SwitchDetail, sites: Sequence[str]) -> str:
    if not switch.connected:
        return "not connected"
    if switch.mode == "dry-run":
        return "dry run"
    return f"site {', '.join(sites)}" if sites else f"{switch.rules} rules"


def _paths_of_sites(scene: Scene, marked: CircuitView | None) -> Iterator[Line]:
    for one in scene.network.circuits:
        yield _path_line(scene, one, (f"site:{one.source}", f"site:{one.destination}"), marked)


def _links(scene: Scene, marked: CircuitView | None) -> Iterator[Line]:
    over = () if marked is None else marked.links
    for number, link in enumerate(scene.network.links):
        ends = [f"switch:{end.switch}" for end in link.ends]
        if len(ends) != 2:
            continue
        paths = [one for one in scene.network.circuits if link.name and link.name in one.links]
        flows = sum(len(one.flows) for one in paths)
        rates = [rate for one in paths if (rate := scene.rate(one.name)) is not None]
        rate = sum(rates) if rates else None
        yield Line(
            f"link:{link.name or number}",
            (ends[0], ends[1]),
            _label(link.name or "not configured", flows, rate),
            _link_health(scene, link, paths),
            health.of_load(rate, link.capacity_bps),
            flows,
            marked=bool(link.name) and link.name in over,
        )


def _link_health(scene: Scene, link: LinkView, paths: Iterable[CircuitView]) -> Health:
    """Return the health of a link; a good link is as bad as the worst path over it."""
    own = health.of_link(link)[0]
    if own is not Health.GOOD:
        return own
    measured = {health.of_path(scene.directions(one.name))[0] for one in paths} - {Health.NO_DATA}
    return health.worst([own, *measured])


def _external_paths(scene: Scene, marked: CircuitView | None) -> Iterator[Line]:
    """The paths whose links are not known: only their edge switches are ours."""
    ours = {link.name for link in scene.network.links}
    for one in scene.network.circuits:
        if len(one.switches) == 2 and one.overlay is None and not ours.intersection(one.links):
            yield _path_line(scene, one, (f"switch:{one.switches[0]}", f"switch:{one.switches[1]}"), marked)


def _path_line(scene: Scene, circuit: CircuitView, ends: tuple[str, str], marked: CircuitView | None) -> Line:
    name = circuit.name
    rate, flows = scene.rate(name), len(circuit.flows)
    return Line(
        f"path:{name}",
        ends,
        _label(f"{name} · {circuit.layer.upper()}" if circuit.layer else name, flows, rate),
        health.of_path(scene.directions(name))[0],
        health.of_load(rate, scene.capacity(name)),
        flows,
        marked=circuit is marked,
    )


def _label(name: str, flows: int, rate: float | None) -> str:
    parts = [name]
    if flows:
        parts += [ui.count(flows, "flow"), *([ui.rate(rate)] if rate else [])]
    return " · ".join(parts)


def _shorten(text: str) -> str:
    return text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 1]}…"


def _emphasis(marked: CircuitView | None, on_path: bool) -> str:
    if marked is None:
        return ""
    return "marked" if on_path else "faded"


def _box(name: str, label: str, classes: Iterable[str]) -> Element:
    return {"data": {"id": name, "label": label}, "classes": " ".join(filter(None, classes))}


def _edge(line: Line, colour: Colour, *, choosing: bool, named: bool) -> Element:
    state: Health | Load = line.health if colour is Colour.HEALTH else line.load
    usual = line.health is Health.GOOD and not line.flows and not line.marked
    emphasis = "faded" if choosing else ""
    data = {
        "id": line.id,
        "source": line.ends[0],
        "target": line.ends[1],
        "label": "" if usual and not named else line.label,
        "width": 3 + min(line.flows, 5),
        "shift": 0,
    }
    return {"data": data, "classes": f"{class_of(state)} {'marked' if line.marked else emphasis}".strip()}


def class_of(state: Health | Load) -> str:
    """Return the class of a line in this state."""
    return f"is-{state.value.replace(' ', '-')}"
