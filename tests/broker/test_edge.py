from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.cost import unknown_site
from adon.broker.decision import SiteCost
from adon.broker.edge import Allocation, Ledger, choose_site, place, preemption_candidate
from adon.errors import Conflict, NotFound

TOTALS = {"mu-hpc": 4, "osu-hpc": 16}


def a_cost(site: str, cost: float, local: bool = False, why: str = "") -> SiteCost:
    return replace(unknown_site(site, why), cost=cost, local=local)


LOCAL, REMOTE = a_cost("mu-hpc", 86.1, local=True), a_cost("osu-hpc", 57.0)


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    ledger = Ledger(draw(st.dictionaries(st.sampled_from("abc"), st.integers(0, 10), min_size=1)))
    for flow in draw(st.lists(st.integers(1, 20), unique=True, max_size=6)):
        site = draw(st.sampled_from(sorted(ledger.totals)))
        if ledger.residual(site) > 0:
            ledger = ledger.allocate(flow, site, draw(st.integers(1, ledger.residual(site))))
    return ledger


class TestLedger:
    @settings(max_examples=60)
    @given(ledgers(), st.integers(21, 30), st.integers(1, 12))
    def test_release_undoes_allocate_and_nothing_is_ever_negative(
        self, ledger: Ledger, flow: int, nodes: int
    ) -> None:
        for site in ledger.totals:
            free = ledger.residual(site)
            assert free >= 0
            if nodes > free:
                with pytest.raises(Conflict, match="free"):
                    ledger.allocate(flow, site, nodes)
                continue
            after = ledger.allocate(flow, site, nodes)
            assert after.residual(site) == free - nodes
            assert all(after.residual(o) == ledger.residual(o) for o in ledger.totals if o != site)
            assert after.release(flow) == ledger

    @settings(max_examples=30)
    @given(ledgers())
    def test_releasing_everything_frees_everything(self, ledger: Ledger) -> None:
        for flow in list(ledger.allocations):
            ledger = ledger.release(flow)
        assert {site: ledger.residual(site) for site in ledger.totals} == dict(ledger.totals)

    def test_a_flow_allocates_once(self) -> None:
        ledger = Ledger(TOTALS).allocate(1, "mu-hpc", 2)
        with pytest.raises(Conflict, match="f-1 holds worker nodes of mu-hpc"):
            ledger.allocate(1, "osu-hpc", 1)

    def test_what_is_not_held_can_be_released(self) -> None:
        ledger = Ledger(TOTALS)
        assert ledger.release(99) is ledger

    def test_a_site_that_shrank(self) -> None:
        assert Ledger({"a": 2}, {1: Allocation("a", 5)}).residual("a") == 0

    def test_nonsense(self) -> None:
        with pytest.raises(NotFound, match="nowhere"):
            Ledger(TOTALS).residual("nowhere")
        with pytest.raises(NotFound, match="nowhere"):
            Ledger(TOTALS).allocate(1, "nowhere", 1)
        with pytest.raises(ValueError, match="nodes"):
            Ledger(TOTALS).allocate(1, "mu-hpc", 0)
        with pytest.raises(ValueError, match="a: a site"):
            Ledger({"a": -1})

    def test_a_ledger_does_not_change_under_its_holder(self) -> None:
        totals = {"a": 3}
        ledger = Ledger(totals)
        totals["a"] = 99
        assert ledger.residual("a") == 3
        with pytest.raises(TypeError):
            ledger.allocations[1] = Allocation("a", 1)  # type: ignore[index]


class TestChoice:
    def test_the_cheapest(self) -> None:
        choice = choose_site([LOCAL, REMOTE], Ledger(TOTALS), 4, 0)
        assert choice.site == "osu-hpc"
        assert choice.reason == "osu-hpc (remote) costs 57; mu-hpc costs 86.1"
        assert choice.costs == (LOCAL, REMOTE)

    def test_the_cheapest_that_has_room(self) -> None:
        ledger = Ledger(TOTALS).allocate(1, "osu-hpc", 13)
        choice = choose_site([LOCAL, REMOTE], ledger, 4, 0)
        assert choice.site == "mu-hpc"
        assert "osu-hpc 3 worker nodes free, 4 needed" in choice.reason

    @pytest.mark.parametrize(("reserve", "site"), [(0, "mu-hpc"), (1, None)])
    def test_the_reserve_stays_free(self, reserve: int, site: str | None) -> None:
        choice = choose_site([LOCAL], Ledger(TOTALS), 4, reserve)
        assert choice.site == site

    def test_nowhere(self) -> None:
        never = a_cost("osu-hpc", math.inf, why="al2s carries nothing")
        choice = choose_site([LOCAL, never], Ledger(TOTALS).allocate(1, "mu-hpc", 2), 4, 1)
        assert choice.site is None
        assert choice.reason == (
            "no compute site can take it: mu-hpc: 2 worker nodes free, 4 needed and 1 kept in reserve; "
            "osu-hpc: al2s carries nothing"
        )

    def test_no_sites_and_unknown_sites(self) -> None:
        assert choose_site([], Ledger(TOTALS), 1, 0).site is None
        choice = choose_site([a_cost("elsewhere", 1.0)], Ledger(TOTALS), 1, 0)
        assert choice.site is None
        assert "elsewhere: nothing is known" in choice.reason

    def test_ties_go_to_the_remote_site_then_by_name_in_any_order(self) -> None:
        costs = [a_cost("a-local", 5.0, local=True), a_cost("osu-hpc", 5.0), a_cost("isi", 5.0)]
        ledger = Ledger({**TOTALS, "isi": 9, "a-local": 9})
        for order in itertools.permutations(costs):
            assert choose_site(order, ledger, 1, 0).site == "isi"


class TestPlace:
    def test_the_nodes_are_subtracted_and_the_flow_is_in_a(self) -> None:
        choice, after = place(7, [LOCAL, REMOTE], Ledger(TOTALS), 4, 1)
        assert choice.site == "osu-hpc"
        assert after.residual("osu-hpc") == 12
        assert after.allocations == {7: Allocation("osu-hpc", 4)}

    def test_what_finds_no_place_changes_nothing(self) -> None:
        ledger = Ledger(TOTALS)
        choice, after = place(7, [LOCAL], ledger, 4, 1)
        assert choice.site is None
        assert after is ledger

    @settings(max_examples=40)
    @given(st.lists(st.integers(1, 6), max_size=10), st.integers(0, 3))
    def test_admitting_until_full_never_touches_the_reserve(self, needs: list[int], reserve: int) -> None:
        ledger = Ledger(TOTALS)
        for flow, need in enumerate(needs, start=1):
            choice, ledger = place(flow, [LOCAL, REMOTE], ledger, need, reserve)
            if choice.site is not None:
                assert ledger.residual(choice.site) >= reserve


class TestPreemption:
    @pytest.mark.parametrize(
        ("priority", "running", "candidate"),
        [
            (500, [], None),
            (500, [(1, 500)], None),
            (500, [(1, 499)], 1),
            (500, [(1, 600), (2, 700)], None),
            (900, [(1, 300), (2, 100), (3, 200)], 2),
            (900, [(1, 100), (3, 100), (2, 100)], 3),
        ],
    )
    def test_only_the_lowest_and_only_if_lower(
        self, priority: int, running: list[tuple[int, int]], candidate: int | None
    ) -> None:
        assert preemption_candidate(priority, running) == candidate
