"""The network: switches, sites with their DTNs, transit paths."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from adon.config.connecting import CertificateName, PerSecond
from adon.config.parts import Dpid, Families, Mac, PositiveRate, Section, raise_all
from adon.frozenmap import Frozen
from adon.templates_catalog.model import Name


class Switch(Section):
    """A switch that we may put rules into: a campus edge, or one between edges.

    :param pipeline: ``single`` puts every rule into one table and our priority bands, beside whatever else
        the switch holds; ``staged`` uses three tables (docs/flowvisor.md).
    :param table_offset: the number of our first table (R8).
    :param table_miss: what happens to packets that are nobody's; ``keep``: what the campus's own rules say.
    :param control: ``exclusive``: one writer by role; ``shared``: somebody else drives it too (R21).
    :param drift: what is done about rules of ours that somebody changed: put right, or only told.
    :param advise: everything is decided, recorded and shown for this switch, and nothing sent.
    :param failover: ``groups``: fast-failover groups where the switch has them.
    :param certificate: the name (CN or DNS) that its TLS certificate must have.
    :param flow_mods_per_second: what it takes without falling behind (R19); ``null``: as fast as we can.
    """

    dpid: Dpid
    pipeline: Literal["single", "staged"] = "single"
    table_offset: int = Field(default=0, ge=0, le=250)
    table_miss: Literal["keep", "normal", "drop"] = "keep"
    control: Literal["exclusive", "shared"] = "exclusive"
    drift: Literal["heal", "report"] = "heal"
    advise: bool = False
    failover: Literal["groups", "controller"] = "groups"
    certificate: CertificateName | None = None
    flow_mods_per_second: PerSecond | None = None
    rule_budget: int | None = Field(
        default=None, ge=1, description="rules of ours that it may hold, at most (R9)"
    )


class Host(Section):
    """A data transfer node: its addresses, MAC, and the edge's port it hangs on (by name)."""

    address: IPv4Address | IPv6Address
    address6: IPv6Address | None = Field(default=None, description="beside an IPv4 address")
    mac: Mac
    port: str

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if self.address6 is not None and self.address.version == 6:
            raise ValueError("address6: the address is an IPv6 address already")
        return self


class Site(Section):
    """A campus: its edge switch, the gateway its hosts use, and its DTNs."""

    edge: Name
    gateway_mac: Mac
    hosts: Frozen[Name, Host]


class PathEndpoint(Section):
    """One end of a path: the edge's port (by name), and on layer 3 the router behind it."""

    port: str
    next_hop_mac: Mac | None = None


class TransitPath(Section):
    """One transit path between two sites.

    What it does to packets is a hard constraint on moves of running flows (spec section 2).

    :ivar firewall: a stateful firewall is on the path: it lets only connections through that it saw begin.
    :ivar nat: addresses are translated on the path.
    :ivar families: the IP versions that get through.
    """

    layer: Literal[2, 3]
    capacity: PositiveRate
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=576, le=9216)] = 1500
    firewall: bool = False
    nat: bool = False
    families: Families = (4, 6)
    links: tuple[Name, ...] = Field(
        default=(), description="links it shares with other paths: tests on them are kept apart"
    )
    ends: Frozen[Name, PathEndpoint]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if len(self.ends) != 2:
            yield "ends: a path has exactly two ends"
        if self.layer == 2 and self.vlan is None:
            yield "vlan: a layer-2 path needs a VLAN id"
        if self.layer == 3 and self.vlan is not None:
            yield "vlan: a layer-3 path has none"
        for site, end in self.ends.items():
            if self.layer == 3 and end.next_hop_mac is None:
                yield f"ends.{site}.next_hop_mac: a layer-3 path needs it"
            if self.layer == 2 and end.next_hop_mac is not None:
                yield f"ends.{site}.next_hop_mac: a layer-2 path has none"
