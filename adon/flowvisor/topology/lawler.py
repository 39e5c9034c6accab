"""The k cheapest simple paths in a directed graph of whole-number costs; nodes and arcs are numbers.

Yen's algorithm (Management Science 17(11), 1971) in Lawler's form (Management Science 18(7), 1972): the
paths not told yet are parted by where they leave those that were told.  Five things make it quick:

- One Dijkstra from the target backwards gives nodes their distance: a lower bound whatever a part forbids,
  and the potential of an A* search (Hart, Nilsson and Raphael 1968).
- It stops somewhat beyond the source.  What is farther is at least so far, and that is a potential too.
- A part is first judged by its bound alone.  If the shortest way on from where it leaves does not meet a
  forbidden node, that way *is* its cheapest path; else its search is put off until its turn comes, which
  for most never does (after Martins and Pascoal 2003; Kurz and Mutzel 2016).
- A search pauses when nothing that it could still find is cheaper than what another part promises.
- A search ends at the first node whose shortest way on is free, not at the target.

Every arc costs more than nothing.  There are at most as many searches as nodes on the paths that are told,
and each leaves a node once.  Equal costs are told in an order that depends on the numbers of nodes and arcs
only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

Arc = tuple[int, int, int]
"""Cost, the node at its other end, and its number."""

_BEYOND = 64
"""How many nodes the backward search goes on for when it has come to the source: it costs less than the
searches that know nothing of what is behind it."""

UNREACHED = 1 << 128
"""The distance of a node from which no way leads: above any cost."""


@dataclass(frozen=True, slots=True)
class Arcs:
    """A graph for searching.

    :param out: per node the arcs that leave it, in the order in which ties are told.
    :param into: per node the arcs that arrive, each with the node where it begins.
    :param only_ends: nodes that a path may begin or end at, but not pass.
    """

    out: Sequence[Sequence[Arc]]
    into: Sequence[Sequence[tuple[int, Arc]]]
    only_ends: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Tree:
    """The cheapest ways to one target, for all nodes that are not much farther from it than the source is.

    :param radius: how far it was grown; UNREACHED if no way leads from the source.
    :param distance: per node; exact up to the radius, otherwise no less than it.
    :param way: per node the first arc of its way; None at the target.
    :param barred: nodes that no path may pass.
    """

    source: int
    target: int
    radius: int
    distance: Sequence[int]
    way: Sequence[Arc | None]
    barred: frozenset[int]

    def free_way(self, node: int, forbidden: Set[int]) -> list[Arc] | None:
        """The shortest way from a node to the target, if it is known and meets no forbidden node."""
        if self.distance[node] > self.radius:
            return None
        found, way = [], self.way
        arc = way[node]
        while arc is not None:
            if arc[1] in forbidden:
                return None
            found.append(arc)
            arc = way[arc[1]]
        return found


def grown(arcs: Arcs, source: int, target: int) -> Tree:
    """Dijkstra's algorithm from the target backwards, to the source and a few nodes beyond."""
    distance = [UNREACHED] * len(arcs.out)
    way: list[Arc | None] = [None] * len(arcs.out)
    into, barred = arcs.into, arcs.only_ends - {source, target}
    distance[target] = 0
    heap, radius, beyond = [(0, target)], UNREACHED, 0
    while heap:
        far, node = heappop(heap)
        if far > distance[node]:
            continue  # reached more cheaply before
        if node == source or beyond:
            radius, beyond = far, beyond + 1
            if beyond > _BEYOND:
                break
        if node in barred:
            continue
        for before, arc in into[node]:
            through = far + arc[0]
            if through < distance[before]:
                distance[before] = through
                way[before] = arc
                heappush(heap, (through, before))
    return Tree(source, target, radius, distance, way, barred)


class _Part(NamedTuple):
    """The paths that begin like ``path`` up to its node number ``leaves``, and go on by another arc.

    :param path: the arcs of a path that was told.
    :param node: the one where they leave; ``spent``: what the path costs up to there.
    :param banned: the arcs that lead to paths told already.
    """

    path: tuple[Arc, ...]
    leaves: int
    node: int
    spent: int
    banned: frozenset[int]


class _Way(NamedTuple):
    """How a part goes on: the arcs, and what they cost; None: it costs at least so much."""

    cost: int
    arcs: tuple[Arc, ...] | None = None


def cheapest_paths(arcs: Arcs, source: int, target: int) -> Iterator[tuple[int, ...]]:
    """Every simple path from one node to another, cheapest first, each worked out when asked for.

    A path is the numbers of its arcs in order.
    """
    tree = grown(arcs, source, target)
    whole = _Part((), 0, source, 0, frozenset())
    heap: list[tuple[int, int, _Part, _Way, _Search | None]] = []
    turns = count()
    judged = _judged(arcs, tree, whole, tree.barred | {source})
    if judged is not None:
        heappush(heap, (judged.cost, next(turns), whole, judged, None))
    while heap:
        _, _, part, how, search = heappop(heap)
        forbidden = {source, *tree.barred, *[node for _, node, _ in part.path[: part.leaves]]}
        if how.arcs is None:
            search = search or _Search(arcs, tree, part, forbidden)
            found = search.until(heap[0][0] - part.spent if heap else UNREACHED)
            if found is not None:
                heappush(heap, (part.spent + found.cost, next(turns), part, found, search))
            continue
        path = part.path[: part.leaves] + how.arcs
        yield tuple([number for _, _, number in path])
        for left, judged in _left(arcs, tree, part, path, forbidden):
            heappush(heap, (left.spent + judged.cost, next(turns), left, judged, None))


def _left(
    arcs: Arcs, tree: Tree, part: _Part, path: tuple[Arc, ...], forbidden: set[int]
) -> Iterator[tuple[_Part, _Way]]:
    # What is left of a part without this path of it: one part per node from which another way may go on.
    node, spent, banned = part.node, part.spent, part.banned
    for leaves in range(part.leaves, len(path)):
        cost, following, number = path[leaves]
        left = _Part(path, leaves, node, spent, banned | {number})
        judged = _judged(arcs, tree, left, forbidden)
        if judged is not None:
            yield left, judged
        forbidden.add(following)
        node, spent, banned = following, spent + cost, frozenset()


def _judged(arcs: Arcs, tree: Tree, part: _Part, forbidden: Set[int]) -> _Way | None:
    # By the cheapest first arc: exact if the shortest way on from its end is free, else a bound.
    distance, radius, banned = tree.distance, tree.radius, part.banned
    best, bound = None, UNREACHED
    for arc in arcs.out[part.node]:
        cost, node, number = arc
        far = distance[node]
        through = cost + (far if far < radius else radius)
        if through < bound and node not in forbidden and number not in banned:
            best, bound = arc, through
    if best is None:
        return None
    way = tree.free_way(best[1], forbidden)
    return _Way(bound, None if way is None else (best, *way))


class _Search:
    """A* from where a part leaves to the target, past forbidden nodes; can be paused.

    The distance to the target, or the tree's radius if that is less, never overestimates what is left, and
    falls by no more than an arc costs.
    """

    def __init__(self, arcs: Arcs, tree: Tree, part: _Part, forbidden: Set[int]) -> None:
        self._out, self._tree, self._forbidden, self._start = arcs.out, tree, forbidden, part.node
        self._reached: dict[int, int] = {}
        self._came: dict[int, tuple[int, Arc]] = {}  # per node where from, and by which arc
        self._left: set[int] = set()
        self._heap: list[tuple[int, int]] = []
        self._leave(part.node, 0, part.banned)

    def until(self, limit: int) -> _Way | None:
        """The cheapest way, if it costs no more than the limit; else the bound reached, or None: no way."""
        while self._heap:
            total, node = self._heap[0]
            if total > limit:
                return _Way(total)
            heappop(self._heap)
            if node in self._left:
                continue  # reached more cheaply since
            rest = self._tree.free_way(node, self._forbidden)
            if rest is not None:
                return _Way(total, (*self._back(node), *rest))
            self._left.add(node)
            self._leave(node, self._reached[node])
        return None

    def _leave(self, node: int, spent: int, banned: frozenset[int] = frozenset()) -> None:
        distance, radius = self._tree.distance, self._tree.radius
        reached, forbidden = self._reached, self._forbidden
        for arc in self._out[node]:
            cost, far, number = arc
            ahead = distance[far]
            if ahead > radius:
                ahead = radius
            there = spent + cost
            if ahead == UNREACHED or far in forbidden or number in banned:
                continue
            if there < reached.get(far, UNREACHED):
                reached[far], self._came[far] = there, (node, arc)
                heappush(self._heap, (there + ahead, far))

    def _back(self, node: int) -> list[Arc]:
        # The arcs from the start to a node that was reached.
        found: list[Arc] = []
        while node != self._start:
            node, arc = self._came[node]
            found.append(arc)
        return found[::-1]
