"""Alarms as the broker takes them: which are in force on a path, which are acted on, what they waive.

A detector (:mod:`measurement.anomaly`) says that a series *changed*, not that a path is unusable.  So an
alarm never excludes a path: the path is scored again with values from after the change, and Q and the
bounds decide.  What a bad alarm does is to end three kinds of caution (spec section 2):

- values from before the change are superseded, however young they are;
- ``patience`` is waived for the flows on that path: the detector has already seen several samples in a row
  on the wrong side, so waiting for more of the same adds delay and no certainty;
- ``min_dwell`` is waived too if the alarm is critical and its metric misses a *hard bound* of the flow.
  Dwelling keeps a flow from chasing small differences of Q and the echo of its own moves.  Below a hard
  bound there is nothing left to gain by waiting: the flow does not get what it cannot do without.

Alarms must not make flows flap, so what they hurry is bounded whatever the detectors say:

- of the alarms about one series, one per severity and :data:`HOLD_OFF_S` is acted on; that severity or
  less within that time is noted and has no further effect;
- ``min_dwell`` is waived for one flow at most once per ``min_dwell``.

Not acting on an alarm loses nothing: measurements are judged with the usual patience all the time.
Times are arguments, seconds since the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from adon.flowvisor.selection.assessment import CandidateRecord
from adon.flowvisor.selection.performance import PathChange
from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Severity
from measurement.model import PathKey, Series

HOLD_OFF_S = 300.0
"""Seconds after an alarm was acted on in which another one about the same series is not."""

SHOWN = 200
"""Characters of an alarm's text that go into a reason."""


class Waived(Enum):
    """Which caution an alarm ends for one flow."""

    NOTHING = 0
    PATIENCE = 1
    PATIENCE_AND_DWELL = 2


@dataclass(frozen=True, slots=True)
class _Effect:
    """An alarm that was acted on."""

    at: float
    critical: bool


class Alarms:
    """See the module's text.  Holds one alarm per series and kind: the latest."""

    def __init__(self) -> None:
        self._in_force: dict[tuple[Series, Kind], Alarm] = {}
        self._began: dict[str, float] = {}  # per alarm that has an effect: since when values count
        self._acted_on: dict[str, bool] = {}  # per alarm that was acted on: whether as a critical one
        self._last: dict[Series, _Effect] = {}
        self._hurried: dict[int, float] = {}  # per flow, when it last left a path before its dwell was over

    # -- what comes in ----------------------------------------------------------------------------------

    def note(self, alarm: Alarm) -> None:
        """Take an alarm in that was raised or has news.

        It replaces the previous alarm, whose end was not reported, and inherits its effect.
        """
        place = (alarm.series, alarm.kind)
        before = self._in_force.get(place)
        if before is not None and before.id != alarm.id:
            self._acted_on.pop(before.id, None)
            if before.id in self._began:
                self._began[alarm.id] = self._began.pop(before.id)
        self._in_force[place] = alarm

    def act_on(self, alarm: Alarm, now: float) -> bool:
        """Whether an alarm that was noted is to have an effect now; if so, its hold-off begins."""
        if not alarm.bad:
            return False
        critical = is_critical(alarm)
        if alarm.id in self._acted_on and self._acted_on[alarm.id] >= critical:
            return False
        last = self._last.get(alarm.series)
        if last is not None and last.critical >= critical and now - last.at < HOLD_OFF_S:
            return False
        if alarm.id not in self._acted_on:
            self._began[alarm.id] = min(began_at(alarm), now)
        self._last[alarm.series] = _Effect(now, critical)
        self._acted_on[alarm.id] = critical
        return True

    def clear(self, alarm: Alarm) -> bool:
        """Drop an alarm that is over; whether it had an effect that ends with it."""
        place = (alarm.series, alarm.kind)
        held = self._in_force.get(place)
        if held is None or held.id != alarm.id:
            return False
        del self._in_force[place]
        self._acted_on.pop(alarm.id, None)
        return self._began.pop(alarm.id, None) is not None

    # -- what follows -----------------------------------------------------------------------------------

    def on(self, key: PathKey) -> tuple[Alarm, ...]:
        """The alarms in force on one direction of one path, the oldest first."""
        found = [alarm for alarm in self._in_force.values() if alarm.series.key == key]
        return tuple(sorted(found, key=lambda alarm: (alarm.raised_at, alarm.id)))

    def in_force(self, alarm: Alarm) -> bool:
        """Whether this alarm is still on."""
        held = self._in_force.get((alarm.series, alarm.kind))
        return held is not None and held.id == alarm.id

    def acted_on(self, alarm: Alarm) -> bool:
        """Whether this alarm had an effect here."""
        return alarm.id in self._acted_on

    def find_change(self, series: Series) -> PathChange | None:
        """Since when a series is different, by the alarms that have an effect; None if by none.

        Silence (an alarm of absence) ends the trust in old values as well, but does not say that the path
        carries less.
        """
        found = [a for a in self.on(series.key) if a.series == series and a.id in self._began]
        if not found:
            return None
        latest = max(found, key=lambda alarm: self._began[alarm.id])
        less = any(alarm.kind is not Kind.ABSENCE for alarm in found)
        return PathChange(self._began[latest.id], f"alarm {latest.id}", less)

    def waives(
        self, alarm: Alarm, flow: int, present: CandidateRecord | None, now: float, min_dwell: float
    ) -> Waived:
        """Which caution an alarm ends for a flow on that path.

        :param flow: its number.
        :param present: its path as it is assessed now.
        """
        hurried = self._hurried.get(flow)
        again = hurried is not None and now - hurried < min_dwell
        if is_critical(alarm) and not again and _misses(present, alarm.series.metric):
            return Waived.PATIENCE_AND_DWELL
        return Waived.PATIENCE

    def record_early_move(self, flow: int, now: float) -> None:
        """A flow was moved before its dwell was over."""
        self._hurried[flow] = now

    def forget_flow(self, flow: int) -> None:
        """A flow has ended."""
        self._hurried.pop(flow, None)


def is_critical(alarm: Alarm) -> bool:
    """Whether an alarm is of the higher severity."""
    return alarm.severity is Severity.CRITICAL


def began_at(alarm: Alarm) -> float:
    """When the change that an alarm is about began: at the first sample that showed it.

    The alarm is raised later, at the last of several such samples, and every one of them tells how the path
    is *now*.  An alarm without samples (absence) begins when it is raised.
    """
    samples = () if alarm.after is None else alarm.after.samples
    return min((at for at, _ in samples), default=alarm.raised_at)


def words(alarm: Alarm) -> str:
    """An alarm as a reason names it."""
    return f"alarm {alarm.id} ({alarm.severity}: {alarm.text[:SHOWN]})"


def _misses(record: CandidateRecord | None, metric: str) -> bool:
    metrics = () if record is None else record.metrics
    return any(found.metric == metric and found.bound_met is False for found in metrics)
