"""Many series under watch: from values to alarms raised, updated and cleared.

The state is a value: a step never changes the one it was given.  For each series it holds its detectors'
states, the time of its last value, its last intervals, and its open alarms, at most one of each kind.

What is guarded against:

- a value from the future is refused; one not later than the last is a duplicate or late, and ignored
  (:meth:`Watch.refusal` says which, in one line);
- the watch's own absence (a restart, a suspended machine): after a pause of ``doze``
  between two ticks silence counts only from the second one on;
- a value too large to be squared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from measurement.anomaly import alarm_updates
from measurement.anomaly.absence import INTERVALS, is_absent, learnt_period
from measurement.anomaly.alarm import Alarm, Kind, acknowledge
from measurement.anomaly.alarm_text import moment
from measurement.anomaly.model import (
    Detector,
    Evidence,
    Finding,
    Sample,
    Stage,
    evidence,
)
from measurement.anomaly.policy import Policy
from measurement.model import Measurement, Observation, Series, from_json, to_json

LARGEST = 1e100
BACK = 0.75


@dataclass(frozen=True, slots=True)
class Watched:
    """What is remembered of one series.

    :param last: its last values, for the evidence of an absence; their distances show the period.
    :param plateau: state of the plateau detector; None if nobody looks for plateaus.
    :param threshold: state of the static threshold; None without a limit.
    :param open: alarms in force.
    """

    last: tuple[Sample, ...] = ()
    plateau: Any = None
    threshold: Any = None
    open: tuple[Alarm, ...] = ()

    def alarm(self, kind: Kind) -> Alarm | None:
        """The open alarm of this kind."""
        return next((alarm for alarm in self.open if alarm.kind is kind), None)


@dataclass(frozen=True, slots=True)
class _DetectorState:
    """The state of a detector, with the name of the detector's class."""

    detector: str
    state: Any


@dataclass(frozen=True, slots=True)
class _Stored:
    """One watched series as it is stored."""

    series: Series
    last: tuple[Sample, ...]
    plateau: _DetectorState | None
    threshold: _DetectorState | None
    open: tuple[Alarm, ...]


@dataclass(frozen=True, slots=True)
class WatchState:
    """All series.

    :param ticked_at: time of the last tick; ``waiting_since``: silence before that is the watch's own.
    """

    series: Mapping[Series, Watched] = field(default_factory=lambda: MappingProxyType({}))
    ticked_at: float | None = None
    waiting_since: float | None = None

    @property
    def open(self) -> list[Alarm]:
        """All alarms in force, oldest first."""
        every = [alarm for watched in self.series.values() for alarm in watched.open]
        return sorted(every, key=lambda alarm: (alarm.raised_at, alarm.id))


@dataclass(frozen=True, slots=True)
class Watch:
    """The watch: settings only."""

    policy: Policy = field(default_factory=Policy)

    def step(
        self, state: WatchState, value: Measurement | Observation, now: float
    ) -> tuple[WatchState, list[Alarm]]:
        """Take one value; what changed about alarms, in order."""
        return self.steps(state, [value], now)

    def steps(
        self, state: WatchState, values: Iterable[Measurement | Observation], now: float
    ) -> tuple[WatchState, list[Alarm]]:
        """As :meth:`step` for each value in turn, at the cost of one copy of the state."""
        every, changed = dict(state.series), list[Alarm]()
        for value in values:
            watched = every.get(value.series, Watched())
            if self._refusal(watched, value, now) is None:
                every[value.series], alarms = self._take(watched, value)
                changed += alarms
        return replace(state, series=every), changed

    def refusal(self, state: WatchState, value: Measurement | Observation, now: float) -> str | None:
        """Why :meth:`step` would ignore this value, in one line; None if it would not."""
        return self._refusal(state.series.get(value.series, Watched()), value, now)

    def tick(self, state: WatchState, now: float) -> tuple[WatchState, list[Alarm]]:
        """Look for absences, and for plateaus that have become the normal level; call it each minute."""
        paused = state.ticked_at is None or now - state.ticked_at > self.policy.doze
        waiting_since = now if paused or state.waiting_since is None else state.waiting_since
        every, changed = dict(state.series), list[Alarm]()
        for series in {**self.policy.periods, **state.series}:
            watched = state.series.get(series, Watched())  # one that never had a value is absent too
            aged, alarms = self._age(series, watched, waiting_since, now)
            if alarms:
                every[series] = aged
                changed += alarms
        return WatchState(every, now, waiting_since), changed

    def learning(self, state: WatchState, series: Series) -> bool:
        """Whether too little was seen of a series to find a plateau in it."""
        detector, watched = self.policy.detectors.get(series.metric), state.series.get(series, Watched())
        return detector is not None and (watched.plateau is None or detector.learning(watched.plateau))

    def acknowledge(
        self, state: WatchState, alarm: str, by: str, at: float
    ) -> tuple[WatchState, list[Alarm]]:
        """Put a name to an open alarm; nothing changes if no open alarm has this id.

        :raises ValueError: for an empty name.
        """
        for series, watched in state.series.items():
            found = next((each for each in watched.open if each.id == alarm), None)
            if found is not None:
                known = acknowledge(found, by, at)
                every = {**state.series, series: _add_alarm(watched, known)}
                return replace(state, series=every), [known]
        return state, []

    def forget(self, state: WatchState, series: Series, at: float) -> tuple[WatchState, list[Alarm]]:
        """Stop watching a series whose tests have ended; its open alarms are cleared."""
        watched = state.series.get(series, Watched())
        every = {other: kept for other, kept in state.series.items() if other != series}
        gone = [alarm_updates.clear_alarm(alarm, at, "no longer watched") for alarm in watched.open]
        return replace(state, series=every), gone

    def _refusal(self, watched: Watched, value: Measurement | Observation, now: float) -> str | None:
        at = value.observed_at
        if at > now + self.policy.ahead:
            return f"{value.series}: a value from {at - now:.0f} s in the future is not watched"
        if abs(value.value) > LARGEST:
            return f"{value.series}: {value.value!r} is no quantity of this world"
        if watched.last and at <= watched.last[-1].at:
            return f"{value.series}: a value from {moment(at)} is late or a duplicate; it is not watched"
        return None

    def _take(self, watched: Watched, value: Measurement | Observation) -> tuple[Watched, list[Alarm]]:
        series, sample, changed = value.series, Sample(value.observed_at, value.value), list[Alarm]()
        watched = replace(watched, last=(*watched.last[-INTERVALS:], sample))
        silence = watched.alarm(Kind.ABSENCE)
        if silence is not None:
            changed.append(alarm_updates.clear_alarm(silence, sample.at, "values come again"))
        plateau, found = _ask(self.policy.detectors.get(series.metric), watched.plateau, sample)
        beyond, crossed = _ask(self.policy.limits.get(series), watched.threshold, sample)
        if found is not None:
            changed += self._plateau(watched, series, found, sample.at)
        if crossed is not None:
            changed += _threshold(watched, series, crossed, sample.at)
        watched = replace(watched, plateau=plateau, threshold=beyond)
        for alarm in changed:
            watched = _add_alarm(watched, alarm)
        return watched, changed

    def _plateau(self, watched: Watched, series: Series, finding: Finding, at: float) -> list[Alarm]:
        bad, present = self.policy.is_bad(series.metric, finding.direction), watched.alarm(Kind.PLATEAU)
        if finding.stage is Stage.SUSPECTED:
            return []
        if present is None:
            # Back from a better level is a change for the worse like any other.
            noted = bad or finding.stage is Stage.FOUND
            return [alarm_updates.plateau(series, finding, bad=bad, at=at)] if noted else []
        if finding.stage is Stage.RECOVERED or _is_back(present, finding):
            return [alarm_updates.recovery(present, finding, at)]
        return [alarm_updates.moved_on(present, finding)]

    def _age(
        self, series: Series, watched: Watched, waiting_since: float, now: float
    ) -> tuple[Watched, list[Alarm]]:
        changed = []
        plateau, threshold = watched.alarm(Kind.PLATEAU), watched.alarm(Kind.THRESHOLD)
        if plateau is not None and now - plateau.raised_at > self.policy.accepted_after:
            changed.append(alarm_updates.clear_alarm(plateau, now, "taken for the normal level"))
        if threshold is not None and series not in self.policy.limits:
            changed.append(alarm_updates.clear_alarm(threshold, now, "the limit was taken away"))
        silent = self._absence(series, watched, waiting_since, now)
        if silent is not None:
            changed.append(silent)
        for alarm in changed:
            watched = _add_alarm(watched, alarm)
        return watched, changed

    def _absence(self, series: Series, watched: Watched, waiting_since: float, now: float) -> Alarm | None:
        period = self._period(series, watched)
        if period is None or watched.alarm(Kind.ABSENCE) is not None:
            return None
        last_at = watched.last[-1].at if watched.last else None
        silent_since = waiting_since if last_at is None else max(last_at, waiting_since)
        if not is_absent(silent_since, period, now, self.policy.misses):
            return None
        last = evidence(watched.last) if watched.last else Evidence(0.0, 0.0)
        return alarm_updates.absence(series, last, last_at=last_at, period=period, now=now)

    def _period(self, series: Series, watched: Watched) -> float | None:
        if series in self.policy.periods:
            return self.policy.periods[series]
        return learnt_period([later.at - earlier.at for earlier, later in pairwise(watched.last)])

    def series_to_json(self, series: Series, watched: Watched) -> dict[str, Any]:
        """Return what is remembered of one series as JSON."""
        detector, limit = self.policy.detectors.get(series.metric), self.policy.limits.get(series)
        document: dict[str, Any] = to_json(
            _Stored(
                series,
                watched.last,
                _stored_state(detector, watched.plateau),
                _stored_state(limit, watched.threshold),
                watched.open,
            )
        )
        return document

    def series_from_json(self, data: object) -> tuple[Series, Watched]:
        """Return what :meth:`series_to_json` wrote; a detector that the policy has exchanged learns again.

        :raises ValueError: for other data.
        """
        stored = from_json(_Stored, data)
        return stored.series, Watched(
            stored.last,
            _restored_state(self.policy.detectors.get(stored.series.metric), stored.plateau),
            _restored_state(self.policy.limits.get(stored.series), stored.threshold),
            stored.open,
        )


def _ask(detector: Detector[Any] | None, state: Any, sample: Sample) -> tuple[Any, Finding | None]:
    if detector is None:
        return None, None
    return detector.step(detector.begin() if state is None else state, *sample)


def _threshold(watched: Watched, series: Series, finding: Finding, at: float) -> list[Alarm]:
    present = watched.alarm(Kind.THRESHOLD)
    if finding.stage is Stage.FOUND:
        return [] if present is not None else [alarm_updates.threshold(series, finding, at=at)]
    return [] if present is None else [alarm_updates.clear_alarm(present, at, "within the limit again")]


def _is_back(alarm: Alarm, finding: Finding) -> bool:
    # For detectors that do not tell recoveries; a plateau always has an after.
    if alarm.after is None or alarm.after.mean == alarm.before.mean:
        return False
    return (finding.after.mean - alarm.after.mean) / (alarm.before.mean - alarm.after.mean) >= BACK


def _add_alarm(watched: Watched, alarm: Alarm) -> Watched:
    others = tuple(each for each in watched.open if each.kind is not alarm.kind)
    return replace(watched, open=(*others, alarm) if alarm.open else others)


def _stored_state(detector: Detector[Any] | None, state: Any) -> _DetectorState | None:
    if detector is None or state is None:
        return None
    return _DetectorState(type(detector).__name__, state)


def _restored_state(detector: Detector[Any] | None, stored: _DetectorState | None) -> Any:
    if detector is None or stored is None or stored.detector != type(detector).__name__:
        return None
    return from_json(type(detector.begin()), stored.state)
