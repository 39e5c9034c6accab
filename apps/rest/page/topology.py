"""The network as a picture: what is drawn, as values that a template writes out as SVG.  Pure.

Boxes are switches, lines are links between them and, dashed, paths through networks of others, of which only
the two ends are ours.  A line is bent around boxes that are not its own; a label is left out where it would
lie on another one or on a box (its text is in the line's title, and in the tables).  Pixels throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from apps.dashboard.network.layout import MANY, Layout, layout
from apps.rest.network_models import CircuitView, LinkView, NetworkView, SwitchDetail
from apps.rest.page.shapes import Area, Curve

BOX = (118.0, 42.0)
CELL = (152.0, 92.0)
TIGHT = (132.0, 78.0)
"""The cells of a large network."""
LETTER = 6.7
"""The width of a letter of a label, rather more than it needs."""
LINE = 18.0
APART = 46.0
"""Between the middles of two lines that join the same boxes."""
GAP = 5.0
"""Between two labels."""
MARGIN = 14.0
CLEAR = 7.0
"""A line keeps so far from boxes that are not its own."""
BENDS = (0.0, 24.0, -24.0, 46.0, -46.0, 70.0, -70.0, 96.0, -96.0, 130.0, -130.0)
PLACES = (0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75)
"""Where along its line a label may be."""
GOOD = "live"
FITS = 16
"""Letters in a box."""


@dataclass(frozen=True, slots=True)
class Box:
    """A switch; ``x`` and ``y`` are its middle."""

    name: str
    text: str
    under: str
    x: float
    y: float
    dpid: str
    kind: str
    title: str

    @property
    def around(self) -> Area:
        """What it covers."""
        return Area.about((self.x, self.y), *BOX)


@dataclass(frozen=True, slots=True)
class Label:
    """Words on a line; ``x`` and ``y`` are their middle."""

    text: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Line:
    """A link, or a path through networks of others.

    :param state: the link's, or ``transit`` and ``transit-down``; the template makes a class of it.
    :param path: the path to show when somebody clicks on it; empty for a link.
    :param curve: None before it has its place.
    :param label: None where there is no room.
    """

    name: str
    ends: tuple[str, str]
    state: str
    words: str
    title: str
    path: str
    flows: tuple[str, ...]
    marked: bool
    curve: Curve | None = None
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is drawn, and the box it fits in."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    left: float
    top: float
    width: float
    height: float


def picture(network: NetworkView, shown: str | None = None) -> Picture | None:
    """The picture of a network; None without switches.

    :param shown: the name of the path to mark.
    """
    if not network.switches:
        return None
    lines = [*_links(network, shown), *_transits(network, shown)]
    found = _layout(network, lines)
    boxes = tuple(_boxes(network, found, shown))
    drawn = tuple(_labelled(boxes, _drawn(boxes, lines)))
    left, top, right, bottom = _extent(boxes, drawn)
    return Picture(boxes, drawn, left, top, right - left, bottom - top)


# -- what there is -------------------------------------------------------------------------------------


def _links(network: NetworkView, shown: str | None) -> Iterator[Line]:
    circuit = next((one for one in network.circuits if one.name == shown), None)
    marked = () if circuit is None else circuit.links
    known = {switch.name for switch in network.switches}
    for link in network.links:
        switches = tuple(end.switch or "" for end in link.ends)
        if len(switches) != 2 or not known.issuperset(switches):
            continue  # it leads to what is not ours: the table tells
        flows = _flows(one for one in network.circuits if link.name in one.links)
        title = _between(link) + (f": {link.reason}" if link.reason else "") + _on(flows)
        words = " · ".join(filter(None, (link.name or "not configured", _count(flows))))
        ends = (switches[0], switches[1])
        name, is_marked = link.name or "", link.name in marked
        yield Line(name, ends, link.state, words, title, "", tuple(flows), is_marked)


def _transits(network: NetworkView, shown: str | None) -> Iterator[Line]:
    """The paths that no link of ours is known of."""
    ours = {link.name for link in network.links}
    for one in network.circuits:
        if len(one.switches) != 2 or one.overlay is not None or ours.intersection(one.links):
            continue
        state = "transit" if one.usable else "transit-down"
        title = f"{one.name}, layer {one.layer[1:]}: {one.reason or 'can be used'}{_on(one.flows)}"
        words = " · ".join(filter(None, (one.name, one.layer.upper(), _count(one.flows))))
        ends = (one.switches[0], one.switches[1])
        yield Line(one.name, ends, state, words, title, one.name, tuple(one.flows), one.name == shown)


def _flows(circuits: Iterable[CircuitView]) -> list[str]:
    return list(dict.fromkeys(flow for one in circuits for flow in one.flows))


def _count(flows: Sequence[str]) -> str:
    return "" if not flows else flows[0] if len(flows) == 1 else f"{len(flows)} flows"


def _on(flows: Sequence[str]) -> str:
    return f"; flows {' '.join(flows)}" if flows else ""


def _between(link: LinkView) -> str:
    ends = " – ".join(f"{end.switch} {end.port or end.number}" for end in link.ends)
    return f"{link.name or 'a link that nobody configured'}, {ends}, {link.state}"


# -- where it goes -------------------------------------------------------------------------------------


def _layout(network: NetworkView, lines: Sequence[Line]) -> Layout:
    known = [switch.name for switch in network.switches]
    edges = dict.fromkeys(site.edge for site in network.sites if site.edge in known)
    outer = tuple(edges) or (known[0],)
    inner = tuple(name for name in known if name not in outer)
    pairs = tuple(line.ends for line in lines if line.ends[0] != line.ends[1])
    parallel = max((pairs.count(pair) for pair in set(pairs)), default=0) if len(pairs) < MANY else 0
    return layout(outer, inner, pairs, max(3, math.ceil(parallel * APART / CELL[1]) + 1))


def _boxes(network: NetworkView, found: Layout, shown: str | None) -> Iterator[Box]:
    width, height = CELL if len(network.switches) <= MANY else TIGHT
    circuit = next((one for one in network.circuits if one.name == shown), None)
    marked = () if circuit is None else circuit.switches
    for switch in network.switches:
        column, row = found.cells[switch.name]
        # Every other row is shifted, so that fewer boxes are in line with one another.
        x = (column + (0.5 if row % 2 and len(network.switches) > 2 else 0.0)) * width
        sites = [site for site in network.sites if site.edge == switch.name]
        kind = " ".join(
            (
                "edge" if sites else "inner",
                _condition(switch),
                *(("marked",) if switch.name in marked else ()),
            )
        )
        hosts = ", ".join(host for site in sites for host in site.hosts)
        title = f"{switch.name} {switch.dpid}, {_words(switch)}" + (f"; DTNs: {hosts}" if hosts else "")
        under = "site " + ", ".join(site.name for site in sites) if sites else f"{switch.rules} rules"
        if not switch.connected:
            under = "not connected"
        text, below = _fit(switch.name, FITS), _fit(under, FITS + 2)
        yield Box(switch.name, text, below, x, row * height, switch.dpid, kind, title)


def _condition(switch: SwitchDetail) -> str:
    return "away" if not switch.connected else "advise" if switch.advise else "there"


def _words(switch: SwitchDetail) -> str:
    state = "connected" if switch.connected else "not connected"
    return f"{state}{', advise mode' if switch.advise else ''}, {switch.rules} rules of ours"


def _fit(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _drawn(boxes: Sequence[Box], lines: Sequence[Line]) -> Iterator[Line]:
    at = {box.name: box for box in boxes}
    groups: dict[frozenset[str], list[Line]] = {}
    for line in lines:
        groups.setdefault(frozenset(line.ends), []).append(line)
    for group in groups.values():
        for number, line in enumerate(group):
            ends = sorted(line.ends)  # lines that join the same boxes are bent in the same sense
            one, other = at[ends[0]], at[ends[1]]
            if one is not other:
                side = (number - (len(group) - 1) / 2) * APART
                yield replace(line, curve=_curve(one, other, side, boxes))


def _curve(one: Box, other: Box, side: float, boxes: Sequence[Box]) -> Curve:
    """Of the lines that meet the fewest other boxes, mostly none, the one that is bent least."""
    others = [box.around for box in boxes if box is not one and box is not other]
    ends = (one.x, one.y), (other.x, other.y)
    best, fewest = Curve.bent(*ends, side), len(boxes)
    for bend in BENDS:
        curve = Curve.bent(*ends, side + bend)
        hits = curve.hits(others, CLEAR)
        if hits < fewest:
            best, fewest = curve, hits
        if not hits:
            break
    return best


def _labelled(boxes: Sequence[Box], lines: Iterable[Line]) -> Iterator[Line]:
    """Lines with labels where there is room, the ones that matter first."""
    found = list(lines)
    taken = [box.around for box in boxes]
    labels: dict[int, Label] = {}
    for number in sorted(range(len(found)), key=lambda number: (_matters_less(found[number]), number)):
        line = found[number]
        if len(found) > MANY and _matters_less(line) == 2:
            continue  # of a large network only what is not as usual is labelled
        label = _label(line, taken)
        if label is not None:
            labels[number] = label
            taken.append(Area.about((label.x, label.y), label.width + GAP, LINE + GAP))
    for number, line in enumerate(found):
        yield replace(line, label=labels.get(number))


def _matters_less(line: Line) -> int:
    usual = line.state in (GOOD, "transit") and not line.flows
    return 0 if line.marked else 2 if usual else 1


def _label(line: Line, taken: Sequence[Area]) -> Label | None:
    if line.curve is None:
        return None
    text = _fit(line.words, 28)
    width = LETTER * len(text) + 12
    for place in PLACES:
        x, y = line.curve.at(place)
        if not any(Area.about((x, y), width, LINE).meets(area) for area in taken):
            return Label(text, round(x, 1), round(y, 1), round(width, 1))
    return None


def _extent(boxes: Sequence[Box], lines: Sequence[Line]) -> tuple[float, float, float, float]:
    areas = [box.around for box in boxes]
    labels = (line.label for line in lines if line.label is not None)
    areas += [Area.about((label.x, label.y), label.width, LINE) for label in labels]
    curves = (line.curve for line in lines if line.curve is not None)
    areas += [Area.about(point, 4, 4) for curve in curves for point in curve.points]
    return (
        min(area.left for area in areas) - MARGIN,
        min(area.top for area in areas) - MARGIN,
        max(area.right for area in areas) + MARGIN,
        max(area.bottom for area in areas) + MARGIN,
    )
