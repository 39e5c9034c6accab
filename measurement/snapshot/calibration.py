"""Shape of packet trains that suits a network: as short, and as accurate as required ([CHOREO] 4.1).

On some paths trains of several shapes are compared with the rate that TCP has there.  The necessary length of
bursts depends on the network (200 packets on EC2, 2000 where Rackspace limited rates): each network is
calibrated once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from measurement.instances import Instance
from measurement.probes.agent_client import AgentClient
from measurement.probes.findings import FailureCause, ProbeError, ProbeFailure, TrainResult, TransferResult
from measurement.probes.probe_types import ProbeOrder, Throughput, Train, TrainShape

BOUND = 0.09
"""The mean error that the paper found on EC2."""
LONGEST = 1.0
"""Seconds of a train, as in the paper."""
SHAPES = tuple(
    TrainShape(burst=burst, bursts=bursts)
    for burst in (48, 96, 192, 400, 800, 2000)
    for bursts in (3, 10)
    if burst * bursts <= 8000
)
TRANSFER = Throughput(intervals=6, interval=0.5)
_SLOW_START = 2
"""Intervals of a transfer that do not count: TCP is finding its rate, and a bucket may be full."""


@dataclass(frozen=True, slots=True)
class PathComparison:
    """Trains of one shape on one path.

    :param truth: bits/s of TCP there.
    :param rates: bits/s by each train; None for one without a rate.
    :param took: the longest of these trains, seconds.
    """

    truth: float
    rates: tuple[float | None, ...]
    took: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.truth) and self.truth > 0):
            raise ValueError(f"truth: {self.truth} bits/s is not a rate above 0")
        if not self.rates:
            raise ValueError("rates: is empty; expected at least 1 train")

    @property
    def error(self) -> float:
        """The mean of ``|rate - truth| / truth``; the error of a train without a rate is 1."""
        return fmean(1.0 if rate is None else abs(rate - self.truth) / self.truth for rate in self.rates)


@dataclass(frozen=True, slots=True)
class ShapeTrial:
    """One shape on all paths."""

    shape: TrainShape
    paths: tuple[PathComparison, ...]

    def __post_init__(self) -> None:
        if not self.paths:
            raise ValueError("paths: is empty; expected at least 1 path")

    @property
    def error(self) -> float:
        """The mean over the paths."""
        return fmean(path.error for path in self.paths)

    @property
    def took(self) -> float:
        """Seconds of the longest train."""
        return max(path.took for path in self.paths)

    @property
    def size(self) -> int:
        """Bytes of payload of one train: its cost for the network."""
        return self.shape.packet * self.shape.burst * self.shape.bursts


async def try_shapes(
    paths: Sequence[tuple[AgentClient, Instance]],
    shapes: Sequence[TrainShape] = SHAPES,
    repeats: int = 3,
    transfer: Throughput = TRANSFER,
) -> list[ShapeTrial]:
    """Try all shapes on all paths, one after the other; a shape that fails on a path is left out.

    :param paths: the agent that sends, and the instance that it sends to.
    :raises ProbeError: if a transfer fails: then there is nothing to compare with.
    :raises ValueError: if there are no paths.
    """
    found: dict[TrainShape, list[PathComparison]] = {shape: [] for shape in shapes}
    for agent, target in paths:
        truth = await _measure_tcp(agent, target, transfer)
        for shape in shapes:
            order = ProbeOrder(target, tuple(Train(shape) for _ in range(repeats)))
            findings = (await agent.probe(order)).findings
            # A train that was cut short has another shape.
            trains = [each for each in findings if isinstance(each, TrainResult) and each.shape == shape]
            if len(trains) == len(findings):
                rates = tuple(train.rate for train in trains)
                found[shape].append(PathComparison(truth, rates, max(train.took for train in trains)))
    return [ShapeTrial(shape, tuple(done)) for shape, done in found.items() if len(done) == len(paths)]


async def _measure_tcp(agent: AgentClient, target: Instance, transfer: Throughput) -> float:
    (finding,) = (await agent.probe(ProbeOrder(target, (transfer,)))).findings
    if isinstance(finding, ProbeFailure):
        raise ProbeError(finding.why, f"{target.name}: {finding.text}")
    if not isinstance(finding, TransferResult):
        raise ProbeError(FailureCause.FAULT, f"{target.name}: the result of a transfer is {finding.kind}")
    return fmean(finding.rates[_SLOW_START:] or finding.rates)


def choose_shape(
    trials: Sequence[ShapeTrial], bound: float = BOUND, longest: float = LONGEST
) -> tuple[ShapeTrial, bool]:
    """Return the cheapest shape with short trains and a mean error within the bound, else the most accurate.

    :param bound: a share; :param longest: seconds.
    :returns: the trial, and whether its error is within the bound.
    :raises ValueError: if no train is short enough, or none was tried.
    """
    if not bound > 0:
        raise ValueError(f"bound: {bound} is not above 0")
    short = [trial for trial in trials if trial.took < longest]
    if not short:
        raise ValueError(f"trials: of {len(trials)} shapes no train took less than {longest:g} s")
    good = [trial for trial in short if trial.error <= bound]
    if good:
        return min(good, key=lambda trial: (trial.size, trial.error)), True
    return min(short, key=lambda trial: (trial.error, trial.size)), False
