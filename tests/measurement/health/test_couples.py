"""Which side is asked about both ways, over all kinds of pairs."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from measurement.health.couples import at_once, couples
from measurement.health.model import Pair
from measurement.health.profiles import mesh

names = st.sampled_from("abcdefg")
some_pairs = st.lists(st.builds(Pair, names, names).filter(lambda one: one.source != one.destination))


@given(some_pairs)
def test_of_each_couple_one_side_is_asked(pairs: list[Pair]) -> None:
    coupled = couples(pairs)
    both = {pair for pair in pairs if pair.back in pairs}
    assert coupled | {pair.back for pair in coupled} == both
    assert not {pair.back for pair in coupled} & coupled
    assert coupled == couples(reversed(pairs))


@given(some_pairs)
def test_all_have_their_turn_once_and_none_later_than_it_was(pairs: list[Pair]) -> None:
    coupled = couples(pairs)
    entries = [*at_once(pairs, coupled)]
    asked = [each for one in entries for each in ((one, one.back) if one in coupled else (one,))]
    assert sorted(asked) == sorted({*pairs})
    firsts = [min(pairs.index(way) for way in (one, one.back) if way in pairs) for one in entries]
    assert firsts == sorted(firsts)


@given(st.integers(2, 30))
def test_in_a_mesh_the_load_is_even(count: int) -> None:
    asked = Counter(pair.source for pair in couples(mesh([f"i{number:02}" for number in range(count)])))
    assert sum(asked.values()) == count * (count - 1) // 2
    assert max(asked.values()) - min(asked.get(f"i{number:02}", 0) for number in range(count)) <= 1


def test_without_a_way_back_there_is_no_couple() -> None:
    assert not couples([Pair("a", "b"), Pair("b", "c"), Pair("a", "c")])
