"""A network as an experimenter thinks of it: sites with their DTNs, and the paths between them.

It holds the :class:`~mininet_topos.topology.Topology` that a platform builds, and says what in it is whose:
which host is a DTN of which site, which interfaces are a link, which address is measured on which path.

Units: bits/s, seconds, ratios 0..1, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal, TypeVar

from adon.errors import InvalidInput
from adon.nearest_key import absent
from adon.values import FrozenMap
from mininet_topos.link_shape import LinkShape
from mininet_topos.topology import Topology

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Dtn:
    """A data transfer node.

    :param host: its name in the topology.
    :param address: of its data; ADON decides per flow which path it takes.
    :param port: the port of the site's edge that leads to it, by name.
    :param measured: per path the further address that ADON pins to this path and measures; empty if the site
        is measured at another of its DTNs.
    :param management: by which the collector reaches its measurement point; None if it has none.
    """

    host: str
    address: IPv4Address
    mac: str
    port: str
    measured: FrozenMap[str, IPv4Address] = field(default_factory=FrozenMap)
    management: IPv4Interface | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A campus.

    :param edge: the switch that ADON controls.
    :param dpid: of that switch.
    :param gateway_mac: of the router that its hosts use.
    :param measuring: the one of the DTNs that has the measurement point.
    :param switches: further ones of the campus, which ADON does not control.
    :param routers: of the campus, the hosts' gateway first.
    """

    name: str
    edge: str
    dpid: int
    gateway_mac: str
    network: IPv4Network
    dtns: tuple[Dtn, ...]
    measuring: Dtn
    switches: tuple[str, ...] = ()
    routers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PathEnd:
    """Where a path meets a site.

    :param port: of the site's edge, by name.
    :param next_hop_mac: of the router behind it; None on layer 2.
    """

    port: str
    next_hop_mac: str | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A transit path between two sites.

    :param capacity: bits/s on the wire of its narrowest link.
    :param goodput: bits/s of data that one TCP stream gets of that, with full frames and nobody else there.
    :param ends: per site, in the order in which the path was described.
    :param addresses: per site the address that is measured on this path; empty where nothing measures it.
    :param links: the links it runs over, in that order too.
    :param delay: one way, the sum of its links.
    :param loss: the share of packets lost on one way, if each link loses by itself.
    """

    name: str
    layer: Literal[2, 3]
    vlan: int | None
    capacity: float
    goodput: float
    ends: FrozenMap[str, PathEnd]
    addresses: FrozenMap[str, IPv4Address]
    links: tuple[str, ...]
    delay: float = 0.0
    loss: float = 0.0

    @property
    def sites(self) -> tuple[str, str]:
        """The two sites that it joins."""
        one, other = self.ends
        return one, other


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A link as it was described.

    :param between: the two nodes that it joins.
    :param shape: of each direction; None for whatever the machine can do.
    :param goodput: bits/s of data in a TCP stream that has it for itself; None without a shape.
    :param shaped: the two interfaces that have the shape: what leaves the first is on its way from the first
        node to the second, what leaves the second on its way back.  Empty without a shape.
    :param ends: the interfaces of the two nodes on it.
    """

    name: str
    between: tuple[str, str]
    ends: tuple[str, str]
    shape: LinkShape | None = None
    goodput: float | None = None
    shaped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Network:
    """A test network with its meaning.

    :param name: its key in ``topos``.
    :param title: one line for people.
    :param about: what it is for, and where it comes from.
    :param scale: the described rates are this many times those that are built.
    :param links: those between sites, and those within a site that were described.
    """

    name: str
    title: str
    about: str
    scale: float
    topology: Topology
    sites: tuple[Site, ...]
    paths: tuple[Path, ...]
    links: tuple[NamedLink, ...]

    @property
    def dtns(self) -> tuple[Dtn, ...]:
        """All DTNs, site by site."""
        return tuple(dtn for site in self.sites for dtn in site.dtns)

    def site(self, name: str) -> Site:
        """The site of this name.

        :raises InvalidInput: if there is none, with the nearest that there is.
        """
        return self._one("site", name, {site.name: site for site in self.sites})

    def path(self, name: str) -> Path:
        """The path of this name.

        :raises InvalidInput: if there is none, with the nearest that there is.
        """
        return self._one("path", name, {path.name: path for path in self.paths})

    def link(self, name: str) -> NamedLink:
        """The link of this name.

        :raises InvalidInput: if there is none, with the nearest that there is.
        """
        return self._one("link", name, {link.name: link for link in self.links})

    def dtn(self, host: str) -> Dtn:
        """The DTN of this name.

        :raises InvalidInput: if there is none, with the nearest that there is.
        """
        return self._one("DTN", host, {dtn.host: dtn for dtn in self.dtns})

    def site_of(self, host: str) -> Site:
        """The site that has this DTN.

        :raises InvalidInput: if none has.
        """
        owners = {dtn.host: site for site in self.sites for dtn in site.dtns}
        return self._one("DTN", host, owners)

    def owner(self, address: IPv4Address) -> tuple[Site, Dtn]:
        """The DTN that has this address, of its data or measured on a path, and its site.

        :raises InvalidInput: if none has.
        """
        for site in self.sites:
            for dtn in site.dtns:
                if address == dtn.address or address in dtn.measured.values():
                    return site, dtn
        raise InvalidInput.of("address", f"no DTN of the network {self.name} has the address {address}")

    def between(self, one: str, other: str) -> tuple[Path, ...]:
        """The paths between two sites, either way."""
        return tuple(path for path in self.paths if set(path.ends) == {one, other})

    def _one(self, kind: str, name: str, known: dict[str, V]) -> V:
        if name in known:
            return known[name]
        raise InvalidInput.of(
            kind.lower(), f"{absent(kind, name, known)} (network {self.name})", "unknown-name"
        )
