"""Whose turn it is: nobody meets anybody on a link, and all have their turn."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from measurement.snapshot.racks import Level, tree
from measurement.snapshot.turns import Turns, uses
from tests.measurement.snapshot.trees import Network, made


@given(st.integers(0, 3000), st.none() | st.integers(1, 4))
def test_those_at_the_same_time_have_what_they_have_alone(seed: int, at_once: int | None) -> None:
    network, chance = made(seed, racks=2, machines=2), random.Random(seed)
    turns = Turns(tree(network.names, network.hops()), network.pairs, at_once)
    under_way, done = list[Pair](), list[Pair]()
    while started := turns.begin() or under_way:
        under_way = [*dict.fromkeys([*under_way, *started])]
        assert at_once is None or len(under_way) <= at_once
        together = network.together(under_way)
        assert together == {path: network.together([path])[path] for path in under_way}
        for path in chance.sample(under_way, chance.randint(1, len(under_way))):
            turns.done(path)
            under_way.remove(path)
            done.append(path)
    assert sorted(done) == sorted(network.pairs)
    assert len(turns) == 0


def test_by_hand() -> None:
    """Two racks: each sends one out and takes one in; within a rack others go on."""
    at = {f"r{r}m{m}": ("s", f"r{r}", f"r{r}m{m} card") for r in (0, 1) for m in (0, 1, 2, 3)}
    network = Network(at)
    found = tree(network.names, network.hops())
    paths = [
        Pair(*each.split(">")) for each in ("r0m0>r1m0", "r0m1>r1m1", "r1m1>r0m1", "r0m2>r0m3", "r1m0>r1m3")
    ]
    turns = Turns(found, paths)
    assert turns.begin() == [paths[0], paths[2], paths[3]]
    assert turns.begin() == []
    turns.done(paths[0])
    assert turns.begin() == [paths[4]]
    with pytest.raises(KeyError):
        turns.done(paths[0])
    assert uses(found, paths[3]) == {
        *paths[3],
        *(
            (way, Level.MACHINE, frozenset({name}))
            for way, name in zip(("out", "into"), paths[3], strict=True)
        ),
    }
