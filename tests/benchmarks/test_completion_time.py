"""The benchmark of completion times: its workloads can be served, and its tables follow from its runs."""

from __future__ import annotations

from typing import Any

import pytest

from adon.simulation.policies import Ecmp
from benchmarks import completion_time, workload_suite
from benchmarks.completion_time import FirstFit, natural_demands
from tests.simulation.small_worlds import network, run, transfer, workload

NAMES = [one.name for one in workload_suite.descriptions()]


@pytest.mark.parametrize("name", NAMES)
def test_workload_can_be_served(name: str) -> None:
    """The network carries all its bytes long before its end, and every flow can have a qualified path."""
    drawn = workload_suite.workload(name, 1)
    links = drawn.network.links
    assert len(set(NAMES)) == 27
    assert 4 <= len(drawn.transfers) <= 200
    assert sum(one.bits for one in drawn.transfers) < drawn.end / 4 * sum(
        link.capacity.at(0.0) for link in links.values()
    )
    for one in drawn.transfers:
        bound = drawn.templates[one.template].qspec.throughput
        rates = [
            min(links[link].capacity.at(0.0) for link in path.links)
            for path in drawn.network.between(one.source, one.destination)
        ]
        assert rates
        assert bound is None or max(rates) >= bound.min
        assert one.deadline is None or one.deadline > one.at


def test_workload_depends_on_its_seed_only() -> None:
    drawn = [workload_suite.workload("bursts", seed).transfers for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_natural_demands_share_the_interfaces_of_hosts() -> None:
    """Al-Fares et al., 4.1: two flows out of one host have half of its interface each."""
    three = [transfer(1), transfer(2), transfer(3, source="ncsa", destination="osu")]
    assert natural_demands(three, 9.0) == pytest.approx({1: 3.0, 2: 3.0, 3: 3.0})
    two = [transfer(1), transfer(2, destination="ncsa"), transfer(3, source="ncsa")]
    assert natural_demands(two, 10.0) == pytest.approx({1: 5.0, 2: 5.0, 3: 5.0})


@pytest.mark.parametrize(("rate", "paths"), [(1e9, ["p0", "p0"]), (0.5e9, ["p0", "p1"])])
def test_first_fit_moves_large_flows_to_paths_that_hold_them(rate: float, paths: list[str]) -> None:
    """Two flows with a demand of half an interface of 1 Gbps: the first path holds both, or one."""
    both = [transfer(n, megabytes=2500) for n in (1, 2)]
    records = run(workload(*both, over=network(rate, 1e9)), FirstFit("h", seed=3, interface=1e9))
    assert [[path for at, path in one.stays if at < 6][-1] for one in records] == paths


def test_first_fit_leaves_small_flows_on_their_hashed_paths() -> None:
    world = workload(*(transfer(n, megabytes=250, ceiling=5e7) for n in range(1, 9)), over=network(1e9, 1e9))
    runs = [run(world, policy) for policy in (Ecmp("e", seed=3), FirstFit("h", seed=3, interface=1e9))]
    assert [one.stays for one in runs[0]] == [one.stays for one in runs[1]]


def results(best: float = 10.0, other: float = 20.0) -> dict[str, Any]:
    """Two equal workloads with one seed each: ADON has a mean of 10.4 s."""
    measures = {
        name: {"mean": mean, "deadlines": 0.9, "violations": 0.0, "unserved": 0, "moves": 0}
        for name, mean in {"ADON": 10.4, "other": other}.items()
    }
    references = {"clairvoyant bound": 5.0, "best schedule": best, "shortest remaining first": 10.1}
    runs = [{"measures": measures, "references": references}]
    return {"workloads": {"a": runs, "b": runs}, "seeds": [1], "seconds": 1.0}


def test_report_has_the_ratios_to_references_and_policies() -> None:
    found = completion_time.report(results())
    assert completion_time.passed(results())
    for name, ratio in {"clairvoyant bound": 2.08, "best schedule": 1.04, "other": 0.52}.items():
        (line,) = (line for line in found.splitlines() if line.startswith(f"| {name} ") and "to" in line)
        assert f"{ratio:.2f} to {ratio:.2f}" in line


@pytest.mark.parametrize(("means", "missed"), [({"best": 5.0}, "2.08"), ({"other": 10.0}, "other")])
def test_report_names_the_missed_bound(means: dict[str, float], missed: str) -> None:
    found = results(**means)
    assert not completion_time.passed(found)
    (line,) = (line for line in completion_time.report(found).splitlines() if line.startswith("MISSED"))
    assert missed in line


def test_one_workload_from_end_to_end() -> None:
    """The thesis's afternoon: every policy is measured, and none is below the references."""
    found = completion_time.measure("figure-18", 1)
    assert next(iter(found["measures"])) == "ADON"
    assert len(found["measures"]) == 7
    assert found["measures"]["ADON"]["unserved"] == 0
    for name, one in found["measures"].items():
        for reference in ("clairvoyant bound", "best schedule"):
            assert found["references"][reference] <= one["mean"] * (1 + 1e-6), name
