"""The plateau detector of OnTimeDetect: SPD, and APD for replay.

Parameters as in the public implementation for FNAL and OSC: summary window ``swc`` = 20 samples,
sensitivity ``s`` = 2, trigger duration ``td`` = floor((swc + 2) / 3) = 7, elevations 0.2 and 0.4.

1. The first ``swc`` samples fill a ring of normal values, with mean m and sample deviation σ.  The warning
   band is m ± s·σ, the critical band m ± 2·s·σ.
2. A sample outside a band goes to that band's buffer, and the count rises by one.  A sample inside goes
   into the ring, and the count falls by one, not below 0.  When it falls back to 0 the warnings were noise:
   they join the ring, and both buffers are cleared.
3. A count above 0.75·td is a warning (:attr:`Stage.SUSPECTED`), a count of td a plateau
   (:attr:`Stage.FOUND`).  Then the count and the buffers are cleared, and for the next ``swc`` samples the
   bands are frozen around the trigger samples: the warning band reaches from min·(1 − e1) to max·(1 + e1),
   the critical one with e2.

SPD keeps s fixed.  APD takes s = min(5, 2 + 0.4·(σ_raw / σ)²), where σ_raw is the deviation of the *next*
``swc`` samples, the one that is judged being the first of them.  It looks ahead, so it is no
:class:`Detector` and serves to compare with the literature; what watches live is
:mod:`measurement.anomaly.live`.

Guards of ours, none of which changes a bound that the rules above define sensibly: a constant ring has a
deviation of rounding's size, so that equal samples stay inside; the elevation widens outwards for negative
samples too; a gap longer than ``gap`` clears count and buffers, since samples on its two sides are not in a
row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from measurement.anomaly.model import (
    Direction,
    Evidence,
    Finding,
    Sample,
    Severity,
    Stage,
    evidence,
    mean_and_deviation,
    samples_from_json,
    samples_to_json,
)

ROUNDING = 1e-9
SUSPICION = 0.75
MOST_SENSITIVITY = 5.0
ADAPTATION = 0.4


@dataclass(frozen=True, slots=True)
class Settings:
    """The algorithm's parameters.

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


class Band(NamedTuple):
    """An interval, bounds included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies inside."""
        return self.low <= value <= self.high


class Bands(NamedTuple):
    """Warning and critical band."""

    warning: Band
    critical: Band


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered of a series.

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
    """The plain plateau detector."""

    settings: Settings = Settings()

    def begin(self) -> State:
        """As :meth:`Detector.begin`."""
        return State()

    def step(self, state: State, at: float, value: float) -> tuple[State, Finding | None]:
        """As :meth:`Detector.step`."""
        return judge(self.settings, state, Sample(at, value), self.settings.sensitivity)

    def learning(self, state: State) -> bool:
        """Until the ring is full."""
        return len(state.ring) < self.settings.window

    def dump(self, state: State) -> dict[str, Any]:
        """As :meth:`Detector.dump`."""
        return {
            "ring": samples_to_json(state.ring),
            "warnings": samples_to_json(state.warnings),
            "criticals": samples_to_json(state.criticals),
            "count": state.count,
            "frozen": None if state.frozen is None else [list(band) for band in state.frozen],
            "frozen_for": state.frozen_for,
            "last_at": None if state.last_at == -math.inf else state.last_at,
        }

    def load(self, data: Mapping[str, Any]) -> State:
        """As :meth:`Detector.load`."""
        try:
            frozen = data["frozen"]
            return State(
                ring=samples_from_json(data["ring"]),
                warnings=samples_from_json(data["warnings"]),
                criticals=samples_from_json(data["criticals"]),
                count=int(data["count"]),
                frozen=None if frozen is None else Bands(*(Band(*band) for band in frozen)),
                frozen_for=int(data["frozen_for"]),
                last_at=-math.inf if data["last_at"] is None else float(data["last_at"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a state of the plateau detector: {error}") from None


def replay_apd(samples: Sequence[Sample], settings: Settings = Settings()) -> list[tuple[int, Finding]]:
    """What APD finds in a whole series: the index of the sample that showed it, and the finding."""
    state, found = State(), []
    for index, sample in enumerate(samples):
        ahead = [later.value for later in samples[index : index + settings.window]]
        state, finding = judge(settings, state, sample, _adapted(settings, state, ahead))
        if finding is not None:
            found.append((index, finding))
    return found


def adaptive_sensitivity(raw: float, deviation: float, sensitivity: float = 2.0) -> float:
    """APD's s for the deviation of the samples ahead and that of the ring.

    :param deviation: above 0.
    """
    return min(MOST_SENSITIVITY, sensitivity + ADAPTATION * (raw / deviation) ** 2)


def _adapted(settings: Settings, state: State, ahead: Sequence[float]) -> float:
    if len(state.ring) < settings.window:
        return settings.sensitivity  # nothing is judged yet
    _, raw = mean_and_deviation(ahead)
    return adaptive_sensitivity(raw, _guarded(state.ring).deviation, settings.sensitivity)


def judge(
    settings: Settings, state: State, sample: Sample, sensitivity: float
) -> tuple[State, Finding | None]:
    """One step of the algorithm with a given s."""
    if sample.at - state.last_at > settings.gap:
        state = replace(state, warnings=(), criticals=(), count=0)
    state = replace(state, last_at=sample.at)
    if len(state.ring) < settings.window:
        return replace(state, ring=(*state.ring, sample)), None
    bands = _bands(state, sensitivity)
    thawed = replace(state, frozen_for=max(0, state.frozen_for - 1))
    if bands.warning.holds(sample.value):
        return _inside(settings, thawed, sample), None
    return _outside(settings, thawed, sample, bands)


def _bands(state: State, sensitivity: float) -> Bands:
    if state.frozen is not None and state.frozen_for > 0:
        return state.frozen
    mean, deviation = _guarded(state.ring).mean, _guarded(state.ring).deviation
    return Bands(
        *(
            Band(mean - width, mean + width)
            for width in (sensitivity * deviation, 2 * sensitivity * deviation)
        )
    )


def _guarded(ring: Sequence[Sample]) -> Evidence:
    mean, deviation = mean_and_deviation([sample.value for sample in ring])
    return Evidence(mean, max(deviation, ROUNDING * abs(mean), math.ulp(0.0)))


def _inside(settings: Settings, state: State, sample: Sample) -> State:
    ring, count = (*state.ring, sample), max(0, state.count - 1)
    if state.count == 1:
        ring = (*ring, *state.warnings)
        state = replace(state, warnings=(), criticals=())
    return replace(state, ring=ring[-settings.window :], count=count)


def _outside(settings: Settings, state: State, sample: Sample, bands: Bands) -> tuple[State, Finding | None]:
    if bands.critical.holds(sample.value):
        state = replace(state, warnings=(*state.warnings, sample), count=state.count + 1)
    else:
        state = replace(state, criticals=(*state.criticals, sample), count=state.count + 1)
    if state.count < settings.trigger:
        suspected = state.count > SUSPICION * settings.trigger
        return state, _finding(state, Stage.SUSPECTED) if suspected else None
    finding = _finding(state, Stage.FOUND)
    frozen = _around(settings, [trigger.value for trigger in finding.after.samples])
    return replace(
        state, warnings=(), criticals=(), count=0, frozen=frozen, frozen_for=settings.window
    ), finding


def _finding(state: State, stage: Stage) -> Finding:
    before, after = evidence(state.ring), evidence(sorted((*state.warnings, *state.criticals)))
    critical = stage is Stage.FOUND and len(state.criticals) > len(state.warnings)
    severity = Severity.CRITICAL if critical else Severity.WARNING
    return Finding(stage, Direction.of(after.mean - before.mean), severity, before, after)


def _around(settings: Settings, triggers: Sequence[float]) -> Bands:
    low, high = min(triggers), max(triggers)

    def bands() -> Iterator[Band]:
        for elevation in (settings.elevation, settings.critical_elevation):
            yield Band(low - elevation * abs(low), high + elevation * abs(high))

    return Bands(*bands())
