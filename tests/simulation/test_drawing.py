from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.simulation.drawing import (
    Bursts,
    Chosen,
    Description,
    Diurnal,
    Listed,
    LogNormal,
    Pareto,
    Poisson,
    Sizes,
    Source,
    Times,
)
from adon.simulation.network import Outage
from adon.simulation.steps import Steps
from adon.simulation.workload import alone
from tests.simulation.small import EAGER, network, transfer

ALL_TIMES: tuple[Times, ...] = (
    Poisson(60),
    Bursts(600, 5, 20),
    Diurnal(60, 0.8, 3600),
    Listed((0.0, 10.0, 7200.0)),
)
ALL_SIZES: tuple[Sizes, ...] = (Chosen((1e9, 2e9)), LogNormal(1e9, 1.0, 5e9), Pareto(0.7, 1e9, 5e9))


@pytest.mark.parametrize("times", ALL_TIMES, ids=lambda times: type(times).__name__)
@given(seed=st.integers(0, 1000))
def test_requests_come_within_their_time(times: Times, seed: int) -> None:
    found = list(times.draw(random.Random(seed), 100.0, 3700.0))
    assert all(100 <= at < 3700 + 20 for at in found)


@pytest.mark.parametrize("sizes", ALL_SIZES, ids=lambda sizes: type(sizes).__name__)
@given(seed=st.integers(0, 1000))
def test_sizes_are_within_their_limits(sizes: Sizes, seed: int) -> None:
    assert 0 < sizes.draw(random.Random(seed)) <= 5e9 * (1 + 1e-9)


def test_as_many_come_as_were_said() -> None:
    hours = 200
    for times in (Poisson(60), Diurnal(60, 0.8, 3600)):
        found = list(times.draw(random.Random(1), 0.0, hours * 3600.0))
        assert len(found) / hours == pytest.approx(60, rel=0.03)
    first_halves = sum(at % 3600 < 1800 for at in found)
    assert first_halves / len(found) > 0.7, "a sine is above its mean in its first half"


def test_half_of_a_heavy_tail_is_small() -> None:
    chance = random.Random(1)
    found = sorted(Pareto(0.6, 1.0, 1000.0).draw(chance) for _ in range(4000))
    assert statistics.median(found) < 4
    assert sum(found[-400:]) > 0.6 * sum(found)


def description(slack: tuple[float, float] | None = (2.0, 2.0)) -> Description:
    source = Source("bulk", Poisson(60), Chosen((1.25e9,)), (("mu", "osu"),), slack=slack, priority=7)
    return Description("one", "A story.", network(1e9, 1e8), (source,), lasts=600)


def test_a_workload_is_drawn() -> None:
    drawn = description().draw({"bulk": EAGER}, random.Random(1))
    assert [one.number for one in drawn.transfers] == list(range(1, len(drawn.transfers) + 1))
    assert [one.at for one in drawn.transfers] == sorted(one.at for one in drawn.transfers)
    one = drawn.transfers[0]
    assert (one.streams, one.priority, one.size) == (1, 7, 1_250_000_000)
    assert one.deadline == pytest.approx(one.at + 20.0), "twice the ten seconds that it takes alone"
    assert drawn.directions == (("mu", "osu"),)
    assert description(None).draw({"bulk": EAGER}, random.Random(1)).transfers[0].deadline is None


def test_the_same_chance_draws_the_same() -> None:
    one, same, other = (description().draw({"bulk": EAGER}, random.Random(seed)) for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(
    ("over", "seconds"),
    [
        (network(1e9), 1.0),
        (network(Steps.of((0, 1e9), (5.5, 1e8))), 0.5 + 5.0),
        (network(Steps.of((0, 1e9), (5.5, 1e8)), 5e8), 0.5 + 1.0),
        (network(1e9, outages=[Outage(5.5, 7)]), 2.5),
        (network(1e9, background=Steps.of((0, 1.0))), 2.0),
        (network(0.0), math.inf),
    ],
)
def test_how_long_a_transfer_takes_with_the_network_to_itself(over: object, seconds: float) -> None:
    assert alone(over, transfer(), 5.0) == pytest.approx(seconds)  # type: ignore[arg-type]
