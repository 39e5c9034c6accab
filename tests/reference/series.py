"""Seeded series with known changes, on which detectors are tested and compared.

A series is a level, noise around it, and shapes added to it.  Everything is in units of the noise's
deviation σ before any change, so that "a drop of 4 σ" is ``Step(at, -4)`` at every level.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from measurement.anomaly.model import Sample

Noise = Callable[[random.Random], Iterator[float]]


class Shape(Protocol):
    """Something that happens to a series."""

    def apply(self, index: int, noise: float) -> float:
        """The deviation from the level at one sample, in σ, given the one without this shape."""


@dataclass(frozen=True, slots=True)
class Step:
    """From sample ``at`` on the level is ``by`` σ away."""

    at: int
    by: float

    def apply(self, index: int, noise: float) -> float:
        """As :meth:`Shape.apply`."""
        return noise + self.by if index >= self.at else noise


@dataclass(frozen=True, slots=True)
class Plateau:
    """For ``length`` samples from ``at`` on the level is ``by`` σ away; a length of one is a spike."""

    at: int
    length: int
    by: float

    def apply(self, index: int, noise: float) -> float:
        """As :meth:`Shape.apply`."""
        return noise + self.by if self.at <= index < self.at + self.length else noise


@dataclass(frozen=True, slots=True)
class Drift:
    """From sample ``at`` on the level moves by ``per_sample`` σ with each sample."""

    at: int
    per_sample: float

    def apply(self, index: int, noise: float) -> float:
        """As :meth:`Shape.apply`."""
        return noise + self.per_sample * max(0, index - self.at)


@dataclass(frozen=True, slots=True)
class Diurnal:
    """A sine of ``amplitude`` σ that repeats after ``period`` samples."""

    period: int
    amplitude: float

    def apply(self, index: int, noise: float) -> float:
        """As :meth:`Shape.apply`."""
        return noise + self.amplitude * math.sin(2 * math.pi * index / self.period)


@dataclass(frozen=True, slots=True)
class Spread:
    """From sample ``at`` on the *deviation* is ``factor`` times as large, the mean the same.

    A five-fold jump of the variance has the factor sqrt(5).
    """

    at: int
    factor: float

    def apply(self, index: int, noise: float) -> float:
        """As :meth:`Shape.apply`.  Put it before shapes that move the level."""
        return noise * self.factor if index >= self.at else noise


def gaussian(chance: random.Random) -> Iterator[float]:
    """Independent normal noise."""
    while True:
        yield chance.gauss(0.0, 1.0)


def skewed(chance: random.Random) -> Iterator[float]:
    """Log-normal noise with a heavy upper tail, as round-trip times have; mean 0, deviation 1, skewness 6."""
    shape = 1.0
    mean = math.exp(shape**2 / 2)
    deviation = mean * math.sqrt(math.exp(shape**2) - 1)
    while True:
        yield (chance.lognormvariate(0.0, shape) - mean) / deviation


def series(
    seed: int,
    length: int,
    shapes: Sequence[Shape] = (),
    *,
    level: float = 1000.0,
    deviation: float = 50.0,
    noise: Noise = gaussian,
    period: float = 60.0,
) -> list[Sample]:
    """A series; the same for the same arguments.

    :param level: the mean before any change, in the unit of the series.
    :param deviation: σ, same unit.
    :param period: seconds between samples.
    """
    drawn = noise(random.Random(seed))
    return [
        Sample(index * period, level + deviation * _at(index, next(drawn), shapes)) for index in range(length)
    ]


def _at(index: int, noise: float, shapes: Sequence[Shape]) -> float:
    for shape in shapes:
        noise = shape.apply(index, noise)
    return noise
