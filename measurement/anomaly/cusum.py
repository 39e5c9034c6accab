"""CUSUM on standardised residuals (Page, 1954), two-sided: a row to compare with.

The first samples give mean and deviation; from then on the sums S+ = max(0, S+ + z - k) and S- = max(0, S-
- z - k) of the standardised residuals z are kept, and a sum above h is a finding.  With the reference value
k = 1 it looks for shifts of 2 σ and more.  (Page-Hinkley's test is the same sum with the running mean as
reference.)  After a finding it learns anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from measurement.anomaly.model import (
    Direction,
    Finding,
    Sample,
    Severity,
    Stage,
    evidence,
    samples_from_json,
    samples_to_json,
)
from measurement.anomaly.shift import ROUNDING


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered of a series.

    :param learnt: the samples that define normal.
    :param down, up: the sums S- and S+.
    :param recent: the samples since the larger sum left 0.
    """

    learnt: tuple[Sample, ...] = ()
    down: float = 0.0
    up: float = 0.0
    recent: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Cusum:
    """The detector.

    :param learn: samples that define normal.
    :param reference: k, in deviations: half the shift that it is best at.
    :param limit: h, in deviations.
    """

    learn: int = 20
    reference: float = 1.0
    limit: float = 5.0

    def begin(self) -> State:
        """As :meth:`Detector.begin`."""
        return State()

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]:
        """As :meth:`Detector.step`."""
        if self.learning(state):
            return State((*state.learnt, Sample(at, value))), None
        normal = evidence(state.learnt)
        residual = (value - normal.mean) / max(normal.deviation, ROUNDING * abs(normal.mean), math.ulp(1.0))
        down = max(0.0, state.down - residual - self.reference)
        up = max(0.0, state.up + residual - self.reference)
        recent = (*state.recent[-self.learn :], Sample(at, value)) if down or up else ()
        if max(down, up) <= self.limit:
            return State(state.learnt, down, up, recent), None
        direction = Direction.UP if up > down else Direction.DOWN
        return State(), Finding(Stage.FOUND, direction, Severity.WARNING, normal, evidence(recent))

    def learning(self, state: State) -> bool:
        """Until normal is defined."""
        return len(state.learnt) < self.learn

    def dump(self, state: State) -> dict[str, Any]:
        """As :meth:`Detector.dump`."""
        return {
            "learnt": samples_to_json(state.learnt),
            "down": state.down,
            "up": state.up,
            "recent": samples_to_json(state.recent),
        }

    def load(self, data: Mapping[str, Any]) -> State:
        """As :meth:`Detector.load`."""
        try:
            learnt, recent = samples_from_json(data["learnt"]), samples_from_json(data["recent"])
            return State(learnt, float(data["down"]), float(data["up"]), recent)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a state of CUSUM: {error}") from None
