from __future__ import annotations

from collections import Counter

import pytest

from adon.simulation.measuring import Plan
from adon.simulation.network import Outage
from adon.simulation.policy import Always, Ecmp, Latest, simple_policies
from benchmarks.workloads_hedera import Hedera, demands
from measurement.model import Metric
from tests.simulation.small import ended, network, run, transfer, workload


def paths(records: object) -> list[list[str | None]]:
    return [[path for _, path in record.stays] for record in records]  # type: ignore[attr-defined]


def test_always_stays_whatever_happens() -> None:
    world = workload(transfer(1), transfer(2, at=3), over=network(1e9, 1e8, outages=[Outage(0.5, 2)]))
    assert ended(run(world, Always("l2", layer=2))) == [2.5, 4.0]
    assert paths(run(world, Always("l3", layer=3))) == [["p1"], ["p1"]]


def test_a_hash_spreads_and_does_not_remember() -> None:
    many = [transfer(n, at=n / 100) for n in range(1, 201)]
    found = Counter(
        path for (path,) in paths(run(workload(*many, over=network(1e9, 1e9)), Ecmp("e", seed=3)))
    )
    assert found["p0"] + found["p1"] == 200
    assert 70 < found["p0"] < 130


def test_who_is_hashed_onto_a_path_that_goes_down_comes_back() -> None:
    many = [transfer(n, megabytes=1000) for n in range(1, 9)]
    world = workload(*many, over=network(1e9, 1e9, outages=[Outage(1, 2)]))
    stays = paths(run(world, Ecmp("e", seed=3)))
    assert sorted({tuple(each) for each in stays}) == [("p0", "p1", "p0"), ("p1",)]


@pytest.mark.parametrize(
    ("metric", "path"), [(Metric.RTT, "p0"), (Metric.THROUGHPUT, "p1")], ids=["shortest", "widest"]
)
def test_the_last_result_decides(metric: Metric, path: str) -> None:
    world = workload(transfer(at=300), over=network(1e8, 1e9), plan=Plan(noise=0.0))
    assert paths(run(world, Latest("latest", metric=metric), measured=True)) == [[path]]


def test_what_was_never_measured_is_worst() -> None:
    world = workload(
        transfer(at=5), over=network(1e9, 1e8), plan=Plan(throughput_period=8.0, throughput_duration=2.0)
    )
    policy = Latest("latest", metric=Metric.THROUGHPUT, quiet=frozenset({"p0"}))
    assert paths(run(world, policy, measured=True)) == [["p0"]]
    later = workload(
        transfer(at=9), over=network(1e9, 1e8), plan=Plan(throughput_period=8.0, throughput_duration=2.0)
    )
    policy = Latest("latest", metric=Metric.THROUGHPUT, quiet=frozenset({"p0"}))
    assert paths(run(later, policy, measured=True)) == [["p1"]]


def test_natural_demands_are_those_of_the_hosts_interfaces() -> None:
    """Al-Fares et al., 4.1: two flows out of one host have half of its interface each."""
    three = [transfer(1), transfer(2), transfer(3, source="ncsa", destination="osu")]
    assert demands(three, 9.0) == pytest.approx({1: 3.0, 2: 3.0, 3: 3.0})
    two = [transfer(1), transfer(2, destination="ncsa"), transfer(3, source="ncsa")]
    assert demands(two, 10.0) == pytest.approx({1: 5.0, 2: 5.0, 3: 5.0})


def test_global_first_fit_puts_large_flows_where_they_fit() -> None:
    """Two paths of 1 Gbps, hosts of 1 Gbps: two flows of half a gigabit both fit the first."""
    both = [transfer(n, megabytes=2500) for n in (1, 2)]
    stays = paths(run(workload(*both, over=network(1e9, 1e9)), Hedera("h", seed=3, interface=1e9)))
    assert [each[-1] for each in stays] == ["p0", "p0"]
    narrow = run(workload(*both, over=network(0.5e9, 1e9)), Hedera("h", seed=3, interface=1e9))
    then = [[path for at, path in record.stays if at < 6][-1] for record in narrow]
    assert then == ["p0", "p1"], "the second does not fit beside the first"


def test_small_flows_are_left_where_the_hash_put_them() -> None:
    small = [transfer(n, megabytes=250, ceiling=5e7) for n in range(1, 9)]
    hashed = paths(run(workload(*small, over=network(1e9, 1e9)), Ecmp("e", seed=3)))
    assert paths(run(workload(*small, over=network(1e9, 1e9)), Hedera("h", seed=3, interface=1e9))) == hashed


def test_every_simple_way_serves_everybody() -> None:
    many = [transfer(n, at=n * 0.7) for n in range(1, 30)]
    for policy in simple_policies(1):
        assert all(record.ended for record in run(workload(*many), policy, measured=True)), policy.name
