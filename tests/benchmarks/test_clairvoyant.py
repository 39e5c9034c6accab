"""Clairvoyant schedules and the bound, compared with optimal solutions and brute force."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.simulation.measures import summarize
from adon.simulation.policies import AlwaysLayer, BestTest, Ecmp
from adon.simulation.simulated_network import Outage, SimulatedNetwork
from adon.simulation.workload import Transfer, Workload
from adon.values import FrozenMap
from benchmarks.clairvoyant import (
    ClairvoyantPolicy,
    Schedule,
    mean_completion_bound,
    run_schedule,
    search_schedule,
    seconds_alone,
)
from tests.depth import DEPTH
from tests.simulation.small_worlds import ends, network, run, steps, transfer, workload


@st.composite
def small_worlds(draw: st.DrawFn, over: SimulatedNetwork | None = None) -> Workload:
    count = draw(st.integers(1, 4))
    asked = [
        transfer(
            number,
            at=float(draw(st.integers(0, 4))),
            megabytes=125.0 * draw(st.integers(1, 6)),
            deadline=float(draw(st.integers(2, 15))),
        )
        for number in range(1, count + 1)
    ]
    return workload(*sorted(asked, key=lambda one: one.at), over=over or network(1e9))


def best_of_one_server(transfers: tuple[Transfer, ...]) -> float:
    """Least remaining bytes first is optimal on one server with pauses (Schrage 1968)."""
    left = {one.number: round(one.bits / 1e9) for one in transfers}
    ends, now = dict[int, int](), 0
    while left:
        there = [one.number for one in transfers if one.at <= now and one.number in left]
        now += 1
        if there:
            served = min(there, key=lambda number: (left[number], number))
            left[served] -= 1
            if not left[served]:
                del left[served]
                ends[served] = now
    return sum(ends[one.number] - one.at for one in transfers) / len(transfers)


@given(small_worlds())
def test_search_is_optimal_on_one_path(world: Workload) -> None:
    best = best_of_one_server(world.transfers)
    found = search_schedule(world, random.Random(1), 0).mean
    assert found == pytest.approx(best)
    assert mean_completion_bound(world, 40.0, 40) <= best * (1 + 1e-6)


@given(small_worlds())
def test_fine_bound_is_close_on_one_path(world: Workload) -> None:
    best = best_of_one_server(world.transfers)
    assert mean_completion_bound(world, best + 30, 400) >= 0.80 * best


def in_slots(transfers: tuple[Transfer, ...], rates: tuple[int, int]) -> float:
    """Brute force: every second each path serves at most one transfer and each transfer is on one path."""
    most = 60

    def cost(now: int, left: tuple[int, ...]) -> float:
        key = (now, left)
        if key not in known:
            known[key] = min(_following(now, left), default=float(most))
        return known[key]

    def _following(now: int, left: tuple[int, ...]) -> Iterator[float]:
        there = [i for i, one in enumerate(transfers) if one.at <= now and left[i]]
        if not any(left):
            yield 0.0
            return
        if now >= most:
            return
        choices = [None, *there]
        for pair in itertools.product(choices, repeat=2):
            if pair[0] is not None and pair[0] == pair[1]:
                continue
            after = list(left)
            for who, rate in zip(pair, rates, strict=True):
                if who is not None:
                    after[who] = max(0, after[who] - rate)
            if tuple(after) == left and there:
                continue
            waiting = sum(1 for i, one in enumerate(transfers) if one.at <= now and left[i])
            yield waiting + cost(now + 1, tuple(after))

    known: dict[tuple[int, tuple[int, ...]], float] = {}
    return cost(0, tuple(round(one.bits / 1e9) for one in transfers)) / len(transfers)


@given(small_worlds(network(2e9, 1e9)))
@settings(max_examples=15 * DEPTH)
def test_bound_and_search_enclose_brute_force_on_two_paths(world: Workload) -> None:
    whole_seconds = in_slots(world.transfers, (2, 1))
    found = search_schedule(world, random.Random(1), 60).mean
    assert mean_completion_bound(world, 40.0, 40) <= min(whole_seconds, found) * (1 + 1e-6)
    assert found <= whole_seconds * 1.15


@given(small_worlds(network(2e9, 1e9)))
@settings(max_examples=15 * DEPTH)
def test_search_finds_the_best_priority_list(world: Workload) -> None:
    numbers = [one.number for one in world.transfers]
    every = min(
        run_schedule(world, Schedule(order, worth)).mean
        for order in itertools.permutations(numbers)
        for worth in (0.05, 0.35, 0.7, 1.0)
    )
    assert search_schedule(world, random.Random(2), 150).mean <= every * 1.02


@given(small_worlds(network(2e9, 1e9)))
def test_no_policy_is_below_the_bound(world: Workload) -> None:
    least = mean_completion_bound(world, 40.0, 30)
    shortest = ClairvoyantPolicy(world, Schedule(None, 0.5))
    for policy in (AlwaysLayer("l2"), AlwaysLayer("l3", layer=3), Ecmp("ecmp"), BestTest("best"), shortest):
        assert summarize(world, run(world, policy)).mean >= least * (1 - 1e-6), policy.name


@pytest.mark.parametrize(
    "over",
    [
        network(1e9, 1e8, outages=[Outage(1, 4)]),
        network(steps((0, 1e9), (2, 1e8), (6, 1e9)), 2e8),
        network(1e9, others=steps((0, 2.0), (3, 0.0))),
        network(1e9, 1e8, loss=0.001),
    ],
)
def test_bound_follows_changes_of_the_network(over: SimulatedNetwork) -> None:
    world = workload(
        *(transfer(n, at=float(n), megabytes=125.0 * n, deadline=9.0) for n in range(1, 5)), over=over
    )
    found = search_schedule(world, random.Random(1), 60)
    least = mean_completion_bound(world, 60.0, 60)
    assert 0.3 * found.mean <= least <= found.mean * (1 + 1e-6)


def test_list_is_served_in_its_order() -> None:
    world = workload(transfer(1), transfer(2), over=network(1e9))
    assert ends(run(world, ClairvoyantPolicy(world, Schedule((2, 1), 1.0)))) == [2.0, 1.0]
    assert ends(run(world, ClairvoyantPolicy(world, Schedule((2, 1), 0.0)))) == [2.0, 1.0]


def test_running_transfer_is_paused_for_a_shorter_one() -> None:
    world = workload(transfer(1, megabytes=1250), transfer(2, at=1), over=network(1e9))
    assert ends(run(world, ClairvoyantPolicy(world, Schedule(None, 1.0)))) == [11.0, 2.0]


def test_transfer_can_be_fixed_to_a_path() -> None:
    world = workload(transfer(1), over=network(1e9, 5e8))
    assert ends(run(world, ClairvoyantPolicy(world, Schedule(None, 1.0, FrozenMap({1: "p1"}))))) == [2.0]


def test_policy_returns_to_a_path_after_an_outage() -> None:
    """The best path fails from 1 to 2 s."""
    world = workload(transfer(1, megabytes=500), over=network(1e9, 2e8, outages=[Outage(1, 2)]))
    (record,) = run(world, ClairvoyantPolicy(world, Schedule(None, 1.0)))
    assert [path for _, path in record.stays] == ["p0", "p1", "p0"]
    assert record.ended == pytest.approx(4.8)


@pytest.mark.parametrize(
    ("over", "seconds"),
    [
        (network(1e9), 1.0),
        (network(steps((0, 1e9), (5.5, 1e8))), 0.5 + 5.0),
        (network(steps((0, 1e9), (5.5, 1e8)), 5e8), 0.5 + 1.0),
        (network(1e9, outages=[Outage(5.5, 7)]), 2.5),
        (network(1e9, others=steps((0, 1.0))), 2.0),
    ],
)
def test_seconds_alone_use_the_best_path_at_every_time(over: SimulatedNetwork, seconds: float) -> None:
    assert seconds_alone(workload(over=over), transfer(at=5.0)) == pytest.approx(seconds)
