"""The workload suite: its workloads are sound, and its tables say what the runs came to."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest

from adon.simulation.measures import Measures
from benchmarks import fluid, workloads, workloads_suite
from benchmarks.fluid_scenarios import SCENARIOS

NAMES = [one.name for one in workloads_suite.descriptions()]


def test_there_are_enough_of_them_each_with_its_story() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 20
    stories = [one.story for one in workloads_suite.descriptions()]
    assert len(set(stories)) == len(stories)
    assert all(story.endswith(".") and "\n" not in story for story in stories)


@pytest.mark.parametrize("name", NAMES)
def test_a_workload_can_be_served(name: str) -> None:
    """What it asks for fits through its network long before its end, and every flow could qualify."""
    drawn = workloads_suite.workload(name, 1)
    assert 4 <= len(drawn.transfers) <= 200
    most = sum(link.capacity.at(0.0) for link in drawn.network.links.values())
    assert sum(one.bits for one in drawn.transfers) < most * drawn.end / 4
    for one in drawn.transfers:
        bound = drawn.qspec(one).throughput
        paths = drawn.network.between(one.source, one.destination)
        assert paths
        assert bound is None or any(drawn.network.capacity(path, 0.0) >= bound.min for path in paths)
        assert one.deadline is None or one.deadline > one.at


def test_a_seed_is_a_workload() -> None:
    one, same, other = (workloads_suite.workload("bursts", seed) for seed in (1, 1, 2))
    assert one == same
    assert one.transfers != other.transfers


def test_an_unknown_workload_is_refused_with_those_there_are() -> None:
    with pytest.raises(SystemExit, match="soykb-busy"):
        workloads.run(None, 1, "nonsense")  # type: ignore[arg-type]


def measures(
    mean: float, deadlines: float | None, violations: float = 0.0, p95: float = 50.0
) -> dict[str, Any]:
    return asdict(Measures(mean, p95, deadlines, violations, 0, 0))


def results(**others: dict[str, Any]) -> dict[str, Any]:
    """Two workloads alike: ours has a mean of 10.4 and 90 % of the deadlines; offline 10 and all."""
    one = {
        "story": "A story.",
        "transfers": 3,
        "terabytes": 1.0,
        "policies": {"ours": measures(10.4, 0.9), **others},
        "dominated_by": [],
        "offline": {
            "mean": 10.0,
            "p95": 40.0,
            "deadlines": 1.0,
            "found_by": "search",
            "present_only": 10.0,
            "no_pauses": 15.0,
        },
        "bound": {"mean": 9.0, "deadlines": 1.0},
    }
    return {"workloads": {"a": one, "b": one}, "seconds": 1.0}


def test_promises_that_hold() -> None:
    found = results(worse=measures(20.0, 0.5))
    assert workloads.misses(found) == []
    assert workloads.passed(found)
    assert "all promises hold" in workloads.report(found)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (measures(10.3, 0.9), "as good on all four"),
        (measures(10.3, 0.5), "mean is as short"),
        (measures(20.0, 0.95), "meets as many deadlines"),
    ],
)
def test_promises_that_do_not(other: dict[str, Any], words: str) -> None:
    missed = workloads.misses(results(other=other))
    assert any(words in each for each in missed)
    assert "MISSED" in workloads.report(results(other=other))


def test_far_from_the_best_is_a_miss() -> None:
    found = results()
    found["workloads"]["a"]["offline"]["mean"] = found["workloads"]["b"]["offline"]["mean"] = 5.0
    assert workloads.misses(found) == ["ours: mean 2.08 of the best offline, not 1.5"]
    assert "2.08" in workloads.report(found)


def test_a_workload_from_end_to_end() -> None:
    """The thesis's afternoon: everybody is measured, nobody is better than who knows the future."""
    found = workloads.measure("figure-18", 1)
    assert next(iter(found["policies"])) == "ours"
    assert len(found["policies"]) == 7
    for name, one in found["policies"].items():
        assert found["bound"]["mean"] <= one["mean"] * (1 + 1e-6), name
        assert found["offline"]["mean"] <= one["mean"] * (1 + 1e-6), name
    assert found["policies"]["ours"]["unserved"] == 0


def test_what_the_simulator_predicts_of_the_testbed() -> None:
    """By hand: 58 Mbit/s for one stream alone; two that share it; a third of it for eight seconds."""
    by_name = {one.name: one for one in SCENARIOS}
    assert fluid.predicted(by_name["alone"], [0.5, 0.5]) == pytest.approx([640 / 58, 64 / 6.5])
    first, second = fluid.predicted(by_name["two"], [0.5, 5.0])
    alone = 4.5 * 58
    assert first == pytest.approx(4.5 + (560 - alone) / 29)
    assert second == pytest.approx((560 + 400) / 58 + 0.5 - 5.0)
    slow = fluid.predicted(by_name["slower"], [0.5, 2.0])
    assert max(at + s for at, s in zip([0.5, 2.0], slow, strict=True)) == pytest.approx(
        0.5 + 800 / 58 + 8 * 2 / 3
    )


def test_a_move_is_predicted_where_it_was_made() -> None:
    (move,) = [one for one in SCENARIOS if one.name == "move"]
    stays, moves = fluid.predicted(move, [0.5, 0.5])
    on_l3 = 5.5 * 6.5
    assert moves == pytest.approx(5.5 + (240 - on_l3) / 29, rel=1e-6)
    assert stays == pytest.approx((560 + 240 - on_l3) / 58, rel=1e-6)


def test_errors_are_relative_to_what_was_measured() -> None:
    (alone,) = [one for one in SCENARIOS if one.name == "alone"]
    told = [[{"started": 0.5, "seconds": 8.0}, {"started": 0.5, "seconds": 8.0}]] * 2
    found = fluid.compared(alone, told)
    assert found["rounds"][0][0]["error"] == pytest.approx(640 / 58 / 8 - 1)
    whole = {"emulation": "emulated", "scenarios": {"alone": found}}
    assert not fluid.passed(whole)
    assert "MISSED" in fluid.report(whole)


def test_the_suite_is_drawn_by_its_seed_only() -> None:
    random.seed(5)
    before = workloads_suite.workload("priorities", 3)
    random.seed(6)
    assert workloads_suite.workload("priorities", 3) == before
