"""Campuses, transit providers and the paths between them, as a ``mininet.topo.Topo``.

A subclass declares a network in :meth:`CampusTopo.describe`.  All numbers follow the order of declaration.
Mininet builds the network; the testbed, ADON's configuration and experiments read the object::

    campus N (from 1)   10.N.0.0/24         routers .1 .. .9, DTNs .10, .20, ...; after the first DTN's the
                                            addresses of the paths; DTNs are closer together if
                                            ten is too much for the network
    MAC addresses       02:00:00:00:S:H     S = 9 + N, H = last byte of the IPv4 address
    between routers     203.0.113.0/24 in /30s (RFC 5737, TEST-NET-3), then 198.18.0.0/15 (RFC 2544), by the
                        order of paths; the lower address is on the side where the first path begins
    management          172.31.0.0/24       the controller .1, campus N's measurement point .(10+N)
    datapath ids (hex)  edges a00 + N, provider switches b00 + number, campus switches N * 10000 + number
    VLANs               from 1701
    OpenFlow ports      per campus its DTNs and routers, then the circuits

An interface has the name of its node and of what it leads to, ``mu-edge-dtn``.  If that name is taken or too
long for Linux, it has the name of its node and a number.

Units of declarations: Mbit/s, seconds, ratios 0..1, frames.  Units of attributes: bits/s as built, otherwise
the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import chain, count, pairwise, product
from typing import Any

from mininet.topo import Topo

from mininet_topos import nodes
from mininet_topos.link_shape import MTU, LinkShape

TCP_DATA = MTU - 52  # without headers: 20 bytes (IP), 20 (TCP) and 12 (time stamps, RFC 7323)
# Per layer of a path the bytes of a full frame as Linux tc counts; layer 2 has a tag of IEEE 802.1Q.
FRAME = {2: MTU + 18, 3: MTU + 14}
MAX_INTERFACE_NAME = 15  # IFNAMSIZ - 1 (linux/if.h)
# Names that the testbed, Linux and Open vSwitch use for their own devices.
RESERVED = ("all", "default", "joined", "lo", "management", "mgmt", "ovs-netdev", "ovs-system")
# The management network: its bridge, and the address of the controller.
MANAGEMENT_BRIDGE, MANAGEMENT = "management", "172.31.0.1/24"
# A campus switch forwards as an ordinary switch does: packets leave the campus through its router.
CAMPUS_RULE = "priority=0,actions=NORMAL"
CAMPUS_VLAN = "vlan_mode=access tag=1"
FIRST_VLAN, LAST_VLAN = 1701, 4094
# Host numbers of DTNs, and the distance between two of them if there is room.
FIRST_DTN, LAST_HOST, STEP = 10, 254, 10
TRANSFER_POOLS = ("203.0.113.0/24", "198.18.0.0/15")
DEFAULT = "0.0.0.0/0"

CAMPUS, EDGE, SWITCH, ROUTER, DTN = "a campus", "an edge", "a campus switch", "a campus router", "a DTN"
PROVIDER, TRANSIT = "a provider's switch", "a router"


@dataclass
class Interface:
    """An interface of a node.

    :param prefix: length of the prefix of its addresses.
    :param aliases: further addresses; ADON pins those of a DTN to a path each, and measures them.
    :param vlans: columns of an Open vSwitch port.
    :param shape: of the packets that leave by it; None for no limit.
    """

    node: str
    name: str
    mac: str = ""
    address: str = ""
    prefix: int = 24
    aliases: tuple[str, ...] = ()
    vlans: str = ""
    shape: LinkShape | None = None


@dataclass
class Campus:
    """A campus.

    :param number: from 1, in the order of declaration.
    :param dpid: datapath id of the edge.
    :param measuring: the DTN with the measurement point: the first.
    :param management: address of the measurement point.
    :param switches: those that ADON does not control.
    :param routers: per router its interface in the campus; the gateway of the hosts is the first.
    :param dtns: per data transfer node the interface of its data, whose path ADON selects per flow.
    :param ports: per other node of the campus the interface of the edge that leads there.
    """

    name: str
    number: int
    dpid: int
    edge: str
    measuring: str
    management: str
    switches: tuple[str, ...]
    routers: dict[str, Interface] = field(default_factory=dict)
    dtns: dict[str, Interface] = field(default_factory=dict)
    ports: dict[str, str] = field(default_factory=dict)

    @property
    def gateway_mac(self) -> str:
        """Return the MAC address of the gateway of the hosts."""
        return self.mac(1)

    def address(self, host: int) -> str:
        """Return the address of a host number in the campus's network."""
        return f"10.{self.number}.0.{host}"

    def mac(self, host: int) -> str:
        """Return the MAC address of the interface with a host number."""
        return f"02:00:00:00:{9 + self.number:02x}:{host:02x}"


@dataclass
class Circuit:
    """A link between two nodes; both directions have the same attributes.

    :param interfaces: interface of each of the two nodes, in the order of declaration.
    :param campus: the campus whose switches and hosts it joins; None outside campuses.
    :param layer: 3 between routers, else 2.
    :param shape: of each direction, as built; None: as fast as the machine.
    :param shaped: the two interfaces with the shape: packets to the second node leave by the first
        interface, packets to the first node by the second.  Empty without a shape.
    """

    name: str
    interfaces: dict[str, Interface]
    campus: str | None
    layer: int = 2
    shape: LinkShape | None = None
    shaped: tuple[Interface, ...] = ()

    @property
    def is_line(self) -> bool:
        """Return whether the circuit is a node of its own, because the port of a switch cannot be shaped."""
        return self.layer == 2 and self.shape is not None

    def beyond(self, node: str) -> str:
        """Return the node at the other end."""
        return next(end for end in self.interfaces if end != node)


@dataclass
class TransitPath:
    """A transit path between two campuses.

    :param campuses: its two ends.
    :param nodes: from the edge (layer 2) or router (layer 3) of the first campus to that of the other.
    :param circuits: names of the circuits between the nodes.
    :param bottleneck: name of the narrowest circuit.
    :param capacity: bits/s on the wire of the narrowest circuit.
    :param goodput: bits/s of data in one TCP stream of full frames that is alone on the path.
    :param delay: seconds one way, the sum of the circuits.
    :param loss: share of packets lost one way.
    :param addresses: per campus the address that is measured on this path.
    :param edge_ports: per campus the interface of its edge that leads to the path.
    :param next_hop_macs: per campus the MAC address of the router behind that interface; empty on layer 2.
    """

    name: str
    layer: int
    campuses: tuple[str, str]
    nodes: tuple[str, ...]
    circuits: tuple[str, ...]
    bottleneck: str
    vlan: int | None
    capacity: float
    goodput: float
    delay: float
    loss: float
    addresses: dict[str, str] = field(default_factory=dict)
    edge_ports: dict[str, str] = field(default_factory=dict)
    next_hop_macs: dict[str, str] = field(default_factory=dict)


class CampusTopo(Topo):  # type: ignore[misc]
    """A network of campuses; subclasses declare it in :meth:`describe`.

    :ivar scale: declared rates are divided by it.
    """

    scale = 100.0

    def build(self, scale: float | None = None) -> None:
        """Declare, check and number the network, and hand it to Mininet's graph.

        :param scale: declared rates are divided by it; None for the class's own.
        :raises ValueError: if the network cannot be built, with the name of the node, circuit or path.
        """
        self.scale = float(self.scale if scale is None else scale)
        cause = f"{self.scale} is out of range; expected a number above 0, such as 100"
        require(0 < self.scale < math.inf, f"scale: {cause}")
        self.campuses: dict[str, Campus] = {}
        self.circuits: dict[str, Circuit] = {}
        self.paths: dict[str, TransitPath] = {}
        self._roles: dict[str, str] = dict.fromkeys(RESERVED, "the testbed itself")
        self._links: dict[frozenset[str], Circuit] = {}
        # Per router and campus the address of the next hop.
        self._next_hops: dict[str, dict[str, str]] = {}
        pools = (IPv4Network(pool).subnets(new_prefix=30) for pool in TRANSFER_POOLS)
        self._transfer_networks = chain.from_iterable(pools)
        self.describe()
        for path in self.paths.values():
            self._record_end(path, 0)
            self._record_end(path, -1)
        self.addSwitch(MANAGEMENT_BRIDGE, cls=nodes.ManagementBridge, address=MANAGEMENT)
        for campus in self.campuses.values():
            self._address_dtns(campus)
        for circuit in self._links.values():
            self._add_circuit(circuit)
        for campus in self.campuses.values():
            self._record_ports(campus)
            self._add_management(campus)
        self._add_routes()

    def describe(self) -> None:
        """Declare the campuses, provider switches, routers, circuits and paths."""
        raise NotImplementedError

    def campus(
        self,
        name: str,
        dtns: Sequence[str] | Mapping[str, str | None] | None = None,
        routers: Sequence[str] | None = None,
        switches: Sequence[str] = (),
        edge: str | None = None,
    ) -> None:
        """Declare a campus.

        :param dtns: DTNs, with the campus switch of each that is not attached to the edge; ``NAME-dtn``.
        :param routers: routers, the gateway of the hosts first; ``NAME-rtr``.
        :param switches: campus switches, which circuits join to the edge.
        :param edge: the switch that ADON controls; ``NAME-edge``.
        """
        edge = edge or f"{name}-edge"
        routers = (f"{name}-rtr",) if routers is None else routers
        hosts = [f"{name}-dtn"] if dtns is None else dtns
        attached = dict(hosts) if isinstance(hosts, Mapping) else dict.fromkeys(hosts)
        require(attached, f"campuses.{name}.dtns: is empty; expected at least one, such as {name}-dtn")
        number, measuring = len(self.campuses) + 1, next(iter(attached))
        management = f"172.31.0.{10 + number}"
        campus = Campus(name, number, 0xA00 + number, edge, measuring, management, tuple(switches))
        self.campuses[name] = campus
        self._take(CAMPUS, name)
        self._add_hosts(DTN, nodes.Host, *attached, routes=((DEFAULT, campus.address(1)),))
        self._add_switches(EDGE, nodes.CampusEdge, campus.dpid, edge)
        self._add_switches(SWITCH, nodes.StaticSwitch, number * 0x10000 + 1, *switches)
        self._add_hosts(ROUTER, nodes.Router, *routers)
        for dtn, switch in attached.items():
            is_own = switch in (None, edge, *switches)
            require(is_own, f"campuses.{name}.dtns.{dtn}: {switch} is no switch of this campus")
            campus.dtns[dtn] = self._attach(campus, dtn, "data", switch or edge)
        for host, router in enumerate(routers, start=1):
            interface = campus.routers[router] = self._attach(campus, router, "lan", edge)
            interface.mac, interface.address = campus.mac(host), campus.address(host)

    def provider_switch(self, *names: str) -> None:
        """Declare switches of transit providers; they carry the VLANs of the paths over them."""
        number = list(self._roles.values()).count(PROVIDER)
        self._add_switches(PROVIDER, nodes.StaticSwitch, 0xB01 + number, *names)

    def router(self, *names: str) -> None:
        """Declare routers between the routers of campuses."""
        self._add_hosts(TRANSIT, nodes.Router, *names)

    def circuit(
        self,
        name: str,
        one: str,
        other: str,
        goodput: float | None = None,
        rate: float | None = None,
        delay: float = 0.0,
        loss: float = 0.0,
        queue: int = 40,
        port_names: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """Declare a circuit between two nodes.

        Without a goodput or rate the circuit is as fast as the machine.  With the default queue, one reno
        stream fills a circuit of tens of Mbit/s, and two full queues fit into the one socket of the userspace
        datapath.

        :param goodput: Mbit/s of data in one TCP stream of full frames, at full scale.
        :param rate: instead: Mbit/s on the wire, with Ethernet headers, at full scale.
        :param delay: seconds, one way.
        :param loss: share of packets lost at random.
        :param queue: frames that may wait.
        :param port_names: ends of the names of the two interfaces, after the names of their nodes.
        """
        where = f"circuits.{name}"
        self._take("a circuit", name)
        link = self._find_link(where, one, other)
        interfaces = {node: link.interfaces[node] for node in (one, other)}
        frame = FRAME[2 if link.layer == 2 and link.campus is None else 3]
        require(goodput is None or rate is None, f"{where}: has a rate and a goodput; expected one of them")
        shape, declared = None, rate if goodput is None else goodput
        if declared is not None:
            bits = declared * 1e6 / self.scale
            shape = LinkShape(bits if goodput is None else bits * frame / TCP_DATA, queue, delay, loss)
            for attribute, cause in shape.faults():
                raise ValueError(f"{where}.{attribute}: {cause}")
        circuit = Circuit(name, interfaces, link.campus, link.layer, shape)
        for (node, end), label in zip(interfaces.items(), port_names, strict=True):
            if label is not None:
                end.name = self._name_interface(node, label, f"{where}.port_names")
            elif not end.name:
                end.name = self._name_interface(node, name if circuit.is_line else circuit.beyond(node))
        self.circuits[name] = self._links[frozenset(interfaces)] = circuit

    def transit_path(self, name: str, layer: int, over: Sequence[str]) -> None:
        """Declare a path from one campus over nodes to another.

        :param layer: 2 (a VLAN of its own over provider switches) or 3 (over routers).
        :param over: the first campus, the nodes between, the other campus.
        """
        where = f"paths.{name}"
        require(name not in self.paths, f"{where}: is declared already; expected another name")
        require(layer in (2, 3), f"{where}.layer: {layer} is out of range; expected 2 or 3")
        vlan = FIRST_VLAN + sum(path.layer == 2 for path in self.paths.values())
        require(vlan <= LAST_VLAN, f"{where}: no VLAN up to {LAST_VLAN} is left; expected fewer paths")
        way = self._find_way(where, layer, over)
        circuits = [self._links[frozenset(hop)] for hop in pairwise(way)]
        shapes = {circuit.name: circuit.shape for circuit in circuits if circuit.shape is not None}
        require(shapes, f"{where}: no circuit of it has a rate; expected one, such as goodput=5800")
        bottleneck = min(shapes, key=lambda circuit: shapes[circuit].rate)
        capacity = shapes[bottleneck].rate
        path = self.paths[name] = TransitPath(
            name=name,
            layer=layer,
            campuses=(over[0], over[-1]),
            nodes=tuple(way),
            circuits=tuple(circuit.name for circuit in circuits),
            bottleneck=bottleneck,
            vlan=vlan if layer == 2 else None,
            capacity=capacity,
            goodput=capacity * TCP_DATA / FRAME[layer],
            delay=sum(shape.delay for shape in shapes.values()),
            # 1 - (1 - p)(1 - q)..., which keeps the digits of small ratios; 0, not -0, without loss.
            loss=0.0 - math.expm1(sum(math.log1p(-shape.loss) for shape in shapes.values())),
        )
        if layer == 2:
            self._add_provider_rules(path)
        else:
            self._add_next_hops(path)

    def _add_hosts(self, role: str, cls: type, *names: str, routes: Sequence[tuple[str, str]] = ()) -> None:
        for name in names:
            self._take(role, name)
            self.addHost(name, cls=cls, ip=None, routes=routes)

    def _add_switches(self, role: str, cls: type, first_dpid: int, *names: str) -> None:
        for dpid, name in enumerate(names, start=first_dpid):
            self._take(role, name)
            rules = [] if role == PROVIDER else [CAMPUS_RULE]
            self.addSwitch(name, cls=cls, dpid=f"{dpid:016x}", rules=rules)

    def _take(self, role: str, name: str) -> None:
        """Give a name its role.

        :raises ValueError: if it is no name, or is taken.
        """
        is_name = re.fullmatch("[a-z][a-z0-9-]{0,8}[a-z0-9]", name)
        require(is_name, f"{name}: is not a name for {role}; expected 2 to 10 of a-z, 0-9 and -, as mu-edge")
        known = self._roles.get(name)
        require(known is None, f"{name}: is the name of {known} already; {role} needs another")
        self._roles[name] = role

    def _attach(self, campus: Campus, node: str, label: str, switch: str) -> Interface:
        """Link a node of a campus to a switch, and return the interface of the node."""
        towards = node.removeprefix(f"{campus.name}-")
        port = Interface(switch, self._name_interface(switch, towards), vlans=CAMPUS_VLAN)
        interface = Interface(node, self._name_interface(node, label))
        self._links[frozenset((switch, node))] = Circuit(node, {switch: port, node: interface}, campus.name)
        return interface

    def _name_interface(self, node: str, towards: str, field: str | None = None) -> str:
        """Name an interface of a node after what it leads to, or by a number.

        :param field: of a declared name, which is refused if it is taken or too long.
        """
        for label in chain([towards], count(1) if field is None else ()):
            name = f"{node}-{label}"
            if len(name) <= MAX_INTERFACE_NAME and name not in self._roles:
                self._roles[name] = "an interface"
                return name
        raise ValueError(f"{field}: {node}-{towards} is taken or longer than {MAX_INTERFACE_NAME} characters")

    def _find_link(self, where: str, one: str, other: str) -> Circuit:
        """Return the link between two nodes, without attributes, that a circuit replaces."""
        ends = frozenset((one, other))
        if ends in self._links:
            is_free = self._links[ends].name not in self.circuits
            require(is_free, f"{where}: a circuit joins {one} and {other} already; expected one between them")
            return self._links[ends]
        roles = [self._roles.get(node, "no node") for node in (one, other)]
        is_routed = {*roles} <= {ROUTER, TRANSIT}
        campus = next((its.name for its in self.campuses.values() if ends <= {its.edge, *its.switches}), None)
        is_link = one != other and (campus or is_routed or {*roles} <= {EDGE, PROVIDER})
        expected = "switches of a campus, a DTN and its switch, edges and provider's switches, or routers"
        require(is_link, f"{where}: joins {' and '.join(roles)}, {one} and {other}; expected {expected}")
        vlans = CAMPUS_VLAN if campus else ""
        interfaces = {node: Interface(node, "", prefix=30, vlans=vlans) for node in (one, other)}
        return Circuit("", interfaces, campus, 3 if is_routed else 2)

    def _find_way(self, where: str, layer: int, over: Sequence[str]) -> tuple[str, ...]:
        """Return the nodes of a path, from edge to edge or from router to router."""
        inner = PROVIDER if layer == 2 else TRANSIT
        for node, role in zip(over, (CAMPUS, *[inner] * (len(over) - 2), CAMPUS), strict=False):
            found = self._roles.get(node, "no node")
            require(found == role, f"{where}: {node} is {found}; expected {role}")
        require(len({*over}) == len(over), f"{where}: leads over a node twice")
        first, last = self.campuses[over[0]], self.campuses[over[-1]]
        ends = [(first.edge,), (last.edge,)] if layer == 2 else [first.routers, last.routers]
        ways = [(source, *over[1:-1], destination) for source, destination in product(*ends)]
        joined = [way for way in ways if all(frozenset(hop) in self._links for hop in pairwise(way))]
        names = " or ".join(" - ".join(way) for way in ways)
        cause = f"{len(joined)} sequences of circuits join {names}; expected one, declared before the path"
        require(len(joined) == 1, f"{where}: {cause}")
        return joined[0]

    def _record_end(self, path: TransitPath, end: int) -> None:
        """Record the address, port and next hop of a path at one of its campuses.

        :param end: 0 for the first campus, -1 for the last.
        """
        campus, node = self.campuses[path.campuses[end]], path.nodes[end]
        circuit = self.circuits[path.circuits[end]]
        measuring = campus.dtns[campus.measuring]
        path.addresses[campus.name] = campus.address(FIRST_DTN + 1 + len(measuring.aliases))
        measuring.aliases += (path.addresses[campus.name],)
        if path.layer == 3:
            path.next_hop_macs[campus.name] = campus.routers[node].mac
            circuit = self._links[frozenset((campus.edge, node))]
        port = circuit.interfaces[campus.edge]
        path.edge_ports[campus.name] = port.name
        if path.layer == 2:
            port.vlans = f"{port.vlans},{path.vlan}" if port.vlans else f"vlan_mode=trunk trunks={path.vlan}"

    def _add_provider_rules(self, path: TransitPath) -> None:
        """Give the provider's switches the rules that carry the VLAN of a path."""
        for switch, *names in zip(path.nodes[1:-1], path.circuits, path.circuits[1:], strict=False):
            left, right = (self.circuits[name].interfaces[switch].name for name in names)
            for source, to in ((left, right), (right, left)):
                match = f"priority=100,dl_vlan={path.vlan},in_port={source}"
                self.nodeInfo(switch)["rules"].append(f"{match},actions=output:{to}")

    def _add_next_hops(self, path: TransitPath) -> None:
        """Address the circuits of a path, and record the next hops of its routers towards both campuses."""
        for name, hop in zip(path.circuits, pairwise(path.nodes), strict=True):
            ends = [self.circuits[name].interfaces[node] for node in hop]
            if not ends[0].address:
                ends[0].address, ends[1].address = map(str, next(self._transfer_networks).hosts())
            for node, onward, campus in zip(hop, ends[::-1], path.campuses[::-1], strict=True):
                known = self._next_hops.setdefault(node, {}).setdefault(campus, onward.address)
                cause = f"circuit {name} is a second way from {node} to {campus}; expected one"
                require(known == onward.address, f"paths.{path.name}: {cause}")

    def _address_dtns(self, campus: Campus) -> None:
        """Give the DTNs of a campus their addresses, apart from each other if there is room."""
        measured = len(campus.dtns[campus.measuring].aliases)
        room = LAST_HOST + 1 - FIRST_DTN
        demand = f"{len(campus.dtns)} DTNs and {measured} paths"
        cause = f"{demand} need more addresses than its network has: {room}"
        require(len(campus.dtns) + measured <= room, f"campuses.{campus.name}: {cause}")
        free = range(FIRST_DTN + 1 + measured, LAST_HOST + 1)
        apart = [number for number in free if number % STEP == 0]
        others = apart if len(campus.dtns) <= 1 + len(apart) else free
        for number, dtn in zip((FIRST_DTN, *others), campus.dtns.values(), strict=False):
            dtn.mac, dtn.address = campus.mac(number), campus.address(number)

    def _add_circuit(self, circuit: Circuit) -> None:
        """Add the link of a circuit to Mininet's graph, or the two links of a line."""
        for node, end in circuit.interfaces.items():
            is_idle = self._roles[node] == EDGE and not end.vlans
            cause = f"no path uses it, and {node} would flood into it; expected a path over it"
            require(not is_idle, f"circuits.{circuit.name}: {cause}")
        one, other = circuit.interfaces.values()
        if circuit.is_line:
            self.addHost(circuit.name, cls=nodes.Line, ip=None)
            names = [self._name_interface(circuit.name, node) for node in circuit.interfaces]
            near, far = (Interface(circuit.name, name, shape=circuit.shape) for name in names)
            circuit.shaped = far, near
            add_link(self, one, near)
            add_link(self, other, far)
        else:
            one.shape = other.shape = circuit.shape
            circuit.shaped = () if circuit.shape is None else (one, other)
            add_link(self, one, other)

    def _record_ports(self, campus: Campus) -> None:
        """Record the port of a campus's edge that leads to each of its nodes.

        :raises ValueError: if the switches are no tree, in which floods end.
        """
        circuits = [circuit for circuit in self._links.values() if circuit.campus == campus.name]
        ports, reached = campus.ports, [campus.edge]
        for here in reached:
            for circuit in circuits:
                there = circuit.beyond(here)
                if here in circuit.interfaces and there not in reached:
                    ports[there] = ports.get(here) or circuit.interfaces[here].name
                    reached.append(there)
        for switch in campus.switches:
            require(switch in ports, f"campuses.{campus.name}: no circuit joins {switch} to {campus.edge}")
        is_tree = len(circuits) == len(ports)
        require(is_tree, f"circuits.{circuits[-1].name}: closes a loop of campus switches, which flood")

    def _add_routes(self) -> None:
        """Give each router its routes: a default route if all campuses are behind one neighbour."""
        for router, vias in self._next_hops.items():
            known = [campus for campus in self.campuses.values() if campus.name in vias]
            routes = [(f"{campus.address(0)}/24", vias[campus.name]) for campus in known]
            if len({*vias.values()}) == 1:
                routes = [(DEFAULT, via) for _, via in routes[:1]]
            self.nodeInfo(router)["routes"] = tuple(routes)

    def _add_management(self, campus: Campus) -> None:
        dtn = campus.measuring
        bridge = Interface(MANAGEMENT_BRIDGE, self._name_interface("mgmt", dtn))
        point = Interface(dtn, self._name_interface(dtn, "mgmt"), address=campus.management)
        add_link(self, bridge, point)


def require(condition: object, message: str) -> None:
    """Refuse a declaration.

    :raises ValueError: with the message, if the condition does not hold.
    """
    if not condition:
        raise ValueError(message)


def add_link(topo: Topo, one: Interface, other: Interface) -> None:
    """Add a link between two interfaces to Mininet's graph."""
    options: dict[str, Any] = {"cls": nodes.ShapedLink}
    for number, end in ((1, one), (2, other)):
        address = f"{end.address}/{end.prefix}" if end.address else None
        aliases = [f"{alias}/{end.prefix}" for alias in end.aliases]
        params = {"ip": address, "aliases": aliases, "vlans": end.vlans, "shape": end.shape}
        options |= {f"intfName{number}": end.name, f"params{number}": params}
        if end.mac:  # without the option Mininet draws an address
            options[f"addr{number}"] = end.mac
    topo.addLink(one.node, other.node, **options)
