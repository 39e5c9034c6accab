"""Measuring for a calibration, with an agent that is only thought of."""

from __future__ import annotations

import asyncio

from measurement.instances import Instance
from measurement.probes.calibrating import trials
from measurement.probes.findings import Carried, Failed, Failure, Finding, Report, TrainFound
from measurement.probes.orders import Order, Probe, Throughput, Train
from measurement.probes.train import Shape
from tests.support.refusals import refused

TARGET = Instance("b", "192.0.2.2")
SHORT, LONG = Shape(burst=48), Shape(burst=400)


class Answering:
    """Transfers find their rate in their third interval; long trains are cut, if so said."""

    def __init__(self, *, cut: bool = False, fails: Failure | None = None) -> None:
        self.cut, self.fails = cut, fails

    async def probe(self, order: Order) -> Report:
        return Report(tuple(map(self._finding, order.probes)), 0.0, 1.0)

    async def close(self) -> None:
        """Nothing to end."""

    def _finding(self, probe: Probe) -> Finding:
        if self.fails is not None:
            return Failed(self.fails, "no")
        if isinstance(probe, Throughput):
            return Carried(0.5, (10**6, 10**7, 10**8, 10**8))
        assert isinstance(probe, Train)
        shape = SHORT if self.cut else probe.shape
        return TrainFound(1.7e9, 1.8e9, 0.0, False, "", shape, 0.001, shape.burst / 1e3, 0, ())


def done(*agents: Answering, shapes: tuple[Shape, ...] = (SHORT, LONG)):
    return asyncio.run(trials([(agent, TARGET) for agent in agents], shapes, repeats=2))


def test_trains_are_compared_with_a_transfer_once_it_has_its_rate() -> None:
    short, long = done(Answering(), Answering())
    assert (short.shape, long.shape) == (SHORT, LONG)
    assert [(path.truth, path.rates) for path in short.paths] == [(1.6e9, (1.7e9, 1.7e9))] * 2
    assert long.took == 0.4


def test_a_shape_that_one_path_does_not_take_is_left_out() -> None:
    (short,) = done(Answering(), Answering(cut=True))
    assert short.shape == SHORT


def test_without_a_transfer_there_is_nothing_to_compare_with() -> None:
    with refused("busy"):
        done(Answering(fails=Failure.BUSY))


def test_on_no_paths_nothing_is_tried() -> None:
    with refused(ValueError, "paths"):
        done()
