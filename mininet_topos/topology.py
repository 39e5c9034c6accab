"""A test network as values: switches, hosts, routers, and the links between their interfaces.

They are made of a :class:`~mininet_topos.topologies.campus_topo.CampusTopo`, which checks them.
:mod:`mininet_topos.old_testbed` builds them.

Units: bits/s on the wire (with Ethernet headers, as Linux ``tc`` counts), seconds, frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Interface, IPv4Network

from adon.errors import InvalidInput
from mininet_topos.link_shape import LinkShape

MEASUREMENT_POINT_PORT = 4443
"""TCP port, at its management address, of the measurement point of a host that has one."""


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of a link.

    :param addresses: with prefix length; the first is the interface's own, the others are aliases.
    :param vlans: columns of an Open vSwitch port; empty leaves the port a trunk of all VLANs.
    :param shape: what may leave by it; None for whatever the machine can do.
    """

    node: str
    name: str
    mac: str | None = None
    addresses: tuple[IPv4Interface, ...] = ()
    vlans: str = ""
    shape: LinkShape | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two interfaces."""

    one: Interface
    other: Interface

    @property
    def ends(self) -> tuple[Interface, Interface]:
        """Both interfaces."""
        return (self.one, self.other)


@dataclass(frozen=True, slots=True)
class Switch:
    """An OpenFlow 1.3 switch that forwards nothing by itself (``fail_mode=secure``).

    :param controlled: whether it connects to ADON's controller.
    :param rules: what its owner (campus or provider) installed: ``ovs-ofctl`` flow text, ports by name.
    """

    name: str
    dpid: int
    controlled: bool
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """A static route; the default route is to 0.0.0.0/0."""

    destination: IPv4Network
    via: str


class Kind(Enum):
    """What a Linux namespace of the test network is.

    A ``LINE`` is a long-haul circuit: it joins its two interfaces and is the place of a layer-2 bottleneck.
    Not a switch's own port: Open vSwitch's userspace datapath sends all frames through one socket, so a queue
    at one port, once as long as the socket's buffer (some 90 frames), loses frames at all others.
    """

    END = "end host"
    ROUTER = "router"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Host:
    """A Linux network namespace.

    :param management: its address on the management network, by which the collector reaches its
        measurement point; None if it has none.
    """

    name: str
    kind: Kind = Kind.END
    routes: tuple[Route, ...] = ()
    management: IPv4Interface | None = None


@dataclass(frozen=True)
class Topology:
    """A whole test network.

    :param management: the address that the controller's side of the management network has.
    """

    name: str
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    management: IPv4Interface

    def interfaces(self, node: str) -> tuple[Interface, ...]:
        """The interfaces of a node in the order of the links: OpenFlow port N is the N-th."""
        return tuple(end for link in self.links for end in link.ends if end.node == node)

    @property
    def machines(self) -> tuple[Host, ...]:
        """The hosts and routers, as people think of them: without the lines."""
        return tuple(host for host in self.hosts if host.kind is not Kind.LINE)

    def host(self, name: str) -> Host:
        """The host or router of this name.

        :raises InvalidInput: if there is none.
        """
        for host in self.hosts:
            if host.name == name:
                return host
        cause = f"there is no host {name!r} in the test network {self.name!r}"
        raise InvalidInput.of("host", cause, "unknown-name")
