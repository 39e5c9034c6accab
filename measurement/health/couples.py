"""Pairs that come in both directions, and which side is asked about them.  Values and functions only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from measurement.health.model import Pair


def couples(pairs: Iterable[Pair]) -> frozenset[Pair]:
    """Of all that come with their way back one each: the one whose source is asked about both.

    Sides alternate by the places of the two in the order of names, so that of a mesh each instance is asked
    about half of its own, or one more or less.
    """
    both = {*pairs}
    both = {pair for pair in both if pair.back in both}
    places = {name: place for place, name in enumerate(sorted({name for pair in both for name in pair}))}

    def asks(pair: Pair) -> bool:
        ahead = places[pair.source] < places[pair.destination]
        return ahead == bool((places[pair.source] + places[pair.destination]) % 2)

    return frozenset(filter(asks, both))


def at_once(pairs: Iterable[Pair], coupled: Set[Pair]) -> Iterator[Pair]:
    """What is to be asked, in order: of a couple one, when the first of the two has its turn."""
    asked = (pair.back if pair.back in coupled else pair for pair in pairs)
    yield from dict.fromkeys(asked)
