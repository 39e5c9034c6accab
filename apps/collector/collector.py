"""The collector's loop: what is due is started, what comes back is kept, then told.

One thread owns the plan, the archive and the histories; workers, the link and signals only put messages
into its queue.  A value is archived before it is sent, so the controller never decides on something that
a restart would have forgotten.  While the controller is away, measuring goes on; when it is back it is
told the latest value of everything, with the true times.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from apps.collector.workers import Fault, Finished, Workers
from measurement import codec
from measurement.archive import Archive
from measurement.errors import shorten
from measurement.model import Measurement
from measurement.plan import History, PlannedTest, to_start
from measurement.poller import MeasurementFailed, Outcome

LOG = logging.getLogger(__name__)
AT_ONCE = 4
LOOK_EVERY = 0.5
PRUNE_EVERY = 3600.0
KEPT = 90 * 86_400.0


class Link(Protocol):
    """What is needed of :class:`apps.link.LinkClient`."""

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue one message for the controller."""

    def on(self, kind: str, callback: Callable[[dict[str, Any]], None]) -> None:
        """Call back for each message of this kind."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Paths that no test may load now."""

    paths: frozenset[str]


class Greeted:
    """The controller is (again) there."""


class Stop:
    """End the loop."""


Message = Finished | Fault | Quiet | Greeted | Stop


class CollectorFault(Exception):
    """A bug in a worker; the process ends so that it is seen and started anew."""


class Collector:
    """See the module.

    :param run: runs one test, in a worker's thread.
    :param window: seconds of history that must be kept at least.
    :param clock: seconds since the epoch.
    """

    def __init__(
        self,
        tests: Sequence[PlannedTest],
        run: Callable[[PlannedTest], Sequence[Outcome]],
        archive: Archive,
        link: Link,
        *,
        window: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._tests = tests
        self._archive = archive
        self._link = link
        self._kept = max(window, KEPT)
        self._clock = clock
        self._inbox: SimpleQueue[Message] = SimpleQueue()
        self._workers = Workers(run, self._inbox.put, AT_ONCE)
        self._history: dict[str, History] = {}
        self._running: set[str] = set()
        self._quiet: frozenset[str] = frozenset()
        self._pruned_at = float("-inf")
        link.on("quiet", self._on_quiet)
        link.on("hello", lambda _: self._inbox.put(Greeted()))

    def stop(self) -> None:
        """End :meth:`run`; may be called from a signal handler."""
        self._inbox.put(Stop())

    def run(self) -> None:
        """Work until stopped.

        :raises CollectorFault: for a bug in a worker.
        :raises ArchiveError: when results can no longer be kept.
        """
        while True:
            self._start_due()
            self._prune()
            try:
                message = self._inbox.get(timeout=LOOK_EVERY)
            except Empty:
                continue
            if isinstance(message, Stop):
                return
            self._handle(message)

    def _handle(self, message: Finished | Fault | Quiet | Greeted) -> None:
        match message:
            case Finished(test, outcomes):
                self._finished(test, outcomes)
            case Fault(test, error):
                raise CollectorFault(test.name) from error
            case Quiet(paths):
                LOG.info("event=quiet paths=%s", ",".join(sorted(paths)))
                self._quiet = paths
            case Greeted():
                for measurement in self._archive.latest():
                    self._link.send("measurement", codec.to_json(measurement))

    def _start_due(self) -> None:
        now = self._clock()
        due = to_start(self._tests, now, self._history, self._running, self._quiet)
        for test in due[: AT_ONCE - len(self._running)]:
            known = self._history.get(test.name)
            self._history[test.name] = History(now, 0 if known is None else known.failures)
            self._running.add(test.name)
            self._workers.start(test)

    def _finished(self, test: PlannedTest, outcomes: Sequence[Outcome]) -> None:
        self._running.discard(test.name)
        good = [outcome for outcome in outcomes if isinstance(outcome, Measurement)]
        known = self._history[test.name]
        self._history[test.name] = History(known.started, 0 if good else known.failures + 1)
        self._archive.append(good)
        for measurement in good:
            LOG.info(
                "event=measured key=%s metric=%s value=%g", test.key, measurement.metric, measurement.value
            )
            self._link.send("measurement", codec.to_json(measurement))
        for outcome in outcomes:
            if isinstance(outcome, MeasurementFailed):
                self._failed(outcome)

    def _failed(self, failure: MeasurementFailed) -> None:
        LOG.warning(
            'event=measurement_failed key=%s metric=%s cause="%s"', failure.key, failure.metric, failure.cause
        )
        payload = {"key": codec.key_to_json(failure.key), "metric": failure.metric.value}
        self._link.send("measurement_failed", {**payload, "cause": failure.cause, "at": failure.at})

    def _prune(self) -> None:
        now = self._clock()
        if now - self._pruned_at >= PRUNE_EVERY:
            self._pruned_at = now
            forgotten = self._archive.prune(now - self._kept)
            if forgotten:
                LOG.info("event=pruned values=%d", forgotten)

    def _on_quiet(self, payload: dict[str, Any]) -> None:
        paths = payload.get("paths")
        if isinstance(paths, list) and all(isinstance(path, str) for path in paths):
            self._inbox.put(Quiet(frozenset(paths)))
        else:
            # From our own controller: keep the last list that made sense, and say so.
            LOG.error("event=bad_message kind=quiet payload=%s", shorten(str(payload)))
