"""Which packet train suits a network: as short as can be, and as true as is asked ([CHOREO] 4.1, figure 6).

On some paths trains of several shapes are compared with what TCP really carries there.  How long bursts
must be depends on the network (200 packets on EC2, 2000 where Rackspace limited rates): it is done once on
each.
Values and functions only; :mod:`measurement.probes.calibrating` measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from measurement.probes.train import Shape

BOUND = 0.09
"""The mean error that the paper found on EC2."""
LONGEST = 1.0
"""Seconds of a train, as in the paper."""
SHAPES = tuple(
    Shape(burst=burst, bursts=bursts)
    for burst in (48, 96, 192, 400, 800, 2000)
    for bursts in (3, 10)
    if burst * bursts <= 8000
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One path, and one shape tried on it.

    :param truth: bits/s that TCP carries there.
    :param rates: bits/s by each train; None for one that said nothing.
    :param took: the longest of these trains, seconds.
    """

    truth: float
    rates: tuple[float | None, ...]
    took: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.truth) and self.truth > 0):
            raise ValueError(f"truth: {self.truth} bits/s is no rate to compare with")
        if not self.rates:
            raise ValueError("rates: no train was tried")

    @property
    def error(self) -> float:
        """The mean of ``|rate - truth| / truth``; a train that says nothing is wrong by all of it."""
        wrong = (1.0 if rate is None else abs(rate - self.truth) / self.truth for rate in self.rates)
        return math.fsum(wrong) / len(self.rates)


@dataclass(frozen=True, slots=True)
class Trial:
    """One shape on all paths."""

    shape: Shape
    paths: tuple[Compared, ...]

    def __post_init__(self) -> None:
        if not self.paths:
            raise ValueError("paths: the shape was tried on none")

    @property
    def error(self) -> float:
        """The mean over the paths."""
        return math.fsum(path.error for path in self.paths) / len(self.paths)

    @property
    def took(self) -> float:
        """Seconds of the longest train."""
        return max(path.took for path in self.paths)

    @property
    def size(self) -> int:
        """Bytes of payload of one train: what it costs the network."""
        return self.shape.packet * self.shape.burst * self.shape.bursts


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a calibration says.

    :param best: what to use: the cheapest of those within the bound, else the truest that is short enough.
    :param within: whether its error is within the bound.
    """

    best: Trial
    within: bool


def chosen(trials: Sequence[Trial], bound: float = BOUND, longest: float = LONGEST) -> Chosen:
    """The cheapest shape whose mean error is within the bound, and whose trains are short enough.

    :param bound: a share; :param longest: seconds.
    :raises ValueError: if no train is short enough, or none was tried.
    """
    if not bound > 0:
        raise ValueError(f"bound: {bound} is not above 0")
    short = [trial for trial in trials if trial.took < longest]
    if not short:
        raise ValueError(f"trials: of {len(trials)} shapes no train took less than {longest:g} s")
    good = [trial for trial in short if trial.error <= bound]
    if good:
        return Chosen(min(good, key=lambda trial: (trial.size, trial.error)), within=True)
    return Chosen(min(short, key=lambda trial: (trial.error, trial.size)), within=False)
