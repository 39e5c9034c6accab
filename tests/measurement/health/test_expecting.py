"""How long a round should take, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.expecting import Costs, expected_seconds
from measurement.health.model import Pair
from measurement.health.planning import Limits, plan
from measurement.health.profiles import mesh, star
from measurement.health.running import Running
from tests.measurement.health.test_planning import some_pairs

NAMES = [f"i{number}" for number in range(12)]
COSTS = Costs(light=0.2, train=0.5, transfer=10)
MESH = plan(mesh(NAMES), [Pair("i0", "i1")])


@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        (Running(), 0.6 + 11 + 10),  # 11 light probes of each, 4 at a time; 22 trains of half a second
        (Running(light_at_once=1), 2.2 + 11 + 10),
        (Running(lights_at_once=12), 2.2 + 11 + 10),  # 132 of all, 12 at a time
        (Running(trains_at_once=2), 0.6 + 33 + 10),  # 132 of half a second, 2 at a time
        (Running(together=True), 22 * 0.7 + 10),
        (Running(both_ways=True), 11 * 1.2 + 10),
        (Running(both_ways=True, trains_at_once=2), 66 * 1.2 / 2 + 10),
        (Running(transfers_at_once=1), 0.6 + 11 + 10),
    ],
)
def test_a_mesh_of_twelve(how: Running, seconds: float) -> None:
    assert expected_seconds(MESH, how, COSTS) == pytest.approx(seconds)


def test_a_star_both_ways() -> None:
    """The centre has 11 others, one after the other."""
    found = expected_seconds(plan(star("i0", NAMES)), Running(both_ways=True), COSTS)
    assert found == pytest.approx(11 * 1.2)


def test_transfers_at_a_time() -> None:
    found = plan(mesh("abcd"), exhaustive=True)
    assert expected_seconds(found, Running(), COSTS) == pytest.approx(0.2 + 60)
    assert expected_seconds(found, Running(transfers_at_once=1), COSTS) == pytest.approx(0.2 + 120)


def test_duplex_is_for_trains_one_way() -> None:
    duplex = Limits(duplex=True)
    mesh_ = plan(mesh(NAMES), limits=duplex)
    assert expected_seconds(mesh_, Running(limits=duplex), COSTS) == pytest.approx(0.6 + 5.5)
    both = expected_seconds(mesh_, Running(limits=duplex, both_ways=True), COSTS)
    assert both / 1.2 == pytest.approx(11, abs=1.1), "edge colouring may take a round more"
    transfers = plan(mesh(NAMES), limits=duplex, exhaustive=True)
    assert expected_seconds(transfers, Running(limits=duplex), COSTS) == pytest.approx(0.6 + 220)


def test_nothing_takes_no_time() -> None:
    assert expected_seconds(plan([]), Running(both_ways=True)) == 0


@given(some_pairs, st.booleans(), st.integers(1, 5))
def test_fewer_at_a_time_take_no_less(pairs: list[Pair], both_ways: bool, at_once: int) -> None:
    free = Running(both_ways=both_ways)
    bound = replace(free, lights_at_once=at_once, trains_at_once=at_once)
    whole = plan(pairs)
    assert expected_seconds(whole, bound) >= expected_seconds(whole, free)
