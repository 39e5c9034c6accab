"""Whose turn it is, where links are shared: as many at a time as do not meet.

Two paths meet if an instance is in both, or if both leave, or both enter, the same rack, subtree or machine:
there they could share a link that is the narrowest of both.  Values and functions only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from measurement.health.model import Pair
from measurement.snapshot.racks import Level, Tree


def uses(tree: Tree, path: Pair) -> frozenset[Hashable]:
    """What a path has for itself while it is measured."""
    found: set[Hashable] = {*path}
    for level in Level:
        out, into = tree.group(level, path.source), tree.group(level, path.destination)
        if out != into:
            found |= {("out", level, out), ("into", level, into)}
    return frozenset(found)


class Turns:
    """What is still to be done, and what is under way.

    :param paths: in the order in which they should come, each once.
    :param at_once: so many under way at most; None for as many as do not meet.
    """

    def __init__(self, tree: Tree, paths: Iterable[Pair], at_once: int | None = None) -> None:
        self._waiting = {path: uses(tree, path) for path in paths}
        self._under_way: dict[Pair, frozenset[Hashable]] = {}
        self._busy: set[Hashable] = set()
        self._at_once = at_once

    def __len__(self) -> int:
        """So many are not begun."""
        return len(self._waiting)

    def begin(self) -> list[Pair]:
        """All that may start now; they count as under way from here on."""
        started = list[Pair]()
        for path, its in self._waiting.items():
            if self._at_once is not None and len(self._under_way) >= self._at_once:
                break
            if self._busy.isdisjoint(its):
                self._busy |= its
                self._under_way[path] = its
                started.append(path)
        for path in started:
            del self._waiting[path]
        return started

    def done(self, path: Pair) -> None:
        """One has ended.

        :raises KeyError: if it is not under way.
        """
        self._busy -= self._under_way.pop(path)
