"""Detectors from the literature, to compare the live detector with: SPD, CUSUM and Holt-Winters.

Each has the methods ``begin``, ``step`` and ``learning`` of :class:`measurement.anomaly.model.Detector`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeVar

from measurement.anomaly.model import (
    Direction,
    Evidence,
    Finding,
    Sample,
    Severity,
    Stage,
    evidence,
    mean_and_deviation,
)
from measurement.anomaly.shift import ROUNDING

SUSPICION = 0.75
State = TypeVar("State")


class Steps(Protocol[State]):
    """The part of a detector that a replay needs."""

    def begin(self) -> State: ...

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]: ...


def replay(detector: Steps[State], samples: Sequence[Sample]) -> list[tuple[int, Finding]]:
    """Return each finding in a series with the index of the sample that showed it."""
    state, findings = detector.begin(), []
    for index, sample in enumerate(samples):
        state, finding = detector.step(state, *sample)
        if finding is not None:
            findings.append((index, finding))
    return findings


# SPD, the plain plateau detector of OnTimeDetect (Calyam et al.), after NLANR's and SLAC's.


class Band(NamedTuple):
    """An interval, bounds included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


class Bands(NamedTuple):
    warning: Band
    critical: Band


@dataclass(frozen=True, slots=True)
class SPDState:
    """State of SPD.

    :param ring: the normal samples, at most ``window``, oldest first.
    :param warnings: trigger samples outside the warning band only.
    :param criticals: trigger samples outside the critical band.
    :param frozen: the bands in force for ``frozen_for`` more samples.
    :param last_at: the time of the last sample.
    """

    ring: tuple[Sample, ...] = ()
    warnings: tuple[Sample, ...] = ()
    criticals: tuple[Sample, ...] = ()
    count: int = 0
    frozen: Bands | None = None
    frozen_for: int = 0
    last_at: float = -math.inf


@dataclass(frozen=True, slots=True)
class SPD:
    """The plain plateau detector; the defaults are those of its implementation for FNAL and OSC.

    1. The first ``window`` samples fill a ring of normal values, with mean m and sample deviation σ. The
       warning band is m ± s·σ, the critical band m ± 2·s·σ.
    2. A sample outside a band goes to that band's buffer, and the count rises by one. A sample inside goes
       into the ring, and the count falls by one, not below 0. When it falls back to 0, the warnings join
       the ring, and both buffers are cleared.
    3. A count above 0.75·td is a warning, a count of td a plateau. Then the count and the buffers are
       cleared, and for the next ``window`` samples the bands are frozen around the trigger samples: from
       min·(1 - e) to max·(1 + e), with the elevation of each band.

    A constant ring has a deviation of rounding's size, so that equal samples stay inside. The elevation
    widens outwards for negative samples. A gap clears count and buffers.

    :param window: swc, in samples.
    :param sensitivity: s, in deviations.
    :param elevation: e1, for the warning band while it is frozen.
    :param critical_elevation: e2, for the critical band.
    :param gap: seconds without a sample that end a run of trigger samples.
    """

    window: int = 20
    sensitivity: float = 2.0
    elevation: float = 0.2
    critical_elevation: float = 0.4
    gap: float = math.inf

    @property
    def trigger(self) -> int:
        """The trigger duration td, in samples."""
        return (self.window + 2) // 3

    def begin(self) -> SPDState:
        return SPDState()

    def learning(self, state: SPDState) -> bool:
        return len(state.ring) < self.window

    def step(self, state: SPDState, at: float, value: float) -> tuple[SPDState, Finding | None]:
        sample = Sample(at, value)
        if at - state.last_at > self.gap:
            state = replace(state, warnings=(), criticals=(), count=0)
        state = replace(state, last_at=at)
        if self.learning(state):
            return replace(state, ring=(*state.ring, sample)), None
        bands = self._bands(state)
        thawed = replace(state, frozen_for=max(0, state.frozen_for - 1))
        if bands.warning.holds(value):
            return self._inside(thawed, sample), None
        return self._outside(thawed, sample, bands)

    def _bands(self, state: SPDState) -> Bands:
        if state.frozen is not None and state.frozen_for > 0:
            return state.frozen
        mean, deviation = mean_and_deviation([sample.value for sample in state.ring])
        width = self.sensitivity * max(deviation, ROUNDING * abs(mean), math.ulp(0.0))
        return Bands(Band(mean - width, mean + width), Band(mean - 2 * width, mean + 2 * width))

    def _inside(self, state: SPDState, sample: Sample) -> SPDState:
        ring, count = (*state.ring, sample), max(0, state.count - 1)
        if state.count == 1:
            ring = (*ring, *state.warnings)
            state = replace(state, warnings=(), criticals=())
        return replace(state, ring=ring[-self.window :], count=count)

    def _outside(self, state: SPDState, sample: Sample, bands: Bands) -> tuple[SPDState, Finding | None]:
        if bands.critical.holds(sample.value):
            state = replace(state, warnings=(*state.warnings, sample), count=state.count + 1)
        else:
            state = replace(state, criticals=(*state.criticals, sample), count=state.count + 1)
        if state.count < self.trigger:
            suspected = state.count > SUSPICION * self.trigger
            return state, self._finding(state, Stage.SUSPECTED) if suspected else None
        finding = self._finding(state, Stage.FOUND)
        frozen = Bands(*self._around([trigger.value for trigger in finding.after.samples]))
        return replace(
            state, warnings=(), criticals=(), count=0, frozen=frozen, frozen_for=self.window
        ), finding

    def _finding(self, state: SPDState, stage: Stage) -> Finding:
        before, after = evidence(state.ring), evidence(sorted((*state.warnings, *state.criticals)))
        critical = stage is Stage.FOUND and len(state.criticals) > len(state.warnings)
        severity = Severity.CRITICAL if critical else Severity.WARNING
        return Finding(stage, Direction.of(after.mean - before.mean), severity, before, after)

    def _around(self, triggers: Sequence[float]) -> Iterator[Band]:
        low, high = min(triggers), max(triggers)
        for elevation in (self.elevation, self.critical_elevation):
            yield Band(low - elevation * abs(low), high + elevation * abs(high))


@dataclass(frozen=True, slots=True)
class CusumState:
    """State of CUSUM.

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
    """CUSUM on standardised residuals (Page, 1954), two-sided.

    The first samples give mean and deviation. Then the sums S+ = max(0, S+ + z - k) and
    S- = max(0, S- - z - k) of the standardised residuals z are kept, and a sum above h is a finding. After
    a finding the detector learns again.

    :param learn: samples that define normal.
    :param reference: k, in deviations: half the shift that it is best at.
    :param limit: h, in deviations.
    """

    learn: int = 20
    reference: float = 1.0
    limit: float = 5.0

    def begin(self) -> CusumState:
        return CusumState()

    def learning(self, state: CusumState) -> bool:
        return len(state.learnt) < self.learn

    def step(self, state: CusumState, at: float, value: float) -> tuple[CusumState, Finding | None]:
        if self.learning(state):
            return CusumState((*state.learnt, Sample(at, value))), None
        normal = evidence(state.learnt)
        residual = (value - normal.mean) / max(normal.deviation, ROUNDING * abs(normal.mean), math.ulp(1.0))
        down = max(0.0, state.down - residual - self.reference)
        up = max(0.0, state.up + residual - self.reference)
        recent = (*state.recent[-self.learn :], Sample(at, value)) if down or up else ()
        if max(down, up) <= self.limit:
            return CusumState(state.learnt, down, up, recent), None
        direction = Direction.UP if up > down else Direction.DOWN
        return CusumState(), Finding(Stage.FOUND, direction, Severity.WARNING, normal, evidence(recent))


@dataclass(frozen=True, slots=True)
class HoltWintersState:
    """State of Holt-Winters.

    :param count: samples seen.
    :param season: the smoothed offset of each place in the season.
    :param deviation: the smoothed absolute residual.
    :param recent: the last samples.
    :param sides: the side of the band on which each of the last samples lay (-1, 0, 1).
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
    """Holt-Winters forecasting with deviation bands.

    Additive exponential smoothing of level, trend and, if a season is given, of one offset per place in it;
    the smoothed absolute residual gives the band (Brutlag, Aberrant Behavior Detection in Time Series for
    Network Monitoring, LISA 2000; RRDtool's defaults: 7 of the last 9 samples outside the band).

    :param alpha, beta, gamma: smoothing of level, trend, and season with deviation.
    :param season: samples in a season; 0: none.
    :param learn: samples before it judges; at least the season.
    :param band: half the width, in smoothed absolute residuals.
    :param window, failures: ``failures`` of ``window`` samples outside on one side make a finding.
    """

    alpha: float = 0.03
    beta: float = 0.0035
    gamma: float = 0.03
    season: int = 0
    learn: int = 20
    band: float = 2.0
    window: int = 9
    failures: int = 7

    def begin(self) -> HoltWintersState:
        return HoltWintersState(season=(0.0,) * self.season)

    def learning(self, state: HoltWintersState) -> bool:
        return state.count < max(self.learn, 2 * self.season)

    def step(
        self, state: HoltWintersState, at: float, value: float
    ) -> tuple[HoltWintersState, Finding | None]:
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

    def _forecast(self, state: HoltWintersState) -> float:
        offset = state.season[state.count % self.season] if self.season else 0.0
        return state.level + state.trend + offset

    def _side(self, state: HoltWintersState, residual: float) -> int:
        if abs(residual) <= max(self.band * state.deviation, ROUNDING * abs(state.level)):
            return 0
        return 1 if residual > 0 else -1

    def _smooth(self, state: HoltWintersState, value: float, forecast: float) -> HoltWintersState:
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
