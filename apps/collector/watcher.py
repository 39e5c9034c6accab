"""A thread that reads tasks without a place in the plan through a :class:`~measurement.fleet.Fleet`.

Reading follows the lease: only the collector that measures posts and reads, and one that has lost it cancels
what it posted.  What a round has read counts as read when the archive has it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from apps.collector.keeper import Value
from measurement import fleet
from measurement.archive import Appended
from measurement.errors import ArchiveError, LeaseLost, Stopped
from measurement.fleet import Fleet, Host
from measurement.model import Measurement, Series
from measurement.outcomes import MeasurementFailed
from measurement.sources.received import Received, Report, receive

LOG = logging.getLogger(__name__)
LOOK_EVERY = 1.0
"""Seconds between two looks whether this collector measures."""


class Tasks(Protocol):
    """Tasks to read: which ones, from time to time anew."""

    @property
    def hosts(self) -> list[Host]:
        """The hosts to read."""

    def refresh(self, fleet: Fleet) -> None:
        """Update the tasks that the fleet reads; return at once, also if a point hangs."""

    def record_result(self, task: str, /) -> None:
        """A result of a task was kept."""

    def place(self, task: str, /) -> str | None:
        """The measurement point whose host a task observes."""

    def rest(self, fleet: Fleet) -> None:
        """Nothing is to be read until the next :meth:`refresh`."""

    def close(self) -> None:
        """The end."""


class Complaints:
    """What is wrong with values, said when it begins and when it is over, and not each time."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def wrong(self, what: str, cause: str) -> None:
        """There is no value, and why."""
        if what not in self._known:
            LOG.warning('event=no_value of="%s" cause="%s"', what, cause)
        self._known.add(what)

    def right(self, what: str) -> None:
        """There is one."""
        if what in self._known:
            LOG.info('event=value_again of="%s"', what)
        self._known.discard(what)


class Watcher:
    """A thread that reads tasks; see the module.

    :param keep: has values kept, and waits for it.
    :param leads: whether this collector is the one that measures.
    :param every: seconds between the beginnings of two rounds.
    """

    def __init__(
        self,
        name: str,
        tasks: Tasks,
        keep: Callable[[Sequence[Value]], Appended],
        leads: Callable[[], bool],
        *,
        every: float,
    ) -> None:
        self._tasks = tasks
        self._keep = keep
        self._leads = leads
        self._every = every
        self._fleet = Fleet(tasks.hosts, self._take, since=time.time())
        self._complaints = Complaints()
        self._reads = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and cancel what was posted."""
        self._stopping.set()
        self._tasks.close()

    def round(self) -> None:
        """Read everything that is due.

        :raises ArchiveError: when it could not be kept; it is read again.
        """
        if not self._leads():
            self._rest()
            return
        try:
            if not self._reads:
                self._keep(())  # "leads" may be some seconds old; the archive is never wrong
                self._reads = True
            self._tasks.refresh(self._fleet)
            self._fleet.poll(self._every)
        except LeaseLost:
            self._rest()

    def _rest(self) -> None:
        if self._reads:
            LOG.warning("event=rests thread=%s cause=another_collector_measures", self._thread.name)
            self._reads = False
            self._tasks.rest(self._fleet)

    def _run(self) -> None:
        while not self._stopping.is_set():
            begun = time.monotonic()
            try:
                self.round()
            except Stopped:
                return
            except ArchiveError as error:
                LOG.warning('event=read_again thread=%s cause="%s"', self._thread.name, error)
            except Exception:  # a thread's outermost guard: the other ways in must go on
                LOG.exception("event=fault thread=%s", self._thread.name)
            every = self._every if self._reads else min(self._every, LOOK_EVERY)
            self._stopping.wait(max(0.0, begun + every - time.monotonic()))

    def _take(self, values: Sequence[fleet.Value]) -> None:
        kept: list[Value] = []
        tasks = set()
        for value in values:
            if isinstance(value, MeasurementFailed):
                self._complaints.wrong(str(Series(*value.key, value.metric)), value.cause)
                continue
            tasks.add(_task_of(value.source))
            if isinstance(value, Measurement):
                self._complaints.right(str(value.series))
                kept.append(value)
            else:
                kept += self._store_report(value)
        if kept:
            self._keep(kept)
        for task in tasks:
            self._tasks.record_result(task)

    def _store_report(self, report: Report) -> Sequence[Value]:
        place = self._tasks.place(_task_of(report.source))
        if place is None:
            return ()  # of a task that was given up meanwhile
        found = observations(report, place, time.time())
        for refusal in found.refused[:1]:
            self._complaints.wrong(f"host {place}", refusal.cause)
        if found.kept and not found.refused:
            self._complaints.right(f"host {place}")
        return found.kept


def observations(report: Report, host: str, now: float) -> Received:
    """What a point has observed on its host, under the name by which we know it."""
    return receive(replace(report, host=host), lambda _source, _destination: None, now)


def _task_of(source: str) -> str:
    """The task in a run's URL."""
    return source.rpartition("/runs/")[0].rpartition("/")[2]
