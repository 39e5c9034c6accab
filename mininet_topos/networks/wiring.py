"""Every link of the topology with its two interfaces: which they are, what they are called, what they have.

The order is that of the OpenFlow port numbers: per site its DTNs and routers, then the described links.  An
interface is called after its node and what it leads to, ``mu-edge-dtn``; where that is longer than Linux
takes, or taken, after its node and a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface
from itertools import chain, count

from mininet_topos.networks.addressing import Addresses
from mininet_topos.networks.campuses import Campus
from mininet_topos.networks.courses import Course
from mininet_topos.networks.description import RESERVED
from mininet_topos.networks.graph import Cable, Graph, Role
from mininet_topos.networks.wrong import Wrong, refuse
from mininet_topos.topology import MAX_INTERFACE_NAME, Interface, Link, Shape, Vlans

CAMPUS_VLAN = 1
_CAMPUS = Vlans(access=CAMPUS_VLAN)


@dataclass(frozen=True, slots=True)
class End:
    """An interface before it has a name.

    :param link: the described link, or the host of a campus, that it belongs to.
    :param towards: the node at the other end.
    :param called: what it is called after the node's name.
    :param chosen: whether the description says so.
    """

    link: str
    node: str
    towards: str
    called: str
    chosen: bool = False
    mac: str | None = None
    addresses: tuple[IPv4Interface, ...] = ()
    vlans: Vlans | None = None
    shape: Shape | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What no other interface has."""
        return self.link, self.node, self.towards


@dataclass(frozen=True, slots=True)
class Wiring:
    """All links and the names of their interfaces.

    :param names: per link, node and node at the other end.
    :param cabled: per DTN the link that it hangs on, where one is described.
    """

    links: tuple[Link, ...]
    names: Mapping[tuple[str, str, str], str]
    cabled: Mapping[str, Cable]

    def at(self, cable: Cable, node: str) -> str:
        """The interface of a node on a described link."""
        return self.names[cable.name, node, cable.name if cable.line else cable.beyond(node)]

    def of_host(self, host: str, switch: str) -> str:
        """The port of a campus's switch that leads to a DTN or router."""
        cable = self.cabled.get(host)
        return self.names[host, switch, host] if cable is None else self.at(cable, switch)

    def shaped(self, cable: Cable) -> tuple[str, ...]:
        """The interfaces that have a link's shape: forward from its first node, and back."""
        one, other = cable.between
        if cable.shape is None:
            return ()
        if cable.line:
            return self.names[cable.name, cable.name, other], self.names[cable.name, cable.name, one]
        return self.at(cable, one), self.at(cable, other)


def wiring(campuses: Sequence[Campus], graph: Graph, courses: Sequence[Course], given: Addresses) -> Wiring:
    """All links of the topology.

    :raises WrongDescription: if a name that the description chooses is too long, or taken; or if a node has
        that of an interface of the management network.
    """
    wires = [*_campus_wires(campuses, given), *_described_wires(graph, courses, given)]
    ends = [end for wire in wires for end in wire]
    of_management = frozenset(_of_management(given.points))
    refuse(
        Wrong(place, f"{name!r} is the name of an interface of the management network already")
        for name, place in _places(graph)
        if name in of_management
    )
    taken = {*RESERVED, *graph.nodes, *graph.cables, *of_management}
    refuse(_wrong_choices(ends, taken))
    names = _names(ends, taken)
    links = tuple(Link(*(_interface(end, names[end.key]) for end in wire)) for wire in wires)
    cabled = {dtn: cable for campus in campuses for dtn, cable in campus.cabled.items()}
    return Wiring(links, names, cabled)


def _interface(end: End, name: str) -> Interface:
    return Interface(end.node, name, end.mac, end.addresses, end.vlans, end.shape)


def _campus_wires(campuses: Sequence[Campus], given: Addresses) -> Iterator[tuple[End, End]]:
    for campus in campuses:
        hosts = chain(
            ((dtn, switch, "data") for dtn, switch in campus.at.items()),
            ((router, campus.edge, "lan") for router in campus.routers),
        )
        for host, switch, called in hosts:
            held = given.hosts[host]
            own = (held.data, *held.measured.values())
            port = End(host, switch, host, host.removeprefix(f"{campus.name}-"), vlans=_CAMPUS)
            interface = End(host, host, switch, called, mac=held.mac, addresses=own)
            if host in campus.cabled:
                yield from _on(campus.cabled[host], port, interface)
            else:
                yield port, interface


def _on(cable: Cable, port: End, interface: End) -> Iterator[tuple[End, End]]:
    """A DTN's wire, on the link that is described for it."""
    called = dict(zip(cable.between, cable.called, strict=True))
    switch, host = (
        replace(
            end, link=cable.name, called=called[end.node] or end.called, chosen=called[end.node] is not None
        )
        for end in (port, interface)
    )
    if not cable.line:
        yield switch, host
        return
    for end in (switch, host):
        yield (
            replace(end, towards=cable.name),
            End(cable.name, cable.name, end.node, end.node, shape=cable.shape),
        )


def _described_wires(graph: Graph, courses: Sequence[Course], given: Addresses) -> Iterator[tuple[End, End]]:
    vlans = _carried(courses)
    for name, cable in graph.cables.items():
        if any(graph.nodes[node].role is Role.DTN for node in cable.between):
            continue  # a campus's own
        carried = _CAMPUS if cable.campus is not None else Vlans(trunk=vlans.get(name, ()))

        def switched(place: int, towards: str, cable: Cable = cable, carried: Vlans = carried) -> End:
            node, called = cable.between[place], cable.called[place]
            own = graph.nodes[node].role is Role.SWITCH
            chosen = called is not None
            return End(cable.name, node, towards, called or towards, chosen, vlans=None if own else carried)

        one, other = cable.between
        if cable.line:
            for place, node in enumerate(cable.between):
                yield switched(place, name), End(name, name, node, node, shape=cable.shape)
        elif (name, one) in given.transfer:
            ends = (_routed(cable, place, given) for place in (0, 1))
            yield next(ends), next(ends)
        else:
            yield switched(0, other), switched(1, one)


def _routed(cable: Cable, place: int, given: Addresses) -> End:
    node, called = cable.between[place], cable.called[place]
    towards = cable.beyond(node)
    address = given.transfer[cable.name, node]
    return End(
        cable.name,
        node,
        towards,
        called or towards,
        called is not None,
        addresses=(address,),
        shape=cable.shape,
    )


def _carried(courses: Sequence[Course]) -> dict[str, tuple[int, ...]]:
    """Per link the VLANs of the paths over it."""
    found: dict[str, set[int]] = {}
    for course in courses:
        for cable in course.cables:
            if course.vlan is not None:
                found.setdefault(cable.name, set()).add(course.vlan)
    return {name: tuple(sorted(vlans)) for name, vlans in found.items()}


def _of_management(measuring: Iterable[str]) -> Iterator[str]:
    for host in measuring:
        yield f"{host}-mgmt"
        yield f"mgmt-{host}"


def _places(graph: Graph) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Nodes and links by name, with where in the description that is."""
    yield from ((node.name, node.place) for node in graph.nodes.values())
    yield from ((name, ("links", name)) for name in graph.cables)


def _wrong_choices(ends: Sequence[End], taken: set[str]) -> Iterator[Wrong]:
    seen = set(taken)
    for end in ends:
        if end.chosen:
            name, place = f"{end.node}-{end.called}", ("links", end.link, "between", end.node)
            if len(name) > MAX_INTERFACE_NAME:
                yield Wrong(place, f"{name!r} is longer than {MAX_INTERFACE_NAME} characters")
            if name in seen:
                yield Wrong(place, f"{name!r} is the name of something else already")
            seen.add(name)


def _names(ends: Sequence[End], taken: set[str]) -> dict[tuple[str, str, str], str]:
    found = {end.key: f"{end.node}-{end.called}" for end in ends if end.chosen}
    used = {*taken, *found.values()}
    for end in ends:
        if not end.chosen:
            found[end.key] = _free(end, used)
            used.add(found[end.key])
    return found


def _free(end: End, used: set[str]) -> str:
    plain = f"{end.node}-{end.called}"
    if len(plain) <= MAX_INTERFACE_NAME and plain not in used:
        return plain
    return next(name for number in count(1) if (name := f"{end.node}-{number}") not in used)
