"""A network's description: what a person writes in YAML, checked field by field.

Nodes are written down once, links between them by name, and a path as the nodes that it leads over.  What
nobody needs to choose (addresses, MAC addresses, datapath ids, names of interfaces, VLANs) is given out by
:mod:`~mininet_topos.networks.compilation`.  Quantities carry units (:mod:`adon.units`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from adon.config.types import PositiveRate, raise_all
from adon.frozenmap import Frozen, FrozenMap
from adon.units import Duration, Ratio
from adon.values import Name
from mininet_topos.topology import MAX_MTU

QUEUE = 40
"""Frames that may wait at a link if nothing else is said.  One reno stream fills a link of tens of Mbit/s
with it, and two links full at once stay below what one socket of the userspace datapath holds
(:class:`~mininet_topos.topology.Kind`)."""

NO_HOSTS = tuple(IPv4Network(one) for one in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"))
"""This network, loopback, link-local, multicast and reserved (RFC 6890)."""

RESERVED = ("all", "default", "joined", "lo", "management", "mgmt", "ovs-netdev", "ovs-system")
"""Names that the building itself uses, and those that Linux lets no device have (``all``, ``default``) or
that Open vSwitch's own devices have."""

Node = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,8}[a-z0-9]$")]
"""A node's or link's name: 2 to 10 characters, so that an interface's name, which begins with it, is not
longer than Linux takes."""


class Part(BaseModel):
    """Base of all parts: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DtnPart(Part):
    """A data transfer node.

    :ivar at: the campus switch that it hangs on; the edge if nothing is said.
    """

    at: Node | None = None


class SitePart(Part):
    """A campus.

    :ivar edge: the switch that ADON controls; ``SITE-edge`` if nothing is said.
    :ivar routers: of the campus, the hosts' gateway first; ``SITE-rtr`` if nothing is said.
    :ivar switches: further ones, which forward as any campus switch does.
    :ivar tree: more of them, without being named one by one (:mod:`~mininet_topos.networks.trees`).
    :ivar dtns: ``SITE-dtn`` if nothing is said.
    :ivar measuring: the DTN with the measurement point; the first if nothing is said.
    :ivar network: 10.N.0.0/24 for the N-th site if nothing is said.
    """

    edge: Node | None = None
    routers: tuple[Node, ...] = Field(default=(), max_length=9)
    switches: tuple[Node, ...] = ()
    tree: Annotated[tuple[Annotated[int, Field(ge=1, le=9)], ...], Field(max_length=4)] = ()
    dtns: Frozen[Node, DtnPart | None] = FrozenMap()
    measuring: Node | None = None
    network: IPv4Network | None = None

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if self.network is None:
            return
        if self.network.prefixlen != 24:
            yield f"network: {self.network} is not a /24"
        for special in NO_HOSTS:
            if special.overlaps(self.network):
                yield f"network: {self.network} is in {special}, of which no host can have an address"


def _two(between: object) -> object:
    if not isinstance(between, list | tuple | Mapping) or len(between) != 2:
        raise ValueError("a link joins two nodes: [one, other], or {one: word, other: word}")
    return between if isinstance(between, Mapping) else tuple(between)  # of JSON: no longer a list's


class LinkPart(Part):
    """A link between two nodes; both directions have the same attributes.

    :ivar between: the two nodes; as a mapping each with what its interface is called after the node's name.
    :ivar rate: bits/s on the wire, with Ethernet headers; at full scale.
    :ivar goodput: instead of ``rate``: bits/s of data in one TCP stream of full frames; at full scale.
    :ivar delay: one way.
    :ivar loss: the share of packets that is lost, each by itself.
    :ivar queue: frames that may wait.
    :ivar mtu: bytes of the longest IP packet.
    """

    between: Annotated[
        tuple[Node, Node] | Frozen[Node, Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,12}$")]],
        BeforeValidator(_two),
    ]
    rate: PositiveRate | None = None
    goodput: PositiveRate | None = None
    delay: Duration = 0.0
    loss: Ratio = 0.0
    queue: int = QUEUE
    mtu: int = MAX_MTU

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        nodes = tuple(self.between)
        if nodes[0] == nodes[1]:
            yield "between: a link joins two nodes, which are not the same"
        if self.rate is not None and self.goodput is not None:
            yield "goodput: a link has either a rate or a goodput"
        if self.rate is None and self.goodput is None:
            for given in sorted(self.model_fields_set & {"delay", "loss", "queue", "mtu"}):
                yield f"{given}: is emulated only where a link has a rate or a goodput"


class PathPart(Part):
    """A transit path.

    :ivar over: from one site over nodes to another site; between nodes that more than one link joins, also
        the link's name.
    :ivar vlan: layer 2 only; the first that is free, from 1701 on, if nothing is said.
    :ivar measured: whether the sites' points measure it.
    """

    layer: Literal[2, 3]
    over: tuple[str, ...] = Field(min_length=2)
    vlan: Annotated[int, Field(ge=2, le=4094)] | None = None
    measured: bool = True

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.layer == 3 and self.vlan is not None:
            raise ValueError("vlan: a layer-3 path has none")
        return self


def _on_a_line(title: str) -> str:
    if not title.isprintable():
        raise ValueError("is written on one line, without control characters")
    return title


class Description(Part):
    """A whole network.

    :ivar scale: the rates are divided by it, if nobody asks for another.
    :ivar switches: a provider's; they carry the VLANs of the paths that lead over them and nothing else.
    :ivar routers: between the campuses'.
    """

    network: Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,39}$")]
    title: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_on_a_line)]
    about: str = ""
    scale: Annotated[float, Field(gt=0)] = 1.0
    sites: Frozen[Node, SitePart | None] = Field(min_length=1, max_length=200)
    switches: tuple[Node, ...] = ()
    routers: tuple[Node, ...] = ()
    links: Frozen[Node, LinkPart] = FrozenMap()
    paths: Annotated[Frozen[Name, PathPart], Field(max_length=1000)] = FrozenMap()

    @property
    def campuses(self) -> Mapping[str, SitePart]:
        """The sites; of one of which nothing is written everything is as if nothing was said."""
        return {name: part or SitePart() for name, part in self.sites.items()}
