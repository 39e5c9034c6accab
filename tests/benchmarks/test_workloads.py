"""The workload suite: its workloads are sound, and its tables say what the runs came to."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest

from adon.simulation.measures import Measures
from benchmarks import workloads, workloads_suite

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


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (measures(10.3, 0.9), "all four"),
        (measures(10.3, 0.5), "mean"),
        (measures(20.0, 0.95), "deadlines"),
    ],
)
def test_promises_that_do_not(other: dict[str, Any], words: str) -> None:
    missed = workloads.misses(results(other=other))
    assert any(words in each for each in missed)
    assert "MISSED" in workloads.report(results(other=other))


def test_far_from_the_best_is_a_miss() -> None:
    found = results()
    found["workloads"]["a"]["offline"]["mean"] = found["workloads"]["b"]["offline"]["mean"] = 5.0
    (miss,) = workloads.misses(found)
    assert "2.08" in miss
    assert miss in workloads.report(found)


def test_a_workload_from_end_to_end() -> None:
    """The thesis's afternoon: everybody is measured, nobody is better than who knows the future."""
    found = workloads.measure("figure-18", 1)
    assert next(iter(found["policies"])) == "ours"
    assert len(found["policies"]) == 7
    for name, one in found["policies"].items():
        assert found["bound"]["mean"] <= one["mean"] * (1 + 1e-6), name
        assert found["offline"]["mean"] <= one["mean"] * (1 + 1e-6), name
    assert found["policies"]["ours"]["unserved"] == 0


def test_the_suite_is_drawn_by_its_seed_only() -> None:
    random.seed(5)
    before = workloads_suite.workload("priorities", 3)
    random.seed(6)
    assert workloads_suite.workload("priorities", 3) == before
