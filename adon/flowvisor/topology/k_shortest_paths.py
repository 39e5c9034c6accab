"""The k cheapest loop-free paths between two switches, and the best backup of a path.

Yen's algorithm (Yen 1971) in ``scipy.sparse.csgraph.yen`` computes the k paths, Dijkstra's algorithm in
networkx the backup.  Costs are whole numbers; a sum below 2**53 is exact.  Paths of equal cost are in the
order of their number of links, then of datapath ids and link names.  Equal graphs give equal results.

A matrix has one entry per pair of nodes.  Therefore each further link between the same two switches gets a
node in its middle, and each half of the link has half of the cost.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import dijkstra, yen

from adon.errors import NotFound
from adon.flowvisor.topology.network_graph import (
    Link,
    NetworkGraph,
    PathConstraints,
    Route,
    route_of,
    weigh_links,
)
from adon.flowvisor.topology.path import dpid_text

MAX_PATHS = 64
"""Maximum number of paths of one search."""

_MAX_TIED = 2 * MAX_PATHS
"""Maximum number of paths that are sorted by name."""
_FIRST_NODES = 64
"""Number of nodes in the first step of the search: the nodes with the cheapest paths through them."""


def backup_path(graph: NetworkGraph, route: Route, constraints: PathConstraints) -> Route | None:
    """Return the path between the same ends that shares the fewest links with ``route``.

    Both directions of a link count as shared, because they fail together.  Of paths with equally many shared
    links, the one with the fewest shared switches wins, then the cheapest.  None if there is no other path.
    """
    priced = weigh_links(graph, constraints)
    shared, passed = set(route.names), set(route.nodes[1:-1])
    ends = {route.nodes[0], route.nodes[-1]}
    dearest = 1 + sum(weight for _, weight in priced)
    by_ends: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    for link, weight in priced:
        if not {link.source, link.target} & (constraints.only_ends - ends):
            conflicts = (link.target in passed) + (len(graph.nodes) + 1) * (link.name in shared)
            by_ends.add_edge(link.source, link.target, key=link.name, weight=weight + dearest * conflicts)
    nodes = nx.dijkstra_path(by_ends, route.nodes[0], route.nodes[-1])
    names = [min(by_ends[a][b].items(), key=lambda each: each[1]["weight"])[0] for a, b in pairwise(nodes)]
    links = tuple(graph.links_by_name[name, node] for name, node in zip(names, nodes, strict=False))
    # A path that shares all links of the route is the route itself.
    return None if links == route.links else route_of(links, constraints)


def _check_search(graph: NetworkGraph, source: int, target: int, count: int) -> None:
    if not 1 <= count <= MAX_PATHS:
        raise ValueError(f"count: {count} is out of range; expected 1 to {MAX_PATHS}")
    for node in (source, target):
        if node not in graph.nodes:
            raise NotFound("switch", dpid_text(node))
    if source == target:
        raise ValueError(f"target: {dpid_text(source)} is also the source; expected another switch")


class CostMatrix:
    """Matrix of the weights of a graph's usable links, with the link of each entry."""

    def __init__(self, graph: NetworkGraph, constraints: PathConstraints) -> None:
        digraph: nx.DiGraph[Any] = nx.DiGraph()
        digraph.add_nodes_from(sorted(graph.nodes))
        for link, weight in weigh_links(graph, constraints):
            if not digraph.has_edge(link.source, link.target):
                digraph.add_edge(link.source, link.target, weight=2 * weight, link=link)
            else:
                middle = link.name, link.source
                digraph.add_edge(link.source, middle, weight=weight, link=link)
                digraph.add_edge(middle, link.target, weight=weight, link=None)
        self._graph, self._constraints, self._digraph = graph, constraints, digraph
        self._nodes = list(digraph)
        self._number = {node: number for number, node in enumerate(self._nodes)}
        matrix = nx.to_scipy_sparse_array(digraph, dtype=np.dtype(float), format="csr")
        for indices in ("indices", "indptr"):  # scipy's yen requires 32-bit indices
            setattr(matrix, indices, getattr(matrix, indices).astype(np.int32))
        self._matrix = matrix

    def routes(self, source: int, target: int, count: int) -> tuple[Route, ...]:
        """Return the cheapest paths; those of equal cost in the order of datapath ids and link names."""
        _check_search(self._graph, source, target, count)
        asked = count + 1
        found = self._cheapest(source, target, asked)
        # While the last path costs as much as the k-th, more paths of that cost may exist.
        while len(found) == asked < _MAX_TIED and found[-1][0] == found[count - 1][0]:
            asked = min(2 * asked, _MAX_TIED)
            found = self._cheapest(source, target, asked)
        found.sort(key=lambda each: (each[0], [(link.target, link.name) for link in each[1]]))
        return tuple(route_of(links, self._constraints) for _, links in found[:count])

    def _cheapest(self, source: int, target: int, count: int) -> list[tuple[float, tuple[Link, ...]]]:
        # Return weights and links.  ``through`` is the weight of the cheapest path through each node.  A
        # search
        # in the nodes with the smallest values is complete if its last path weighs less than any path through
        # another node.
        usable, matrix = self._usable(source, target)
        start, end = np.searchsorted(usable, [self._number[source], self._number[target]])
        through = dijkstra(matrix, indices=start) + dijkstra(matrix.T, indices=end)
        order, reachable = np.argsort(through, kind="stable"), int(np.isfinite(through).sum())
        size = _FIRST_NODES
        while reachable:
            near = np.sort(order[: min(size, reachable)])
            ends = np.searchsorted(near, [start, end])
            weights, before = yen(matrix[near][:, near], *ends, count, return_predecessors=True)
            complete = len(weights) == count and weights[-1] < through[order[min(size, reachable - 1)]]
            if complete or size >= reachable:
                return [
                    (float(weight), self._links([usable[near[each]] for each in _walk(row, *ends)]))
                    for weight, row in zip(weights, before, strict=True)
                ]
            size *= 4
        return []

    def _usable(self, source: int, target: int) -> tuple[Any, Any]:
        # Return the numbers of the nodes that a path between these ends may visit, and their part of the
        # matrix.
        passed_never = self._constraints.only_ends - {source, target}
        excluded = [self._number[node] for node in passed_never if node in self._number]
        usable = np.delete(np.arange(len(self._nodes)), excluded)
        return usable, self._matrix[usable][:, usable] if excluded else self._matrix

    def _links(self, numbers: list[int]) -> tuple[Link, ...]:
        nodes = [self._nodes[number] for number in numbers]
        edges = (self._digraph.edges[pair]["link"] for pair in pairwise(nodes))
        return tuple(link for link in edges if link is not None)


def _walk(before: Any, start: int, end: int) -> list[int]:
    # Return the nodes of one path from its row of predecessors.
    nodes = [int(end)]
    while nodes[-1] != start:
        nodes.append(int(before[nodes[-1]]))
    return nodes[::-1]
