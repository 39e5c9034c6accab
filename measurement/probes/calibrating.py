"""Measuring for a calibration: trains of all shapes beside short transfers, on given paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measurement.instances import Instance
from measurement.probes.calibration import SHAPES, Compared, Trial
from measurement.probes.connections import Asked
from measurement.probes.findings import Carried, Failed, Failure, Finding, ProbeError, TrainFound
from measurement.probes.orders import Order, Throughput, Train
from measurement.probes.train import Shape

TRANSFER = Throughput(intervals=6, interval=0.5)
_STARTING = 2
"""Intervals of a transfer that do not count: TCP is finding its rate, and a bucket may be full."""


async def trials(
    paths: Sequence[tuple[Asked, Instance]],
    shapes: Sequence[Shape] = SHAPES,
    repeats: int = 3,
    transfer: Throughput = TRANSFER,
) -> list[Trial]:
    """Try all shapes on all paths, one after the other; a shape that a path does not take is left out.

    :param paths: the agent that sends, and the instance that it sends to.
    :raises ProbeError: if a transfer fails: then there is nothing to compare with.
    :raises ValueError: if there are no paths.
    """
    found: Mapping[Shape, list[Compared]] = {shape: [] for shape in shapes}
    for agent, target in paths:
        truth = await _truth(agent, target, transfer)
        for shape in shapes:
            order = Order(target, tuple(Train(shape) for _ in range(repeats)))
            trains = _trains((await agent.probe(order)).findings, shape)
            if trains:
                rates = tuple(train.rate for train in trains)
                found[shape].append(Compared(truth, rates, max(train.took for train in trains)))
    return [Trial(shape, tuple(done)) for shape, done in found.items() if len(done) == len(paths)]


def _trains(findings: Sequence[Finding], shape: Shape) -> list[TrainFound]:
    """Complete trains; none if one was cut short, for it says nothing about the shape."""
    found = [each for each in findings if isinstance(each, TrainFound) and each.shape == shape]
    return found if len(found) == len(findings) else []


async def _truth(agent: Asked, target: Instance, transfer: Throughput) -> float:
    (finding,) = (await agent.probe(Order(target, (transfer,)))).findings
    if isinstance(finding, Failed):
        raise ProbeError(finding.why, f"{target.name}: {finding.text}")
    if not isinstance(finding, Carried):
        raise ProbeError(Failure.FAULT, f"{target.name}: a transfer found {finding.kind}")
    rates = finding.rates[_STARTING:] or finding.rates
    return sum(rates) / len(rates)
