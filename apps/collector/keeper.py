"""What becomes of a value: it is archived, then watched for changes, then told.

Whichever way a value comes in (our own tests, pushed results, other archives), it goes through
:meth:`Keeper.keep`.  It is archived first, so the controller never decides on something that a restart
would have forgotten.  What the detectors remember is written every few seconds; after a crash the values
since then are replayed from the archive, so nothing is seen twice and nothing is missed.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from measurement.anomaly.alarm import Alarm
from measurement.anomaly.watch import Watch, Watched, WatchState
from measurement.archive import Appended, Archive
from measurement.errors import shorten
from measurement.model import Measurement, Metric, Observation, Series, to_json

LOG = logging.getLogger(__name__)
STATE = "watch/"
"""What the names of the detectors' states begin with; one state per series."""
SAVE_EVERY = 10.0
MISSED_S = 7 * 86_400.0
"""Alarms raised longer ago, and over by now, are not told to a controller that comes back."""
ALARM = "alarm"
"""The kind of document under which the archive keeps alarms."""

Value = Measurement | Observation


class Tell(Protocol):
    """What is needed of :class:`apps.link.LinkClient`."""

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue one message for the controller."""


class Keeper:
    """See the module.  For one thread, the collector's.

    :param tell: takes messages for the controller.
    :param notify: takes raised, changed and cleared alarms, for the subscriptions.
    :param clock: seconds since the epoch; never falls.
    :param show: takes each new value of a path, for the event stream.
    :ivar ignored: by measurement point, how often each detail of its results was wrong and left out.
    """

    def __init__(
        self,
        archive: Archive,
        watch: Watch,
        tell: Tell,
        notify: Callable[[Alarm], None],
        clock: Callable[[], float],
        show: Callable[[Measurement], None] = lambda _: None,
    ) -> None:
        self._archive = archive
        self._watch = watch
        self._tell = tell
        self._notify = notify
        self._clock = clock
        self._show = show
        self._saved_at = clock()
        self._unsaved: set[Series] = set()
        self._state = WatchState()
        self._awaited: frozenset[tuple[str, str]] = frozenset()
        self.ignored: dict[str, Counter[str]] = {}

    def resume(self) -> None:
        """Begin, or go on where another collector left off: what it remembered, and what came after that."""
        self._unsaved = set()
        self._restore()
        self.greet()

    def keep(self, values: Iterable[Value]) -> Appended:
        """Archive values, watch them, tell the controller.

        :raises ArchiveError: when they cannot be kept; then nothing of them was told.
        """
        return self.keep_batches([values])[0]

    def keep_batches(self, batches: Iterable[Iterable[Value]]) -> list[Appended]:
        """Keep several batches as :meth:`keep` does, with one transaction of the archive."""
        values = [list(batch) for batch in batches]
        kept = self._archive.append_batches(values)
        for batch, appended in zip(values, kept, strict=True):
            self._follow(batch, appended)
        self._save()
        return kept

    def _follow(self, found: Sequence[Value], kept: Appended) -> None:
        for disagreement in kept.disagreements:
            LOG.warning('event=disagreement text="%s"', shorten(str(disagreement)))
        for refusal in kept.refused:
            LOG.warning('event=not_kept text="%s"', shorten(str(refusal)))
        # What the archive does not hold must not be decided on: a restart would have forgotten it.
        left_out = {(each.subject, each.source) for each in kept.disagreements}
        left_out |= {(each.subject, each.source) for each in kept.refused}
        held = [value for value in found if (value.series, value.source) not in left_out]
        for value in held:
            if isinstance(value, Measurement):
                self._publish_value(value)
                self._count_ignored(value)
            elif (value.key.source, value.metric) in self._awaited:
                self._tell.send("observation", to_json(value))
        self._watch_values(held)

    def _count_ignored(self, value: Measurement) -> None:
        names = value.parameters.get("ignored")
        if isinstance(names, list) and names:
            self.ignored.setdefault(value.key.source, Counter()).update(names)
            LOG.warning('event=ignored details=%s source="%s"', ",".join(names), shorten(value.source))

    def look(self) -> None:
        """Look for what is missing: silence raises alarms too."""
        self._state, alarms = self._watch.tick(self._state, self._clock())
        self._raise(alarms)
        self._save()

    def expect(self, periods: Mapping[Series, float]) -> None:
        """From now on values of these series are expected so often; infinity: not at all."""
        self._watch = Watch(replace(self._watch.policy, periods=periods))

    def tell_of(self, series: frozenset[tuple[str, str]]) -> None:
        """From now on tell the controller of values of hosts, by site and series, that triggers wait for."""
        self._awaited = series

    def greet(self) -> None:
        """Tell a controller that has (again) come the latest of everything, with the true times.

        Of alarms also the ends that it may have missed.
        """
        for measurement in self._archive.latest():
            self._tell.send("measurement", to_json(measurement))
        for document in reversed(self._archive.documents(ALARM, since=self._clock() - MISSED_S)):
            if document["cleared_at"] is not None:
                self._tell.send("alarm", document)
        for alarm in self._state.open:
            self._tell.send("alarm", to_json(alarm))

    def acknowledge(self, alarm_id: str, who: str) -> Alarm:
        """Mark an alarm as seen by somebody.

        :raises KeyError: if there is no such alarm in force.
        """
        self._state, changed = self._watch.acknowledge(self._state, alarm_id, who, self._clock())
        if not changed:
            raise KeyError(alarm_id)
        self._raise(changed)
        self._save(now=True)
        return changed[0]

    def close(self) -> None:
        """Write what the detectors remember."""
        self._save(now=True)

    def _publish_value(self, value: Measurement) -> None:
        LOG.info("event=measured key=%s metric=%s value=%g", value.key, value.metric, value.value)
        self._tell.send("measurement", to_json(value))
        self._show(value)

    def _watch_values(self, values: Sequence[Measurement | Observation]) -> None:
        now = self._clock()
        for value in values:
            refusal = self._watch.refusal(self._state, value, now)
            if refusal is not None:
                LOG.info('event=not_watched cause="%s"', refusal)
        self._state, alarms = self._watch.steps(self._state, values, now)
        self._unsaved |= {value.series for value in values}
        self._raise(alarms)

    def _raise(self, alarms: Sequence[Alarm]) -> None:
        for alarm in alarms:
            document = to_json(alarm)
            self._archive.put_document(
                ALARM, alarm.id, alarm.raised_at, alarm.series, document, is_open=alarm.open
            )
            self._unsaved.add(alarm.series)
            LOG.warning(
                'event=alarm id=%s state=%s text="%s"', alarm.id, "on" if alarm.open else "over", alarm.text
            )
            self._tell.send("alarm", document)
            self._notify(alarm)

    def _save(self, *, now: bool = False) -> None:
        if not now and self._clock() - self._saved_at < SAVE_EVERY:
            return
        self._saved_at = self._clock()
        changed = {
            _name(series): json.dumps(self._watch.series_to_json(series, self._state.series[series])).encode()
            for series in self._unsaved
            if series in self._state.series
        }
        self._archive.put_states(changed)
        self._unsaved = set()

    def _restore(self) -> None:
        """What was remembered, and then what has come since it was written."""
        known: dict[Series, Watched] = {}
        for name, data in self._archive.states(STATE).items():
            try:
                series, watched = self._watch.series_from_json(json.loads(data))
            except ValueError as error:
                LOG.warning("event=state_forgotten name=%s cause=%s", name, error)
            else:
                known[series] = watched
        self._state = WatchState(known)
        for series, watched in known.items():
            if watched.last:
                self._replay(series, watched.last[-1].at)

    def _replay(self, series: Series, since: float) -> None:
        for at, value in self._archive.values(series, since=since):
            if at > since:
                seen = _stored_value(series, at, value)
                self._state, alarms = self._watch.step(self._state, seen, self._clock())
                self._raise(alarms)


def _name(series: Series) -> str:
    return STATE + json.dumps(series)


def _stored_value(series: Series, at: float, value: float) -> Measurement | Observation:
    if series.metric in set(Metric):
        return Measurement(series.key, Metric(series.metric), value, at, at, "archive")
    return Observation(series.key, series.metric, value, at, "archive")
