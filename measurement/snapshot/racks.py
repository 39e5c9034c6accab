"""Who is close to whom, from hop counts ([CHOREO] 3.3.1, 4.2).

In a multi-rooted tree two machines on one physical machine are one hop apart, on one rack two, under one
aggregate switch four, and beyond that six or eight.  Paths of another odd length cannot be in such a tree,
and closeness is transitive there: each contradiction is a :class:`Fault`, and what does not depend on it is
used all the same.  Values and functions only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

from measurement.health.model import Pair


class Level(IntEnum):
    """What a group is joined by, as the most hops between two of its members."""

    MACHINE = 1
    RACK = 2
    SUBTREE = 4


LENGTHS = (1, 2, 4, 6, 8)
"""Of paths in such a tree."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What cannot be in a multi-rooted tree.

    :param instances: whom it is about.
    """

    instances: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Tree:
    """Groups by level; each instance is in exactly one of each, alone if it is close to nobody.

    Groups are sorted, and contain the groups of the levels below.
    """

    groups: Mapping[Level, tuple[frozenset[str], ...]]
    faults: tuple[Fault, ...] = ()

    def group(self, level: Level, instance: str) -> frozenset[str]:
        """Where it is.

        :raises KeyError: if nobody knows it.
        """
        for group in self.groups[level]:
            if instance in group:
                return group
        raise KeyError(instance)

    def together(self, level: Level, one: str, other: str) -> bool:
        """Whether both are in one group."""
        return other in self.group(level, one)


def tree(instances: Sequence[str], hops: Mapping[Pair, int]) -> Tree:
    """The tree that explains some hop counts; either direction is enough.

    Those who are at most as far apart as a level allows are together, and so is who is close to both.

    :param hops: as traceroute counts; a missing one is not known, and joins nobody.
    """
    known = {
        Pair(*sorted((one, other)))
        for one, other in combinations(instances, 2)
        if Pair(one, other) in hops or Pair(other, one) in hops
    }
    faults = [*_lengths(known, hops)]
    lengths = {pair: min(hops[each] for each in (pair, pair.back) if each in hops) for pair in known}
    groups = {
        level: _joined(instances, (pair for pair, length in lengths.items() if length <= level))
        for level in Level
    }
    faults += _too_far(groups, lengths)
    return Tree(groups, tuple(faults))


def _lengths(known: Iterable[Pair], hops: Mapping[Pair, int]) -> Iterable[Fault]:
    for pair in sorted(known):
        there = [hops[each] for each in (pair, pair.back) if each in hops]
        if len({*there}) > 1:
            yield Fault((*pair,), f"{there[0]} hops there and {there[1]} back: one is taken as the shorter")
        for length in sorted({*there} - {*LENGTHS}):
            kind = "an odd number" if length % 2 else "a number"
            yield Fault(
                (*pair,), f"{length} hops: {kind} that paths of a multi-rooted tree do not have {LENGTHS}"
            )


def _joined(instances: Sequence[str], close: Iterable[Pair]) -> tuple[frozenset[str], ...]:
    """Connected parts."""
    group = {name: {name} for name in instances}
    for one, other in close:
        if group[one] is not group[other]:
            group[one] |= group[other]
            for name in group[other]:
                group[name] = group[one]
    return tuple(sorted({frozenset(its) for its in group.values()}, key=sorted))


def _too_far(
    groups: Mapping[Level, Iterable[frozenset[str]]], lengths: Mapping[Pair, int]
) -> Iterable[Fault]:
    """Pairs that are together only by others' closeness."""
    for level, its in groups.items():
        for group in its:
            for pair in (Pair(*each) for each in combinations(sorted(group), 2)):
                if lengths.get(pair, 0) > level:
                    via = _between(pair, group, lengths, level)
                    yield Fault(
                        (pair.source, *via, pair.destination),
                        f"{lengths[pair]} hops, but at most {level} to each other over {', '.join(via)}: "
                        f"closeness within a {level.name.lower()} is not transitive here",
                    )


def _between(pair: Pair, group: Iterable[str], lengths: Mapping[Pair, int], level: Level) -> tuple[str, ...]:
    """The shortest chain of close ones from one to the other, without both."""
    chains: dict[str, tuple[str, ...]] = {pair.source: ()}
    edge = [pair.source]
    while pair.destination not in chains:
        further = []
        for one in edge:
            for other in sorted(group):
                if other not in chains and lengths.get(Pair(*sorted((one, other))), level + 1) <= level:
                    chains[other] = (*chains[one], *(() if one == pair.source else (one,)))
                    further.append(other)
        edge = further
    return chains[pair.destination]
