"""Groups from hop counts: trees that there are, and contradictions."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from measurement.snapshot.racks import Level, Tree, tree
from tests.measurement.snapshot.trees import made


def hops(**lengths: int) -> dict[Pair, int]:
    return {Pair(*name.split("_")): length for name, length in lengths.items()}


def names(found: Tree, level: Level) -> list[str]:
    return ["".join(sorted(group)) for group in found.groups[level]]


def test_by_hand() -> None:
    """Figure 5's kind: a and b on one machine, c beside them, d under the same switch, e beyond."""
    lengths = hops(a_b=1, a_c=2, b_c=2, a_d=4, b_d=4, c_d=4, a_e=6, b_e=6, c_e=6, d_e=6)
    found = tree("abcde", lengths)
    assert names(found, Level.MACHINE) == ["ab", "c", "d", "e"]
    assert names(found, Level.RACK) == ["abc", "d", "e"]
    assert names(found, Level.SUBTREE) == ["abcd", "e"]
    assert found.faults == ()
    assert found.together(Level.RACK, "a", "c")
    assert not found.together(Level.MACHINE, "a", "c")
    with pytest.raises(KeyError, match="f"):
        found.group(Level.RACK, "f")


@given(st.integers(0, 10_000), st.sampled_from([6, 8]))
def test_the_groups_of_a_tree_are_found_again(seed: int, beyond: int) -> None:
    network = made(seed, subtrees=3, most=3)
    found = tree(network.names, network.hops(beyond))
    assert found.faults == ()
    for level in Level:
        assert {*found.groups[level]} == network.groups(level)


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_what_is_not_known_joins_nobody_wrongly(seed: int, share: float) -> None:
    network, chance = made(seed), random.Random(seed)
    some = {pair: length for pair, length in network.hops().items() if chance.random() < share}
    found = tree(network.names, some)
    assert found.faults == ()
    for level in Level:
        for group in found.groups[level]:
            assert any(group <= true for true in network.groups(level))


@pytest.mark.parametrize(
    ("lengths", "instances", "why"),
    [
        (hops(a_b=3), ("a", "b"), "3 hops: an odd number that paths of a multi-rooted tree do not have"),
        (hops(a_b=0), ("a", "b"), "0 hops: a number that"),
        (hops(a_b=10), ("a", "b"), "10 hops: a number that"),
        (hops(a_b=2, b_a=4), ("a", "b"), "2 hops there and 4 back"),
        (
            hops(a_b=2, b_c=2, a_c=4),
            ("a", "b", "c"),
            "4 hops, but at most 2 .* over b: .* rack is not transitive",
        ),
        (hops(a_b=1, b_c=1, a_c=2), ("a", "b", "c"), "2 hops, but at most 1 .* machine is not transitive"),
        (
            hops(a_b=2, b_c=2, c_d=2, a_c=2, a_d=4, b_d=2),
            ("a", "b", "d"),
            "4 hops, but at most 2 .* over b: ",
        ),
    ],
)
def test_what_no_tree_can_be_is_named(lengths: dict[Pair, int], instances: tuple[str, ...], why: str) -> None:
    faults = tree(sorted({name for pair in lengths for name in pair}), lengths).faults
    assert [fault.instances for fault in faults] == [instances]
    assert re.search(why, faults[0].why)


def test_who_is_close_to_both_joins_them_all_the_same() -> None:
    assert names(tree("abc", hops(a_b=2, b_c=2, a_c=4)), Level.RACK) == ["abc"]


@pytest.mark.parametrize("lengths", [hops(a_b=2, b_a=4), hops(a_b=4, b_a=2)])
def test_of_two_lengths_the_shorter_is_taken(lengths: dict[Pair, int]) -> None:
    assert names(tree("ab", lengths), Level.RACK) == ["ab"]


def test_nobody_and_one_alone() -> None:
    assert tree((), {}).groups[Level.RACK] == ()
    assert names(tree(["a"], {}), Level.SUBTREE) == ["a"]
