"""Start order of probes: in the order of a plan, each as soon as its instances and its link are free.

The rounds of a plan assume that all probes take equally long.  Where some take longer, a probe does not wait
for the slowest one of the round before: it starts when its instances are free, and the link between their
zones, which is as free of conflicts.  Where all take equally long, it can take a tenth longer than rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from measurement.health.model import Pair
from measurement.health.round_schedule import FREE, Limits


class Agenda:
    """What is still to be done, and what is under way.

    :param pairs: in the order in which they should come; one that is there twice is done once.
    :param at_once: so many under way at a time at most; None for as many as there are.
    """

    def __init__(self, pairs: Iterable[Pair], limits: Limits = FREE, at_once: int | None = None) -> None:
        if at_once is not None and at_once < 1:
            raise ValueError(f"at_once: with {at_once} at a time nothing is ever done")
        self._limits = limits
        self._at_once = at_once
        # By link, each in order: pairs of a busy link are skipped.
        self._waiting: dict[Hashable | None, dict[Pair, int]] = {}
        for number, pair in enumerate(dict.fromkeys(pairs)):
            self._waiting.setdefault(limits.link(pair), {})[pair] = number
        self._busy: set[Hashable] = set()
        self._links: Counter[Hashable] = Counter()
        self._under_way: set[Pair] = set()

    def begin(self) -> list[Pair]:
        """All that may start now; they count as under way from here on."""
        started = []
        while (pair := self._first()) is not None:
            link = self._limits.link(pair)
            del self._waiting[link][pair]
            self._busy.update(self._limits.ends(pair))
            self._links[link] += 1
            self._under_way.add(pair)
            started.append(pair)
        return started

    def done(self, pair: Pair) -> None:
        """A probe has ended.

        :raises ValueError: if it is not under way.
        """
        if pair not in self._under_way:
            raise ValueError(f"pair: {pair.source} > {pair.destination} is not under way")
        self._under_way.discard(pair)
        self._busy.difference_update(self._limits.ends(pair))
        self._links[self._limits.link(pair)] -= 1

    def _first(self) -> Pair | None:
        """The earliest of the plan that nothing is in the way of."""
        if self._at_once is not None and len(self._under_way) >= self._at_once:
            return None
        found: list[tuple[int, Pair]] = []
        for link, its in self._waiting.items():
            if link is not None and self._links[link] >= (self._limits.between_zones or 1):
                continue
            free = (pair for pair in its if self._busy.isdisjoint(self._limits.ends(pair)))
            if (pair := next(free, None)) is not None:
                found.append((its[pair], pair))
        return min(found, default=(0, None))[1]
