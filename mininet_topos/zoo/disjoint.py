"""Paths that share no link, together as short as possible.

Two overlays that share a link fail together and compete for it, which an experiment on the choice between
them must know; so an imported network gets overlays that do not.  The cheapest two shortest paths, one after
the other, are not the answer: the first may block every second.  J. W. Suurballe ("Disjoint paths in a
network", Networks 4, 1974) and R. Bhandari ("Survivable Networks", 1999) find the best set by letting a
later path take back links of an earlier one, as a flow of least cost does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

from mininet_topos.zoo.model import Edge, Graph

Cost = Callable[[Edge], int]
"""A whole number above 0, such as nanoseconds, so that sums are exact and ties are real."""


@dataclass(frozen=True, slots=True)
class _Step:
    """An edge in the direction of use."""

    edge: Edge
    begins: str

    @property
    def ends(self) -> str:
        return self.edge.beyond(self.begins)


def disjoint_paths(graph: Graph, one: str, other: str, most: int, cost: Cost) -> tuple[tuple[Edge, ...], ...]:
    """As many paths as there are, but at most ``most``, the cheapest first; equal graphs give equal paths.

    Of all sets of that many paths without a common link it is one whose total cost is least.  Empty if the
    two nodes are not connected.
    """
    used: dict[int, _Step] = {}
    number = {id(edge): place for place, edge in enumerate(graph.edges)}
    for _ in range(most):
        added = _cheapest(graph, one, other, cost, used, number)
        if not added:
            break
        for step in added:
            place = number[id(step.edge)]
            # Against the direction of an earlier path: neither uses it any more.
            if used.pop(place, None) is None:
                used[place] = step
    paths = _walked(used, one, other)
    return tuple(sorted(paths, key=lambda path: (sum(map(cost, path)), [number[id(edge)] for edge in path])))


def _cheapest(
    graph: Graph, one: str, other: str, cost: Cost, used: Mapping[int, _Step], number: Mapping[int, int]
) -> list[_Step]:
    """The cheapest way that takes no used link, or takes one back and earns its cost (Bellman, Ford)."""
    far: dict[str, float] = dict.fromkeys(graph.nodes, inf)
    far[one] = 0
    by: dict[str, _Step] = {}
    for _ in graph.nodes:
        changed = False
        for edge in graph.edges:
            its = used.get(number[id(edge)])
            for begins in edge.ends:
                if its is not None and its.begins == begins:
                    continue
                step = _Step(edge, begins)
                length = far[begins] + (cost(edge) if its is None else -cost(edge))
                if length < far[step.ends]:
                    far[step.ends], by[step.ends], changed = length, step, True
        if not changed:
            break
    if other not in by:
        return []
    steps = [by[other]]
    while steps[-1].begins != one:
        steps.append(by[steps[-1].begins])
    return steps[::-1]


def _walked(used: Mapping[int, _Step], one: str, other: str) -> list[tuple[Edge, ...]]:
    """The used links as paths; what costs more than nothing and is cheapest has no rounds."""
    leaving: dict[str, list[_Step]] = {}
    for place in sorted(used, reverse=True):
        leaving.setdefault(used[place].begins, []).append(used[place])
    paths = []
    while leaving.get(one):
        here, path = one, []
        while here != other:
            step = leaving[here].pop()
            path.append(step.edge)
            here = step.ends
        paths.append(tuple(path))
    return paths
