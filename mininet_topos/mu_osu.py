"""The two campuses of the thesis's chapter 5: MU and OSU, joined by a layer-2 and a layer-3 transit path.

::

      mu-dtn                                                                  osu-dtn
    10.1.0.10                                                                10.2.0.10
        |                      al2s: VLAN 1701, 58 Mbit/s                        |
     mu-edge ------------- t1 -------- line ----------- t2 ------------------ osu-edge
        |                                                                        |
     10.1.0.1                 internet: routed, 6.5 Mbit/s                    10.2.0.1
      mu-rtr ------------------------- core ------------------------------- osu-rtr

Scale ([ADON] 5, spec section 11).  The paper's paths carried 5.8 Gbps and 650 Mbps in a single TCP stream;
``scale`` divides both (default 100).  What is shaped is the wire: of a full frame of 1518 bytes (tagged;
1514 untagged) TCP with time stamps delivers 1448, so a goodput of 58 Mbit/s is 60.8 on the wire.

Where a packet goes.  The campus's own rule on each edge is NORMAL (priority 0, cookie 0): everything goes
through the campus's router, layer 3, as it always has.  The port toward the overlay carries VLAN 1701 only,
so NORMAL never floods there: only a rule of ADON's leads onto layer 2.  The transit switches belong to the
provider and carry its static rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from adon.errors import InvalidInput
from mininet_topos.topology import Host, Interface, Kind, Link, Route, Shape, Switch, Topology, Vlans

L2_GOODPUT = 5.8e9
L3_GOODPUT = 650e6
"""Bits/s of a single TCP stream on the thesis's paths ([ADON] 5)."""

TCP_PAYLOAD = 1448
"""Bytes of data in a full frame: 1500 less 20 (IP), 20 (TCP) and 12 (time stamps, RFC 7323)."""

UNTAGGED_FRAME = 1514
TAGGED_FRAME = 1518

DEFAULT_SCALE = 100
CAMPUS_VLAN = 1
OVERLAY_VLAN = 1701

QUEUE = 40
"""Frames that may wait at each bottleneck: at scale 100 that is 8 ms on layer 2 and 70 ms on layer 3.  One
reno stream fills the link with it, and both directions together stay below what one socket of the userspace
datapath holds (:class:`~mininet_topos.topology.Kind`)."""

L2_DELAY = 0.005
L3_DELAY = 0.010
"""Seconds of propagation, one way; only where the machine has netem."""

CONTENDING_STREAMS = 14
"""Streams of a transfer beside which a single-stream test on layer 2 gets less than 5 Mbit/s at scale 100
(measured: 3.2 to 4.5; with 12 streams 3.5 to 5.0; a fair share would be 58/15 = 3.9)."""


@dataclass(frozen=True, slots=True)
class Campus:
    """One campus: its edge switch, its DTN, its router, and their addresses.

    :param name: prefix of everything it owns.
    :param digit: second byte of its addresses.
    :param mac_byte: fifth byte of its MAC addresses.
    """

    name: str
    digit: int
    mac_byte: int
    dpid: int
    management: IPv4Interface

    @property
    def edge(self) -> str:
        """Its OpenFlow switch."""
        return f"{self.name}-edge"

    @property
    def dtn(self) -> str:
        """Its data transfer node."""
        return f"{self.name}-dtn"

    @property
    def router(self) -> str:
        """Its layer-3 gateway."""
        return f"{self.name}-rtr"

    @property
    def network(self) -> IPv4Network:
        """Its subnet."""
        return IPv4Network(f"10.{self.digit}.0.0/24")

    @property
    def dtn_mac(self) -> str:
        """MAC address of the DTN."""
        return f"02:00:00:00:{self.mac_byte:02x}:0a"

    @property
    def gateway_mac(self) -> str:
        """MAC address of the router's LAN side."""
        return f"02:00:00:00:{self.mac_byte:02x}:01"

    def address(self, last: int) -> IPv4Interface:
        """An address in its subnet."""
        return IPv4Interface(f"10.{self.digit}.0.{last}/24")


MU = Campus("mu", 1, 0x0A, 0x0A01, IPv4Interface("172.31.0.11/24"))
OSU = Campus("osu", 2, 0x0B, 0x0A02, IPv4Interface("172.31.0.12/24"))
CAMPUSES = (MU, OSU)

GATEWAY, DTN = 1, 10
MEASUREMENT_ADDRESSES = {"al2s": 11, "internet": 12}
"""Last byte of the address that is measured on each path: ADON pins it there (spec section 2)."""

MANAGEMENT = IPv4Interface("172.31.0.1/24")


@dataclass(frozen=True, slots=True)
class MuOsu:
    """The two-campus network at one scale.

    :param scale: the paper's rates are divided by it.
    :param layer3: bits/s of a single TCP stream on the layer-3 path at full scale.
    :raises InvalidInput: if one of them is not a number above zero.
    """

    scale: float = DEFAULT_SCALE
    layer3: float = L3_GOODPUT

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("layer3", self.layer3)):
            if not 0 < value < float("inf"):
                raise InvalidInput.of(name, f"{value} is not a number above zero")

    @property
    def l2_goodput(self) -> float:
        """Bits/s that one TCP stream gets on the idle layer-2 path."""
        return L2_GOODPUT / self.scale

    @property
    def l3_goodput(self) -> float:
        """Bits/s that one TCP stream gets on the idle layer-3 path."""
        return self.layer3 / self.scale

    @property
    def overlay(self) -> Shape:
        """The layer-2 bottleneck."""
        return Shape(self.l2_goodput * TAGGED_FRAME / TCP_PAYLOAD, QUEUE, L2_DELAY)

    @property
    def routed(self) -> Shape:
        """The layer-3 bottleneck."""
        return Shape(self.l3_goodput * UNTAGGED_FRAME / TCP_PAYLOAD, QUEUE, L3_DELAY)

    def topology(self) -> Topology:
        """The network to build.

        :raises InvalidInput: if the scale makes a rate that cannot be built.
        """
        return Topology(
            name="mu-osu",
            switches=(*(_edge(campus) for campus in CAMPUSES), *_TRANSIT),
            hosts=(*(_dtn(campus) for campus in CAMPUSES), *_ROUTERS, Host("line", Kind.LINE)),
            links=(*_campus_links(), *_overlay_links(self.overlay), *_routed_links(self.routed)),
            management=MANAGEMENT,
        )


def _edge(campus: Campus) -> Switch:
    return Switch(campus.edge, campus.dpid, controlled=True, rules=("priority=0,actions=NORMAL",))


def _provider_rules(left: str, right: str) -> tuple[str, ...]:
    tagged = f"priority=100,dl_vlan={OVERLAY_VLAN}"
    return (
        f"{tagged},in_port={left},actions=output:{right}",
        f"{tagged},in_port={right},actions=output:{left}",
    )


_TRANSIT = (
    Switch("t1", 0x0B01, controlled=False, rules=_provider_rules("t1-mu-edge", "t1-line")),
    Switch("t2", 0x0B02, controlled=False, rules=_provider_rules("t2-osu-edge", "t2-line")),
)


def _default(via: str) -> tuple[Route, ...]:
    return (Route(IPv4Network("0.0.0.0/0"), via),)


def _dtn(campus: Campus) -> Host:
    gateway = str(campus.address(GATEWAY).ip)
    return Host(campus.dtn, routes=_default(gateway), management=campus.management)


# The provider's transfer networks (RFC 5737, TEST-NET-3).
_MU_WAN, _CORE_MU, _CORE_OSU, _OSU_WAN = (IPv4Interface(f"203.0.113.{last}/30") for last in (1, 2, 5, 6))

_ROUTERS = (
    Host(MU.router, Kind.ROUTER, _default(str(_CORE_MU.ip))),
    Host(OSU.router, Kind.ROUTER, _default(str(_CORE_OSU.ip))),
    Host("core", Kind.ROUTER, (Route(MU.network, str(_MU_WAN.ip)), Route(OSU.network, str(_OSU_WAN.ip)))),
)


def dtn_addresses(campus: Campus) -> dict[str, IPv4Address]:
    """The addresses of a campus's DTN by purpose: ``data`` and one per path measured."""
    return {
        "data": campus.address(DTN).ip,
        **{path: campus.address(last).ip for path, last in MEASUREMENT_ADDRESSES.items()},
    }


def edge_port(campus: Campus, toward: str) -> str:
    """Name of the edge's port toward the DTN (``dtn``), the overlay (``al2s``) or the router (``rtr``)."""
    return f"{campus.edge}-{toward}"


def _campus_links() -> tuple[Link, ...]:
    """The ports of each edge: 1 the DTN, 2 (in ``_overlay_links``) the overlay, 3 the router."""
    access = Vlans(access=CAMPUS_VLAN)
    return tuple(
        Link(
            Interface(campus.edge, edge_port(campus, toward), vlans=access),
            Interface(node, f"{node}-{end}", mac, addresses),
        )
        for campus in CAMPUSES
        for toward, node, end, mac, addresses in (
            (
                "dtn",
                campus.dtn,
                "data",
                campus.dtn_mac,
                tuple(campus.address(last) for last in (DTN, *MEASUREMENT_ADDRESSES.values())),
            ),
            ("rtr", campus.router, "lan", campus.gateway_mac, (campus.address(GATEWAY),)),
        )
    )


def _overlay_links(shape: Shape) -> tuple[Link, ...]:
    trunk = Vlans(trunk=OVERLAY_VLAN)
    return (
        Link(Interface(MU.edge, edge_port(MU, "al2s"), vlans=trunk), Interface("t1", "t1-mu-edge")),
        Link(Interface("t1", "t1-line"), Interface("line", "line-t1", shape=shape)),
        Link(Interface("t2", "t2-line"), Interface("line", "line-t2", shape=shape)),
        Link(Interface(OSU.edge, edge_port(OSU, "al2s"), vlans=trunk), Interface("t2", "t2-osu-edge")),
    )


def _routed_links(shape: Shape) -> tuple[Link, ...]:
    """The narrow one is between MU's router and the core, where both sides queue."""
    return (
        Link(
            Interface(MU.router, f"{MU.router}-wan", addresses=(_MU_WAN,), shape=shape),
            Interface("core", "core-mu", addresses=(_CORE_MU,), shape=shape),
        ),
        Link(
            Interface(OSU.router, f"{OSU.router}-wan", addresses=(_OSU_WAN,)),
            Interface("core", "core-osu", addresses=(_CORE_OSU,)),
        ),
    )
