"""Which pairs matter to an application, and are probed ([HEALTH] 8, "application profiles").

A job whose parts all talk to each other wants the mesh.  pCT's read from one file server and hardly talk to
each other: of 9 900 pairs of a hundred instances, the 198 with the server matter.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from measurement.health.model import Pair


def mesh(names: Sequence[str]) -> tuple[Pair, ...]:
    """Everybody to everybody, N·(N - 1) pairs."""
    return tuple(Pair(one, other) for one in names for other in names if one != other)


def star(centre: str, names: Iterable[str]) -> tuple[Pair, ...]:
    """Everybody to one place, and back.

    :raises ValueError: if that is none of the names.
    """
    others = [*names]
    if centre not in others:
        raise ValueError(f"centre: {centre} is none of the instances")
    return tuple(pair for one in others if one != centre for pair in (Pair(one, centre), Pair(centre, one)))


def choose_pairs(pairs: Iterable[tuple[str, str]], names: Iterable[str]) -> tuple[Pair, ...]:
    """Given pairs, each once, in their order.

    :raises ValueError: for a pair with somebody who is none of the names, or with itself.
    """
    known = {*names}
    found = dict.fromkeys(Pair(*pair) for pair in pairs)
    for pair in found:
        if pair.source == pair.destination or not {*pair} <= known:
            raise ValueError(f"pairs: {pair.source} > {pair.destination} is no pair of the instances")
    return tuple(found)


def sample(pairs: Sequence[Pair], zones: Mapping[str, str], count: int, seed: int) -> tuple[Pair, ...]:
    """Pairs to verify by transfer, by chance, from each zone to each in proportion, and one at least of each.

    The same seed gives the same pairs.

    :param count: how many; more, if there are more combinations of zones than that; all, if there are fewer.
    :raises ValueError: for a count below zero.
    """
    if count < 0:
        raise ValueError(f"count: {count} is below zero")
    if not count:
        return ()
    strata: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in sorted(pairs):
        strata[zones.get(pair.source, ""), zones.get(pair.destination, "")].append(pair)
    # Not a secret: the same sample can be drawn again.
    chance = random.Random(seed)  # noqa: S311
    taken: list[Pair] = []
    shares = _shares({stratum: len(its) for stratum, its in strata.items()}, min(count, len(pairs)))
    for stratum, its in sorted(strata.items()):
        taken += chance.sample(its, shares[stratum])
    return tuple(sorted(taken))


def _shares(sizes: Mapping[tuple[str, str], int], count: int) -> Mapping[tuple[str, str], int]:
    """One each, and the rest by largest remainder of what would be in proportion."""
    whole = sum(sizes.values())
    exact = {stratum: count * size / whole for stratum, size in sizes.items()}
    shares = {stratum: max(1, int(share)) for stratum, share in exact.items()}
    order = sorted(exact, key=lambda stratum: (int(exact[stratum]) - exact[stratum], stratum))
    left = count - sum(shares.values())
    for stratum in order:
        if left > 0 and shares[stratum] < sizes[stratum] and exact[stratum] >= 1:
            shares[stratum] += 1
            left -= 1
    return shares
