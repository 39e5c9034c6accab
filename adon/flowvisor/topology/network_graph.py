"""Graph of switches and links for the computation of layer-2 paths: one immutable value.

Nodes are datapath ids; links are directed, two for each configured link.  Three sources describe a link: the
configuration (ports and capacity), the switches' port reports and, with discovery (LLDP), the neighbour at
the other end.  If they disagree, :class:`LinkState` states the permitted use:

========  ====================================================  =========  ================
state     when                                                  new paths  paths over it
========  ====================================================  =========  ================
live      both ports are live, no source contradicts            yes        work
unheard   a switch is not connected: it forwards (R10), but     no         are kept
          nothing can be changed there
down      a port is down or missing, or discovery reports       no         are dead
          another neighbour
========  ====================================================  =========  ================

A link that discovery has *not* seen may still be live: a probe may be late, or the switch may have just
connected.  A discovered link without configuration is never used: its capacity is unknown, and it may be a
patch cable that closes a loop (R15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

from adon.config.network import Cost
from adon.flowvisor.topology.path import LinkAttributes, dpid_text
from adon.reasons import Reason
from measurement.model import Metric

if TYPE_CHECKING:
    from adon.config import Configuration
    from adon.config.network import NetworkLink


@dataclass(frozen=True, slots=True)
class PortState:
    """A port of a switch: its OpenFlow number, whether frames can pass, and its own MAC address.

    :param admin: whether it is switched on.
    :param oper: whether it has carrier.
    """

    number: int
    live: bool
    mac: str = ""
    admin: bool = True
    oper: bool = True


PortKey = tuple[int, int]
"""Datapath id and port number."""
SeenLink = tuple[int, int, int, int]
"""A discovered link: datapath id and port number of the sender, then of the receiver."""


class LinkState(StrEnum):
    """Permitted use of a link; see the module's table."""

    LIVE = "live"
    UNHEARD = "unheard"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a link.

    :param name: of the configured link; both directions have it.
    :param source_port, target_port: OpenFlow port numbers; None if not reported yet.
    :param capacity: bits/s.
    :param delay, jitter: declared one-way seconds; None if not declared.
    :param loss: declared ratio; None if not declared.
    :param state: see the module; ``reason`` says why it is not live.
    """

    name: str
    source: int
    target: int
    source_port: int | None
    target_port: int | None
    capacity: float
    delay: float | None = None
    jitter: float | None = None
    loss: float | None = None
    attributes: LinkAttributes = field(default_factory=LinkAttributes)
    state: LinkState = LinkState.LIVE
    reason: str = ""

    @property
    def live(self) -> bool:
        """Whether a new path may use it."""
        return self.state is LinkState.LIVE

    @property
    def metrics(self) -> dict[Metric, float]:
        """Declared values per metric; the throughput is the capacity, its upper bound."""
        round_trip = None if self.delay is None else 2 * self.delay
        declared = {
            Metric.THROUGHPUT: self.capacity,
            Metric.RTT: round_trip,
            Metric.ONE_WAY_DELAY: self.delay,
            Metric.JITTER: self.jitter,
            Metric.LOSS: self.loss,
        }
        return {metric: value for metric, value in declared.items() if value is not None}


@dataclass(frozen=True)
class NetworkGraph:
    """Switches and directed links; equal content is an equal graph, in any order."""

    nodes: frozenset[int]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.links, key=lambda link: (link.source, link.target, link.name)))
        object.__setattr__(self, "links", ordered)

    @cached_property
    def content(self) -> int:
        """Hash of the content, computed once: the key of cached results."""
        return hash((self.nodes, self.links))

    @cached_property
    def links_by_name(self) -> dict[tuple[str, int], Link]:
        """Directed links by name and source."""
        return {(link.name, link.source): link for link in self.links}


def join_attributes(links: Sequence[Link]) -> LinkAttributes:
    """Return the combined attributes of these links."""
    found = links[0].attributes
    for link in links[1:]:
        found = found.then(link.attributes)
    return found


def build_network_graph(
    configuration: Configuration,
    ports: Mapping[int, Mapping[str, PortState]],
    connected: frozenset[int],
    seen: frozenset[SeenLink] = frozenset(),
) -> NetworkGraph:
    """Build the graph of the configured links, as switches and discovery report them.

    :param ports: last reported ports by name, per datapath id.
    :param seen: discovered links; empty without discovery.
    """
    reported = ReportedPorts(configuration, ports, connected)
    neighbours = {link[:2]: link[2:] for link in seen}
    links = [
        link
        for name, configured in configuration.links.items()
        for link in _directions(name, configured, reported, neighbours)
    ]
    nodes = frozenset(switch.dpid for switch in configuration.switches.values())
    return NetworkGraph(nodes, tuple(links))


@dataclass(frozen=True, slots=True)
class ReportedPorts:
    """Last reported ports of the configured switches.

    :param ports: per datapath id the ports by name.
    :param connected: the datapath ids that are connected now.
    """

    configuration: Configuration
    ports: Mapping[int, Mapping[str, PortState]]
    connected: frozenset[int]

    def number(self, switch: str, port: str) -> int | None:
        """Return the number of a port; None without a report."""
        state = self.ports.get(self.configuration.switches[switch].dpid, {}).get(port)
        return None if state is None else state.number

    def obstacle(self, switch: str, port: str) -> Reason | None:
        """Return the reason why a port is unusable now; None if it is usable."""
        dpid = self.configuration.switches[switch].dpid
        if dpid not in self.connected:
            return Reason("switch-disconnected", f"switch {switch} ({dpid_text(dpid)}) is not connected")
        state = self.ports.get(dpid, {}).get(port)
        if state is None:
            return self.missing_port(switch, port)
        down = Reason("port-down", f"port {port} ({state.number}) of switch {switch} is down")
        return None if state.live else down

    def missing_port(self, switch: str, port: str) -> Reason:
        """Return the reason for an unreported port."""
        named = f"switch {switch} ({dpid_text(self.configuration.switches[switch].dpid)})"
        return Reason("port-unknown", f"{named} has not reported a port {port!r}")


def _directions(
    name: str, link: NetworkLink, reported: ReportedPorts, neighbours: Mapping[PortKey, PortKey]
) -> Iterator[Link]:
    dpids = reported.configuration.switches
    ends = [(dpids[switch].dpid, reported.number(switch, port)) for switch, port in link.ends.items()]
    state, reason = _state(link, reported, ends, neighbours)
    for (source, source_port), (target, target_port) in (ends, ends[::-1]):
        yield Link(
            name=name,
            source=source,
            target=target,
            source_port=source_port,
            target_port=target_port,
            capacity=link.capacity,
            delay=link.delay,
            jitter=link.jitter,
            loss=link.loss,
            attributes=LinkAttributes.of(link),
            state=state,
            reason=reason,
        )


def _state(
    link: NetworkLink,
    reported: ReportedPorts,
    ends: Sequence[tuple[int, int | None]],
    neighbours: Mapping[PortKey, PortKey],
) -> tuple[LinkState, str]:
    told = [reported.obstacle(switch, port) for switch, port in link.ends.items()]
    obstacles = [why for why in told if why is not None]
    # Down before unheard: a port that is down carries nothing.
    for why in sorted(obstacles, key=lambda why: why.code == "switch-disconnected"):
        return (LinkState.UNHEARD if why.code == "switch-disconnected" else LinkState.DOWN), why.text
    for (dpid, number), (far, far_number) in (ends, ends[::-1]):
        seen = neighbours.get((dpid, -1 if number is None else number))
        if seen is not None and seen != (far, far_number):
            port = f"port {number} of switch {dpid_text(dpid)}"
            return LinkState.DOWN, f"{port} was seen to lead to port {seen[1]} of switch {dpid_text(seen[0])}"
    return LinkState.LIVE, ""


_REFERENCE_CAPACITY = 10**15
"""A link of 1 Pb/s costs 1 under ``1/capacity``, one of 100 Gb/s 10 000 (OSPF's reference bandwidth)."""


@dataclass(frozen=True, slots=True)
class PathConstraints:
    """Constraints and cost of paths.

    :param links: names of the permitted links; None for all.
    :param only_ends: switches that may be ends of a path, but not transit switches.
    """

    cost: Cost = Cost.HOPS
    links: frozenset[str] | None = None
    only_ends: frozenset[int] = frozenset()

    def allow(self, link: Link) -> bool:
        """Return whether a path may use this link now."""
        return link.live and (self.links is None or link.name in self.links)

    def cost_of(self, link: Link) -> int | None:
        """Return the cost of a link; None if unknown (without a declared delay it is unusable, not free).

        Nanoseconds for ``delay``, 1 Pb/s over the capacity for ``1/capacity``, a thousand for a hop.
        """
        match self.cost:
            case Cost.DELAY:
                return None if link.delay is None else round(link.delay * 1e9)
            case Cost.CAPACITY:
                return round(_REFERENCE_CAPACITY / link.capacity)
            case Cost.HOPS:
                return 1000


@dataclass(frozen=True, slots=True)
class Route:
    """A loop-free path: its links in order, and its cost in the unit of the constraints."""

    cost: int
    links: tuple[Link, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        """The switches it visits, both ends included."""
        return (self.links[0].source, *(link.target for link in self.links))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its links, in order."""
        return tuple(link.name for link in self.links)


def route_of(links: tuple[Link, ...], constraints: PathConstraints) -> Route:
    """Return the route over these links."""
    return Route(sum(constraints.cost_of(link) or 0 for link in links), links)


def weigh_links(graph: NetworkGraph, constraints: PathConstraints) -> list[tuple[Link, int]]:
    """Return each usable link with its weight: of equal costs, the path with fewer links weighs less.

    The weight is the cost, without the costs' common divisor, times more than a path has links, plus one.
    """
    costs = [(link, constraints.cost_of(link)) for link in graph.links if constraints.allow(link)]
    priced = [(link, cost) for link, cost in costs if cost is not None]
    unit, common = 1 << len(graph.nodes).bit_length(), gcd(*(cost for _, cost in priced)) or 1
    return [(link, cost // common * unit + 1) for link, cost in priced]
