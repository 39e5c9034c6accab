"""The clairvoyant side: its schedules and its bound, against what is known to be best and brute force."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.frozenmap import FrozenMap
from adon.simulation.measures import measured
from adon.simulation.network import Network, Outage
from adon.simulation.offline import Planned, Schedule, by_deadlines, by_mean, search
from adon.simulation.policy import simple_policies
from adon.simulation.steps import Steps
from adon.simulation.workload import Transfer, Workload
from tests.depth import DEPTH
from tests.simulation.small import ended, network, run, transfer, workload

bound = pytest.importorskip("adon.simulation.bound")
pytest.importorskip("scipy")


def mean(world: Workload, schedule: Schedule) -> float:
    return measured(world, run(world, Planned(world, schedule))).mean


@st.composite
def small_worlds(draw: st.DrawFn, over: Network | None = None) -> Workload:
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
    """The smallest remainder first is optimal on one server with pauses (Schrage 1968), second by second."""
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
def test_on_one_path_the_search_finds_the_best_and_the_bound_is_below(world: Workload) -> None:
    best = best_of_one_server(world.transfers)
    found = search(world, random.Random(1), 0).measures.mean
    assert found == pytest.approx(best)
    assert bound.least_mean(world, 40.0, 40) <= best * (1 + 1e-6)


@given(small_worlds())
def test_a_fine_bound_on_one_path_is_close(world: Workload) -> None:
    best = best_of_one_server(world.transfers)
    assert bound.least_mean(world, best + 30, 400) >= 0.80 * best


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
def test_on_two_paths_the_bound_is_below_brute_force_and_the_search_not_far_above(world: Workload) -> None:
    whole_seconds = in_slots(world.transfers, (2, 1))
    found = search(world, random.Random(1), 60).measures.mean
    assert bound.least_mean(world, 40.0, 40) <= min(whole_seconds, found) * (1 + 1e-6)
    assert found <= whole_seconds * 1.15


@given(small_worlds(network(2e9, 1e9)))
@settings(max_examples=15 * DEPTH)
def test_the_search_finds_the_best_list_of_those_there_are(world: Workload) -> None:
    numbers = [one.number for one in world.transfers]
    every = min(
        mean(world, Schedule(order, worth, pauses=pauses))
        for order in itertools.permutations(numbers)
        for worth in (0.05, 0.35, 0.7, 1.0)
        for pauses in (True, False)
    )
    assert search(world, random.Random(2), 150).measures.mean <= every * 1.02


@given(small_worlds(network(2e9, 1e9)))
def test_nobody_beats_the_bounds(world: Workload) -> None:
    least, most = bound.least_mean(world, 40.0, 30), bound.most_in_time(world, 40.0, 30)
    schedules = [Planned(world, Schedule(None, 0.5)), Planned(world, Schedule(None, 1.0, pauses=False))]
    for policy in (*simple_policies(1), *schedules):
        found = measured(world, run(world, policy))
        assert found.mean >= least * (1 - 1e-6), policy.name
        assert found.deadlines is not None
        assert found.deadlines <= most + 1e-6, policy.name


@pytest.mark.parametrize(
    "over",
    [
        network(1e9, 1e8, outages=[Outage(1, 4)]),
        network(Steps.of((0, 1e9), (2, 1e8), (6, 1e9)), 2e8),
        network(1e9, background=Steps.of((0, 2.0), (3, 0.0))),
        network(1e9, 1e8, loss=0.001),
    ],
)
def test_the_bound_knows_what_the_network_does(over: Network) -> None:
    world = workload(
        *(transfer(n, at=float(n), megabytes=125.0 * n, deadline=9.0) for n in range(1, 5)), over=over
    )
    found = search(world, random.Random(1), 60)
    least, most = bound.least_mean(world, 60.0, 60), bound.most_in_time(world, 60.0, 60)
    assert 0.3 * found.measures.mean <= least <= found.measures.mean * (1 + 1e-6)
    assert most is not None
    assert found.measures.deadlines is not None
    assert found.measures.deadlines <= most + 1e-6


def test_a_list_is_served_in_its_order_and_the_others_wait() -> None:
    world = workload(transfer(1), transfer(2), over=network(1e9))
    assert ended(run(world, Planned(world, Schedule((2, 1), 1.0)))) == [2.0, 1.0]
    assert ended(run(world, Planned(world, Schedule((2, 1), 0.0)))) == [2.0, 1.0]


def test_who_has_begun_is_paused_only_where_that_is_allowed() -> None:
    world = workload(transfer(1, megabytes=1250), transfer(2, at=1), over=network(1e9))
    assert ended(run(world, Planned(world, Schedule(None, 1.0)))) == [11.0, 2.0]
    assert ended(run(world, Planned(world, Schedule(None, 1.0, pauses=False)))) == [10.0, 11.0]


def test_a_transfer_may_be_bound_to_a_path() -> None:
    world = workload(transfer(1), over=network(1e9, 5e8))
    assert ended(run(world, Planned(world, Schedule(None, 1.0, FrozenMap({1: "p1"}))))) == [2.0]


def test_the_future_is_known() -> None:
    """The path that is best now fails in a second: who knows it leaves when it does, and comes back."""
    world = workload(transfer(1, megabytes=500), over=network(1e9, 2e8, outages=[Outage(1, 2)]))
    (record,) = run(world, Planned(world, Schedule(None, 1.0)))
    assert [path for _, path in record.stays] == ["p0", "p1", "p0"]
    assert record.ended == pytest.approx(4.8)


def test_the_aim_of_a_search_counts() -> None:
    """A large one with a deadline, a small one without: one may be early, or the other in time."""
    world = workload(transfer(1, megabytes=1250, deadline=10.0), transfer(2), over=network(1e9))
    assert search(world, random.Random(1), 20, by_mean).measures.deadlines == 0.0
    assert search(world, random.Random(1), 20, by_deadlines).measures.deadlines == 1.0


def test_without_deadlines_there_is_no_bound_on_them() -> None:
    assert bound.most_in_time(workload(transfer()), 10.0) is None
