"""Candidate transit paths and what is known about them, as values.

A **transit path** leads from one campus edge to another: layer 2 (a VLAN overlay such as AL2S) or
layer 3 (routed, by a next-hop router at each edge).  All values are directed: a
:class:`CandidatePath` is one direction.

What a path does to packets, and which flows it therefore cannot take (spec section 2, path attributes).

These are hard constraints beside the QSpec's bounds: no score outweighs them.  A *new* flow needs its
address family only: its connections begin on the path, so a firewall sees their first packets, and TCP
learns the MTU.  A *running* flow brings connections that began elsewhere:

- packets larger than the new path's MTU would be lost in switches, which send no ICMP (RFC 8899, 1.1);
- a stateful firewall drops a connection whose beginning it did not see;
- behind another address translation, or without the one it began behind, the far end sees another
  connection (RFC 3022).  So NAT on *either* path holds the flow, a firewall only on the *new* one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from adon.reasons import Reason
from measurement.model import Metric, PathKey

if TYPE_CHECKING:
    from adon.config.network import NetworkLink, TransitPath


def dpid_text(dpid: int) -> str:
    """A datapath id as 16 hex digits."""
    return f"{dpid:016x}"


@dataclass(frozen=True, slots=True)
class LinkAttributes:
    """What happens to packets on a path.

    :param mtu: bytes of the largest IP packet.
    :param firewall: a stateful firewall is on the path.
    :param nat: addresses are translated on the path.
    :param families: the IP versions that get through.
    """

    mtu: int = 1500
    firewall: bool = False
    nat: bool = False
    families: frozenset[int] = frozenset({4, 6})

    @classmethod
    def of(cls, configured: TransitPath | NetworkLink) -> LinkAttributes:
        """Return the attributes of a configured path or link."""
        families = frozenset(configured.families)
        return cls(configured.mtu, configured.firewall, configured.nat, families)

    def then(self, other: LinkAttributes) -> LinkAttributes:
        """The attributes of two paths, one behind the other."""
        return LinkAttributes(
            min(self.mtu, other.mtu),
            self.firewall or other.firewall,
            self.nat or other.nat,
            self.families & other.families,
        )


def obstacle(
    present_attributes: LinkAttributes | None,
    new_attributes: LinkAttributes,
    families_needed: frozenset[int],
    running: bool,
) -> Reason | None:
    """Why a flow cannot be put on a path; None if it can.

    Not to be asked about the path that a running flow is on already: staying is no move.

    :param present_attributes: of the path that the flow is on; None if it is on none, or on one that
        nothing is known of any more (then only what the new path needs is asked).
    :param families_needed: the IP versions of the flow's addresses.
    """
    missing = sorted(families_needed - new_attributes.families)
    if missing:
        return Reason("address-family", f"it does not carry IPv{missing[0]}, which the flow uses")
    if not running:
        return None
    if new_attributes.firewall:
        text = "a stateful firewall is on it, which did not see the flow's connections begin"
        return Reason("firewall", text)
    if new_attributes.nat:
        text = "it translates addresses: the far end would not know the flow's connections any more"
        return Reason("nat", text)
    if present_attributes is None:
        return None
    if present_attributes.nat:
        text = "the flow's connections began behind the address translation of its present path"
        return Reason("nat", text)
    if new_attributes.mtu < present_attributes.mtu:
        text = f"its MTU of {new_attributes.mtu} B is below the {present_attributes.mtu} B the flow has now"
        return Reason("mtu", text)
    return None


class Layer(StrEnum):
    """Where a path is switched."""

    L2 = "l2"
    L3 = "l3"


@dataclass(frozen=True, slots=True)
class PathEnd:
    """Where a path meets a campus edge.

    :param dpid: the edge switch.
    :param port: the number of its port that leads onto the path.
    :param next_hop_mac: layer 3: the router a frame must be addressed to; None on layer 2, where the
        frame is addressed to the far DTN itself.
    """

    dpid: int
    port: int
    next_hop_mac: str | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """A transit switch of ours on a path: the number of the port a packet comes in by, and goes out by."""

    dpid: int
    in_port: int
    out_port: int

    def reverse(self) -> Hop:
        """The same switch on the way back."""
        return Hop(self.dpid, self.out_port, self.in_port)


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where and as whom a DTN is attached: its edge switch and port, and its addresses.

    :param address: IPv4, or IPv6 if that is all it has.
    :param gateway_mac: the MAC its packets to other subnets are addressed to, and from which it
        expects to hear.
    :param address6: its IPv6 address beside an IPv4 one.
    """

    host: str
    site: str
    dpid: int
    port: int
    address: str
    mac: str
    gateway_mac: str
    address6: str | None = None

    def ipv4(self) -> str | None:
        """Its IPv4 address, if it has one."""
        return None if ":" in self.address else self.address

    def ipv6(self) -> str | None:
        """Its IPv6 address, if it has one."""
        return self.address if ":" in self.address else self.address6


@dataclass(frozen=True, slots=True)
class CandidatePath:
    """One direction of one transit path between two DTNs.

    :param capacity: bits/s that the path can carry in this direction, as configured.
    :param index: its owner number in cookies: the path's position in the configuration, or the number of
        an overlay's circuit (:mod:`adon.flowvisor.topology.overlay`).
    :param vlan: layer 2 only.
    :param hops: the switches of ours between the two edges, in this direction; empty where the path leads
        through somebody else's network.
    :param attributes: what happens to packets on it.
    :param declared: what the links that it consists of are configured to give, composed; it serves where
        nothing was measured.
    """

    key: PathKey
    layer: Layer
    index: int
    capacity: float
    source_end: PathEnd
    destination_end: PathEnd
    vlan: int | None = None
    hops: tuple[Hop, ...] = ()
    attributes: LinkAttributes = LinkAttributes()
    declared: tuple[tuple[Metric, float], ...] = ()

    def reverse(self) -> CandidatePath:
        """The way back over the same path; the configuration gives both directions one capacity."""
        return replace(
            self,
            key=PathKey(self.key.path, self.key.destination, self.key.source),
            source_end=self.destination_end,
            destination_end=self.source_end,
            hops=tuple(hop.reverse() for hop in self.hops[::-1]),
        )


class Basis(StrEnum):
    """What a value that a decision used was based on; the decision names it (spec section 2)."""

    TEST = "active test"
    BUCKET = "a token bucket that fits the intervals of an active test"
    """Of Γ_a alone, for a transfer of a certain size (:mod:`adon.flowvisor.selection.token_bucket`)."""
    TRAIN = "packet trains between instances at its ends"
    COUNTERS = "capacity less the switch's counters"
    OWN = "the flow's own rate by its rule counters, less the effect of our test"
    LINKS = "composed from what its links are configured to give"
    FAIR_SHARE = "fair share of the tested rate among flows admitted since the test"


@dataclass(frozen=True, slots=True)
class Known:
    """A usable value, with where it came from and when."""

    value: float
    observed_at: float
    source: str
    basis: Basis = Basis.TEST


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no usable value; ``reason`` says why (never measured, older than max_age)."""

    reason: str


Knowledge = Known | Unknown
"""Absent is neither zero nor good: the type checker makes every reader say which it means."""


@dataclass(frozen=True, slots=True)
class PathView:
    """What is known about one candidate at one moment, per metric."""

    path: CandidatePath
    metrics: dict[Metric, Knowledge]
    unusable: Reason | None = None


@dataclass(frozen=True, slots=True, order=True)
class FiveTuple:
    """One transport connection, or a family of them: a source port of None means any.

    ``protocol`` is an IP protocol number (6 TCP, 17 UDP).
    """

    protocol: int
    destination_port: int
    source_port: int | None = None


def compose(links: Sequence[Mapping[Metric, float]]) -> dict[Metric, float]:
    """The metrics of a path of several links (spec section 2).

    Throughput and health are the smallest, delays add, jitter adds in quadrature (independent links), and
    what survives multiplies.  A metric that one link does not have is absent from the result.
    """
    common = [metric for metric in Metric if links and all(metric in link for link in links)]
    return {metric: _compose_metric(metric, [link[metric] for link in links]) for metric in common}


def _compose_metric(metric: Metric, values: Sequence[float]) -> float:
    match metric:
        case Metric.THROUGHPUT | Metric.HEALTH:
            return min(values)
        case Metric.RTT | Metric.ONE_WAY_DELAY:
            return math.fsum(values)
        case Metric.JITTER:
            return math.hypot(*values)
        case Metric.LOSS:
            return 1.0 - math.prod(1.0 - value for value in values)
