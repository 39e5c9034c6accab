"""Which nodes of a network become campuses: those that are named, or those farthest apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import combinations
from math import inf

from adon.errors import InvalidInput
from adon.nearest_key import absent
from mininet_topos.zoo.disjoint import Cost, disjoint_paths
from mininet_topos.zoo.model import Graph, Node

MOST_TRIED = 400
"""Pairs of far apart nodes that are asked for disjoint paths before any will do; each takes milliseconds."""


def named(graph: Graph, wanted: Sequence[str]) -> tuple[Node, ...]:
    """The nodes of these labels or ids, in this order.

    :raises InvalidInput: for each that is none, is several, or stands for a link; for one named twice; for
        two that no path joins.
    """
    problems = [cause for name in wanted for cause in _no_campus(graph, name)]
    if problems:
        raise InvalidInput.of("campuses", "; ".join(problems))
    found = tuple(_called(graph, name)[0] for name in wanted)
    if len({node.key for node in found}) < max(len(found), 2):
        raise InvalidInput.of("campuses", f"{', '.join(wanted)}: at least two different nodes are needed")
    within = graph.part(found[0].key)
    for node in found:
        if node.key not in within:
            raise InvalidInput.of("campuses", f"no path joins {found[0]} and {node}")
    return found


def farthest_apart(graph: Graph, number: int, paths: int, cost: Cost) -> tuple[Node, ...]:
    """So many nodes, each as far as can be from those before, with so many disjoint paths between any two.

    Far is the great circle if every candidate has a place, else the cheapest way.  Where no nodes have so
    many disjoint paths, the farthest are taken without.  Candidates are the nodes of the largest connected
    part that belong to the network itself.

    :raises InvalidInput: if there are not so many candidates.
    """
    candidates = _candidates(graph)
    if len(candidates) < 2:
        raise InvalidInput.of("campuses", "no two nodes of the network's own are joined by links")
    if not 2 <= number <= len(candidates):
        raise InvalidInput.of("campuses", f"{number} is not in 2..{len(candidates)}, the nodes there are")
    apart = _Apart(graph, candidates, cost)
    pairs = sorted(combinations(candidates, 2), key=lambda pair: -apart(*pair))
    for pair in pairs[:MOST_TRIED]:
        found = _grown(graph, pair, candidates, number, paths, cost, apart)
        if found is not None:
            return found
    found = _grown(graph, pairs[0], candidates, number, 1, cost, apart)
    assert found is not None  # noqa: S101 - the candidates are connected
    return found


def _grown(
    graph: Graph,
    start: tuple[Node, Node],
    candidates: Sequence[Node],
    number: int,
    paths: int,
    cost: Cost,
    apart: _Apart,
) -> tuple[Node, ...] | None:
    """The pair and further nodes; None if it, or too few others, have the paths."""
    if not _joined(graph, *start, paths, cost):
        return None
    found = list(start)
    rest = [node for node in candidates if node not in start]
    while len(found) < number:
        rest.sort(key=lambda node: -min(apart(node, one) for one in found))
        good = next(
            (node for node in rest if all(_joined(graph, node, one, paths, cost) for one in found)), None
        )
        if good is None:
            return None
        found.append(good)
        rest.remove(good)
    return tuple(found)


def _joined(graph: Graph, one: Node, other: Node, paths: int, cost: Cost) -> bool:
    if min(len(graph.at[one.key]), len(graph.at[other.key])) < paths:
        return False
    return paths == 1 or len(disjoint_paths(graph, one.key, other.key, paths, cost)) == paths


def _candidates(graph: Graph) -> list[Node]:
    parts: list[frozenset[str]] = []
    left = set(graph.nodes)
    while left:
        part = graph.part(min(left))
        parts.append(part)
        left -= part
    suited = [
        [
            node
            for key, node in graph.nodes.items()
            if key in part and not node.external and not node.hyperedge
        ]
        for part in parts
    ]
    return max(suited, key=len, default=[])


class _Apart:
    """How far two candidates are apart: kilometres, or the cost of the cheapest way."""

    def __init__(self, graph: Graph, candidates: Sequence[Node], cost: Cost) -> None:
        self._graph, self._cost = graph, cost
        self._on_earth = all(node.place is not None for node in candidates)
        self._known: dict[str, dict[str, int]] = {}

    def __call__(self, one: Node, other: Node) -> float:
        if self._on_earth and one.place is not None and other.place is not None:
            return one.place.distance(other.place)
        if one.key not in self._known:
            self._known[one.key] = costs(self._graph, one.key, self._cost)
        return self._known[one.key].get(other.key, inf)


def costs(graph: Graph, begin: str, cost: Cost) -> dict[str, int]:
    """Of the cheapest way from one node to each that can be reached (Dijkstra)."""
    done: dict[str, int] = {}
    ahead = [(0, begin)]
    while ahead:
        far, here = heappop(ahead)
        if here in done:
            continue
        done[here] = far
        for edge in graph.at[here]:
            heappush(ahead, (far + cost(edge), edge.beyond(here)))
    return done


def _called(graph: Graph, name: str) -> list[Node]:
    if name in graph.nodes and not any(node.label == name for node in graph.nodes.values()):
        return [graph.nodes[name]]
    return [node for node in graph.nodes.values() if node.label.casefold() == name.casefold()]


def _no_campus(graph: Graph, name: str) -> Iterator[str]:
    found = _called(graph, name)
    if not found:
        yield absent("node", name, [node.label for node in graph.nodes.values()])
    elif len(found) > 1:
        ids = ", ".join(node.key for node in found)
        yield f"{len(found)} nodes are called {name!r}: write one of the ids {ids}"
    elif found[0].hyperedge:
        yield f"{found[0]} stands for a link with several ends"
