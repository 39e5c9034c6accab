"""Holt-Winters forecasting with deviation bands: a row to compare with.

Additive exponential smoothing of level, trend and, if a season is given, of one offset per place in it; the
smoothed absolute residual of the same place gives the band (Brutlag, Aberrant Behavior Detection in Time
Series for Network Monitoring, LISA 2000; RRDtool's defaults: 7 of the last 9 samples outside the band).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from measurement.anomaly.model import (
    Direction,
    Evidence,
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

    :param count: samples seen.
    :param season: the smoothed offset of each place in the season.
    :param deviation: the smoothed absolute residual.
    :param recent: the last samples, and beside them the side of the band they lay on (-1, 0, 1).
    """

    count: int = 0
    level: float = 0.0
    trend: float = 0.0
    deviation: float = 0.0
    season: tuple[float, ...] = ()
    recent: tuple[Sample, ...] = ()
    sides: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class HoltWinters:
    """The detector.

    :param alpha, beta, gamma: smoothing of level, trend, and season with deviation.
    :param season: samples in a season; 0: none.
    :param learn: samples before it judges; at least the season.
    :param band: half the width, in smoothed absolute residuals.
    :param window, failures: so many of so many samples outside on one side make a finding.
    """

    alpha: float = 0.03
    beta: float = 0.0035
    gamma: float = 0.03
    season: int = 0
    learn: int = 20
    band: float = 2.0
    window: int = 9
    failures: int = 7

    def begin(self) -> State:
        """As :meth:`Detector.begin`."""
        return State(season=(0.0,) * self.season)

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]:
        """As :meth:`Detector.step`."""
        if state.count == 0:
            return replace(state, count=1, level=value), None
        forecast = self._forecast(state)
        side = 0 if self.learning(state) else self._side(state, value - forecast)
        recent = (*state.recent, Sample(at, value))[-self.window :]
        sides = (*state.sides, side)[-self.window :]
        smoothed = replace(self._smooth(state, value, forecast), recent=recent, sides=sides)
        if abs(sum(sides)) < self.failures:
            return smoothed, None
        before = Evidence(forecast, state.deviation)
        finding = Finding(Stage.FOUND, Direction.of(sum(sides)), Severity.WARNING, before, evidence(recent))
        return replace(smoothed, recent=(), sides=()), finding

    def learning(self, state: State) -> bool:
        """Until one season, or ``learn`` samples, are over."""
        return state.count < max(self.learn, 2 * self.season)

    def _forecast(self, state: State) -> float:
        offset = state.season[state.count % self.season] if self.season else 0.0
        return state.level + state.trend + offset

    def _side(self, state: State, residual: float) -> int:
        if abs(residual) <= max(self.band * state.deviation, ROUNDING * abs(state.level)):
            return 0
        return 1 if residual > 0 else -1

    def _smooth(self, state: State, value: float, forecast: float) -> State:
        place = state.count % self.season if self.season else 0
        offset = state.season[place] if self.season else 0.0
        # The first samples weigh as in a plain mean: there is nothing better to start from.
        alpha = max(self.alpha, 1 / (state.count + 1))
        level = alpha * (value - offset) + (1 - alpha) * (state.level + state.trend)
        gamma = max(self.gamma, 1 / state.count)
        season = state.season
        if self.season:
            share = 1.0 if state.count < self.season else self.gamma
            own = share * (value - level) + (1 - share) * offset
            season = (*season[:place], own, *season[place + 1 :])
        return replace(
            state,
            count=state.count + 1,
            level=level,
            trend=self.beta * (level - state.level) + (1 - self.beta) * state.trend,
            deviation=gamma * abs(value - forecast) + (1 - gamma) * state.deviation,
            season=season,
        )

    def dump(self, state: State) -> dict[str, Any]:
        """As :meth:`Detector.dump`."""
        return {
            "count": state.count,
            "level": state.level,
            "trend": state.trend,
            "deviation": state.deviation,
            "season": list(state.season),
            "recent": samples_to_json(state.recent),
            "sides": list(state.sides),
        }

    def load(self, data: Mapping[str, Any]) -> State:
        """As :meth:`Detector.load`."""
        try:
            season = tuple(float(offset) for offset in data["season"])
            if len(season) != self.season:
                raise ValueError(f"season: {len(season)} places instead of {self.season}")
            return State(
                count=int(data["count"]),
                level=float(data["level"]),
                trend=float(data["trend"]),
                deviation=float(data["deviation"]),
                season=season,
                recent=samples_from_json(data["recent"]),
                sides=tuple(int(side) for side in data["sides"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a state of Holt-Winters: {error}") from None
