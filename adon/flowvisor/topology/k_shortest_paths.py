"""The k cheapest loop-free paths between two switches, and the best backup for one.

The k paths come from Yen's algorithm (Yen 1971) in ``scipy.sparse.csgraph.yen``, the backup from Dijkstra's
in networkx.  Costs are whole numbers; a sum below 2**53 is exact.  Among equal costs fewer links come first,
then the order of datapath ids and link names.  Equal graphs give equal answers.

A matrix has one entry per pair of nodes.  A second link between two switches therefore gets a node in its
middle, with half of its cost on either side.
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
    price_links,
    route_of,
)
from adon.flowvisor.topology.path import dpid_text

MAX_PATHS = 64
"""The most paths that one question may ask for."""

_MAX_TIED = 2 * MAX_PATHS
"""No more paths than this are compared by name."""
_FIRST_NODES = 64
"""The search begins with this many nodes, those with the cheapest paths through them."""


def backup_path(graph: NetworkGraph, route: Route, constraints: PathConstraints) -> Route | None:
    """Return the path between the same ends that shares the fewest links with ``route``.

    A link is shared in either direction: its two directions fail together.  Shared switches count after links
    and before cost.  None if there is no other path.
    """
    priced = price_links(graph, constraints)
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
    # A path that shares all links of the route is the route: then there is no other.
    return None if links == route.links else route_of(links, constraints)


def _check_question(graph: NetworkGraph, source: int, target: int, count: int) -> None:
    if not 1 <= count <= MAX_PATHS:
        raise ValueError(f"{count} paths: ask for 1 to {MAX_PATHS}")
    for node in (source, target):
        if node not in graph.nodes:
            raise NotFound("switch", dpid_text(node))
    if source == target:
        raise ValueError(f"a path from switch {dpid_text(source)} to itself has no links")


class CostMatrix:
    """The usable links of a graph as a matrix of weights, and which link each entry is."""

    def __init__(self, graph: NetworkGraph, constraints: PathConstraints) -> None:
        digraph: nx.DiGraph[Any] = nx.DiGraph()
        digraph.add_nodes_from(sorted(graph.nodes))
        for link, weight in price_links(graph, constraints):
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
        for indices in ("indices", "indptr"):  # scipy's yen takes no others
            setattr(matrix, indices, getattr(matrix, indices).astype(np.int32))
        self._matrix = matrix

    def routes(self, source: int, target: int, count: int) -> tuple[Route, ...]:
        """Return the cheapest paths; equal ones in the order of datapath ids and names."""
        _check_question(self._graph, source, target, count)
        asked = count + 1
        found = self._cheapest(source, target, asked)
        # As long as the last one costs as much as the k-th, there may be more of that cost.
        while len(found) == asked < _MAX_TIED and found[-1][0] == found[count - 1][0]:
            asked = min(2 * asked, _MAX_TIED)
            found = self._cheapest(source, target, asked)
        found.sort(key=lambda each: (each[0], [(link.target, link.name) for link in each[1]]))
        return tuple(route_of(links, self._constraints) for _, links in found[:count])

    def _cheapest(self, source: int, target: int, count: int) -> list[tuple[float, tuple[Link, ...]]]:
        # Weights and links.  A path through a node weighs at least the cheapest one through it: the search on
        # the nodes where that is small is complete once its last path weighs less than one through any other.
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
        # The numbers of the nodes that a path between these ends may visit, and their part of the matrix.
        passed_never = self._constraints.only_ends - {source, target}
        excluded = [self._number[node] for node in passed_never if node in self._number]
        usable = np.delete(np.arange(len(self._nodes)), excluded)
        return usable, self._matrix[usable][:, usable] if excluded else self._matrix

    def _links(self, numbers: list[int]) -> tuple[Link, ...]:
        nodes = [self._nodes[number] for number in numbers]
        edges = (self._digraph.edges[pair]["link"] for pair in pairwise(nodes))
        return tuple(link for link in edges if link is not None)


def _walk(before: Any, start: int, end: int) -> list[int]:
    # The nodes of one path, from its row of predecessors.
    nodes = [int(end)]
    while nodes[-1] != start:
        nodes.append(int(before[nodes[-1]]))
    return nodes[::-1]
