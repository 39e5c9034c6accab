"""What a path must satisfy, what its links cost, and the path itself: the values of the path search."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from adon.config.network import Cost
from adon.flowvisor.topology.network_graph import Link, NetworkGraph

_REFERENCE_CAPACITY = 10**15
"""A link of 1 Pb/s costs 1 under ``1/capacity``, one of 100 Gb/s 10 000 (OSPF's reference bandwidth)."""


@dataclass(frozen=True, slots=True)
class PathConstraints:
    """What a path must satisfy, and what makes it cheap.

    :param links: the names of links that may be used; None: all.
    :param only_ends: switches that a path may begin or end at, but not pass.
    """

    cost: Cost = Cost.HOPS
    links: frozenset[str] | None = None
    only_ends: frozenset[int] = frozenset()

    def allow(self, link: Link) -> bool:
        """Whether a path may use this link now."""
        return link.live and (self.links is None or link.name in self.links)

    def cost_of(self, link: Link) -> int | None:
        """Return the cost of a link; None if it is not known (no delay was declared: not usable, not free).

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


def price_links(graph: NetworkGraph, constraints: PathConstraints) -> list[tuple[Link, int]]:
    """Return each usable link with its weight: of equal costs, the path with fewer links weighs less.

    The weight is the cost, without the costs' common divisor, times more than a path has links, plus one.
    """
    costs = [(link, constraints.cost_of(link)) for link in graph.links if constraints.allow(link)]
    priced = [(link, cost) for link, cost in costs if cost is not None]
    unit, common = 1 << len(graph.nodes).bit_length(), gcd(*(cost for _, cost in priced)) or 1
    return [(link, cost // common * unit + 1) for link, cost in priced]
