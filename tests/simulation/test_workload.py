from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.simulation.workload import (
    ArrivalTimes,
    Sizes,
    TransferSource,
    WorkloadDescription,
    arrivals_at,
    bursts,
    choice,
    diurnal,
    log_normal,
    pareto,
    poisson,
)
from tests.simulation.small_worlds import BULK, network

TIMES = {
    "poisson": poisson(60),
    "bursts": bursts(600, 5, 20),
    "diurnal": diurnal(60, 0.8, 3600),
    "listed": arrivals_at(0.0, 10.0, 7200.0),
}
SIZES = {"choice": choice(1e9, 2e9), "log-normal": log_normal(1e9, 1.0, 5e9), "pareto": pareto(0.7, 1e9, 5e9)}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@given(seed=st.integers(0, 1000))
def test_requests_arrive_within_their_time(times: ArrivalTimes, seed: int) -> None:
    assert all(100 <= at < 3700 + 20 for at in times(random.Random(seed), 100.0, 3700.0))


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@given(seed=st.integers(0, 1000))
def test_sizes_are_within_their_limits(sizes: Sizes, seed: int) -> None:
    assert 0 < sizes(random.Random(seed)) <= 5e9 * (1 + 1e-9)


def test_number_of_requests_has_the_given_mean() -> None:
    hours = 200
    for times in (poisson(60), diurnal(60, 0.8, 3600)):
        drawn = list(times(random.Random(1), 0.0, hours * 3600.0))
        assert len(drawn) / hours == pytest.approx(60, rel=0.03)
    first_halves = sum(at % 3600 < 1800 for at in drawn)
    assert first_halves / len(drawn) > 0.7, "a sine is above its mean in its first half"


def test_most_bytes_of_a_heavy_tail_are_in_few_transfers() -> None:
    rng, sizes = random.Random(1), pareto(0.6, 1.0, 1000.0)
    drawn = sorted(sizes(rng) for _ in range(4000))
    assert statistics.median(drawn) < 4
    assert sum(drawn[-400:]) > 0.6 * sum(drawn)


def description(slack: tuple[float, float] | None = (2.0, 2.0)) -> WorkloadDescription:
    source = TransferSource("bulk", poisson(60), choice(1.25e9), (("mu", "osu"),), slack=slack, priority=7)
    return WorkloadDescription("one", network(1e9, 1e8), (source,), lasts=600)


def test_workload_is_drawn_from_its_description() -> None:
    drawn = description().draw({"bulk": BULK}, random.Random(1))
    assert [one.number for one in drawn.transfers] == list(range(1, len(drawn.transfers) + 1))
    assert [one.at for one in drawn.transfers] == sorted(one.at for one in drawn.transfers)
    one = drawn.transfers[0]
    assert (one.streams, one.priority, one.size) == (1, 7, 1_250_000_000)
    assert one.deadline == pytest.approx(one.at + 20.0), "twice the ten seconds that it takes alone"
    assert drawn.directions == (("mu", "osu"),)
    assert description(None).draw({"bulk": BULK}, random.Random(1)).transfers[0].deadline is None


def test_same_seed_draws_the_same_transfers() -> None:
    drawn = [description().draw({"bulk": BULK}, random.Random(seed)).transfers for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
