"""The network of a :class:`~mininet_topos.topologies.campus_topo.CampusTopo`, as platforms build it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from adon.values import FrozenMap
from mininet_topos.networks.network import Dtn, NamedLink, Network, Path, PathEnd, Site
from mininet_topos.nodes import Line, Router
from mininet_topos.topologies.campus_topo import MANAGEMENT, MANAGEMENT_BRIDGE, CampusTopo
from mininet_topos.topologies.model import Campus, End, TransitPath, Wire
from mininet_topos.topology import Host, Interface, Kind, Link, Route, Switch, Topology

KINDS = {Line: Kind.LINE, Router: Kind.ROUTER}


def network_from_topo(name: str, topo: CampusTopo) -> Network:
    """Return the network; title and description are the docstring of the topology's class.

    :param name: what it is called in documents.
    """
    title, _, about = (inspect.getdoc(type(topo)) or name).partition("\n")
    return Network(
        name=name,
        title=title.removesuffix("."),
        about=" ".join(about.split()),
        scale=topo.scale,
        topology=_topology(name, topo),
        sites=tuple(_site(campus) for campus in topo.campuses.values()),
        paths=tuple(_path(path) for path in topo.paths.values()),
        links=tuple(
            NamedLink(one.name, one.ends, one.interfaces, one.shape, one.goodput, one.shaped)
            for one in topo.circuits.values()
        ),
    )


def _topology(name: str, topo: CampusTopo) -> Topology:
    return Topology(
        name=name.replace("_", "-"),
        switches=tuple(_switches(topo)),
        hosts=tuple(_hosts(topo)),
        links=tuple(Link(*(_interface(topo, wire, end) for end in wire.ends)) for wire in topo.wires),
        management=IPv4Interface(MANAGEMENT),
    )


def _switches(topo: CampusTopo) -> Iterator[Switch]:
    for name in topo.switches(sort=False):
        if name != MANAGEMENT_BRIDGE:
            info = topo.nodeInfo(name)
            yield Switch(name, int(info["dpid"], 16), info["cls"].controlled, info["rules"])


def _hosts(topo: CampusTopo) -> Iterator[Host]:
    measuring = {campus.measuring: campus.dtns[campus.measuring] for campus in topo.campuses.values()}
    for name in topo.hosts(sort=False):
        info = topo.nodeInfo(name)
        routes = tuple(Route(IPv4Network(destination), via) for destination, via in info.get("routes", ()))
        held = measuring[name].management if name in measuring else None
        yield Host(
            name, KINDS.get(info["cls"], Kind.END), routes, None if held is None else IPv4Interface(held)
        )


def _interface(topo: CampusTopo, wire: Wire, end: End) -> Interface:
    shaped = wire.circuit is not None and end.name in wire.circuit.shaped
    addresses = (*(() if end.address is None else (end.address,)), *end.aliases)
    return Interface(
        node=end.node,
        name=end.name,
        mac=end.mac,
        addresses=tuple(IPv4Interface(address) for address in addresses),
        vlans=end.vlans,
        shape=wire.circuit.shape if wire.circuit is not None and shaped and topo.shaped else None,
    )


def _site(campus: Campus) -> Site:
    dtns = {
        host: Dtn(
            host=host,
            address=IPv4Address(held.address),
            mac=held.mac,
            port=held.edge_port,
            measured=FrozenMap({path: IPv4Address(one) for path, one in held.measured.items()}),
            management=None if held.management is None else IPv4Interface(held.management),
        )
        for host, held in campus.dtns.items()
    }
    return Site(
        name=campus.name,
        edge=campus.edge,
        dpid=campus.dpid,
        gateway_mac=campus.gateway_mac,
        network=IPv4Network(campus.network),
        dtns=tuple(dtns.values()),
        measuring=dtns[campus.measuring],
        switches=campus.switches,
        routers=campus.routers,
    )


def _path(path: TransitPath) -> Path:
    ends = {site: PathEnd(port, path.next_hop_macs.get(site)) for site, port in path.edge_ports.items()}
    return Path(
        name=path.name,
        layer=2 if path.layer == 2 else 3,
        vlan=path.vlan,
        capacity=path.capacity,
        goodput=path.goodput,
        ends=FrozenMap(ends),
        addresses=FrozenMap({site: IPv4Address(one) for site, one in path.addresses.items()}),
        links=path.circuits,
        delay=path.delay,
        loss=path.loss,
    )
