"""Answers of the path search, for as long as the network stays the same.

The libraries of the search take 50 MB and a quarter of a second: they are imported with the first question,
so a network without overlays does not load them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adon.flowvisor.topology.network_graph import NetworkGraph
from adon.flowvisor.topology.path_constraints import PathConstraints, Route

if TYPE_CHECKING:
    from adon.flowvisor.topology.k_shortest_paths import CostMatrix

_MAX_CACHED = 4096


class PathCache:
    """Answers for one content of the graph; a graph that differs empties the cache.

    Memory only: the same question has the same answer without it, later.
    """

    def __init__(self) -> None:
        self._graph: NetworkGraph | None = None
        self._matrices: dict[PathConstraints, CostMatrix] = {}
        self._routes: dict[tuple[PathConstraints, int, int, int], tuple[Route, ...]] = {}
        self._backups: dict[tuple[PathConstraints, Route], Route | None] = {}

    def k_shortest_paths(
        self, graph: NetworkGraph, source: int, target: int, count: int, constraints: PathConstraints
    ) -> tuple[Route, ...]:
        """Return the ``count`` cheapest loop-free paths, cheapest first; fewer if there are no more.

        :raises NotFound: if a switch is not in the graph.
        :raises ValueError: for a count outside 1..64, or if source and target are the same.
        """
        self._follow(graph)
        question = constraints, source, target, count
        if question not in self._routes:
            from adon.flowvisor.topology.k_shortest_paths import CostMatrix

            if constraints not in self._matrices:
                self._matrices[constraints] = CostMatrix(graph, constraints)
            self._routes[question] = self._matrices[constraints].routes(source, target, count)
        return self._routes[question]

    def backup_path(self, graph: NetworkGraph, route: Route, constraints: PathConstraints) -> Route | None:
        """Return the path between the same ends that shares the fewest links with ``route``, or None."""
        self._follow(graph)
        question = constraints, route
        if question not in self._backups:
            from adon.flowvisor.topology.k_shortest_paths import backup_path

            self._backups[question] = backup_path(graph, route, constraints)
        return self._backups[question]

    def _follow(self, graph: NetworkGraph) -> None:
        known = self._graph
        same = known is graph or (known is not None and known.content == graph.content and known == graph)
        if not same or len(self._routes) + len(self._backups) >= _MAX_CACHED:
            self._matrices.clear()
            self._routes.clear()
            self._backups.clear()
        self._graph = graph
