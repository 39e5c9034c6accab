"""Multi-rooted trees of instances with links of known rates, in which TCP shares max-min fairly."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from adon.fluid import Demand, max_min_rates
from measurement.health.model import Pair
from measurement.snapshot.racks import Level

INSIDE = 8e9
"""Bits/s within one physical machine."""


@dataclass(frozen=True)
class Network:
    """Where each instance is, and what leads out of each group.

    :param at: subtree, rack and physical machine of an instance; names of racks are unique, and so on.
    :param out: bits/s of the link out of a group (or an instance); what is absent is wide.
    """

    at: Mapping[str, tuple[str, str, str]]
    out: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.at)

    @property
    def pairs(self) -> list[Pair]:
        return [Pair(one, other) for one in self.at for other in self.at if one != other]

    def group(self, name: str) -> frozenset[str]:
        """Who is in a group, or the instance itself."""
        return frozenset(one for one, places in self.at.items() if name in {*places, one})

    def groups(self, level: Level) -> set[frozenset[str]]:
        place = {Level.SUBTREE: 0, Level.RACK: 1, Level.MACHINE: 2}[level]
        return {self.group(places[place]) for places in self.at.values()}

    def hops(self, beyond: int = 6) -> dict[Pair, int]:
        """As traceroute would count; :param beyond: between subtrees."""

        def count(pair: Pair) -> int:
            one, other = (self.at[name] for name in pair)
            alike = sum(a == b for a, b in zip(one, other, strict=True))
            return {3: 1, 2: 2, 1: 4, 0: beyond}[alike]

        return {pair: count(pair) for pair in self.pairs}

    def together(self, paths: Sequence[Pair]) -> dict[Pair, float]:
        """What each of some connections has when all are there."""
        links = {path: self._links(path) for path in paths}
        capacities: dict[Hashable, float] = {**self.out}
        demands = [Demand(links[path], limit=self._limit(path)) for path in paths]
        return dict(zip(paths, max_min_rates(capacities, demands), strict=True))

    def alone(self) -> dict[Pair, float]:
        return {pair: self.together([pair])[pair] for pair in self.pairs}

    def _links(self, path: Pair) -> tuple[Hashable, ...]:
        one, other = self.at[path.source], self.at[path.destination]
        if one == other:
            return ()
        out = [path.source, *(name for name, there in zip(one, other, strict=True) if name != there)]
        # Racks are in one subtree only, so who leaves a subtree leaves its rack and machine, too.
        return tuple(name for name in out if name in self.out)

    def _limit(self, path: Pair) -> float:
        return INSIDE if self.at[path.source] == self.at[path.destination] else 1e9


def made(seed: int, *, subtrees: int = 2, racks: int = 3, machines: int = 3, most: int = 2) -> Network:
    """A network by a seed: every instance has a card, or a hose; some links farther up are narrow."""
    chance = random.Random(seed)
    at: dict[str, tuple[str, str, str]] = {}
    for s in range(subtrees):
        for r in range(chance.randint(2, racks)):
            for m in range(chance.randint(1, machines)):
                for v in range(chance.randint(1, most)):
                    at[f"s{s}r{r}m{m}v{v}"] = (f"s{s}", f"s{s}r{r}", f"s{s}r{r}m{m}")
    out: dict[str, float] = {}
    for name in at:
        out[name] = chance.choice([200e6, 300e6, 500e6, 1e9, 1e9, 1e9])
    for place, rates in ((1, [400e6, 700e6, 1000e6]), (0, [600e6, 1200e6, 2000e6])):
        for name in sorted({places[place] for places in at.values()}):
            if chance.random() < 0.4:
                out[name] = chance.choice(rates)
    return Network(at, out)
