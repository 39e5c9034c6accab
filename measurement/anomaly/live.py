"""The detector that watches: it sees no future, and takes neither a wider spread nor a drift for a plateau.

It remembers the last 44 samples of a series.  The newest 12 are under suspicion; the older ones (at least
10, at most 32) are the baseline.  A shift is found when the score of :mod:`measurement.anomaly.shift` is
reached and

- the means differ by ``least_shift`` deviations, and by what is worth telling at all (``least``,
  ``relative``);
- the newest sample lies beyond half the way (what is over is no plateau);
- a step explains baseline and newest samples better than a straight line does (a drift is no plateau).

A baseline without any spread (loss is usually exactly 0) has no deviation to go by: there the newest samples
above 0 are counted.

After a shift the newest samples begin the new baseline.  The former one is kept: when the newest samples
have come at least three quarters of the way back to it, by a step or by a drift, that is a recovery, and
the former baseline is in force again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from measurement.anomaly.model import (
    Direction,
    Evidence,
    Finding,
    Sample,
    Severity,
    Stage,
    evidence,
)
from measurement.anomaly.shift import (
    SPIKE_PRICE,
    Level,
    Shift,
    best_excess,
    best_shift,
    level_of,
    return_to,
    spike_in,
    steps_rather_than_drifts,
)

HALF_WAY = 0.5
BACK = 0.75


@dataclass(frozen=True, slots=True)
class Settings:
    """What is remembered and what is worth an alarm; the benchmark reports these defaults.

    :param baseline: most samples of the baseline; ``learn``: fewest.
    :param recent: most samples under suspicion; ``fewest``: fewest that make a plateau.
    :param score: log-likelihood ratio needed against a wider spread; ``drift_score``: against a drift;
        ``recovery_score``: as ``score``, but for a return to a level that is known.
    :param least_shift: smallest shift, in deviations of the baseline.
    :param least: smallest shift, in the unit of the series.
    :param relative: smallest shift, as a share of the baseline's level.
    :param critical_shift: the shift from which on it is critical, in deviations, if it also is
        ``critical_relative`` of the baseline's level.
    :param forget: seconds without a sample after which all is learnt anew.
    """

    baseline: int = 32
    learn: int = 10
    recent: int = 12
    fewest: int = 3
    score: float = 9.5
    drift_score: float = 5.0
    recovery_score: float = 7.0
    least_shift: float = 2.0
    least: float = 0.0
    relative: float = 0.0
    critical_shift: float = 8.0
    critical_relative: float = 0.2
    forget: float = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered of a series.

    :param history: the newest samples of the present level, oldest first.
    :param former: the baseline before the first shift, until it is returned to.
    :param shifted: the level after the last shift; meaningless without ``former``.
    """

    history: tuple[Sample, ...] = ()
    former: tuple[Sample, ...] = ()
    shifted: float = 0.0


@dataclass(frozen=True, slots=True)
class LevelShift:
    """The live detector."""

    settings: Settings = Settings()

    def begin(self) -> State:
        """As :meth:`Detector.begin`."""
        return State()

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]:
        """As :meth:`Detector.step`."""
        if state.history and at - state.history[-1].at > self.settings.forget:
            state = State()
        keep = self.settings.baseline + self.settings.recent - 1
        history = (*state.history[-keep:], Sample(at, value))
        recovery = self._recovery(history, state) if state.former else None
        if recovery is not None:
            return State((*state.former, *recovery.after.samples)), recovery
        shift = self._shift(history)
        if shift is None:
            return State(history, state.former, state.shifted), None
        if state.former and self._is_back(state, shift.after.mean):
            return State((*state.former, *shift.after.samples)), replace(shift, stage=Stage.RECOVERED)
        former = state.former if state.former else shift.before.samples
        return State(shift.after.samples, former, shift.after.mean), shift

    def learning(self, state: State) -> bool:
        """Until the shortest baseline and the shortest plateau fit in; after a shift for as long again."""
        return len(state.history) < self.settings.learn + self.settings.fewest

    def _shift(self, history: tuple[Sample, ...]) -> Finding | None:
        split = max(self.settings.learn, len(history) - self.settings.recent)
        if len(history) - split < self.settings.fewest:
            return None
        baseline, recent = history[:split], history[split:]
        values, level = _values(baseline), level_of(_values(baseline))
        shift = self._convincing(values, _values(recent), level)
        if shift is None and (spike := spike_in(_values(recent), level)) is not None:
            recent = (*recent[:spike], *recent[spike + 1 :])
            shift = self._convincing(values, _values(recent), level, SPIKE_PRICE)
        if shift is None:
            return None
        before = Evidence(level.mean, level.deviation, baseline)
        return self._worth_telling(before, evidence(recent[-shift.size :]), abs(shift.by) / level.deviation)

    def _convincing(
        self, baseline: Sequence[float], recent: Sequence[float], level: Level, price: float = 0.0
    ) -> Shift | None:
        settings, score = self.settings, self.settings.score + price
        if level.constant and level.mean == 0 and min(recent) >= 0:
            shift = best_excess(recent, baseline, settings.fewest)
            return shift if shift is not None and shift.score >= score else None
        shift = best_shift(recent, level, settings.fewest, settings.least_shift)
        if shift is None or shift.score < score or (recent[-1] - level.mean) / shift.by < HALF_WAY:
            return None
        steps = steps_rather_than_drifts(baseline, level, recent, shift.size, settings.drift_score)
        return shift if steps else None

    def _worth_telling(self, before: Evidence, after: Evidence, sigmas: float) -> Finding | None:
        settings, change = self.settings, after.mean - before.mean
        if change == 0 or abs(change) < max(settings.least, settings.relative * abs(before.mean)):
            return None
        return Finding(
            Stage.FOUND, Direction.of(change), self._severity(before, change, sigmas), before, after
        )

    def _severity(self, before: Evidence, change: float, sigmas: float) -> Severity:
        far = abs(change) >= self.settings.critical_relative * abs(before.mean)
        return Severity.CRITICAL if far and sigmas >= self.settings.critical_shift else Severity.WARNING

    def _recovery(self, history: tuple[Sample, ...], state: State) -> Finding | None:
        # The step of _shift towards a known level: less evidence will do, and drifts count.
        former = level_of(_values(state.former))
        gap = former.mean - state.shifted
        if gap == 0 or (history[-1].value - state.shifted) / gap < HALF_WAY:
            return None
        shift = self._way_back(_values(history), former, state.shifted)
        if shift is None or shift.score < self.settings.recovery_score:
            return None
        before, after = evidence(history[: -shift.size]), evidence(history[-shift.size :])
        if (after.mean - state.shifted) / gap < BACK:
            return None
        severity = self._severity(before, gap, abs(gap) / former.deviation)
        return Finding(Stage.RECOVERED, Direction.of(gap), severity, before, after)

    def _way_back(self, values: list[float], former: Level, shifted: float) -> Shift | None:
        settings, older = self.settings, values[: -self.settings.recent]
        if former.constant:
            return return_to(former, values, settings.fewest)
        spread = former.deviation
        if len(older) >= settings.learn:
            spread = max(spread, level_of(older).deviation)
        return best_shift(
            values[-settings.recent :], Level(shifted, spread, former.size), settings.fewest, 0.0
        )

    def _is_back(self, state: State, mean: float) -> bool:
        gap = level_of(_values(state.former)).mean - state.shifted
        return gap != 0 and (mean - state.shifted) / gap >= BACK


def _values(samples: Sequence[Sample]) -> list[float]:
    return [sample.value for sample in samples]
