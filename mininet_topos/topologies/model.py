"""Values of a network of campuses: what :class:`~mininet_topos.topologies.campus_topo.CampusTopo` holds.

Units: bits/s as built, seconds, ratios 0..1, frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mininet_topos.link_shape import LinkShape


@dataclass
class DtnAddresses:
    """Addresses of a data transfer node.

    :param address: of its data; ADON decides per flow which path it takes.
    :param edge_port: the interface of the campus's edge that leads to it.
    :param measured: per path the further address that ADON pins to the path and measures; empty if the
        campus is measured at another DTN.
    :param management: address, with prefix length, of its measurement point; None if it has none.
    """

    address: str
    mac: str
    edge_port: str
    measured: dict[str, str] = field(default_factory=dict)
    management: str | None = None


@dataclass
class Campus:
    """A campus.

    :param number: from 1, in the order of declaration.
    :param routers: the hosts' gateway first.
    :param switches: those besides the edge, which ADON does not control.
    :param attached: per DTN the switch that it hangs on.
    :param dtns: per DTN its addresses; complete when the topology is.
    """

    name: str
    number: int
    edge: str
    routers: tuple[str, ...]
    switches: tuple[str, ...]
    attached: dict[str, str]
    dtns: dict[str, DtnAddresses] = field(default_factory=dict)

    @property
    def dpid(self) -> int:
        """Datapath id of the edge."""
        return 0xA00 + self.number

    @property
    def network(self) -> str:
        """Network of the campus, with prefix length."""
        return f"10.{self.number}.0.0/24"

    @property
    def measuring(self) -> str:
        """The DTN with the measurement point: the first."""
        return next(iter(self.attached))

    @property
    def gateway_mac(self) -> str:
        """MAC address of the router that its hosts use."""
        return self.mac(1)

    def address(self, host: int) -> str:
        """Address of a host number in the campus's network."""
        return f"10.{self.number}.0.{host}"

    def mac(self, host: int) -> str:
        """MAC address of the interface with a host number."""
        return f"02:00:00:00:{9 + self.number:02x}:{host:02x}"


@dataclass
class Circuit:
    """A link that is declared; both directions have the same attributes.

    :param ends: its two nodes.
    :param rate: bits/s on the wire as built; None for whatever the machine can do.
    :param goodput: bits/s of data in a TCP stream that has it for itself; None without a rate.
    :param port_names: what the interfaces are called after their node's names, if that is declared.
    :param campus: the campus within which it is, if it is in one.
    :param line: whether it is a node of its own, since a switch's port cannot be shaped.
    :param interfaces: of the two nodes on it.
    :param shaped: the two interfaces with the shape: what leaves the first is on its way from the first node
        to the second, what leaves the second on its way back.  Empty without a rate.
    """

    name: str
    ends: tuple[str, str]
    rate: float | None
    goodput: float | None
    delay: float
    loss: float
    queue: int
    port_names: tuple[str | None, str | None]
    campus: str | None
    line: bool
    interfaces: tuple[str, str] = ("", "")
    shaped: tuple[str, ...] = ()

    @property
    def shape(self) -> LinkShape | None:
        """What each direction takes; None without a rate."""
        return None if self.rate is None else LinkShape(self.rate, self.queue, self.delay, self.loss)

    def beyond(self, node: str) -> str:
        """The node at the other end."""
        one, other = self.ends
        return other if node == one else one


@dataclass
class TransitPath:
    """A transit path between two campuses.

    :param campuses: where it begins and ends.
    :param nodes: from the first campus's edge (layer 2) or router (layer 3) to the other's.
    :param circuits: between them.
    :param addresses: per campus the address that is measured on this path; empty where nothing measures it.
    :param edge_ports: per campus the interface of its edge that leads to the path.
    :param next_hop_macs: per campus that of the router behind the port; empty on layer 2.
    :param capacity: bits/s on the wire of its narrowest circuit.
    :param goodput: bits/s of data that one TCP stream gets of that alone, with full frames.
    :param delay: one way, the sum of its circuits.
    :param loss: share of packets lost on one way.
    """

    name: str
    layer: int
    campuses: tuple[str, str]
    nodes: tuple[str, ...]
    circuits: tuple[str, ...]
    vlan: int | None
    measured: bool
    capacity: float
    goodput: float
    delay: float
    loss: float
    addresses: dict[str, str] = field(default_factory=dict)
    edge_ports: dict[str, str] = field(default_factory=dict)
    next_hop_macs: dict[str, str] = field(default_factory=dict)


@dataclass
class End:
    """An interface of a wire.

    :param node: whose it is.
    :param label: what it is called after the node's name, if that is free and not too long.
    :param chosen: whether the declaration says so.
    :param address: with prefix length.
    :param aliases: further addresses, with prefix length.
    :param vlans: columns of an Open vSwitch port.
    """

    node: str
    label: str
    chosen: bool = False
    mac: str | None = None
    address: str | None = None
    aliases: tuple[str, ...] = ()
    vlans: str = ""
    name: str = ""


@dataclass
class Wire:
    """A veth pair of the network under test.

    :param circuit: the circuit that it belongs to, if one is declared.
    """

    one: End
    other: End
    circuit: Circuit | None = None

    @property
    def ends(self) -> tuple[End, End]:
        """Both interfaces."""
        return self.one, self.other
