from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.simulation.measuring import Plan, disturbed, lost, planned, uniform
from measurement.model import Metric

WAYS = [("a", "mu", "osu"), ("b", "mu", "osu"), ("c", "mu", "osu")]


def test_tests_of_one_kind_follow_each_other() -> None:
    plan = Plan(throughput_period=240, throughput_duration=10, rtt_period=60, loss_period=120)
    found = list(planned(plan, WAYS, 480))
    throughput = sorted(one.at for one in found if one.metric is Metric.THROUGHPUT)
    assert throughput == [0, 80, 160, 240, 320, 400]
    assert {one.path for one in found if one.at == 80 and one.metric is Metric.THROUGHPUT} == {"b"}
    assert sum(one.metric is Metric.RTT for one in found) == 24
    assert len({one.name for one in found}) == len(found)


@given(st.integers(0, 10**6), st.text(max_size=20))
def test_chance_is_a_function_of_seed_and_name(seed: int, name: str) -> None:
    assert 0 < uniform(seed, name) < 1
    assert uniform(seed, name) == uniform(seed, name)


def test_errors_are_as_large_as_said() -> None:
    values = [disturbed(100.0, 0.05, 1, str(n)) for n in range(2000)]
    assert statistics.mean(values) == pytest.approx(100, rel=0.01)
    assert statistics.stdev(values) == pytest.approx(5, rel=0.1)
    assert disturbed(100.0, 0.0, 1, "x") == 100.0


@pytest.mark.parametrize("loss", [0.0, 0.001, 0.01])
def test_losses_are_counted_in_packets(loss: float) -> None:
    found = [lost(600, loss, 1, str(n)) for n in range(2000)]
    assert statistics.mean(found) == pytest.approx(loss, rel=0.1, abs=1e-9)
    assert all((one * 600) % 1 == pytest.approx(0, abs=1e-9) for one in found)
