"""The k cheapest loop-free paths between two switches, and the best backup for one.

A :class:`Wish` says what makes a path cheap and what it must be like; :mod:`adon.flowvisor.topology.lawler`
finds the paths, on numbers instead of links.  Costs are whole numbers, so that sums are exact and ties are
real; among equal costs fewer links come first, then the order of datapath ids and link names decides: equal
graphs give equal answers.

A path visits no switch twice: what is returned is loop-free by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from math import gcd

from adon.config.network import Cost
from adon.errors import NotFound
from adon.flowvisor.topology.lawler import Arc, Arcs, cheapest_paths
from adon.flowvisor.topology.network_graph import Graph, Link, joined
from adon.flowvisor.topology.path import Attributes, compose, dpid_text
from measurement.model import Metric

MAX_PATHS = 64
"""No more paths than this are told at once: what is asked for is bounded, so the work is."""

_REFERENCE_CAPACITY = 10**15
"""A link of 1 Pb/s costs 1 under ``1/capacity``, one of 100 Gb/s 10 000 (OSPF's reference bandwidth)."""

_MOST_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Wish:
    """What a path must be like, and what makes it cheap.

    :param links: the names of links that may be used; None: all.
    :param min_capacity: bits/s that every link must have.
    :param mtu: bytes that every link must take.
    :param families: IP versions that every link must carry.
    :param avoid_nodes, avoid_links: what must not be used, for example in a maintenance window.
    :param only_ends: switches that a path may begin or end at, but not pass.
    """

    cost: Cost = Cost.HOPS
    links: frozenset[str] | None = None
    min_capacity: float = 0.0
    mtu: int = 0
    families: frozenset[int] = frozenset()
    avoid_nodes: frozenset[int] = frozenset()
    avoid_links: frozenset[str] = frozenset()
    only_ends: frozenset[int] = frozenset()

    def allows(self, link: Link) -> bool:
        """Whether a path may use this link now."""
        return (
            link.live
            and (self.links is None or link.name in self.links)
            and link.name not in self.avoid_links
            and link.source not in self.avoid_nodes
            and link.target not in self.avoid_nodes
            and link.capacity >= self.min_capacity
            and link.attributes.mtu >= self.mtu
            and self.families <= link.attributes.families
        )

    def price(self, link: Link) -> int | None:
        """What a link costs; None if that is not known (no delay was declared: not usable, not free).

        Nanoseconds for ``delay``, 1 Pb/s over the capacity for ``1/capacity``, a thousand for a hop; a
        penalty raises each.
        """
        match self.cost:
            case Cost.DELAY:
                base = None if link.delay is None else link.delay * 1e9
            case Cost.CAPACITY:
                base = _REFERENCE_CAPACITY / link.capacity
            case Cost.HOPS:
                base = 1000.0
        return None if base is None else round(base * (1.0 + link.penalty))


@dataclass(frozen=True, slots=True)
class Route:
    """A loop-free path: its links in order, and what it costs in the wish's unit."""

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

    @property
    def metrics(self) -> dict[Metric, float]:
        """The links' declared metrics composed (spec section 2); one that a link lacks is absent."""
        return compose([link.metrics for link in self.links])

    @property
    def attributes(self) -> Attributes:
        """What happens to packets on it."""
        return joined(self.links)


def cheapest(graph: Graph, source: int, target: int, count: int, wish: Wish) -> tuple[Route, ...]:
    """The ``count`` cheapest loop-free paths, cheapest first; fewer if there are no more.

    Who asks about several pairs asks a :class:`PathCache`.

    :raises NotFound: if a switch is not in the graph.
    :raises ValueError: for a count outside 1..MAX_PATHS, or if source and target are the same.
    """
    return PathCache().cheapest(graph, source, target, count, wish)


class PathCache:
    """Answers that were worked out, for one content of the graph: a graph that differs empties it.

    Memory only: the same question has the same answer without it, later.
    """

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._prepared: dict[Wish, _Prepared] = {}
        self._routes: dict[tuple[Wish, int, int], tuple[int, tuple[Route, ...]]] = {}

    def cheapest(self, graph: Graph, source: int, target: int, count: int, wish: Wish) -> tuple[Route, ...]:
        """As the function of this name."""
        _check(graph, source, target, count)
        self._look_at(graph)
        asked, known = self._routes.get((wish, source, target), (0, ()))
        if asked < count:
            known = self._ready(graph, wish).routes(source, target, count)
            self._routes[wish, source, target] = count, known
        return known[:count]

    def backup_for(self, graph: Graph, route: Route, wish: Wish) -> Route | None:
        """The path between the same ends that shares the fewest links with ``route``, the cheapest of those.

        A link is shared in whatever direction: its two directions fail together.  Switches passed by both
        count after links and before cost.  None if there is no other path.
        """
        self._look_at(graph)
        prepared = self._ready(graph, wish)
        shared, passed = set(route.names), set(route.nodes[1:-1])
        whole = 1 + sum(cost for arcs in prepared.arcs.out for cost, _, _ in arcs)
        many = len(graph.nodes) + 1

        def price(link: Link, cost: int) -> int:
            return cost + whole * ((link.target in passed) + many * (link.name in shared))

        # The first is the answer unless it is the route itself: then the second is.
        found = prepared.priced(price).routes(route.nodes[0], route.nodes[-1], 2)
        return next((other for other in found if other.links != route.links), None)

    def _ready(self, graph: Graph, wish: Wish) -> _Prepared:
        if wish not in self._prepared:
            self._prepared[wish] = _Prepared.of(graph, wish)
        return self._prepared[wish]

    def _look_at(self, graph: Graph) -> None:
        known = self._graph
        same = known is graph or (known is not None and known.content == graph.content and known == graph)
        if not same or len(self._routes) >= _MOST_REMEMBERED:
            self._prepared.clear()
            self._routes.clear()
        self._graph = graph


def _check(graph: Graph, source: int, target: int, count: int) -> None:
    if not 1 <= count <= MAX_PATHS:
        raise ValueError(f"{count} paths: ask for 1 to {MAX_PATHS}")
    for node in (source, target):
        if node not in graph.nodes:
            raise NotFound("switch", dpid_text(node))
    if source == target:
        raise ValueError(f"a path from switch {dpid_text(source)} to itself has no links")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A graph under one wish, as numbers."""

    links: tuple[Link, ...]
    numbers: dict[int, int]
    arcs: Arcs
    prices: tuple[int, ...]

    @classmethod
    def of(cls, graph: Graph, wish: Wish) -> _Prepared:
        numbers = {node: number for number, node in enumerate(sorted(graph.nodes))}
        only_ends = frozenset(numbers[node] for node in wish.only_ends if node in numbers)
        prices = [wish.price(link) if wish.allows(link) else None for link in graph.links]
        scaled = _scaled(prices, len(numbers))
        known = tuple(0 if price is None else price for price in prices)  # where None, no path leads
        return cls(graph.links, numbers, _arcs(graph.links, numbers, scaled, only_ends), known)

    def priced(self, price: Callable[[Link, int], int]) -> _Prepared:
        """The same with other costs, made from each link and what it costs here."""
        scaled: list[int | None] = [None] * len(self.links)
        for cost, _, number in (arc for arcs in self.arcs.out for arc in arcs):
            scaled[number] = price(self.links[number], cost)
        arcs = _arcs(self.links, self.numbers, scaled, self.arcs.only_ends)
        return _Prepared(self.links, self.numbers, arcs, self.prices)

    def routes(self, source: int, target: int, count: int) -> tuple[Route, ...]:
        """The cheapest paths."""
        ends = self.numbers[source], self.numbers[target]
        return tuple([self._route(each) for each in islice(cheapest_paths(self.arcs, *ends), count)])

    def _route(self, numbers: tuple[int, ...]) -> Route:
        cost = sum(map(self.prices.__getitem__, numbers))
        return Route(cost, tuple(map(self.links.__getitem__, numbers)))


def _scaled(prices: list[int | None], nodes: int) -> list[int | None]:
    # Times more than a path has links, plus one per link: of equal costs, fewer links win.  Without what
    # all have in common, since small numbers add quicker.
    unit, common = 1 << nodes.bit_length(), gcd(*(price for price in prices if price is not None)) or 1
    return [None if price is None else price // common * unit + 1 for price in prices]


def _arcs(
    links: tuple[Link, ...],
    numbers: dict[int, int],
    costs: list[int | None],
    only_ends: frozenset[int],
) -> Arcs:
    out: list[list[Arc]] = [[] for _ in numbers]
    into: list[list[tuple[int, Arc]]] = [[] for _ in numbers]
    for number, (link, cost) in enumerate(zip(links, costs, strict=True)):
        if cost is not None:
            source, target = numbers[link.source], numbers[link.target]
            arc = cost, target, number
            out[source].append(arc)
            into[target].append((source, arc))
    return Arcs(out, into, only_ends)
