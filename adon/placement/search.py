"""Branch and bound over partial placements, many nodes in one step.

A node's children put the open task with the fewest machines left (first fail; Haralick and Elliott,
Artificial Intelligence 14, 1980) onto each of these.  What would take as long as the best placement known is
cut off, by the paths alone, by what paths share, by cores and memory, and by what pairs of open tasks rule
out (:mod:`~adon.placement.pairs`), as long as that rules out enough to be worth its while.

The open nodes are a stack of layers, taken from its top, best last: depth first, in a batch.  What is left on
the stack bounds what was not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from adon.placement.arrays import Flags, Floats, Numbers
from adon.placement.constraints import SLACK
from adon.placement.nodes import OPEN, Nodes, Space
from adon.placement.pairs import consistent

ELEMENTS = 400_000
"""So many numbers are computed in one operation, about: few enough for the processor's cache."""
MOST_NODES = 192
LESS = 1e-9
"""What is faster by a smaller part than this is not faster: rounding."""
WORTH = 0.85
"""Pairs are looked at as long as that ends, or narrows, this part of the nodes."""
TRY_EVERY = 40
"""... and where it did not, again each so many batches."""


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """Children that wait: which parent, task and machine, and seconds at least; the best are last."""

    parents: Nodes
    parent: Numbers
    task: Numbers
    machine: Numbers
    least: Floats

    def split(self, count: int) -> tuple[_Layer, _Layer]:
        """All but the last so many, and these."""
        cut = len(self.least) - count
        return self._part(slice(0, cut)), self._part(slice(cut, None))

    def _part(self, which: slice) -> _Layer:
        return _Layer(
            self.parents, self.parent[which], self.task[which], self.machine[which], self.least[which]
        )


@dataclass(slots=True)
class Search:
    """One search; each :meth:`step` looks at one batch.

    :param best: seconds that must be beaten.
    :param found: the machines of the best placement found here; None as long as none beats that.
    :param nodes: how many were looked at.
    """

    space: Space
    best: float
    found: Numbers | None = None
    nodes: int = 0
    _stack: list[_Layer] = field(default_factory=list)
    _first: Nodes | None = None
    _worth: float = 1.0
    _steps: int = 0

    @classmethod
    def below(cls, space: Space, placed: Numbers, best: float) -> Search:
        """From some tasks that are placed, for what is faster than ``best``."""
        return cls(space, best, _first=space.root(placed))

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self._first is None and not self._stack

    @property
    def bound(self) -> float:
        """Nothing takes less than this; the best, once it is done."""
        if self._first is not None:
            return min(self.best, float(self._first.least[0]))
        return min([self.best, *(float(layer.least.min()) for layer in self._stack)])

    @property
    def _limit(self) -> float:
        return self.best * (1 - LESS)

    def step(self) -> None:
        """Look at one batch."""
        self._steps += 1
        if self._first is not None:
            nodes, self._first = self._first, None
            self._expand(nodes)
            return
        arrays = self.space.arrays
        most = ELEMENTS // max(1, arrays.tasks * arrays.machines * 2 * arrays.machines)
        layer = self._stack.pop()
        rest, batch = layer.split(min(len(layer.least), max(1, min(MOST_NODES, most))))
        if len(rest.least):
            self._stack.append(rest)
        alive = batch.least < self._limit
        if alive.any():
            parents = batch.parents.take(batch.parent[alive])
            self._expand(
                self.space.placed(parents, batch.task[alive], batch.machine[alive], batch.least[alive])
            )

    def _expand(self, nodes: Nodes) -> None:
        self.nodes += len(nodes)
        if (nodes.placed[0] != OPEN).all():
            self._complete(nodes)
            return
        possible = nodes.values < self._limit
        open_ = nodes.placed == OPEN
        alive = possible.any(2) | ~open_
        going = alive.all(1) & self._packs(nodes, open_)
        if not going.any():
            return
        nodes, possible, open_ = nodes.take(going), possible[going], open_[going]
        if self._worth >= WORTH or self._steps % TRY_EVERY == 0:
            nodes, possible, open_ = self._paired(nodes, possible, open_)
            if not len(nodes):
                return
        count = possible.sum(2) - 0.5 * self.space.traffic
        count[~open_] = np.inf
        task = count.argmin(1)
        each = np.arange(len(nodes))
        parent, machine = np.nonzero(possible[each, task])
        least = nodes.values[parent, task[parent], machine]
        if open_[0].sum() == 1:
            self._finish(nodes, parent, task, machine, least)
            return
        order = np.argsort(-least, kind="stable")
        self._stack.append(_Layer(nodes, parent[order], task[parent[order]], machine[order], least[order]))

    def _finish(self, nodes: Nodes, parent: Numbers, task: Numbers, machine: Numbers, least: Floats) -> None:
        """The last open task: each child is a whole placement."""
        best = int(least.argmin())
        if least[best] < self._limit:
            self.best = float(least[best])
            self.found = nodes.placed[parent[best]].copy()
            self.found[task[parent[best]]] = machine[best]

    def _complete(self, nodes: Nodes) -> None:
        if nodes.least[0] < self._limit:
            self.best, self.found = float(nodes.least[0]), nodes.placed[0].copy()

    def _packs(self, nodes: Nodes, open_: Flags) -> Flags:
        """Whether what is free, where at least the smallest open task fits, is enough for all."""
        need = self.space.arrays.need[:, 0]
        smallest = np.where(open_, need, np.inf).min(1)
        cores = nodes.free[:, :, 0]
        useful = np.where(cores + SLACK >= smallest[:, None], cores, 0.0).sum(1)
        enough: Flags = useful + SLACK * len(need) >= (open_ * need).sum(1)
        return enough

    def _paired(self, nodes: Nodes, possible: Flags, open_: Flags) -> tuple[Nodes, Flags, Flags]:
        """What pairs of open tasks leave of some nodes."""
        keep = np.ones(len(nodes), bool)
        told = 0
        for number in range(len(nodes)):
            left = consistent(self.space, nodes.take(np.array([number])), possible[number], self._limit)
            if left is None:
                keep[number] = False
                told += 1
            else:
                possible[number] = left
        self._worth = 0.7 * self._worth + 0.3 * told / len(nodes)
        nodes.values[~possible] = np.inf
        return nodes.take(keep), possible[keep], open_[keep]
