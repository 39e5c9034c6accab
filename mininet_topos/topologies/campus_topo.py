"""Campuses, transit providers and the paths between them, as a ``mininet.topo.Topo``.

A subclass declares a network in :meth:`CampusTopo.describe`.  All numbers follow the order of declaration.
Mininet builds the network; the testbed, ADON's configuration and experiments read the object::

    campus N (from 1)   10.N.0.0/24         routers .1 .. .9, DTNs .10, .20, ...; after the first DTN's the
                                            addresses of the paths; DTNs are closer together if
                                            ten is too much for the network
    MAC addresses       02:00:00:00:S:H     S = 9 + N, H = last byte of the IPv4 address
    between routers     203.0.113.0/24 in /30s (RFC 5737, TEST-NET-3), then 198.18.0.0/15 (RFC 2544); the
                        lower address is on the side where the first layer-3 path over the circuit begins
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import chain, count, pairwise, product
from typing import Any

from mininet.topo import Topo

from mininet_topos import nodes
from mininet_topos.link_shape import MTU, LinkShape

TCP_DATA = MTU - 52  # without headers: 20 bytes (IP), 20 (TCP) and 12 (time stamps, RFC 7323)
UNTAGGED, TAGGED = 14, 18  # bytes of an Ethernet header as Linux tc counts; with a tag of IEEE 802.1Q
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

    :param towards: end of its name; empty if it has the name of the circuit or node that it leads to.
    :param prefix: length of the prefix of its addresses.
    :param aliases: further addresses.
    :param vlans: columns of an Open vSwitch port.
    :param shape: of the packets that leave by it; None for no limit.
    """

    node: str
    towards: str = ""
    name: str = ""
    mac: str = ""
    address: str = ""
    prefix: int = 24
    aliases: tuple[str, ...] = ()
    vlans: str = ""
    shape: LinkShape | None = None


@dataclass
class DtnInterface(Interface):
    """The data interface of a data transfer node; ADON decides per flow which path it takes.

    :param aliases: addresses that ADON pins to a path each, and measures.
    :param edge_port: interface of the campus's edge that leads to the node.
    :param management: address of its measurement point; empty if it has none.
    """

    edge_port: str = ""
    management: str = ""


@dataclass
class Campus:
    """A campus.

    :param number: from 1, in the order of declaration.
    :param dpid: datapath id of the edge.
    :param measuring: the DTN with the measurement point: the first.
    :param routers: per router its interface in the campus; the gateway of the hosts is the first.
    :param switches: those that ADON does not control.
    :param dtns: per DTN its data interface.
    """

    name: str
    number: int
    dpid: int
    edge: str
    measuring: str
    switches: tuple[str, ...]
    routers: dict[str, Interface]
    dtns: dict[str, DtnInterface]

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
    :param rate: bits/s on the wire as built; None: as fast as the machine.
    :param goodput: bits/s of data in a TCP stream that is alone on the circuit; None without a rate.
    :param queue: frames that may wait in each direction.
    :param shaped: the two interfaces with the shape: packets to the second node leave by the first
        interface, packets to the first node by the second.  Empty without a rate.
    """

    name: str
    interfaces: dict[str, Interface]
    campus: str | None
    layer: int = 2
    rate: float | None = None
    goodput: float | None = None
    delay: float = 0.0
    loss: float = 0.0
    queue: int = 0
    shaped: tuple[Interface, ...] = ()

    @property
    def shape(self) -> LinkShape | None:
        """Return rate, delay, loss and queue of each direction; None without a rate."""
        return None if self.rate is None else LinkShape(self.rate, self.queue, self.delay, self.loss)

    @property
    def is_line(self) -> bool:
        """Return whether the circuit is a node of its own, because the port of a switch cannot be shaped."""
        return self.layer == 2 and self.rate is not None

    def beyond(self, node: str) -> str:
        """Return the node at the other end."""
        return next(end for end in self.interfaces if end != node)


@dataclass
class TransitPath:
    """A transit path between two campuses.

    :param campuses: its two ends.
    :param nodes: from the edge (layer 2) or router (layer 3) of the first campus to that of the other.
    :param circuits: names of the circuits between the nodes.
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
        self.describe()
        self._address_routers()
        for campus in self.campuses.values():
            self._address_hosts(campus)
        self.addSwitch(MANAGEMENT_BRIDGE, cls=nodes.ManagementBridge, address=MANAGEMENT)
        for circuit in self._links.values():
            self._add_circuit(circuit)
        for campus in self.campuses.values():
            self._record_ports(campus)
            self._add_management(campus)
        self._add_routes()
        self._add_provider_rules()

    def describe(self) -> None:
        """Declare the campuses, provider switches, routers, circuits and paths."""
        raise NotImplementedError

    def campus(
        self,
        name: str,
        dtns: Sequence[str] | Mapping[str, str | None] | None = None,
        routers: Sequence[str] | None = None,
        switches: Sequence[str] = (),
        tree: Sequence[int] = (),
        edge: str | None = None,
    ) -> None:
        """Declare a campus.

        :param dtns: DTNs, with the campus switch of each that is not attached to the edge; ``NAME-dtn``.
        :param routers: routers, the gateway of the hosts first; ``NAME-rtr``.
        :param switches: campus switches, which circuits join to the edge.
        :param tree: ``(1, 3, 5)`` is one switch ``NAME-1`` below the edge, three switches below that
            (``NAME-11`` to ``NAME-13``) and five below each of these.
        :param edge: the switch that ADON controls; ``NAME-edge``.
        """
        edge = edge or f"{name}-edge"
        routers = (f"{name}-rtr",) if routers is None else routers
        hosts = [f"{name}-dtn"] if dtns is None else dtns
        attached = dict(hosts) if isinstance(hosts, Mapping) else dict.fromkeys(hosts)
        require(attached, f"campuses.{name}.dtns: is empty; expected at least one, such as {name}-dtn")
        branches = dict(_branches(tree, f"{name}-", edge))
        number, below = len(self.campuses) + 1, (*switches, *branches)
        lan = {router: Interface(router, "lan") for router in routers}
        data = {dtn: DtnInterface(dtn, "data") for dtn in attached}
        measuring, dpid = next(iter(attached)), 0xA00 + number
        campus = self.campuses[name] = Campus(name, number, dpid, edge, measuring, below, lan, data)
        data[measuring].management = f"172.31.0.{10 + number}"
        self._take(CAMPUS, name)
        self._add_hosts(DTN, nodes.Dtn, *attached, routes=((DEFAULT, campus.address(1)),))
        self._add_switches(EDGE, nodes.CampusEdge, campus.dpid, edge)
        self._add_switches(SWITCH, nodes.CampusSwitch, number * 0x10000 + 1, *below)
        self._add_hosts(ROUTER, nodes.Router, *routers)
        for node, host in {**campus.dtns, **campus.routers}.items():
            switch = attached.get(node) or edge
            is_own = switch in (edge, *below)
            require(is_own, f"campuses.{name}.dtns.{node}: {switch} is no switch of this campus")
            port = Interface(switch, node.removeprefix(f"{name}-"), vlans=CAMPUS_VLAN)
            self._links[frozenset((switch, node))] = Circuit(node, {switch: port, node: host}, name)
        for switch, above in branches.items():
            self.circuit(f"{switch}u", switch, above)

    def provider_switch(self, *names: str) -> None:
        """Declare switches of transit providers; they carry the VLANs of the paths over them."""
        self._add_switches(PROVIDER, nodes.ProviderSwitch, 0xB01 + len(self._list_names(PROVIDER)), *names)

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
        frame = MTU + (TAGGED if link.layer == 2 and link.campus is None else UNTAGGED)
        require(goodput is None or rate is None, f"{where}: has a rate and a goodput; expected one of them")
        wire = data = None
        if goodput is not None:
            data = goodput * 1e6 / self.scale
            wire = data * frame / TCP_DATA
        elif rate is not None:
            wire = rate * 1e6 / self.scale
            data = wire * TCP_DATA / frame
        circuit = Circuit(name, interfaces, link.campus, link.layer, wire, data, delay, loss, queue)
        for attribute, cause in circuit.shape.faults() if circuit.shape is not None else ():
            raise ValueError(f"{where}.{attribute}: {cause}")
        for node, label in zip(interfaces, port_names, strict=True):
            if label is not None:
                interfaces[node].name = self._name_interface(node, label, f"{where}.port_names")
        if circuit.is_line:
            self.addHost(name, cls=nodes.Line, ip=None)
        self.circuits[name] = self._links[frozenset(interfaces)] = circuit

    def transit_path(self, name: str, layer: int, over: Sequence[str]) -> None:
        """Declare a path from one campus over nodes to another.

        :param layer: 2 (a VLAN of its own over provider switches) or 3 (over routers).
        :param over: the first campus, the nodes between, the other campus.
        """
        where = f"paths.{name}"
        require(name not in self.paths, f"{where}: is declared already; expected another name")
        require(layer in (2, 3), f"{where}.layer: {layer} is out of range; expected 2 or 3")
        vlan = FIRST_VLAN + len(self._paths_on(2))
        require(vlan <= LAST_VLAN, f"{where}: no VLAN up to {LAST_VLAN} is left; expected fewer paths")
        way = self._find_way(where, layer, over)
        circuits = [self._links[frozenset(hop)] for hop in pairwise(way)]
        shapes = [circuit.shape for circuit in circuits if circuit.shape is not None]
        require(shapes, f"{where}: no circuit of it has a rate; expected one, such as goodput=5800")
        self.paths[name] = TransitPath(
            name=name,
            layer=layer,
            campuses=(over[0], over[-1]),
            nodes=tuple(way),
            circuits=tuple(circuit.name for circuit in circuits),
            vlan=vlan if layer == 2 else None,
            capacity=min(shape.rate for shape in shapes),
            goodput=min(circuit.goodput for circuit in circuits if circuit.goodput is not None),
            delay=sum(shape.delay for shape in shapes),
            # 1 - (1 - p)(1 - q)..., which keeps the digits of small ratios; 0, not -0, without loss.
            loss=0.0 - math.expm1(sum(math.log1p(-shape.loss) for shape in shapes)),
        )

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
        interfaces = {node: Interface(node, prefix=30, vlans=vlans) for node in (one, other)}
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

    def _address_routers(self) -> None:
        """Give each circuit between routers a /30; circuits that paths use come first."""
        networks = chain.from_iterable(IPv4Network(pool).subnets(new_prefix=30) for pool in TRANSFER_POOLS)
        used = [hop for path in self._paths_on(3) for hop in zip(path.circuits, path.nodes, strict=False)]
        routed = [circuit for circuit in self.circuits.values() if circuit.layer == 3]
        others = [(circuit.name, next(iter(circuit.interfaces))) for circuit in routed]
        for name, near in (*used, *others):
            circuit = self.circuits[name]
            near_end, far_end = circuit.interfaces[near], circuit.interfaces[circuit.beyond(near)]
            if not near_end.address:
                near_end.address, far_end.address = map(str, next(networks).hosts())

    def _address_hosts(self, campus: Campus) -> None:
        """Plan the interfaces of a campus's routers and DTNs."""
        measured = [path for path in self.paths.values() if campus.name in path.campuses]
        room = LAST_HOST + 1 - FIRST_DTN
        blocks = {step: step * math.ceil((1 + len(measured)) / step) for step in range(STEP, 0, -1)}
        steps = [step for step, first in blocks.items() if first + step * (len(campus.dtns) - 1) <= room]
        demand = f"{len(campus.dtns)} DTNs and {len(measured)} paths"
        require(steps, f"campuses.{campus.name}: {demand} need more addresses than its network has: {room}")
        numbers = (FIRST_DTN, *range(FIRST_DTN + blocks[steps[0]], LAST_HOST + 1, steps[0]))
        dtns = zip(numbers, campus.dtns.values(), strict=False)
        for number, host in (*enumerate(campus.routers.values(), start=1), *dtns):
            host.mac, host.address = campus.mac(number), campus.address(number)
        for number, path in enumerate(measured, start=FIRST_DTN + 1):
            path.addresses[campus.name] = campus.address(number)
            campus.dtns[campus.measuring].aliases += (campus.address(number),)

    def _add_circuit(self, circuit: Circuit) -> None:
        """Add the link of a circuit to Mininet's graph, or the two links of a line."""
        for node, end in circuit.interfaces.items():
            towards = end.towards or (circuit.name if circuit.is_line else circuit.beyond(node))
            end.name = end.name or self._name_interface(node, towards)
            if circuit.campus is None and self._roles[node] == EDGE:
                end.vlans = self._trunk(circuit, node)
        one, other = circuit.interfaces.values()
        if circuit.is_line:
            names = [self._name_interface(circuit.name, node) for node in circuit.interfaces]
            near, far = (Interface(circuit.name, name=name, shape=circuit.shape) for name in names)
            circuit.shaped = far, near
            add_link(self, one, near)
            add_link(self, other, far)
            return
        if circuit.shape is not None:
            one.shape = other.shape = circuit.shape
            circuit.shaped = one, other
        add_link(self, one, other)

    def _trunk(self, circuit: Circuit, edge: str) -> str:
        vlans = sorted(path.vlan or 0 for path in self._paths_on(2) if circuit.name in path.circuits)
        cause = f"no path uses it, and {edge} would flood into it; expected a path over it"
        require(vlans, f"circuits.{circuit.name}: {cause}")
        return f"vlan_mode=trunk trunks={','.join(map(str, vlans))}"

    def _record_ports(self, campus: Campus) -> None:
        """Record by which ports of a campus's edge its DTNs and paths are reached."""
        circuits = [circuit for circuit in self._links.values() if circuit.campus == campus.name]
        ports = _ports_behind(campus, circuits)
        for dtn, interface in campus.dtns.items():
            interface.edge_port = ports[dtn]
        for path in self.paths.values():
            if campus.name in path.campuses:
                end = -path.campuses.index(campus.name)  # 0 for the first, -1 for the last
                node, circuit = path.nodes[end], self.circuits[path.circuits[end]]
                path.edge_ports[campus.name] = ports.get(node, circuit.interfaces[node].name)
                if path.layer == 3:
                    path.next_hop_macs[campus.name] = campus.routers[node].mac

    def _add_routes(self) -> None:
        """Give each router its routes: a default route if all campuses are behind one neighbour."""
        next_hops: dict[str, dict[str, str]] = {router: {} for router in self._list_names(ROUTER, TRANSIT)}
        for path in self._paths_on(3):
            for name, hop in zip(path.circuits, pairwise(path.nodes), strict=True):
                for node, onward, campus in zip(hop, hop[::-1], path.campuses[::-1], strict=True):
                    via = self.circuits[name].interfaces[onward].address
                    is_only = next_hops[node].setdefault(campus, via) == via
                    cause = f"circuit {name} is a second way from {node} to {campus}; expected one"
                    require(is_only, f"paths.{path.name}: {cause}")
        for router, vias in next_hops.items():
            known = [campus for campus in self.campuses.values() if campus.name in vias]
            routes = [(f"{campus.address(0)}/24", vias[campus.name]) for campus in known]
            if len({*vias.values()}) == 1:
                routes = [(DEFAULT, via) for _, via in routes[:1]]
            self.nodeInfo(router)["routes"] = tuple(routes)

    def _add_provider_rules(self) -> None:
        """Give each provider's switch the rules that carry the VLANs of the paths over it."""
        for path in self._paths_on(2):
            for switch, *names in zip(path.nodes[1:-1], path.circuits, path.circuits[1:], strict=False):
                left, right = (self.circuits[name].interfaces[switch].name for name in names)
                for source, to in ((left, right), (right, left)):
                    match = f"priority=100,dl_vlan={path.vlan},in_port={source}"
                    self.nodeInfo(switch)["rules"].append(f"{match},actions=output:{to}")

    def _add_management(self, campus: Campus) -> None:
        dtn = campus.measuring
        bridge = Interface(MANAGEMENT_BRIDGE, name=self._name_interface("mgmt", dtn))
        point = Interface(dtn, name=self._name_interface(dtn, "mgmt"), address=campus.dtns[dtn].management)
        add_link(self, bridge, point)

    def _list_names(self, *roles: str) -> list[str]:
        """Return the names of some roles, in the order of declaration."""
        return [name for name, role in self._roles.items() if role in roles]

    def _paths_on(self, layer: int) -> list[TransitPath]:
        return [path for path in self.paths.values() if path.layer == layer]


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


def _branches(tree: Sequence[int], stem: str, above: str) -> Iterator[tuple[str, str]]:
    """Yield each switch of a tree with the switch above it, rank by rank within a branch."""
    for number in range(1, tree[0] + 1) if tree else ():
        switch = f"{stem}{number}"
        yield switch, above
        yield from _branches(tree[1:], switch, switch)


def _ports_behind(campus: Campus, circuits: Sequence[Circuit]) -> dict[str, str]:
    """Return per node of a campus the port of its edge that leads there.

    :raises ValueError: if the switches are no tree, in which floods end.
    """
    ports: dict[str, str] = {}
    reached = [campus.edge]
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
    return ports
