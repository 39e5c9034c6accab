"""One request: the cheapest with room, and near-ties to the steadier."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from adon.broker.decision import SiteCost
from adon.broker.optimisation.location import NEAR, Location, choose
from adon.values import FrozenMap


def a_cost(
    site: str,
    cost: float,
    spread: float = 0.0,
    *,
    local: bool = False,
    path: str | None = None,
    why: str = "",
) -> SiteCost:
    times, sizes = (cost, cost, 0.0, cost, 0.0, 0.0), (1, 1, 1)
    deviations = FrozenMap({"cost": spread} if spread else {})
    return SiteCost(site, local, *times, *sizes, 1.0, 1.0, 1.0, path, why, deviations=deviations)


LOCAL, REMOTE = a_cost("mu-hpc", 86.1, local=True), a_cost("osu-hpc", 57.0)


def chosen(*costs: SiteCost, lacking: Mapping[str, str] | None = None) -> Location:
    return choose(costs, lacking or {})


def test_the_cheapest() -> None:
    found = chosen(LOCAL, REMOTE)
    assert found.taken is REMOTE


def test_the_cheapest_that_has_room() -> None:
    found = chosen(LOCAL, REMOTE, lacking={"osu-hpc": "3 worker nodes free, 4 needed"})
    assert found.taken is LOCAL


def test_paths_are_named_where_there_are_several() -> None:
    costs = [a_cost("osu-hpc", 57.0, path="al2s"), a_cost("osu-hpc", 328.0, path="internet")]
    found = chosen(*costs)
    assert found.taken is costs[0]
    assert found.reason.startswith("osu-hpc by al2s ")


def test_nowhere() -> None:
    never = a_cost("osu-hpc", math.inf, why="al2s carries nothing")
    found = chosen(LOCAL, never, lacking={"mu-hpc": "2 worker nodes free, 4 needed"})
    assert found.taken is None
    assert chosen().taken is None


def test_ties_go_to_the_remote_site_then_by_name_in_any_order() -> None:
    costs = [a_cost("a-local", 5.0, local=True), a_cost("osu-hpc", 5.0), a_cost("isi", 5.0)]
    for order in itertools.permutations(costs):
        found = chosen(*order).taken
        assert found is not None
        assert found.site == "isi"


class TestNearTies:
    def test_the_steadier_one_is_taken_and_the_reason_says_so(self) -> None:
        wild, steady = a_cost("osu-hpc", 57.0, 12.0), a_cost("mu-hpc", 60.0, 2.0, local=True)
        found = chosen(wild, steady)
        assert found.taken is steady
        assert found.reason == (
            "mu-hpc (local) costs 60 ± 2; osu-hpc costs 57 ± 12; it and the cheapest, osu-hpc, differ by 3, "
            "less than 0.5 of their joint deviation of 12: the steadier one is taken "
            "(COV 0.033 against 0.21)"
        )

    def test_a_clear_difference_is_no_tie(self) -> None:
        wild, steady = a_cost("osu-hpc", 57.0, 12.0), a_cost("mu-hpc", 64.0, 2.0, local=True)
        assert chosen(wild, steady).taken is wild

    def test_what_nobody_has_observed_makes_no_tie(self) -> None:
        assert chosen(a_cost("osu-hpc", 57.0), a_cost("mu-hpc", 57.1)).taken.site == "osu-hpc"  # type: ignore[union-attr]

    def test_the_cheapest_may_be_the_steadiest(self) -> None:
        found = chosen(a_cost("osu-hpc", 57.0, 2.0), a_cost("mu-hpc", 58.0, 12.0))
        assert found.taken is not None
        assert (found.taken.site, "tie" in found.reason) == ("osu-hpc", False)

    @given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 30)), min_size=1, max_size=5))
    def test_what_is_taken_is_never_clearly_dearer(self, drawn: list[tuple[float, float]]) -> None:
        costs = [a_cost(f"site-{n}", cost, spread) for n, (cost, spread) in enumerate(drawn)]
        found = chosen(*costs).taken
        assert found is not None
        cheapest = min(costs, key=lambda one: one.cost)
        joint = math.hypot(found.deviations.get("cost", 0), cheapest.deviations.get("cost", 0))
        assert found.cost == cheapest.cost or found.cost - cheapest.cost < NEAR * joint
        for order in itertools.islice(itertools.permutations(costs), 6):
            assert chosen(*order).taken == found
