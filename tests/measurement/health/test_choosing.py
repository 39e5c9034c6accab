"""Whom to take: by one place, and among themselves; beside every set there is."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.choosing import Direction, mutually, towards
from measurement.health.model import Pair
from measurement.health.scoring import Score
from tests.support.refusals import refused

Totals = dict[Pair, Score]


def health(**totals: float) -> Totals:
    return {Pair(*name.split("_")): Score(total) for name, total in totals.items()}


@st.composite
def everybody(draw: st.DrawFn, most: int = 7) -> Totals:
    names = [f"i{number}" for number in range(draw(st.integers(2, most)))]
    pairs = [Pair(one, other) for one in names for other in names if one != other]
    total = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
    return {pair: Score(draw(total)) for pair in pairs}


def among(found: Totals, these: tuple[str, ...]) -> float:
    """Written down a second time."""
    whole = []
    for one, other in combinations(these, 2):
        both = [found[Pair(one, other)].total, found[Pair(other, one)].total]
        whole.append(0.0 if None in both else math.fsum(total or 0.0 for total in both) / 2)
    return math.fsum(whole) / len(whole)


TRAP_ROWS = (
    (0, 4, 0, 1, 4, 3, 2, 2),
    (4, 0, 3, 4, 0, 4, 1, 0),
    (0, 3, 0, 3, 3, 4, 3, 1),
    (1, 4, 3, 0, 1, 0, 3, 1),
    (4, 0, 3, 1, 0, 4, 4, 3),
    (3, 4, 4, 0, 4, 0, 2, 1),
    (2, 1, 3, 3, 4, 2, 0, 4),
    (2, 0, 1, 1, 3, 1, 4, 0),
)
"""Quarters; of four instances, growing from any one and exchanging one for one ends below the best."""
TRAP = {
    Pair(f"i{one}", f"i{other}"): Score(health / 4)
    for one, row in enumerate(TRAP_ROWS)
    for other, health in enumerate(row)
    if one != other
}


def best_of(found: Totals, count: int) -> list[str]:
    names = sorted({name for pair in found for name in pair})
    return list(max(combinations(names, count), key=lambda these: among(found, these)))


class TestTowards:
    FOUND = health(a_s=0.9, s_a=0.1, b_s=0.6, s_b=0.6, c_s=0.2, s_c=0.8, a_b=1.0)

    @pytest.mark.parametrize(
        ("direction", "taken", "mean"),
        [
            (Direction.TO, ("a", "b"), 0.75),
            (Direction.FROM, ("c", "b"), 0.7),
            (Direction.BOTH, ("b", "a"), 0.55),
        ],
    )
    def test_data_flow_one_way(self, direction: Direction, taken: tuple[str, ...], mean: float) -> None:
        chosen = towards("s", self.FOUND, 2, direction)
        assert (chosen.instances, chosen.proven) == (taken, True)
        assert chosen.health == pytest.approx(mean)

    def test_the_worst_are_the_others(self) -> None:
        assert towards("s", self.FOUND, 1, Direction.TO, worst=True).instances == ("c",)

    def test_who_is_not_known_is_not_taken(self) -> None:
        with refused(ValueError, "count"):
            towards("s", health(a_s=1, s_a=1, b_s=1, s_b=1, c_s=1), 3)

    def test_nobody_is_no_choice(self) -> None:
        with refused(ValueError, "count"):
            towards("s", self.FOUND, 0)


class TestMutually:
    def test_a_place_that_all_like_is_not_enough(self) -> None:
        """Each likes the hub, but the three of the ring like each other."""
        ring, hub = ("a", "b", "c"), ("d", "e", "h")
        totals = {Pair(one, other): Score(0.7) for one in ring for other in ring if one != other}
        totals |= {
            Pair(one, other): Score(1.0 if "h" in (one, other) else 0.1)
            for one in hub
            for other in hub
            if one != other
        }
        chosen = mutually(totals, 3)
        assert (sorted(chosen.instances), chosen.proven) == (["a", "b", "c"], True)
        assert chosen.health == pytest.approx(0.7)

    @pytest.mark.parametrize("count", [1, 4])
    def test_a_count_that_cannot_be_is_told(self, count: int) -> None:
        with refused(ValueError, "count"):
            mutually(health(a_b=1, b_c=1), count)

    @given(everybody(), st.data())
    def test_it_is_the_best_of_all_sets(self, found: Totals, data: st.DataObject) -> None:
        names = sorted({name for pair in found for name in pair})
        count = data.draw(st.integers(2, len(names)))
        chosen = mutually(found, count)
        best = max(among(found, these) for these in combinations(names, count))
        assert chosen.proven
        assert len(set(chosen.instances)) == count
        assert chosen.health == pytest.approx(best)
        assert chosen.health == pytest.approx(among(found, chosen.instances))
        assert chosen.bound == pytest.approx(best)

    @given(everybody(), st.data())
    def test_the_worst_is_the_worst_of_all_sets(self, found: Totals, data: st.DataObject) -> None:
        names = sorted({name for pair in found for name in pair})
        count = data.draw(st.integers(2, len(names)))
        chosen = mutually(found, count, worst=True)
        worst = min(among(found, these) for these in combinations(names, count))
        assert chosen.proven
        assert chosen.health == chosen.bound == pytest.approx(worst)
        assert chosen.health == pytest.approx(among(found, chosen.instances))

    @given(everybody(), st.data(), st.integers(0, 20))
    def test_stopped_early_it_says_what_is_not_ruled_out(
        self, found: Totals, data: st.DataObject, steps: int
    ) -> None:
        names = sorted({name for pair in found for name in pair})
        count = data.draw(st.integers(2, len(names)))
        chosen = mutually(found, count, steps)
        best = max(among(found, these) for these in combinations(names, count))
        assert chosen.health <= best + 1e-9
        assert chosen.bound >= best - 1e-9
        assert chosen.health == pytest.approx(best) or not chosen.proven

    def test_where_exchanging_one_for_one_gains_nothing_the_search_finds_the_best(self) -> None:
        chosen = mutually(TRAP, 4)
        assert (sorted(chosen.instances), chosen.proven) == (best_of(TRAP, 4), True)
        assert chosen.health == chosen.bound == 5.0 / 6

    def test_without_steps_the_best_is_missed_and_that_is_told(self) -> None:
        chosen = mutually(TRAP, 4, steps=0)
        assert chosen.health == pytest.approx(4.75 / 6)
        assert not chosen.proven
        assert chosen.bound >= 5.0 / 6

    def test_a_hundred_instances_have_an_answer_with_a_bound(self) -> None:
        chance = random.Random(1)
        names = [f"i{number}" for number in range(100)]
        zone = {name: number % 3 for number, name in enumerate(names)}
        found = {
            Pair(one, other): Score(
                chance.uniform(0.5, 1.0) if zone[one] == zone[other] else chance.uniform(0, 0.6)
            )
            for one in names
            for other in names
            if one != other
        }
        chosen = mutually(found, 8, steps=200)
        assert len({zone[name] for name in chosen.instances}) == 1
        assert 0.8 < chosen.health <= chosen.bound <= 1.0
