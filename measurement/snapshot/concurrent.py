"""Which paths to use at the same time, to find out what they share ([CHOREO] 3.3.2).

Whether two connections interfere depends on the link that is narrow.  All of the paper's rules have one form,
"both leave a group, over the one link out of it"::

    1 (a)  A = C                                                the group is the source alone
    1 (b)  A and C are on one rack, and neither B nor D is      the group is the rack
    2      A and C are in one subtree, and neither B nor D is   the group is the subtree

Groups are known from hop counts, so one trial stands for all paths out of a group: there are not more trials
than groups, where trying all pairs of paths of n instances would be about n⁴/2.  Instances on one physical
machine share its card: a group, too.  Values and functions only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from measurement.health.model import Pair
from measurement.snapshot.racks import Level, Tree

PAIR = 2
"""Paths of a trial as in the paper; a link that two do not fill is found by more."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Paths that are to be used at once, all of which leave one group.

    :param level: of the group; None if it is one instance.
    """

    level: Level | None
    group: frozenset[str]
    paths: tuple[Pair, ...]


def leaves(group: Set[str], path: Pair) -> bool:
    """Whether a path goes over the link out of a group."""
    return path.source in group and path.destination not in group


_INNER = {Level.MACHINE: None, Level.RACK: Level.MACHINE, Level.SUBTREE: Level.RACK}
"""What a group is made of; None: of single instances."""


def plan(tree: Tree, rates: Mapping[Pair, float], width: int = PAIR) -> tuple[Trial, ...]:
    """A trial for each group whose way out can be shared, the smallest groups first.

    A trial's paths come from different parts of the group and lead to different racks, as near as may be, so
    that the link out of the group is the only one that they share; and of these paths it takes the fastest,
    which fill the link if any do.

    :param rates: what each path has alone, in bits/s; those without a rate are not used.
    :param width: so many paths at once, at least 2; fewer where there are not so many.
    :raises ValueError: for a width below 2.
    """
    if width < PAIR:
        raise ValueError(f"width: {width} path alone shares nothing")
    fastest = sorted(rates, key=lambda pair: (-rates[pair], pair))
    # Within one physical machine packets need not pass what limits an instance.
    fastest = [pair for pair in fastest if not tree.together(Level.MACHINE, *pair)]
    found = list[Trial]()
    for name in sorted({pair.source for pair in fastest}):
        group = frozenset({name})
        found.append(Trial(None, group, _paths(tree, None, group, fastest, width)))
    for level in Level:
        for group in tree.groups[level]:
            if len({_part(tree, level, name) for name in group}) > 1:
                found.append(Trial(level, group, _paths(tree, level, group, fastest, width)))
    return tuple(trial for trial in found if len(trial.paths) >= PAIR)


def _part(tree: Tree, level: Level, name: str) -> frozenset[str]:
    """The part of its group that an instance is in."""
    inner = _INNER[level]
    return frozenset({name}) if inner is None else tree.group(inner, name)


def _paths(
    tree: Tree, level: Level | None, group: frozenset[str], fastest: Iterable[Pair], width: int
) -> tuple[Pair, ...]:
    """Of the ways out of a group, the fastest first, those that share least else.

    All of them lead equally far, the nearest that will do: then they go over the same links farther up, or
    none, and what they share is not mistaken for another thing.
    """
    out = [pair for pair in fastest if leaves(group, pair)]
    shells = [[pair for pair in out if _reach(tree, pair) == level] for level in (*Level, None)]
    for ways in (shells, [out]):
        for strict in (True, False):
            for candidates in ways:
                chosen = _greedy(tree, level, candidates, (), width, strict=strict)
                if len(chosen) >= PAIR:
                    return _greedy(tree, level, candidates, chosen, width, strict=False)
    return ()


def _reach(tree: Tree, path: Pair) -> Level | None:
    """The smallest kind of group that both ends are in; None if none is."""
    return next((level for level in Level if tree.together(level, *path)), None)


def _greedy(
    tree: Tree, level: Level | None, paths: Iterable[Pair], first: Iterable[Pair], width: int, *, strict: bool
) -> tuple[Pair, ...]:
    """The first paths, and more in order, each apart from all before it."""
    chosen = [*first]
    for path in paths:
        if len(chosen) < width and all(_apart(tree, level, path, its, strict=strict) for its in chosen):
            chosen.append(path)
    return tuple(chosen)


def _apart(tree: Tree, level: Level | None, one: Pair, other: Pair, *, strict: bool) -> bool:
    """Whether two paths share no more than the link out of the group, as far as can be known beforehand.

    :param strict: neither on their way to it nor behind it; else they only are of different instances.
    """
    from_one_part = level is not None and (
        _part(tree, level, one.source) == _part(tree, level, other.source)
        if strict
        else one.source == other.source
    )
    if not strict:
        return not from_one_part and one.destination != other.destination
    # The link into a rack is shared by who comes from elsewhere; the link into a machine by all.
    inside = all(tree.together(Level.RACK, *each) for each in (one, other))
    shared = Level.MACHINE if inside else Level.RACK
    return not from_one_part and not tree.together(shared, one.destination, other.destination)


def rounds(tree: Tree, trials: Iterable[Trial]) -> tuple[tuple[Trial, ...], ...]:
    """The trials in rounds: those of one round have no rack in common, at neither end, and no way out of one.

    In order, each in the first round where it disturbs nobody.
    """
    found: list[tuple[list[Trial], set[frozenset[str]]]] = []
    for trial in trials:
        touched = _touched(tree, trial)
        for its, taken in found:
            if taken.isdisjoint(touched):
                its.append(trial)
                taken |= touched
                break
        else:
            found.append(([trial], touched))
    return tuple(tuple(its) for its, _ in found)


def _touched(tree: Tree, trial: Trial) -> set[frozenset[str]]:
    """Racks, and subtrees that are left or entered."""
    names = {name for path in trial.paths for name in path}
    touched = {tree.group(Level.RACK, name) for name in names}
    if len({tree.group(Level.SUBTREE, name) for name in names}) > 1:
        touched |= {tree.group(Level.SUBTREE, name) for name in names}
    return touched
