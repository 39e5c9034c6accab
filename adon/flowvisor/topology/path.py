"""Candidate transit paths and their known metrics, as values.

A **transit path** leads from one campus edge to another: layer 2 (a VLAN overlay such as AL2S) or
layer 3 (routed, by a next-hop router at each edge).  All values are directed: a
:class:`CandidatePath` is one direction.

Path attributes (MTU, firewall, address translation, IP versions) exclude paths from selection (spec section
2).  They are hard constraints, as the QSpec's bounds are: no score outweighs them.  A *new* flow depends only
on the IP version: its connections start on the path, so a firewall sees their first packets, and TCP learns
the MTU.  A *running* flow has connections that started on another path:

- switches drop packets larger than the new path's MTU and send no ICMP (RFC 8899, 1.1);
- a stateful firewall drops a connection whose first packets it did not see;
- a change of the address translation (RFC 3022) changes the connection that the far end sees.  So NAT on
  *either* path prevents a reroute, a firewall only on the *new* path.
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
    """Return a datapath id as 16 hex digits."""
    return f"{dpid:016x}"


@dataclass(frozen=True, slots=True)
class LinkAttributes:
    """Attributes of a path that constrain its flows.

    :param mtu: bytes of the largest IP packet.
    :param firewall: whether a stateful firewall is on the path.
    :param nat: whether the path translates addresses.
    :param families: the IP versions that the path carries.
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
        """Return the attributes of this path followed by another one."""
        return LinkAttributes(
            min(self.mtu, other.mtu),
            self.firewall or other.firewall,
            self.nat or other.nat,
            self.families & other.families,
        )


def find_obstacle(
    present_attributes: LinkAttributes | None,
    new_attributes: LinkAttributes,
    families_needed: frozenset[int],
    running: bool,
) -> Reason | None:
    """Return the reason why a path cannot carry a flow; None if it can.

    The path must not be the present path of a running flow.

    :param present_attributes: attributes of the flow's present path; None without a path, or if the path is
        no longer known (then only the new path's attributes count).
    :param families_needed: the IP versions of the flow's addresses.
    """
    missing = sorted(families_needed - new_attributes.families)
    if missing:
        return Reason("address-family", f"it does not carry IPv{missing[0]}, which the flow uses")
    if not running:
        return None
    if new_attributes.firewall:
        text = "its stateful firewall did not see the first packets of the flow's connections"
        return Reason("firewall", text)
    if new_attributes.nat:
        text = "it translates addresses, which would break the flow's connections"
        return Reason("nat", text)
    if present_attributes is None:
        return None
    if present_attributes.nat:
        text = "the flow's present path translates addresses, so a reroute would break its connections"
        return Reason("nat", text)
    if new_attributes.mtu < present_attributes.mtu:
        text = f"its MTU of {new_attributes.mtu} B is below the present path's {present_attributes.mtu} B"
        return Reason("mtu", text)
    return None


class Layer(StrEnum):
    """Layer on which a path is switched."""

    L2 = "l2"
    L3 = "l3"


@dataclass(frozen=True, slots=True)
class PathEnd:
    """End of a path at a campus edge.

    :param dpid: the edge switch.
    :param port: the number of its port to the path.
    :param next_hop_mac: MAC address of the next-hop router on layer 3; None on layer 2, where frames have the
        address of the far DTN.
    """

    dpid: int
    port: int
    next_hop_mac: str | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """Transit switch of ADON on a path, with the numbers of its ingress and egress port."""

    dpid: int
    in_port: int
    out_port: int

    def reverse(self) -> Hop:
        """Return the hop in the opposite direction."""
        return Hop(self.dpid, self.out_port, self.in_port)


@dataclass(frozen=True, slots=True)
class Attachment:
    """Attachment of a DTN to the network: edge switch, port and addresses.

    :param address: IPv4 address, or the IPv6 address of a DTN without IPv4.
    :param gateway_mac: MAC address of its gateway: destination of its packets to other subnets, and source of
        the packets that it expects.
    :param address6: IPv6 address of a DTN with both versions.
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
        """Return the IPv4 address; None without one."""
        return None if ":" in self.address else self.address

    def ipv6(self) -> str | None:
        """Return the IPv6 address; None without one."""
        return self.address if ":" in self.address else self.address6


@dataclass(frozen=True, slots=True)
class CandidatePath:
    """Direction of a transit path between two DTNs.

    :param capacity: configured bits/s of this direction.
    :param index: its owner number in cookies: the path's position in the configuration, or the number of
        an overlay's circuit (:mod:`adon.flowvisor.topology.overlay`).
    :param vlan: layer 2 only.
    :param hops: ADON's switches between the two edges, in this direction; empty for a path through a foreign
        network.
    :param declared: composed metrics of its links, as configured; used without measurements.
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
        """Return the opposite direction; both directions have the same configured capacity."""
        return replace(
            self,
            key=PathKey(self.key.path, self.key.destination, self.key.source),
            source_end=self.destination_end,
            destination_end=self.source_end,
            hops=tuple(hop.reverse() for hop in self.hops[::-1]),
        )


class Basis(StrEnum):
    """Basis of a value that a decision used; the decision names it (spec section 2)."""

    TEST = "active test"
    BUCKET = "a token bucket that fits the intervals of an active test"
    """Only for the throughput Γ_a of a transfer of known size; see the module ``token_bucket``."""
    TRAIN = "packet trains between instances at its ends"
    COUNTERS = "capacity less the switch's counters"
    OWN = "the flow's own rate by its rule counters, less the effect of our test"
    LINKS = "composed from what its links are configured to give"
    FAIR_SHARE = "fair share of the tested rate among flows admitted since the test"


@dataclass(frozen=True, slots=True)
class KnownValue:
    """Usable value with its source, time and basis."""

    value: float
    observed_at: float
    source: str
    basis: Basis = Basis.TEST


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """Absence of a usable value, with the reason (never measured, older than max_age)."""

    reason: str


Knowledge = KnownValue | UnknownValue
"""An absent value is neither zero nor good, so the type checker requires a case for it."""


@dataclass(frozen=True, slots=True)
class PathView:
    """Known metrics of a candidate at one time."""

    path: CandidatePath
    metrics: dict[Metric, Knowledge]
    unusable: Reason | None = None


@dataclass(frozen=True, slots=True, order=True)
class FiveTuple:
    """Transport connection; a source port of None means any.

    :param protocol: IP protocol number (6 TCP, 17 UDP).
    """

    protocol: int
    destination_port: int
    source_port: int | None = None


def compose_metrics(links: Sequence[Mapping[Metric, float]]) -> dict[Metric, float]:
    """Return the metrics of a path of several links (spec section 2).

    Throughput and health are the minimum, delays add, jitter adds in quadrature (independent links), and the
    ratios of delivered packets multiply.  A metric that one link does not have is absent from the result.
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
