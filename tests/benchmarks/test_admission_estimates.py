"""What is told at admission, and how it is compared with what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from adon.simulation.engine import simulate
from adon.simulation.measuring import Plan
from benchmarks import admission_estimates as estimates
from benchmarks.fluid_scenarios import L2, MB, SLOWER, Carry, Scenario
from tests.simulation.small import network, transfer, workload

PLAN = Plan(throughput_period=60, throughput_duration=2, noise=0.0)
RATE = 58e6 / SLOWER


def told(*asked: Any) -> dict[int, dict[str, Any]]:
    world = workload(*asked, over=network(1e9), plan=PLAN, end=5000)
    policy = estimates.Telling(world)
    rows = estimates.compared(world, simulate(world, policy, 1), policy.told)
    return dict(zip((one.number for one in asked), rows, strict=True))


def test_who_is_alone_is_told_what_it_takes() -> None:
    (one,) = told(transfer(1, at=70, megabytes=2500)).values()
    assert one["undisturbed"]
    assert not one["queued"]
    assert one["as decided"] == pytest.approx(0, abs=0.01)
    assert one["others leave"] == pytest.approx(0, abs=0.01)


def test_those_who_leave_are_reckoned_with() -> None:
    """A second of the same size, half-way: by its share 40 s; the first leaves after 20 of them: 30."""
    found = told(transfer(1, at=70, megabytes=2500), transfer(2, at=80, megabytes=2500))
    assert found[2]["undisturbed"]
    assert abs(found[2]["others leave"]) < abs(found[2]["as decided"]), (
        "by its counters the first has less left"
    )
    assert found[2]["others leave"] == pytest.approx(0, abs=0.2)
    assert found[2]["as decided"] == pytest.approx(40 / 30 - 1, abs=0.06)
    assert not found[1]["undisturbed"], "nobody knew at 70 s that somebody would come at 80"
    assert found[1]["others leave"] == pytest.approx(20 / 30 - 1, abs=0.02)


def carried(started: float, seconds: float, size: int) -> dict[str, Any]:
    return {"started": started, "seconds": seconds, "per_second": [round(size / seconds)] * int(seconds)}


def test_the_testbeds_transfers_are_told_from_what_had_begun() -> None:
    size = 58 * MB  # 32 s alone, at 14.5 Mbit/s
    two = Scenario("two", "One, then another.", (Carry(0.0, size), Carry(16.0, size)))
    alone = size * 8 / RATE
    first, second = estimates.on_testbed(two, [carried(0.0, 48.0, size), carried(16.0, 48.0, size)])
    assert first["others leave"] == pytest.approx(alone / 48 - 1)
    assert not first["undisturbed"]
    assert second["undisturbed"]
    left = size * (1 - 16 / 48)
    assert second["as decided"] == pytest.approx(2 * alone / 48 - 1)
    assert second["others leave"] == pytest.approx((size + left) * 8 / RATE / 48 - 1, rel=0.01)
    assert two.carries[0].path == L2


@pytest.mark.parametrize(("error", "kept"), [(0.1, True), (0.2, False)])
def test_the_bound(error: float, kept: bool) -> None:
    row = {"undisturbed": True, "queued": False, "as decided": 0.5, "others leave": 0.5, "told": error}
    results = {"simulated": [row], "testbed": [row], "emulation": "emulated"}
    assert estimates.passed(results) is kept
    assert ("kept" if kept else "MISSED") in estimates.report(results)
