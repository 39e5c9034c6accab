from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from adon.simulation.engine import TransferRecord
from adon.simulation.policies import AlwaysLayer, BestTest, Ecmp
from adon.simulation.simulated_network import Outage
from adon.simulation.synthetic_tests import PeriodicTests
from measurement.model import Metric
from tests.simulation.small_worlds import ends, network, run, transfer, workload


def paths(records: Sequence[TransferRecord]) -> list[list[str | None]]:
    return [[path for _, path in record.stays] for record in records]


def test_always_layer_keeps_its_path_during_an_outage() -> None:
    world = workload(transfer(1), transfer(2, at=3), over=network(1e9, 1e8, outages=[Outage(0.5, 2)]))
    assert ends(run(world, AlwaysLayer("l2", layer=2))) == [2.5, 4.0]
    assert paths(run(world, AlwaysLayer("l3", layer=3))) == [["p1"], ["p1"]]


def test_ecmp_spreads_transfers_over_equal_paths() -> None:
    many = [transfer(n, at=n / 100) for n in range(1, 201)]
    stays = paths(run(workload(*many, over=network(1e9, 1e9)), Ecmp("e", seed=3)))
    found = Counter(path for (path,) in stays)
    assert found["p0"] + found["p1"] == 200
    assert 70 < found["p0"] < 130


def test_ecmp_returns_to_a_path_that_comes_back() -> None:
    many = [transfer(n, megabytes=1000) for n in range(1, 9)]
    world = workload(*many, over=network(1e9, 1e9, outages=[Outage(1, 2)]))
    stays = paths(run(world, Ecmp("e", seed=3)))
    assert sorted({tuple(each) for each in stays}) == [("p0", "p1", "p0"), ("p1",)]


@pytest.mark.parametrize(
    ("metric", "path"), [(Metric.RTT, "p0"), (Metric.THROUGHPUT, "p1")], ids=["shortest", "widest"]
)
def test_best_last_result_selects_the_path(metric: Metric, path: str) -> None:
    world = workload(transfer(at=300), over=network(1e8, 1e9))
    assert paths(run(world, BestTest("best", metric=metric), tests=True)) == [[path]]


@pytest.mark.parametrize(("at", "path"), [(5, "p0"), (9, "p1")])
def test_path_without_a_result_is_worst(at: float, path: str) -> None:
    """No path has a result at 5 s, only ``p1`` at 9 s."""
    tests = PeriodicTests(throughput_period=8.0, throughput_duration=2.0)
    world = workload(transfer(at=at), over=network(1e9, 1e8), tests=tests)
    assert paths(run(world, BestTest("best", quiet=frozenset({"p0"})), tests=True)) == [[path]]
