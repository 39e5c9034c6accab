"""What a detector finds, and what every detector offers.

A detector holds settings only; what it remembers of a series is a frozen state that the caller keeps, a
dataclass that :func:`measurement.model.to_json` writes.
``step`` takes the state and one sample and gives the next state, so a series can be replayed, resumed after
a restart, or tried with another detector.  Detectors expect samples in order of time:
:mod:`measurement.anomaly.watch` sees to that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar


class Sample(NamedTuple):
    """One value of a series.

    :param at: seconds since the Unix epoch.
    :param value: in the unit of the series.
    """

    at: float
    value: float


class Direction(StrEnum):
    """Where the level went; whether that is bad depends on the metric."""

    DOWN = "down"
    UP = "up"

    @property
    def sign(self) -> int:
        """-1 for down, 1 for up."""
        return -1 if self is Direction.DOWN else 1

    @classmethod
    def of(cls, change: float) -> Direction:
        """The direction of a difference."""
        return cls.DOWN if change < 0 else cls.UP


class Stage(StrEnum):
    """How sure a detector is, or that what it had found is over."""

    SUSPECTED = "suspected"
    FOUND = "found"
    RECOVERED = "recovered"


class Severity(StrEnum):
    """How far off: see the settings of the detector that says so."""

    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a series was like in one stretch of time.

    :param mean: level, in the unit of the series.
    :param deviation: spread around it, same unit, never negative.
    :param samples: the samples themselves, oldest first.
    """

    mean: float
    deviation: float
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A detector's report about the sample it was just given.

    :param before: the level that counted as normal.
    :param after: the samples that speak against it (or, for a recovery, for it).
    """

    stage: Stage
    direction: Direction
    severity: Severity
    before: Evidence
    after: Evidence


State = TypeVar("State")


class Detector(Protocol[State]):
    """A way to find changes in one series."""

    def begin(self) -> State:
        """What is remembered of a series of which nothing was seen."""

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]:
        """Take one finite sample, later than all before it."""

    def learning(self, state: State) -> bool:
        """Whether it has seen too little to find anything."""


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample deviation (n - 1 in the denominator; 0 for a single value)."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def evidence(samples: Sequence[Sample]) -> Evidence:
    """Of a stretch that is not empty."""
    return Evidence(*mean_and_deviation([sample.value for sample in samples]), tuple(samples))
