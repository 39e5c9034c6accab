"""What a file of the Topology Zoo leaves open, settled: campuses, lengths, rates, paths, scale.

- delay: the great circle between both ends in fibre; where a place is missing, a stated one;
- rate: where the file gives none, a stated one;
- paths: per pair of campuses overlays (layer 2) that share no link, and a routed path (layer 3).  The
  routed path leads over one router, told to be at the node from which the farthest campus is nearest; its
  delays are those of the shortest ways there;
- scale: a power of ten, so that the fastest link becomes no faster than :data:`FASTEST`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from adon.errors import InvalidInput, Problem
from adon.units import format_rate
from mininet_topos.networks.description import MOST_PATHS
from mininet_topos.topology import MAX_DELAY, MIN_RATE
from mininet_topos.zoo.campuses import costs, farthest_apart, named
from mininet_topos.zoo.disjoint import disjoint_paths
from mininet_topos.zoo.model import Edge, Graph, Node
from mininet_topos.zoo.places import completed
from mininet_topos.zoo.speeds import MOST

FIBRE = 299_792.458 / 1.468
"""Kilometres per second of light in fibre: the group index of ITU-T G.652 fibre at 1550 nm is 1.468."""

FASTEST = 100e6
"""Bits/s as built; several links that are faster are more than two cores switch in software."""

MOST_NODES = 200
"""What one machine builds."""

ROUTED_SHARE = 0.1
"""Of the narrowest overlay's rate, what the routed path carries if nothing is said: 0.11 in [ADON] 5."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever imports may choose.

    :param campuses: labels or ids of the nodes that get a campus; empty for ``number`` far apart.
    :param overlays: disjoint layer-2 paths between two campuses, at most.
    :param rate: bits/s of links of which the file says none.
    :param delay: seconds of links with an end whose place is unknown.
    :param routed: bits/s of the routed path; None for :data:`ROUTED_SHARE`.
    :param at_least: bits/s that slower links are raised to; None to leave them as they are.
    """

    campuses: Sequence[str] = ()
    number: int = 2
    overlays: int = 2
    rate: float = 10e9
    delay: float = 1e-3
    routed: float | None = None
    at_least: float | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The part that is built, with what the file left open.

    :param delays: seconds, by edge name.
    :param rates: bits/s, by edge name.
    :param ways: per pair of campuses the overlays.
    :param router: the node that the routed path's router is told to be at; it need not be built.
    :param routed: per campus the seconds of the shortest way from there.
    """

    graph: Graph
    campuses: tuple[Node, ...]
    delays: Mapping[str, float]
    rates: Mapping[str, float]
    ways: Mapping[tuple[str, str], tuple[tuple[Edge, ...], ...]]
    router: Node
    routed: Mapping[str, float]


def settle(graph: Graph, wishes: Wishes) -> Settled:
    """Settle what a file leaves open.

    :raises InvalidInput: if a wish cannot be fulfilled, or what follows from it is more than can be
        described; it names the node.
    """
    problems = tuple(_impossible(wishes))
    if problems:
        raise InvalidInput(problems)
    chosen = frozenset(node.key for node in named(graph, wishes.campuses)) if wishes.campuses else frozenset()
    graph = completed(_own(graph, chosen))
    delays = {edge.name: _delay(graph, edge, wishes.delay) for edge in graph.edges}

    def cost(edge: Edge) -> int:
        return _nanoseconds(delays[edge.name])

    campuses = (
        tuple(graph.nodes[node.key] for node in named(graph, wishes.campuses))
        if wishes.campuses
        else farthest_apart(graph, wishes.number, wishes.overlays, cost)
    )
    graph = _joined(graph, campuses)
    ways = {
        (one.key, other.key): disjoint_paths(graph, one.key, other.key, wishes.overlays, cost)
        for one, other in combinations(campuses, 2)
    }
    far = [costs(graph, campus.key, cost) for campus in campuses]
    router = min(
        (node for node in graph.nodes.values() if not node.hyperedge),
        key=lambda node: (max(its[node.key] for its in far), node.key),
    )
    routed = {campus.key: its[router.key] / 1e9 for campus, its in zip(campuses, far, strict=True)}
    problems = (*_too_far(campuses, router, routed), *_too_many(ways))
    if problems:
        raise InvalidInput(problems)
    graph = _fewer(graph, ways)
    rates = {
        edge.name: max(wishes.rate if edge.rate is None else edge.rate, wishes.at_least or 0.0)
        for edge in graph.edges
    }
    return Settled(graph, campuses, delays, rates, ways, router, routed)


def _impossible(wishes: Wishes) -> Iterator[Problem]:
    if not 1 <= wishes.overlays <= 16:
        yield Problem("overlays", f"{wishes.overlays} is not in 1..16")
    for name, rate in (("rate", wishes.rate), ("routed", wishes.routed), ("at_least", wishes.at_least)):
        if rate is not None and not 0 < rate <= MOST:
            yield Problem(name, f"{format_rate(rate)} is not a rate that a link has")
    if not 0 <= wishes.delay <= MAX_DELAY:
        yield Problem("delay", f"{wishes.delay:g} s is not in 0..{MAX_DELAY:g} s")


def _too_far(campuses: Sequence[Node], router: Node, routed: Mapping[str, float]) -> Iterator[Problem]:
    for campus in campuses:
        if routed[campus.key] > MAX_DELAY:
            far = (
                f"{routed[campus.key]:g} s of routed path are to {router}, which is not in 0..{MAX_DELAY:g} s"
            )
            yield Problem(str(campus), f"{far}: let links without a length have less delay")


def _too_many(ways: Mapping[tuple[str, str], Sequence[object]]) -> Iterator[Problem]:
    # Of each two campuses the overlays, and a routed path.
    number = sum(len(found) + 1 for found in ways.values())
    if number > MOST_PATHS:
        cause = f"have {number} paths between them, of {MOST_PATHS} at most: take fewer, or fewer overlays"
        yield Problem("campuses", cause)


def _own(graph: Graph, chosen: frozenset[str]) -> Graph:
    """Without other networks, unless somebody chose one of their nodes for a campus."""
    others = [node for key, node in graph.nodes.items() if node.external and key not in chosen]
    kept = frozenset(graph.nodes) - {node.key for node in others}
    if not others:
        return graph
    return graph.only(kept, f"left out, for they are other networks': {_listed(others)}")


def _joined(graph: Graph, campuses: Sequence[Node]) -> Graph:
    kept = graph.part(campuses[0].key)
    rest = [node for key, node in graph.nodes.items() if key not in kept]
    return (
        graph.only(kept, f"left out, for nothing joins them to the campuses: {_listed(rest)}")
        if rest
        else graph
    )


def _fewer(graph: Graph, ways: Mapping[tuple[str, str], tuple[tuple[Edge, ...], ...]]) -> Graph:
    """Only what paths lead over, if the whole is more than can be built."""
    if len(graph.nodes) <= MOST_NODES:
        return graph
    used = {key for found in ways.values() for way in found for edge in way for key in edge.ends}
    cause = f"{len(graph.nodes)} nodes are more than the {MOST_NODES} that one machine builds"
    return graph.only(frozenset(used), f"left out, for {cause}: all that no overlay leads over")


def _listed(nodes: Sequence[Node]) -> str:
    return ", ".join(str(node) for node in nodes)


def _delay(graph: Graph, edge: Edge, otherwise: float) -> float:
    one, other = (graph.nodes[key].place for key in edge.ends)
    return otherwise if one is None or other is None else one.distance(other) / FIBRE


def _nanoseconds(delay: float) -> int:
    return max(1, round(delay * 1e9))


def routed_share(settled: Settled, scale: int) -> float:
    """What the routed path carries if nothing is said."""
    overlays = (way for ways in settled.ways.values() for way in ways)
    narrowest = min(settled.rates[edge.name] for way in overlays for edge in way)
    return max(narrowest * ROUTED_SHARE, MIN_RATE * scale)


def scale_of(settled: Settled, routed: float | None) -> int:
    """What rates are divided by.

    :raises InvalidInput: for each link that is too slow beside the fastest; it names the link.
    """
    fastest = max(*settled.rates.values(), routed or 0.0)
    scale = 1
    while fastest / scale > FASTEST:
        scale *= 10
    problems = [
        Problem(
            edge.name,
            f"{format_rate(settled.rates[edge.name])} is too slow to be built beside {format_rate(fastest)}: "
            f"1:{scale} is {format_rate(settled.rates[edge.name] / scale)}, below {format_rate(MIN_RATE)}; "
            f"let links have at least {format_rate(MIN_RATE * scale)}",
        )
        for edge in settled.graph.edges
        if settled.rates[edge.name] / scale < MIN_RATE
    ]
    if routed is not None and routed / scale < MIN_RATE:
        problems.append(Problem("routed", f"{format_rate(routed)} is too slow beside {format_rate(fastest)}"))
    if problems:
        raise InvalidInput(problems)
    return scale


def short_of(settled: Settled, overlays: int) -> Iterator[str]:
    """Notes of the pairs of campuses that have fewer disjoint paths than were wished for."""
    for (one, other), ways in settled.ways.items():
        if len(ways) < overlays:
            nodes = settled.graph.nodes
            yield f"between {nodes[one]} and {nodes[other]} there are only {len(ways)} disjoint paths"
