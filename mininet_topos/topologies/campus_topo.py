"""Campuses, transit providers and the paths between them, as a ``mininet.topo.Topo``.

A subclass declares a network once, in :meth:`CampusTopo.describe`; all numbers follow the order of
declaration; Mininet builds it; everything else reads the object, which needs no network to exist::

    campus N (from 1)   10.N.0.0/24         routers .1 .. .9, DTNs .10, .20, ...; after the measuring one's
                                            those measured there, one per path, and the next DTN at the
                                            next ten; closer together where they would not fit so
    MAC addresses       02:00:00:00:S:H     S = 9 + N, H = last byte of the IPv4 address
    between routers     203.0.113.0/24 in /30s (RFC 5737, TEST-NET-3), then 198.18.0.0/15 (RFC 2544); the
                        lower address is on the side where the first layer-3 path over it begins
    management          172.31.0.0/24       the controller .1, campus N's measurement point .(10+N)
    datapath ids (hex)  edges a00 + N, a provider's b00 + their number, a campus's N * 10000 + theirs
    VLANs               from 1701 on

Units of the declarations: Mbit/s, seconds, ratios 0..1, frames; of what is read: bits/s, otherwise the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from mininet.topo import Topo

from mininet_topos.link_shape import MTU
from mininet_topos.nodes import (
    CampusEdge,
    CampusSwitch,
    Dtn,
    Line,
    ManagementBridge,
    ProviderSwitch,
    Router,
    ShapedLink,
)
from mininet_topos.topologies import wiring
from mininet_topos.topologies.model import Campus, Circuit, End, TransitPath, Wire

TCP_HEADERS = 52
"""Bytes of each packet that are no data: 20 (IP), 20 (TCP) and 12 (time stamps, RFC 7323)."""
UNTAGGED, TAGGED = 14, 18
"""Bytes of Ethernet around each packet, as Linux ``tc`` counts: without and with a VLAN tag (IEEE 802.1Q)."""
RESERVED = ("all", "default", "joined", "lo", "management", "mgmt", "ovs-netdev", "ovs-system")
"""Names that the building itself uses, or that Linux or Open vSwitch has for devices of its own."""
MANAGEMENT = "172.31.0.1/24"
"""Address of the controller on the management network."""
MANAGEMENT_BRIDGE = "management"
CAMPUS_RULES = ("priority=0,actions=NORMAL",)
"""A campus's switches send everything as ordinary switches do: what leaves goes through its router."""

EDGE, SWITCH, ROUTER, DTN = "an edge", "a campus switch", "a campus router", "a DTN"
PROVIDER, TRANSIT = "a provider's switch", "a router"


class CampusTopo(Topo):  # type: ignore[misc]
    """A network of campuses; subclasses declare it in :meth:`describe`.

    :ivar scale: declared rates are divided by it.
    :ivar wires: veth pairs of the network under test, in the order of the switches' port numbers.
    """

    scale = 100.0

    def build(self, scale: float | None = None, shaped: bool = True) -> None:
        """Declare, check and number the network, and hand it to Mininet's graph.

        :param scale: declared rates are divided by it; None for the class's own.
        :param shaped: whether circuits get their rate, delay, loss and queue.
        :raises ValueError: if the network cannot be built, with the name of the node, circuit or path.
        """
        self.scale = float(self.scale if scale is None else scale)
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"scale: {self.scale} is out of range; expected a number above 0, such as 100")
        self.shaped = bool(shaped)
        self.campuses: dict[str, Campus] = {}
        self.circuits: dict[str, Circuit] = {}
        self.paths: dict[str, TransitPath] = {}
        self.wires: list[Wire] = []
        self._roles: dict[str, str] = dict.fromkeys(RESERVED, "the testbed itself")
        self._homes: dict[str, str] = {}
        self._tree_circuits: list[tuple[str, str, str]] = []
        self.describe()
        for circuit in self._tree_circuits:
            self.circuit(*circuit)
        self._check()
        self._lay_wires()
        self._add_nodes()
        self._add_links()

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
    ) -> Campus:
        """Declare a campus.

        :param dtns: its DTNs, with the campus switch of each that does not hang on the edge; ``NAME-dtn``.
        :param routers: the hosts' gateway first; ``NAME-rtr``.
        :param switches: further ones, to be joined to the edge by circuits.
        :param tree: ``(1, 3, 5)`` is one switch ``NAME-1`` below the edge, three below that (``NAME-11`` to
            ``NAME-13``) and five below each of these.
        :param edge: the switch that ADON controls; ``NAME-edge``.
        """
        named = {f"{name}-dtn": None} if dtns is None else dtns
        hosts = dict(named) if isinstance(named, Mapping) else dict.fromkeys(named)
        edge = f"{name}-edge" if edge is None else edge
        branches = {
            f"{name}-{digits}": f"{name}-{above}" if above else edge for digits, above in _branches(tree)
        }
        campus = Campus(
            name=name,
            number=len(self.campuses) + 1,
            edge=edge,
            routers=tuple([f"{name}-rtr"] if routers is None else routers),
            switches=(*switches, *branches),
            attached={dtn: switch or edge for dtn, switch in hosts.items()},
        )
        self._declare(name, "a campus")
        for role, nodes in (
            (DTN, campus.attached),
            (EDGE, [edge]),
            (SWITCH, campus.switches),
            (ROUTER, campus.routers),
        ):
            for node in nodes:
                self._declare(node, role)
                self._homes[node] = name
        for interface in (f"mgmt-{campus.measuring}", f"{campus.measuring}-mgmt"):
            self._take(interface, "an interface of the management network")
        self.campuses[name] = campus
        for dtn, switch in campus.attached.items():
            if switch != edge and switch not in campus.switches:
                raise ValueError(f"campuses.{name}.dtns.{dtn}: {switch} is no switch of this campus")
        self._tree_circuits += ((f"{switch}u", switch, above) for switch, above in branches.items())
        return campus

    def provider_switch(self, *names: str) -> None:
        """Declare switches of transit providers; they carry the VLANs of the paths over them."""
        for name in names:
            self._declare(name, PROVIDER)

    def router(self, *names: str) -> None:
        """Declare routers between the campuses'."""
        for name in names:
            self._declare(name, TRANSIT)

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
    ) -> Circuit:
        """Declare a circuit between two nodes.

        Without a goodput or rate it is as fast as the machine.  One reno stream fills a circuit of tens of
        Mbit/s with the default queue, and two that are full at once stay below what one socket of the
        userspace datapath holds.

        :param goodput: Mbit/s of data in one TCP stream of full frames, at full scale.
        :param rate: instead: Mbit/s on the wire, with Ethernet headers, at full scale.
        :param delay: seconds, one way.
        :param loss: share of packets lost at random.
        :param queue: frames that may wait.
        :param port_names: what the two interfaces are called after their nodes' names.
        """
        self._declare(name, "a circuit")
        self._check_ends(name, one, other)
        if goodput is not None and rate is not None:
            raise ValueError(f"circuits.{name}: has a rate and a goodput; expected one of the two")
        homes = {self._homes.get(node) for node in (one, other)}
        campus = next(iter(homes)) if len(homes) == 1 else None
        switched = self._roles[one] not in (ROUTER, TRANSIT)
        frame = MTU + (TAGGED if switched and campus is None else UNTAGGED)
        wire, data = _rates(rate, goodput, frame, self.scale)
        circuit = Circuit(
            name=name,
            ends=(one, other),
            rate=wire,
            goodput=data,
            delay=delay,
            loss=loss,
            queue=queue,
            port_names=port_names,
            campus=campus,
            line=switched and wire is not None,
        )
        shape = circuit.shape
        for attribute, cause in shape.faults() if shape is not None and self.shaped else ():
            raise ValueError(f"circuits.{name}.{attribute}: {cause}")
        self.circuits[name] = circuit
        return circuit

    def transit_path(
        self, name: str, layer: int, over: Sequence[str], vlan: int | None = None, measured: bool = True
    ) -> TransitPath:
        """Declare a path from one campus over nodes to another.

        :param layer: 2 (a VLAN over provider switches) or 3 (over routers).
        :param over: the first campus, the nodes between, the other campus.
        :param vlan: layer 2 only; the first free one from 1701 on, if none is declared.
        :param measured: whether the campuses' measurement points measure it.
        """
        if name in self.paths:
            raise ValueError(f"paths.{name}: is declared already; expected another name")
        if layer not in (2, 3):
            raise ValueError(f"paths.{name}.layer: {layer} is out of range; expected 2 or 3")
        if vlan is not None and (layer == 3 or not 2 <= vlan <= wiring.LAST_VLAN):
            raise ValueError(
                f"paths.{name}.vlan: {vlan} is out of range; expected 2 to {wiring.LAST_VLAN} on layer 2, "
                "none on layer 3"
            )
        one, *between, other = over
        for campus in (one, other):
            if campus not in self.campuses:
                raise ValueError(f"paths.{name}: {campus!r} is no campus; a path joins two of them")
        role = PROVIDER if layer == 2 else TRANSIT
        for node in between:
            if self._roles.get(node) != role:
                raise ValueError(
                    f"paths.{name}: {node!r} is not {role}; a layer-{layer} path leads over those"
                )
        if layer == 2:
            nodes = [self.campuses[one].edge, *between, self.campuses[other].edge]
        else:
            ends = self._routers_of(name, one, between, other)
            nodes = [ends[0], *between, ends[1]]
        if len(set(nodes)) < len(nodes):
            raise ValueError(f"paths.{name}: leads over a node twice")
        circuits = [self._between(name, *step) for step in pairwise(nodes)]
        rated = [circuit for circuit in circuits if circuit.rate is not None]
        if not rated:
            raise ValueError(f"paths.{name}: no circuit of it has a rate; expected one, such as goodput=5800")
        path = TransitPath(
            name=name,
            layer=layer,
            campuses=(one, other),
            nodes=tuple(nodes),
            circuits=tuple(circuit.name for circuit in circuits),
            vlan=vlan,
            measured=measured,
            capacity=min(circuit.rate for circuit in rated if circuit.rate is not None),
            goodput=min(circuit.goodput for circuit in rated if circuit.goodput is not None),
            delay=sum(circuit.delay for circuit in rated),
            # 1 - (1 - p)(1 - q)..., without losing the digits of small ones; of none 0, not -0.
            loss=0.0 - math.expm1(sum(math.log1p(-circuit.loss) for circuit in rated)),
        )
        self.paths[name] = path
        return path

    def role(self, node: str) -> str:
        """What a node is, in words."""
        return self._roles[node]

    def nodes_of(self, role: str) -> tuple[str, ...]:
        """The nodes of a role, in the order of declaration."""
        return tuple(name for name, known in self._roles.items() if known == role)

    def interfaces(self, node: str) -> list[End]:
        """A node's interfaces on the network under test, in the order of its port numbers."""
        return [end for wire in self.wires for end in wire.ends if end.node == node]

    def joining(self, one: str, other: str) -> list[Circuit]:
        """The circuits between two nodes."""
        return [circuit for circuit in self.circuits.values() if {*circuit.ends} == {one, other}]

    def _declare(self, name: str, role: str) -> None:
        if not re.fullmatch("[a-z][a-z0-9-]{0,8}[a-z0-9]", name):
            raise ValueError(
                f"{name}: is not a name for {role}; expected 2 to 10 of a-z, 0-9 and -, such as mu-edge"
            )
        self._take(name, role)

    def _take(self, name: str, role: str) -> None:
        if name in self._roles:
            raise ValueError(f"{name}: is the name of {self._roles[name]} already; {role} needs another")
        self._roles[name] = role

    def _check_ends(self, name: str, one: str, other: str) -> None:
        for node in (one, other):
            if self._roles.get(node) not in (EDGE, SWITCH, ROUTER, DTN, PROVIDER, TRANSIT):
                raise ValueError(f"circuits.{name}: {node!r} is no node; declare it before the circuit")
        for circuit in self.joining(one, other):
            raise ValueError(
                f"circuits.{name}: {circuit.name} joins {one} and {other}; expected one circuit between them"
            )
        roles = {self._roles[one], self._roles[other]}
        homes = {self._homes.get(one), self._homes.get(other)}
        within = len(homes) == 1 and None not in homes and roles <= {EDGE, SWITCH, DTN} and roles != {DTN}
        if not (within or roles <= {EDGE, PROVIDER} or roles <= {ROUTER, TRANSIT}):
            raise ValueError(
                f"circuits.{name}: joins {self._roles[one]} and {self._roles[other]}; expected two switches "
                "of a campus, a DTN and a switch of its campus, edges and provider's switches, or two routers"
            )

    def _routers_of(self, path: str, one: str, between: Sequence[str], other: str) -> tuple[str, str]:
        """The router of each campus that is joined to the next node of a layer-3 path."""
        found = []
        for campus, onward in ((one, between[:1]), (other, between[-1:])):
            far = onward or self.campuses[other if campus == one else one].routers
            joined = [
                router
                for router in self.campuses[campus].routers
                if any(self.joining(router, node) for node in far)
            ]
            if len(joined) != 1:
                raise ValueError(
                    f"paths.{path}: {len(joined)} routers of {campus} are joined to {' or '.join(far)}; "
                    "expected one"
                )
            found.append(joined[0])
        return found[0], found[1]

    def _between(self, path: str, one: str, other: str) -> Circuit:
        for circuit in self.joining(one, other):
            return circuit
        raise ValueError(f"paths.{path}: no circuit joins {one} and {other}; declare it before the path")

    def _check(self) -> None:
        wiring.assign_vlans(self.paths)
        wiring.check_forks(self.paths)
        wiring.check_used(self.circuits, self.paths, self.nodes_of(EDGE))
        wiring.check_trees(self.campuses, self.circuits)

    def _lay_wires(self) -> None:
        for campus in self.campuses.values():
            wiring.address_dtns(campus, self.paths)
            self.wires += wiring.campus_wires(campus, self.circuits)
        routed = [one for one in self.circuits.values() if self._roles[one.ends[0]] in (ROUTER, TRANSIT)]
        transfer = wiring.transfer_addresses(routed, self.paths)
        self._routes = wiring.static_routes(self.campuses, self.paths, transfer)
        edges = set(self.nodes_of(EDGE))
        for circuit in self.circuits.values():
            if not any(self._roles[node] == DTN for node in circuit.ends):
                self.wires += wiring.circuit_wires(circuit, self.paths.values(), transfer, edges)
        wiring.name_interfaces(self.wires, self._roles)
        wiring.record_interfaces(self.circuits, self.wires)
        for campus in self.campuses.values():
            for dtn, held in campus.dtns.items():
                held.edge_port = wiring.edge_port(campus, dtn, self.circuits, self.wires)
        for path in self.paths.values():
            self._record_ends(path)

    def _record_ends(self, path: TransitPath) -> None:
        for campus, node, circuit in (
            (path.campuses[0], path.nodes[0], path.circuits[0]),
            (path.campuses[1], path.nodes[-1], path.circuits[-1]),
        ):
            of = self.campuses[campus]
            if path.layer == 2:
                path.edge_ports[campus] = wiring.port_at(self.circuits[circuit], node)
            else:
                path.edge_ports[campus] = wiring.edge_port(of, node, self.circuits, self.wires)
                path.next_hop_macs[campus] = of.mac(of.routers.index(node) + 1)

    def _add_nodes(self) -> None:
        for campus in self.campuses.values():
            for dtn in campus.dtns:
                data = self.interfaces(dtn)[0]
                gateway = ((wiring.DEFAULT, campus.address(1)),)
                self.addHost(dtn, cls=Dtn, ip=None, aliases={data.name: data.aliases}, routes=gateway)
            self.addSwitch(campus.edge, cls=CampusEdge, dpid=f"{campus.dpid:016x}", rules=CAMPUS_RULES)
            for number, switch in enumerate(campus.switches, start=1):
                dpid = f"{campus.number * 0x10000 + number:016x}"
                self.addSwitch(switch, cls=CampusSwitch, dpid=dpid, rules=CAMPUS_RULES)
        for router in (*self.nodes_of(ROUTER), *self.nodes_of(TRANSIT)):
            self.addHost(router, cls=Router, ip=None, routes=self._routes.get(router, ()))
        for circuit in self.circuits.values():
            if circuit.line:
                self.addHost(circuit.name, cls=Line, ip=None)
        self._add_provider_switches()
        self.addSwitch(MANAGEMENT_BRIDGE, cls=ManagementBridge, address=MANAGEMENT)

    def _add_provider_switches(self) -> None:
        rules: dict[str, list[str]] = {switch: [] for switch in self.nodes_of(PROVIDER)}
        for path in self.paths.values():
            for switch, rule in wiring.provider_rules(path, self.circuits):
                rules[switch].append(rule)
        for number, (switch, own) in enumerate(rules.items(), start=1):
            self.addSwitch(switch, cls=ProviderSwitch, dpid=f"{0xB00 + number:016x}", rules=tuple(own))

    def _add_links(self) -> None:
        for wire in self.wires:
            one, other = wire.ends
            shape = wire.circuit.shape if wire.circuit is not None and self.shaped else None
            options: dict[str, Any] = {} if shape is None else {"cls": ShapedLink, "shape": shape}
            for number, end in enumerate(wire.ends, start=1):
                options[f"intfName{number}"] = end.name
                options[f"params{number}"] = {"ip": end.address, "vlans": end.vlans}
                if end.mac is not None:
                    options[f"addr{number}"] = end.mac
            self.addLink(one.node, other.node, **options)
        for campus in self.campuses.values():
            dtn = campus.measuring
            self.addLink(
                MANAGEMENT_BRIDGE,
                dtn,
                intfName1=f"mgmt-{dtn}",
                intfName2=f"{dtn}-mgmt",
                params2={"ip": campus.dtns[dtn].management},
            )


def _rates(
    rate: float | None, goodput: float | None, frame: int, scale: float
) -> tuple[float | None, float | None]:
    """Bits/s on the wire and of data, as built.

    :param rate, goodput: Mbit/s at full scale.
    :param frame: bytes of a full frame.
    """
    data = MTU - TCP_HEADERS
    if goodput is not None:
        built = goodput * 1e6 / scale
        return built * frame / data, built
    if rate is not None:
        built = rate * 1e6 / scale
        return built, built * data / frame
    return None, None


def _branches(tree: Sequence[int], above: str = "") -> Iterator[tuple[str, str]]:
    """Each switch's digits with those of the one above it, rank by rank within a branch."""
    for number in range(1, tree[0] + 1) if tree else ():
        yield f"{above}{number}", above
        yield from _branches(tree[1:], f"{above}{number}")
