"""A test network as values: switches, hosts, routers, and the links between their interfaces.

Nothing here knows Open vSwitch or Linux; :mod:`mininet_topos.testbed` builds what is described.
As in Mininet's ``topo.py`` one description can be built with different switches.  Unlike there, a value
that cannot be built as asked is refused when the description is made: a rate out of range that is ignored
would let an experiment run on a link that it does not have.

Units: bits/s on the wire (with Ethernet headers, as Linux ``tc`` counts), seconds, frames.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Interface, IPv4Network

from adon.errors import InvalidInput, Problem
from adon.units import format_rate

MEASUREMENT_POINT_PORT = 4443
"""TCP port, at its management address, of the measurement point of a host that has one."""

MAX_INTERFACE_NAME = 15
"""IFNAMSIZ - 1 (``linux/if.h``)."""

MIN_RATE = 100_000.0
MAX_RATE = 1e9
"""Bits/s that a shaped link may have.  Below, one full frame takes more than 0.12 s; above, the userspace
datapath and two cores are the bottleneck and not the link."""

MAX_DELAY = 1.0
MAX_QUEUE = 10_000

MIN_MTU, MAX_MTU = 576, 1500
"""Bytes of IP packet: what every host must take (RFC 791, 3.2), and what the interfaces of the hosts have.
Jumbo frames are not emulated."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class Shape:
    """What leaves by an interface, at most.

    :param rate: bits/s on the wire.
    :param queue: frames that may wait at the bottleneck (tail drop).
    :param delay: one-way propagation delay in seconds; only where the machine has netem.
    :param loss: the share of packets that is lost, each by itself; only where the machine has netem.
    :param mtu: bytes of the longest IP packet.
    """

    rate: float
    queue: int
    delay: float = 0.0
    loss: float = 0.0
    mtu: int = MAX_MTU

    def problems(self, where: str) -> Iterator[Problem]:
        """What cannot be built about it."""
        yield from rate_problems(f"{where}.rate", self.rate)
        if not 1 <= self.queue <= MAX_QUEUE:
            yield Problem(f"{where}.queue", f"{self.queue} frames is not in 1..{MAX_QUEUE}")
        if not 0 <= self.delay <= MAX_DELAY:
            yield Problem(f"{where}.delay", f"{self.delay:g} s is not in 0..{MAX_DELAY:g} s")
        if not 0 <= self.loss < 1:
            yield Problem(f"{where}.loss", f"{self.loss:g} is not in 0..1, without 1 itself")
        if not MIN_MTU <= self.mtu <= MAX_MTU:
            yield Problem(f"{where}.mtu", f"{self.mtu} bytes is not in {MIN_MTU}..{MAX_MTU}")


def rate_problems(field: str, rate: float) -> Iterator[Problem]:
    """What is wrong with a rate that a link is to have, in bits/s."""
    if not MIN_RATE <= rate <= MAX_RATE:
        bounds = f"{format_rate(MIN_RATE)} to {format_rate(MAX_RATE)}"
        yield Problem(field, f"{format_rate(rate)} is not in {bounds}")


@dataclass(frozen=True, slots=True)
class Vlans:
    """What an Open vSwitch port carries under the NORMAL action.

    Exactly one of the two: an untagged access port of VLAN ``access``, or a trunk of VLANs ``trunk``.
    """

    access: int | None = None
    trunk: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of a link.

    :param addresses: with prefix length; the first is the interface's own, the others are aliases.
    :param vlans: switches only; None leaves the port as Open vSwitch makes it (a trunk of all VLANs).
    :param shape: what may leave by it; None for whatever the machine can do.
    """

    node: str
    name: str
    mac: str | None = None
    addresses: tuple[IPv4Interface, ...] = ()
    vlans: Vlans | None = None
    shape: Shape | None = None

    def problems(self) -> Iterator[Problem]:
        """What cannot be built about it."""
        if len(self.name) > MAX_INTERFACE_NAME or not _NAME.fullmatch(self.name):
            yield Problem(
                f"interfaces.{self.name}", f"is not a name of at most {MAX_INTERFACE_NAME} of a-z, 0-9 and -"
            )
        if self.mac is not None and not _MAC.fullmatch(self.mac):
            yield Problem(f"interfaces.{self.name}.mac", f"{self.mac!r} is not a MAC address in lower case")
        if self.vlans is not None and (self.vlans.access is None) == (not self.vlans.trunk):
            yield Problem(f"interfaces.{self.name}.vlans", "is neither an access port nor a trunk, or both")
        if self.shape is not None:
            yield from self.shape.problems(f"interfaces.{self.name}")


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
    """A whole test network, checked when it is made.

    :param management: the address that the controller's side of the management network has.
    :raises InvalidInput: with every problem found.
    """

    name: str
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    management: IPv4Interface

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise InvalidInput(problems)

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

    def _problems(self) -> Iterator[Problem]:
        switches = [switch.name for switch in self.switches]
        nodes = [*switches, *(host.name for host in self.hosts)]
        interfaces = [end for link in self.links for end in link.ends]
        yield from repeated("nodes", nodes)
        yield from repeated("interfaces", [end.name for end in interfaces])
        yield from repeated("switches.dpid", [f"{switch.dpid:016x}" for switch in self.switches])
        addresses = [str(address.ip) for end in interfaces for address in end.addresses]
        yield from repeated("addresses", addresses)
        for end in interfaces:
            yield from end.problems()
            if end.node not in nodes:
                yield Problem(f"interfaces.{end.name}", f"there is no node {end.node!r}")
            elif end.shape is not None and end.node in switches:
                yield Problem(
                    f"interfaces.{end.name}.shape", "a switch's port cannot be shaped: see Kind.LINE"
                )
        for host in self.hosts:
            if host.management is not None and host.management.ip not in self.management.network:
                yield Problem(f"hosts.{host.name}.management", f"is not in {self.management.network}")


def repeated(field: str, values: list[str]) -> Iterator[Problem]:
    """What is there more than once, of what may be there once."""
    return (Problem(field, f"{value!r} is there {n} times") for value, n in Counter(values).items() if n > 1)
