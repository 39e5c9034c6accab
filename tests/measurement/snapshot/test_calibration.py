"""Choice of a train's shape, with trials of simulated agents and the paper's figure 6."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.instances import Instance
from measurement.probes.findings import (
    FailureCause,
    Finding,
    ProbeFailure,
    ProbeReport,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import Probe, ProbeOrder, Throughput, Train, TrainShape
from measurement.snapshot.calibration import PathComparison, ShapeTrial, choose_shape, try_shapes
from tests.support.refusals import refused

TARGET = Instance("b", "192.0.2.2")
SHORT, LONG = TrainShape(burst=48), TrainShape(burst=400)


def make_trial(burst: int, *errors: float, took: float = 0.5, bursts: int = 10) -> ShapeTrial:
    paths = tuple(PathComparison(1e9, (1e9 * (1 + error), 1e9 * (1 - error)), took) for error in errors)
    return ShapeTrial(TrainShape(burst=burst, bursts=bursts), paths)


@pytest.mark.parametrize(
    ("trials", "burst", "within"),
    [
        ([make_trial(2000, 0.04), make_trial(200, 0.09), make_trial(100, 0.12)], 200, True),  # EC2
        ([make_trial(200, 0.5), make_trial(2000, 0.04), make_trial(3000, 0.04)], 2000, True),  # Rackspace
        ([make_trial(200, 0.5), make_trial(2000, 0.2), make_trial(400, 0.3)], 2000, False),
        ([make_trial(2000, 0.01, took=1.0), make_trial(200, 0.5)], 200, False),  # a second is too long
    ],
)
def test_cheapest_accurate_shape_is_chosen(trials: list[ShapeTrial], burst: int, within: bool) -> None:
    trial, is_within = choose_shape(trials)
    assert (trial.shape.burst, is_within) == (burst, within)


def test_error_is_the_mean_over_trains_and_paths() -> None:
    one = PathComparison(100.0, (110.0, 80.0, None), 0.1)
    assert one.error == pytest.approx((0.1 + 0.2 + 1.0) / 3)
    trial = ShapeTrial(TrainShape(), (one, PathComparison(100.0, (100.0,), 0.3)))
    assert (trial.error, trial.took) == (pytest.approx(one.error / 2), 0.3)


@given(
    st.lists(
        st.tuples(st.integers(2, 3000), st.integers(1, 20), st.floats(0, 1), st.floats(0, 2)),
        min_size=1,
        max_size=12,
    ),
    st.floats(0.01, 0.5),
)
def test_no_accurate_shape_is_cheaper(tried: list[tuple[int, int, float, float]], bound: float) -> None:
    trials = [make_trial(burst, error, took=took, bursts=bursts) for burst, bursts, error, took in tried]
    short = [each for each in trials if each.took < 1.0]
    if not short:
        with refused(ValueError, "trials"):
            choose_shape(trials, bound)
        return
    best, within = choose_shape(trials, bound)
    good = [each for each in short if each.error <= bound]
    assert within == bool(good)
    assert best in short
    assert all(best.size <= each.size for each in good)
    if not good:
        assert all(best.error <= each.error for each in short)


@pytest.mark.parametrize("truth", [0.0, -1.0, float("nan"), float("inf")])
def test_comparison_without_a_rate_is_refused(truth: float) -> None:
    with refused(ValueError, "truth"):
        PathComparison(truth, (1.0,), 0.1)


def test_empty_trials_are_refused() -> None:
    with refused(ValueError, "rates"):
        PathComparison(1.0, (), 0.1)
    with refused(ValueError, "paths"):
        ShapeTrial(TrainShape(), ())
    with refused(ValueError, "bound"):
        choose_shape([make_trial(200, 0.1)], 0.0)


class SimulatedAgent:
    """Transfers reach their rate in the third interval; with ``cut`` only short trains are complete."""

    def __init__(self, *, cut: bool = False, fails: FailureCause | None = None) -> None:
        self.cut, self.fails = cut, fails

    async def probe(self, order: ProbeOrder) -> ProbeReport:
        return ProbeReport(tuple(map(self._finding, order.probes)), 0.0, 1.0)

    async def close(self) -> None:
        """Nothing to close."""

    def _finding(self, probe: Probe) -> Finding:
        if self.fails is not None:
            return ProbeFailure(self.fails, "no")
        if isinstance(probe, Throughput):
            return TransferResult(0.5, (10**6, 10**7, 10**8, 10**8))
        assert isinstance(probe, Train)
        shape = SHORT if self.cut else probe.shape
        return TrainResult(1.7e9, 1.8e9, 0.0, False, "", shape, 0.001, shape.burst / 1e3, 0, ())


def try_all(*agents: SimulatedAgent) -> list[ShapeTrial]:
    return asyncio.run(try_shapes([(agent, TARGET) for agent in agents], (SHORT, LONG), repeats=2))


def test_trains_are_compared_with_the_settled_transfer() -> None:
    short, long = try_all(SimulatedAgent(), SimulatedAgent())
    assert (short.shape, long.shape) == (SHORT, LONG)
    assert [(path.truth, path.rates) for path in short.paths] == [(1.6e9, (1.7e9, 1.7e9))] * 2
    assert long.took == 0.4


def test_shape_that_fails_on_one_path_is_left_out() -> None:
    (short,) = try_all(SimulatedAgent(), SimulatedAgent(cut=True))
    assert short.shape == SHORT


def test_failed_transfer_ends_the_trials() -> None:
    with refused("busy"):
        try_all(SimulatedAgent(fails=FailureCause.BUSY))


def test_trials_without_paths_are_refused() -> None:
    with refused(ValueError, "paths"):
        try_all()
