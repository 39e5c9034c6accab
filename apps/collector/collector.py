"""The collector's loop: the schedule is carried out, what comes in is kept, commands are answered.

One thread owns the timeline, the archive and the detectors; workers, servers, the links and signals only
put messages into its queue.  While the controller is away, measuring goes on.  A collector that does not
hold the archive's lease (another one measures) keeps what is pushed to it and waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

from adon.timestamps import MonotoneClock
from apps.collector.conductor import Conductor
from apps.collector.keeper import Keeper, Value
from apps.collector.workers import Fault, Finished
from measurement.archive import Appended, Archive, Retention
from measurement.errors import ArchiveError, ArchiveUnavailable, LeaseLost

LOG = logging.getLogger(__name__)
T = TypeVar("T")
LOOK_EVERY = 0.5
SILENCE_EVERY = 5.0
MAINTAIN_EVERY = 60.0
LEASE = "collector"
LEASE_S = 20.0
RENEW_EVERY = 5.0


@dataclass(frozen=True, slots=True)
class Values:
    """Values from another source, which waits until they are stored."""

    values: Sequence[Value]
    kept: Future[Appended]


@dataclass(frozen=True, slots=True)
class Call:
    """Something to be done by the thread that owns everything; it may raise nothing."""

    work: Callable[[], None]


class Stop:
    """End the loop."""


Message = Finished | Fault | Values | Call | Stop


class CollectorFault(Exception):
    """A bug in a worker; the process ends so that it is seen and started anew."""


class Inbox:
    """The collector's queue; any thread may put something in."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Message] = SimpleQueue()
        self._values: SimpleQueue[Values] = SimpleQueue()

    def put(self, message: Message) -> None:
        """Add a message; returns at once."""
        self._queue.put(message)

    def call(self, work: Callable[[], None]) -> None:
        """Have something done by the collector's thread."""
        self._queue.put(Call(work))

    def ask(self, work: Callable[[], T], timeout: float = 30.0) -> T:
        """Have something done by the collector's thread, and wait for what comes of it.

        :raises ArchiveError: if the archive is busy; what else ``work`` raises is raised here.
        """
        done: Future[T] = Future()

        def carried_out() -> None:
            try:
                done.set_result(work())
            except Exception as error:  # noqa: BLE001 - the caller gets every error
                done.set_exception(error)

        self.call(carried_out)
        try:
            return done.result(timeout)
        except TimeoutError:
            raise ArchiveError("the archive is busy") from None

    def keep(self, values: Sequence[Value], timeout: float = 30.0) -> Appended:
        """Have values kept, and wait for it.

        :raises ArchiveError: if they could not be kept.
        """
        kept: Future[Appended] = Future()
        brought = Values(values, kept)
        self._values.put(brought)
        self._queue.put(brought)
        try:
            return kept.result(timeout)
        except TimeoutError:
            raise ArchiveError("the archive is busy") from None

    def take_values(self) -> list[Values]:
        """Return all values that wait to be kept; their messages in the queue then find none."""
        return [self._values.get() for _ in range(self._values.qsize())]

    def take(self, timeout: float) -> Message | None:
        """The next message; None if none comes in time."""
        try:
            return self._queue.get(timeout=timeout)
        except Empty:
            return None


class Collector:
    """See the module.

    :param holder: this collector's name in the archive's lease.
    :param failure: what has ended one of the other threads that must not end.
    :param clock: seconds since the epoch; never falls.
    :param wall: the clock of the archive's lease, which the hosts of all collectors agree on.
    """

    def __init__(
        self,
        inbox: Inbox,
        archive: Archive,
        keeper: Keeper,
        conductor: Conductor,
        *,
        holder: str,
        retention: Retention,
        failure: Callable[[], BaseException | None] = lambda: None,
        clock: Callable[[], float] | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._inbox = inbox
        self._archive = archive
        self._keeper = keeper
        self._conductor = conductor
        self._holder = holder
        self._retention = retention
        self._failure = failure
        self._clock = MonotoneClock() if clock is None else clock
        self._wall = wall
        self._leads = False
        self._stands_by = False
        self._renewed = self._looked = self._maintained = float("-inf")

    @property
    def leads(self) -> bool:
        """Whether this collector is the one that measures."""
        return self._leads

    def follow(self, *, active: bool) -> None:
        """Measure only with an active controller; a standby controller would not use the values.

        Called by the collector's own thread.
        """
        self._stands_by = not active
        self._renewed = float("-inf")

    def stop(self) -> None:
        """End :meth:`run`; may be called from a signal handler."""
        self._inbox.put(Stop())

    def run(self) -> None:
        """Work until stopped.

        :raises CollectorFault: for a bug in a worker.
        :raises ArchiveUnavailable: when the archive does not answer; the runs whose results it does not
            have are counted in the log.
        :raises ArchiveError: when results cannot be kept for another reason.
        """
        try:
            while self._turn():
                pass
        finally:
            if self._leads:
                self._keeper.close()

    def _turn(self) -> bool:
        """One message; False at the end."""
        message = None
        try:
            self._regularly()
            message = self._inbox.take(LOOK_EVERY)
            if isinstance(message, Stop):
                return False
            if message is not None:
                self._handle(message)
        except LeaseLost:
            # The archive refused to be written: another collector measures, whatever our clock says.
            self._lead(leads=False)
        except ArchiveUnavailable:
            lost = self._conductor.under_way + isinstance(message, Finished)
            if lost:
                LOG.error("event=runs_lost count=%d", lost)  # noqa: TRY400 - the error is raised
            self._leads = False  # what the detectors remember cannot be written either
            raise
        return True

    def _handle(self, message: Finished | Fault | Values | Call) -> None:
        match message:
            case Finished():
                self._conductor.record_finish(message, self._keeper.keep)
            case Fault(start, error):
                raise CollectorFault(start.task) from error
            case Values():
                if waiting := self._inbox.take_values():
                    self._keep(waiting)
            case Call(work):
                work()

    def _keep(self, waiting: Sequence[Values]) -> None:
        """Keep what several threads wait for, in one transaction: a commit costs more than the values."""
        try:
            kept = self._keeper.keep_batches(one.values for one in waiting)
        except ArchiveError as error:
            for one in waiting:
                one.kept.set_exception(error)
            if not isinstance(error, LeaseLost):  # then another collector keeps what is brought again
                raise
            return
        for one, appended in zip(waiting, kept, strict=True):
            one.kept.set_result(appended)

    def _regularly(self) -> None:
        failure = self._failure()
        if failure is not None:
            raise CollectorFault("a thread has ended") from failure
        now = self._clock()
        if now - self._renewed >= RENEW_EVERY:
            self._renewed = now
            self._renew()
        if not self._leads:
            return
        self._conductor.start_due()
        if now - self._looked >= SILENCE_EVERY:
            self._looked = now
            self._keeper.look()
        if now - self._maintained >= MAINTAIN_EVERY:
            self._maintained = now
            LOG.info("event=maintained %s", self._archive.maintain(now, self._retention))

    def _renew(self) -> None:
        if self._stands_by:
            self._lead(leads=False)
            return
        self._lead(leads=self._archive.lease(LEASE, self._holder, self._wall(), LEASE_S))

    def _lead(self, *, leads: bool) -> None:
        led, self._leads = self._leads, leads
        if leads and not led:
            LOG.info("event=leads holder=%s", self._holder)
            self._keeper.resume()
            self._conductor.begin()
        elif led and not leads:
            LOG.error("event=lease_lost holder=%s", self._holder)
            self._conductor.halt()
