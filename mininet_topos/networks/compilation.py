"""From a description to a network: nothing is drawn by chance, nothing is asked of the machine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from adon.frozenmap import FrozenMap
from mininet_topos.networks.addressing import (
    MANAGEMENT,
    Addresses,
    addresses,
    campus_dpid,
    edge_dpid,
    provider_dpid,
    without_prefix,
)
from mininet_topos.networks.campuses import Campus, campuses
from mininet_topos.networks.courses import Course, courses
from mininet_topos.networks.description import Description
from mininet_topos.networks.forwarding import CAMPUS_RULES, DEFAULT, provider_rules, routes
from mininet_topos.networks.graph import Graph, Role, graph
from mininet_topos.networks.network import Dtn, NamedLink, Network, Path, PathEnd, Site
from mininet_topos.networks.trees import grown
from mininet_topos.networks.wiring import Wiring, wiring
from mininet_topos.networks.wrong import Wrong, refuse
from mininet_topos.topology import MAX_MTU, Host, Kind, Route, Switch, Topology


def compiled(described: Description, scale: float | None = None) -> Network:
    """The network that is described.

    :param scale: the described rates are divided by it; None for the description's own.
    :raises WrongDescription: with what is wrong, as much as can be told at once.
    """
    factor = described.scale if scale is None else scale
    if not (math.isfinite(factor) and factor > 0):
        refuse([Wrong(("scale",), f"{factor} is not a number above zero")])
    described = grown(described)
    resolved = graph(described, factor)
    sites = campuses(described, resolved)
    ways = courses(described, resolved)
    written = {name: part.network for name, part in described.campuses.items()}
    given = addresses(sites, written, resolved, ways)
    wires = wiring(sites, resolved, ways, given)
    topology = Topology(
        name=described.network.replace("_", "-"),
        switches=tuple(_switches(sites, resolved, ways, wires)),
        hosts=tuple(_hosts(sites, resolved, ways, given)),
        links=wires.links,
        management=MANAGEMENT,
    )
    return Network(
        name=described.network,
        title=described.title,
        about=described.about,
        scale=factor,
        topology=topology,
        sites=tuple(_site(campus, number, given, wires) for number, campus in enumerate(sites, start=1)),
        paths=tuple(_path(course, sites, given, wires) for course in ways),
        links=tuple(_links(resolved, wires)),
    )


def _switches(
    sites: Sequence[Campus], resolved: Graph, ways: Sequence[Course], wires: Wiring
) -> Iterator[Switch]:
    for number, campus in enumerate(sites, start=1):
        yield Switch(campus.edge, edge_dpid(number), controlled=True, rules=CAMPUS_RULES)
    for number, campus in enumerate(sites, start=1):
        for nth, name in enumerate(campus.switches, start=1):
            yield Switch(name, campus_dpid(number, nth), controlled=False, rules=CAMPUS_RULES)
    rules = provider_rules(ways, wires)
    providers = (node.name for node in resolved.nodes.values() if node.role is Role.SWITCH)
    for nth, name in enumerate(providers, start=1):
        yield Switch(name, provider_dpid(nth), controlled=False, rules=rules.get(name, ()))


def _hosts(
    sites: Sequence[Campus], resolved: Graph, ways: Sequence[Course], given: Addresses
) -> Iterator[Host]:
    for campus in sites:
        gateway = (Route(DEFAULT, str(given.hosts[campus.routers[0]].data.ip)),)
        for dtn in campus.at:
            yield Host(dtn, routes=gateway, management=given.points.get(dtn))
    of_campuses = [router for campus in sites for router in campus.routers]
    ways_of = routes(ways, given)
    others = [node.name for node in resolved.nodes.values() if node.role is Role.ROUTER]
    for router in (*of_campuses, *others):
        yield Host(router, Kind.ROUTER, ways_of.get(router, ()))
    for name, cable in resolved.cables.items():
        if cable.line:
            yield Host(name, Kind.LINE)


def _site(campus: Campus, number: int, given: Addresses, wires: Wiring) -> Site:
    dtns = {host: _dtn(campus, host, given, wires) for host in campus.at}
    return Site(
        name=campus.name,
        edge=campus.edge,
        dpid=edge_dpid(number),
        gateway_mac=given.hosts[campus.routers[0]].mac,
        network=given.networks[campus.name],
        dtns=tuple(dtns.values()),
        measuring=dtns[campus.measuring],
        switches=campus.switches,
        routers=campus.routers,
    )


def _dtn(campus: Campus, host: str, given: Addresses, wires: Wiring) -> Dtn:
    held, switch = given.hosts[host], campus.at[host]
    return Dtn(
        host=host,
        address=held.data.ip,
        mac=held.mac,
        port=wires.of_host(host, switch)
        if switch == campus.edge
        else wires.at(campus.behind[switch], campus.edge),
        measured=FrozenMap(without_prefix(held.measured)),
        management=given.points.get(host),
    )


def _path(course: Course, sites: Sequence[Campus], given: Addresses, wires: Wiring) -> Path:
    by_name = {campus.name: campus for campus in sites}
    shapes = [cable.shape for cable in course.cables if cable.shape is not None]
    goodputs = [cable.goodput for cable in course.cables if cable.goodput is not None]
    points = {site: given.hosts[by_name[site].measuring].measured for site in course.sites}
    return Path(
        name=course.name,
        layer=2 if course.layer == 2 else 3,
        vlan=course.vlan,
        capacity=min(shape.rate for shape in shapes),
        goodput=min(goodputs),
        ends=FrozenMap(dict(_ends(course, by_name, given, wires))),
        addresses=FrozenMap({site: held[course.name].ip for site, held in points.items() if course.measured}),
        links=tuple(cable.name for cable in course.cables),
        delay=sum(shape.delay for shape in shapes),
        # 1 - (1 - p)(1 - q)..., without losing the digits of small ones; of none 0, not -0.
        loss=0.0 - math.expm1(sum(math.log1p(-shape.loss) for shape in shapes)),
        mtu=min((shape.mtu for shape in shapes), default=MAX_MTU),
    )


def _ends(
    course: Course, sites: Mapping[str, Campus], given: Addresses, wires: Wiring
) -> Iterator[tuple[str, PathEnd]]:
    nodes = (course.nodes[0], course.nodes[-1])
    cables = (course.cables[0], course.cables[-1])
    for site, node, cable in zip(course.sites, nodes, cables, strict=True):
        if course.layer == 2:
            yield site, PathEnd(wires.at(cable, node))
        else:
            yield site, PathEnd(wires.of_host(node, sites[site].edge), given.hosts[node].mac)


def _links(resolved: Graph, wires: Wiring) -> Iterator[NamedLink]:
    for name, cable in resolved.cables.items():
        one, other = cable.between
        ends = wires.at(cable, one), wires.at(cable, other)
        shaped = wires.shaped(cable)
        yield NamedLink(name, cable.between, ends, cable.shape, cable.goodput, shaped)
