"""Whom to take: by one place, and among themselves; beside every set there is."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.instance_selection import Direction, mutually, towards
from measurement.health.model import Pair
from measurement.health.pair_scores import Score
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


QUARTERS_ROWS = (
    (0, 4, 0, 1, 4, 3, 2, 2),
    (4, 0, 3, 4, 0, 4, 1, 0),
    (0, 3, 0, 3, 3, 4, 3, 1),
    (1, 4, 3, 0, 1, 0, 3, 1),
    (4, 0, 3, 1, 0, 4, 4, 3),
    (3, 4, 4, 0, 4, 0, 2, 1),
    (2, 1, 3, 3, 4, 2, 0, 4),
    (2, 0, 1, 1, 3, 1, 4, 0),
)
"""Quarters."""
QUARTERS = {
    Pair(f"i{one}", f"i{other}"): Score(health / 4)
    for one, row in enumerate(QUARTERS_ROWS)
    for other, health in enumerate(row)
    if one != other
}


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
        assert chosen.instances == taken
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
        totals = {Pair(one, other): Score(0.75) for one in ring for other in ring if one != other}
        totals |= {
            Pair(one, other): Score(1.0 if "h" in (one, other) else 0.1)
            for one in hub
            for other in hub
            if one != other
        }
        chosen = mutually(totals, 3)
        assert sorted(chosen.instances) == ["a", "b", "c"]
        assert chosen.health == pytest.approx(0.75)

    @pytest.mark.parametrize("count", [1, 4])
    def test_a_count_that_cannot_be_is_told(self, count: int) -> None:
        with refused(ValueError, "count"):
            mutually(health(a_b=1, b_c=1), count)

    @given(everybody(), st.data())
    def test_no_set_is_above_the_bound(self, found: Totals, data: st.DataObject) -> None:
        names = sorted({name for pair in found for name in pair})
        count = data.draw(st.integers(2, len(names)))
        chosen = mutually(found, count)
        best = max(among(found, these) for these in combinations(names, count))
        assert len(set(chosen.instances)) == count
        assert chosen.health == pytest.approx(among(found, chosen.instances))
        assert chosen.health <= best + 1e-9
        assert chosen.bound >= best - 1e-9

    @given(everybody(), st.data())
    def test_no_set_is_below_the_bound_of_the_worst(self, found: Totals, data: st.DataObject) -> None:
        names = sorted({name for pair in found for name in pair})
        count = data.draw(st.integers(2, len(names)))
        chosen = mutually(found, count, worst=True)
        worst = min(among(found, these) for these in combinations(names, count))
        assert chosen.health == pytest.approx(among(found, chosen.instances))
        assert chosen.health >= worst - 1e-9
        assert chosen.bound <= worst + 1e-9

    @pytest.mark.parametrize("count", [2, 3, 5])
    def test_no_exchange_of_one_for_another_gains(self, count: int) -> None:
        chosen = mutually(QUARTERS, count)
        names = {name for pair in QUARTERS for name in pair}
        exchanged = [
            among(QUARTERS, (*(one for one in chosen.instances if one != old), new))
            for old in chosen.instances
            for new in names - set(chosen.instances)
        ]
        assert chosen.health >= max(exchanged) - 1e-9

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
        chosen = mutually(found, 8)
        assert len({zone[name] for name in chosen.instances}) == 1
        assert 0.8 < chosen.health <= chosen.bound <= 1.0
