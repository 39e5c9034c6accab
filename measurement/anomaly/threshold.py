"""A static threshold: so many samples in a row on the wrong side of a limit that somebody set."""

from __future__ import annotations

import math
from dataclasses import dataclass

from measurement.anomaly.model import (
    Direction,
    Evidence,
    Finding,
    Sample,
    Severity,
    Stage,
    evidence,
)


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered of a series.

    :param run: the samples in a row that speak against the present verdict.
    :param beyond: the present verdict.
    """

    run: tuple[Sample, ...] = ()
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Threshold:
    """Values below ``low`` or above ``high`` are beyond the limit.

    :param samples: so many in a row change the verdict, either way.
    """

    low: float = -math.inf
    high: float = math.inf
    samples: int = 3

    def begin(self) -> State:
        """As :meth:`Detector.begin`."""
        return State()

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]:
        """As :meth:`Detector.step`."""
        beyond = not self.low <= value <= self.high
        if beyond is state.beyond:
            return State((), state.beyond), None
        run = (*state.run, Sample(at, value))
        if len(run) < self.samples:
            return State(run, state.beyond), None
        return State((), beyond), self._finding(run, beyond)

    def learning(self, state: State) -> bool:  # noqa: ARG002 - a limit needs none
        """Never."""
        return False

    def _finding(self, run: tuple[Sample, ...], beyond: bool) -> Finding:
        # There is no level before: the limit itself stands for it.
        after = evidence(run)
        limit = self.low if self._nearer_low(after.mean) else self.high
        direction = Direction.of(after.mean - limit)
        stage = Stage.FOUND if beyond else Stage.RECOVERED
        return Finding(stage, direction, Severity.WARNING, Evidence(limit, 0.0), after)

    def _nearer_low(self, value: float) -> bool:
        return abs(value - self.low) <= abs(value - self.high)
