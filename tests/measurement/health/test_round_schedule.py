"""Plans: no two probes that load the network meet, in as few rounds as there must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from measurement.health.profiles import choose_pairs, mesh, sample, star
from measurement.health.round_schedule import Limits, Plan, least, plan, rounds
from tests.measurement.health.rounds import NAMES, ZONES, find_collisions, limits, some_pairs
from tests.support.refusals import refused

A_B = Pair("a", "b")


@given(some_pairs, limits)
def test_no_two_of_a_round_meet(pairs: Sequence[Pair], within: Limits) -> None:
    found = rounds(pairs, within)
    assert not find_collisions(found, within)
    assert sorted(pair for its in found for pair in its) == sorted(pairs)
    assert all(found)
    assert len(found) >= least(pairs, within)


@given(some_pairs, st.booleans())
def test_without_zones_hardly_more_rounds_than_there_must_be(pairs: Sequence[Pair], duplex: bool) -> None:
    """König: the busiest end; Vizing: two more, for two directions."""
    within = Limits(duplex=duplex)
    ends = Counter(end for pair in pairs for end in within.ends(pair))
    busiest = max(ends.values(), default=0)
    assert len(rounds(pairs, within)) <= busiest + (0 if duplex else 2)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 10, 11, 33, 100])
@pytest.mark.parametrize("duplex", [False, True])
def test_of_a_mesh_nothing_is_lost(count: int, duplex: bool) -> None:
    pairs = mesh([f"i{number:03}" for number in range(count)])
    found = rounds(pairs, Limits(duplex=duplex))
    assert not find_collisions(found, Limits(duplex=duplex))
    assert sorted(pair for its in found for pair in its) == sorted(pairs)
    assert len(found) == least(pairs, Limits(duplex=duplex))
    assert len(found) == ((count - 1) if duplex else 2 * (count - 1 + count % 2))


def test_a_hundred_instances_in_three_zones_are_limited_by_the_links() -> None:
    """The paper's testbed II: 35, 33 and 32 instances; four trains at a time between two zones."""
    names = [f"i{number:02}" for number in range(100)]
    zones = {name: "abc"[(number >= 35) + (number >= 68)] for number, name in enumerate(names)}
    within = Limits(between_zones=4, zones=zones)
    found = rounds(mesh(names), within)
    assert not find_collisions(found, within)
    assert len(found) <= 1.2 * least(mesh(names), within)


def test_a_star_goes_one_by_one_and_with_duplex_two_by_two() -> None:
    pairs = star("s", ["s", "a", "b", "c"])
    assert len(pairs) == 6
    assert len(rounds(pairs)) == 6
    assert len(rounds(pairs, Limits(duplex=True))) == 3


@pytest.mark.parametrize("between", [0, -1])
def test_a_link_that_nothing_may_use_is_refused(between: int) -> None:
    with refused(ValueError, "between_zones"):
        Limits(between_zones=between)


class TestProfiles:
    def test_given_pairs_are_there_once(self) -> None:
        assert choose_pairs([("a", "b"), ("a", "b"), ("b", "a")], "ab") == (A_B, A_B.back)

    @pytest.mark.parametrize("pair", [("a", "a"), ("a", "x")])
    def test_a_pair_is_of_two_instances(self, pair: tuple[str, str]) -> None:
        with refused(ValueError, "pairs"):
            choose_pairs([pair], "ab")

    def test_a_star_has_a_centre(self) -> None:
        with refused(ValueError, "centre"):
            star("x", "ab")

    @given(some_pairs, st.integers(0, 100), st.integers())
    def test_a_sample_has_all_combinations_of_zones(self, pairs: list[Pair], count: int, seed: int) -> None:
        taken = sample(pairs, ZONES, count, seed)
        assert {*taken} <= {*pairs}
        assert len({*taken}) == len(taken)
        strata = Counter((ZONES[pair.source], ZONES[pair.destination]) for pair in pairs)
        if not count:
            assert not taken
            return
        assert {(ZONES[pair.source], ZONES[pair.destination]) for pair in taken} == {*strata}
        assert len(taken) <= max(min(count, len(pairs)), len(strata)) + len(strata)
        assert len(taken) >= min(count, len(pairs)) - len(strata)
        assert taken == sample(list(reversed(pairs)), ZONES, count, seed)

    def test_a_large_sample_is_in_proportion(self) -> None:
        taken = sample(mesh(NAMES), ZONES, 66, seed=1)
        assert len(taken) == 66
        inside = sum(ZONES[pair.source] == ZONES[pair.destination] for pair in taken)
        assert inside == 18  # of 132 pairs 36 are within a zone

    def test_a_negative_sample_is_refused(self) -> None:
        with refused(ValueError, "count"):
            sample(mesh(NAMES), ZONES, -1, 0)


class TestPlan:
    def test_trains_for_all_and_transfers_for_some(self) -> None:
        found = plan(mesh(NAMES), (Pair("i0", "i1"),), Limits(duplex=True))
        assert sorted(found.light) == sorted(mesh(NAMES))
        assert (len(found.trains), found.transfers) == (11, ((Pair("i0", "i1"),),))
        assert sorted(found.pairs) == sorted(mesh(NAMES))

    def test_transfers_are_never_duplex(self) -> None:
        found = plan(mesh("abcd"), mesh("abcd"), Limits(duplex=True))
        assert not find_collisions(found.transfers, Limits())

    def test_as_the_paper_does_it(self) -> None:
        found = plan(mesh("abcd"), exhaustive=True)
        assert (found.trains, len(found.transfers)) == ((), 6)

    def test_what_is_verified_is_probed(self) -> None:
        with refused(ValueError, "verified"):
            plan([A_B], [A_B.back])

    def test_nothing_to_do(self) -> None:
        assert plan([]) == Plan((), ())

    @given(some_pairs)
    def test_light_probes_of_neighbours_have_other_ends(self, pairs: list[Pair]) -> None:
        found = plan(pairs)
        assert sorted(found.light) == sorted(pairs)
