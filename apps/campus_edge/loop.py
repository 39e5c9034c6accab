"""The decision thread: takes events one at a time, lets the broker decide, has the effects carried out.

It is the only caller of the broker, the only user of the writable store, and the place where the clock
is read.  An exception here is a bug in the core and leaves an unknown state behind, so it stops the
process, loudly; the supervisor starts a new one, which continues from the store (never half alive).  A
database that fails stops it as well: what was decided is in memory and not saved, and nothing was sent of it.
"""

from __future__ import annotations

import itertools
import logging
import os
import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from adon.broker.effects import Effect, WakeAt
from adon.broker.events import Event, Tick
from adon.errors import EXIT_DATABASE, Unavailable
from adon.store.lease import LeaseLost
from adon.timestamps import MonotoneClock
from apps.campus_edge.roles import step_down
from apps.service_manager import ServiceManager

log = logging.getLogger(__name__)

EXIT_BUG = 70
"""EX_SOFTWARE of sysexits.h: an internal error was found."""

LONGEST_WAIT_S = 60.0
OFFERS_LIMIT = 256
"""Events waiting for the decision thread; with so many, no packet-in is added to them."""


class Decides(Protocol):
    """The broker, as far as this loop knows it."""

    def handle(self, event: Event) -> list[Effect]:
        """Take one event; say what is to be done."""


class Leisure(Protocol):
    """What is done while no event is waiting."""

    @property
    def pending(self) -> bool:
        """Whether there is something to do."""

    def do_some(self) -> None:
        """Do a part of it, in some milliseconds."""


class _Nothing:
    pending = False

    def do_some(self) -> None:
        """There is nothing."""


def die(where: str) -> None:
    """Log the exception under way and end the process at once: half alive is worse than restarted."""
    log.critical("event=bug where=%s", where, exc_info=True)
    logging.shutdown()
    os._exit(EXIT_BUG)


def lost_store(error: Unavailable) -> None:
    """End the process at once: a new one goes on from what is saved, when the database is there again."""
    log.critical("event=store.failed error=%r", str(error))
    logging.shutdown()
    os._exit(EXIT_DATABASE)


class Stamps:
    """Gives each event its id and its time; the prefix keeps ids of different runs apart.

    :param clock: never falls; seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.clock = MonotoneClock() if clock is None else clock
        self._prefix = _base36(int(self.clock() * 10))
        self._numbers = itertools.count(1)

    def __call__(self) -> tuple[str, float]:
        """The next id, and now."""
        return f"{self._prefix}-{next(self._numbers)}", self.clock()


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


class Inbox:
    """Where every other thread puts events for the decision thread."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()

    def put(self, event: Event | None) -> None:
        """Hand over an event, or None to end; returns at once."""
        self._events.put(event)

    def offer(self, event: Event) -> bool:
        """Hand over an event that may be lost; False, and it is lost, while too many are waiting.

        What anybody on the network can cause must not pile up before what is being decided.
        """
        if self._events.qsize() >= OFFERS_LIMIT:
            return False
        self._events.put(event)
        return True

    def get(self, timeout: float) -> Event | None:
        """The next event.

        :raises queue.Empty: if none comes within ``timeout`` seconds.
        """
        return self._events.get(timeout=timeout)


class DecisionLoop(threading.Thread):
    """The thread.

    :param carry_out: does what the effects of one event say.
    :param overdue: events for what did not happen in time (a barrier reply), asked for at each turn,
        together with when to ask again.
    :param leisure: what is done while no event is waiting; all of it before the thread ends.
    :param watchman: is told at every turn that this thread is alive, and how often that must be.
    """

    def __init__(
        self,
        inbox: Inbox,
        broker: Decides,
        carry_out: Callable[[Event, Iterable[Effect]], None],
        overdue: Callable[[float], tuple[list[Event], float | None]],
        stamps: Stamps,
        leisure: Leisure = _Nothing(),  # noqa: B008 - it has no state
        watchman: ServiceManager | None = None,
    ) -> None:
        super().__init__(name="decision", daemon=True)
        self._watchman = watchman or ServiceManager({})
        self._leisure = leisure
        self._broker = broker
        self._carry_out = carry_out
        self._overdue = overdue
        self._stamps = stamps
        self._inbox = inbox
        self._wake_at: float | None = None
        self._now = stamps.clock()

    def stop(self) -> None:
        """End the thread after the events that are already waiting."""
        self._inbox.put(None)

    def run(self) -> None:
        """Decide until told to stop."""
        try:
            while self._turn():
                pass
            while self._leisure.pending:
                self._leisure.do_some()
        except LeaseLost as error:
            step_down(str(error))
        except Unavailable as error:
            lost_store(error)
        except BaseException:  # noqa: BLE001 - whatever it is, the state behind it is unknown
            die("the decision thread")

    def _turn(self) -> bool:
        self._watchman.pulse()
        late, ask_again = self._overdue(self._stamps.clock())
        for event in late:
            self._decide(event)
        try:
            wait = 0.0 if self._leisure.pending else self._patience(ask_again)
            event_or_end = self._inbox.get(timeout=wait)
        except queue.Empty:
            if self._leisure.pending:
                self._leisure.do_some()
            self._tick_if_due()
            return True
        if event_or_end is None:
            return False
        self._decide(event_or_end)
        self._tick_if_due()
        return True

    def _patience(self, ask_again: float | None) -> float:
        times = [when for when in (self._wake_at, ask_again) if when is not None]
        longest = LONGEST_WAIT_S if self._watchman.pulse_every is None else self._watchman.pulse_every
        return min(longest, max(0.0, min(times, default=float("inf")) - self._stamps.clock()))

    def _tick_if_due(self) -> None:
        if self._wake_at is not None and self._wake_at <= self._stamps.clock():
            self._wake_at = None
            self._decide(Tick(*self._stamps()))

    def _decide(self, event: Event) -> None:
        if event.at < self._now:  # threads stamp their events before they queue them
            event = replace(event, at=self._now)
        self._now = event.at
        effects = self._broker.handle(event)
        for effect in effects:
            if isinstance(effect, WakeAt) and (self._wake_at is None or effect.at < self._wake_at):
                self._wake_at = effect.at
        self._carry_out(event, effects)
