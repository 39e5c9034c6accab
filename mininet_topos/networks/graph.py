"""The nodes of a description and the links between them, with every name resolved.

Refused here: a name that two things have, a link that leads nowhere or joins what cannot be joined, and
attributes that cannot be built at the scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from adon.nearest_key import absent
from mininet_topos.networks.description import RESERVED, Description, LinkPart, SitePart
from mininet_topos.networks.wrong import Wrong, refuse
from mininet_topos.topology import MIN_MTU, Shape

TCP_HEADERS = 52
"""Bytes of each packet that are no data: 20 (IP), 20 (TCP) and 12 (time stamps, RFC 7323)."""
UNTAGGED, TAGGED = 14, 18
"""Bytes of Ethernet around each packet, as Linux ``tc`` counts: without and with a VLAN tag (IEEE 802.1Q)."""


MAX_NAME = 10
"""Characters of a node's or link's name: an interface's begins with it and has at most 15, and so has that of
the management network's, ``HOST-mgmt``."""


class Role(Enum):
    """What a node is."""

    DTN = "a DTN"
    EDGE = "an edge"
    CAMPUS_SWITCH = "a campus switch"
    CAMPUS_ROUTER = "a campus router"
    SWITCH = "a provider's switch"
    ROUTER = "a router"


CAMPUS_LAN = frozenset({Role.EDGE, Role.CAMPUS_SWITCH})
LAYER_2 = frozenset({Role.EDGE, Role.SWITCH})
"""What a layer-2 path leads over, and its links join."""
LAYER_3 = frozenset({Role.CAMPUS_ROUTER, Role.ROUTER})
"""The same on layer 3."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node.

    :param site: whose it is; None for what lies between sites.
    :param place: where in the description its name is written, or would be.
    """

    name: str
    role: Role
    site: str | None
    place: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cable:
    """A link between two nodes.

    :param called: per node what its interface is called after the node's name; None if nobody said.
    :param campus: the site within which it is; None between sites.
    :param told: which of rate and goodput the description says.
    :param line: whether it is a host of its own (:attr:`~mininet_topos.topology.Kind.LINE`), since a switch's
        port cannot be shaped.
    """

    name: str
    between: tuple[str, str]
    called: tuple[str | None, str | None]
    campus: str | None
    shape: Shape | None
    goodput: float | None
    line: bool
    told: Literal["rate", "goodput"] = "rate"

    def beyond(self, node: str) -> str:
        """The node at the other end."""
        one, other = self.between
        return other if node == one else one


@dataclass(frozen=True, slots=True)
class Graph:
    """All nodes and links, in the order of the description."""

    nodes: Mapping[str, Node]
    cables: Mapping[str, Cable]

    def of(self, site: str, role: Role) -> tuple[str, ...]:
        """A site's nodes of one role."""
        return tuple(node.name for node in self.nodes.values() if (node.site, node.role) == (site, role))

    def edge(self, site: str) -> str:
        """A site's edge."""
        return self.of(site, Role.EDGE)[0]

    def cable_of(self, dtn: str) -> Cable | None:
        """The described link that a DTN hangs on; None if nobody described one."""
        return next((cable for cable in self.cables.values() if dtn in cable.between), None)

    def joining(self, one: str, other: str) -> tuple[Cable, ...]:
        """The links between two nodes."""
        return tuple(cable for cable in self.cables.values() if set(cable.between) == {one, other})


def graph(described: Description, scale: float) -> Graph:
    """Resolve a description.

    :param scale: rates are divided by it.
    :raises WrongDescription: with everything that is wrong.
    """
    nodes = tuple(_nodes(described))
    refuse(_wrong_names(nodes, described))
    by_name = {node.name: node for node in nodes}
    refuse(_wrong_ends(described.links, by_name))
    cables = {name: _cable(name, part, by_name, scale) for name, part in described.links.items()}
    refuse(_wrong_shapes(cables, scale))
    return Graph(by_name, cables)


def _nodes(described: Description) -> Iterator[Node]:
    for name, site in described.campuses.items():
        yield from _nodes_of(name, site, ("sites", name))
    for name in described.switches:
        yield Node(name, Role.SWITCH, None, ("switches",))
    for name in described.routers:
        yield Node(name, Role.ROUTER, None, ("routers",))


def _nodes_of(site: str, part: SitePart, place: tuple[str, ...]) -> Iterator[Node]:
    for dtn in part.dtns or (f"{site}-dtn",):
        yield Node(dtn, Role.DTN, site, (*place, "dtns"))
    yield Node(part.edge or f"{site}-edge", Role.EDGE, site, (*place, "edge"))
    for switch in part.switches:
        yield Node(switch, Role.CAMPUS_SWITCH, site, (*place, "switches"))
    for router in part.routers or (f"{site}-rtr",):
        yield Node(router, Role.CAMPUS_ROUTER, site, (*place, "routers"))


def _wrong_names(nodes: tuple[Node, ...], described: Description) -> Iterator[Wrong]:
    taken: dict[str, str] = dict.fromkeys(RESERVED, "the building itself")
    named = [
        *((node.name, node.role.value, node.place) for node in nodes),
        *((site, "a site", ("sites", site)) for site in described.sites),
        *((link, "a link", ("links", link)) for link in described.links),
    ]
    for name, what, place in named:
        if len(name) > MAX_NAME:
            yield Wrong(place, f"{name!r} is longer than {MAX_NAME} characters: give it another name")
        if name in taken:
            yield Wrong(place, f"{name!r} is the name of {taken[name]} already")
        taken.setdefault(name, what)


def _wrong_ends(links: Mapping[str, LinkPart], nodes: Mapping[str, Node]) -> Iterator[Wrong]:
    for name, part in links.items():
        place = ("links", name, "between")
        unknown = [node for node in part.between if node not in nodes]
        for node in unknown:
            yield Wrong(place, absent("node", node, nodes))
        if not unknown:
            one, other = (nodes[node] for node in part.between)
            if not _joinable(one, other):
                yield Wrong(place, f"{one.role.value} and {other.role.value} cannot be joined: {_WHAT_CAN}")


_WHAT_CAN = (
    "a link is between two switches of one campus, a DTN and a switch of its campus, two switches that "
    "layer-2 paths lead over (edges and a provider's) or two routers; a campus's routers are joined to its "
    "edge without being told"
)


def _joinable(one: Node, other: Node) -> bool:
    roles = {one.role, other.role}
    if one.site is not None and one.site == other.site and Role.CAMPUS_ROUTER not in roles:
        return bool(roles & CAMPUS_LAN)
    return roles <= LAYER_2 or roles <= LAYER_3


def _cable(name: str, part: LinkPart, nodes: Mapping[str, Node], scale: float) -> Cable:
    one, other = part.between
    called = (part.between[one], part.between[other]) if isinstance(part.between, Mapping) else (None, None)
    campus = nodes[one].site if nodes[one].site == nodes[other].site else None
    switched = nodes[one].role not in LAYER_3
    # One that is out of range is refused with all other shapes; until then there is something to divide by.
    packet = max(part.mtu, MIN_MTU)
    frame = packet + (TAGGED if switched and campus is None else UNTAGGED)
    data = packet - TCP_HEADERS
    shape = goodput = None
    if part.goodput is not None:
        goodput = part.goodput / scale
        shape = _shape(part, goodput * frame / data)
    elif part.rate is not None:
        shape = _shape(part, part.rate / scale)
        goodput = shape.rate * data / frame
    line = switched and shape is not None
    told: Literal["rate", "goodput"] = "rate" if part.goodput is None else "goodput"
    return Cable(name, (one, other), called, campus, shape, goodput, line, told)


def _shape(part: LinkPart, rate: float) -> Shape:
    return Shape(rate, part.queue, part.delay, part.loss, part.mtu)


def _wrong_shapes(cables: Mapping[str, Cable], scale: float) -> Iterator[Wrong]:
    for name, cable in cables.items():
        for problem in cable.shape.problems(name) if cable.shape is not None else ():
            _, attribute = problem.field.split(".")
            if attribute != "rate":
                yield Wrong(("links", name, attribute), problem.cause)
                continue
            scaled = "" if scale == 1 else f"at 1:{scale:g}, "
            wire = "" if cable.told == "rate" else "on the wire, "
            yield Wrong(("links", name, cable.told), f"{scaled}{wire}{problem.cause}")
