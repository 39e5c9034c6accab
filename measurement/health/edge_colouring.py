"""Edge colouring: pairs in as few rounds as there must be, no two of a round with an end in common.

The pairs are edges of a multigraph (both directions of two instances are two edges), a round is a colour.
What is used here is Vizing's proof for multigraphs (V. G. Vizing 1964; fans as in Stiebitz et al.,
"Graph Edge Coloring", 2012): with degree Δ and multiplicity μ no more than Δ + μ colours, and where the
graph is bipartite no more than Δ (König 1916), which none can beat.
Colours are tried from Δ on, and one more is taken only where the proof's own step fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

End = TypeVar("End", bound=Hashable)
Edge = tuple[End, End]


def colour_edges(edges: Sequence[Edge[End]]) -> list[list[int]]:
    """The edges, by position, in classes of which no two have an end in common.

    :raises ValueError: for an edge from an end to itself.
    """
    for number, (one, other) in enumerate(edges):
        if one == other:
            raise ValueError(f"edges.{number}: {one} is both ends")
    graph = _Graph(edges, degree(edges))
    for number in range(len(edges)):
        graph.add(number)
    classes: list[list[int]] = [[] for _ in range(graph.colours)]
    for number, colour in sorted(graph.colour.items()):
        classes[colour].append(number)
    return [one for one in classes if one]


def degree(edges: Sequence[Edge[End]]) -> int:
    """Δ: so many edges meet at one end, at most; no colouring has fewer colours."""
    count: dict[End, int] = defaultdict(int)
    for edge in edges:
        for end in edge:
            count[end] += 1
    return max(count.values(), default=0)


@dataclass(slots=True)
class _Graph:
    """Edges with their colours so far.

    :param colours: 0 up to one below are in use.
    :param at: at each end, the edge of each colour.
    """

    edges: Sequence[Edge[Hashable]]
    colours: int
    colour: dict[int, int] = field(default_factory=dict)
    at: dict[Hashable, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, edge: int) -> None:
        """Give an edge a colour; others may get another for it."""
        one, other = self.edges[edge]
        both = self._missing(one) & self._missing(other)
        if both:
            self._give(edge, min(both))
        elif not self._fan(edge, one):
            self.colours += 1
            self._give(edge, self.colours - 1)

    def _missing(self, end: Hashable) -> set[int]:
        return set(range(self.colours)) - self.at[end].keys()

    def _give(self, edge: int, colour: int) -> None:
        self.colour[edge] = colour
        for end in self.edges[edge]:
            self.at[end][colour] = edge

    def _take(self, edge: int) -> int:
        colour = self.colour.pop(edge)
        for end in self.edges[edge]:
            del self.at[end][colour]
        return colour

    def _other(self, edge: int, end: Hashable) -> Hashable:
        one, other = self.edges[edge]
        return other if end == one else one

    def _fan(self, edge: int, hub: Hashable) -> bool:
        """Find a colour by shifting those around one end; whether that can be done.

        A fan grows from the edge: each further edge has a colour that is missing at an end of the fan.  Its
        ends are ``order``; ``before`` has the edge by which each was reached, and whose colour it lacks.
        """
        first = self._other(edge, hub)
        order, by, before = [first], {first: edge}, {first: first}
        place = 0
        while place < len(order):
            end = order[place]
            for colour in sorted(self._missing(end)):
                following = self.at[hub].get(colour)
                if following is None:
                    self._shift(end, colour, by, before)
                    return True
                reached = self._other(following, hub)
                if reached not in by:
                    order.append(reached)
                    by[reached], before[reached] = following, end
            place += 1
        return self._swap(hub, order, by, before)

    def _swap(
        self,
        hub: Hashable,
        order: Sequence[Hashable],
        by: Mapping[Hashable, int],
        before: Mapping[Hashable, Hashable],
    ) -> bool:
        """Exchange two colours along a path that does not touch the hub, so that one is missing at both."""
        free = min(self._missing(hub), default=None)
        if free is None:
            return False
        for end in order:
            for colour in sorted(self._missing(end)):
                path, last = self._path(end, free, colour)
                if last == hub:
                    continue
                taken = [(each, self._take(each)) for each in path]
                for each, its in taken:
                    self._give(each, colour if its == free else free)
                # If the path's other end is of the fan, too, it is a later one, or it had been tried before
                # this: so what leads to this end of the fan is untouched.
                self._shift(end, free, by, before)
                return True
        return False

    def _path(self, start: Hashable, colour: int, then: int) -> tuple[list[int], Hashable]:
        """The edges of two colours in turn, from an end that lacks the second; and where they lead."""
        path: list[int] = []
        end = start
        while (edge := self.at[end].get(colour)) is not None:
            path.append(edge)
            end = self._other(edge, end)
            colour, then = then, colour
        return path, end

    def _shift(
        self, end: Hashable, colour: int, by: Mapping[Hashable, int], before: Mapping[Hashable, Hashable]
    ) -> None:
        """Give the edge to an end of the fan this colour, its own to the one before, and so on."""
        while True:
            edge = by[end]
            old = self._take(edge) if edge in self.colour else None
            self._give(edge, colour)
            if old is None:
                return
            end, colour = before[end], old
