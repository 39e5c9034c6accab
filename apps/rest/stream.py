"""What has just happened, for those who listen: the last events in a ring, numbered.

Events come from the links (alarms from the collector, announcements from the controller).  A listener that
was away names the last event it saw and gets what it missed, as far as the ring goes back; a gap is told.
Numbers begin anew with the process, so an event's name holds the process too.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

KEPT = 1000
LISTENERS = 6
"""At once: each holds a thread of the server, and others must remain for everybody else."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One event.

    :param number: counts from 1 since this process started.
    """

    number: int
    kind: str
    payload: Mapping[str, Any]


class Stream:
    """See the module; any thread may use it."""

    def __init__(self) -> None:
        self._process = secrets.token_hex(4)
        self._ring: deque[Happened] = deque(maxlen=KEPT)
        self._last = 0
        self._closed = False
        self._changed = threading.Condition()
        self._listeners = threading.BoundedSemaphore(LISTENERS)

    def adder(self, kind: str) -> Callable[[Mapping[str, Any]], None]:
        """What a link calls with each message of this kind."""
        return lambda payload: self.add(kind, payload)

    def add(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Something has happened."""
        with self._changed:
            self._last += 1
            self._ring.append(Happened(self._last, kind, payload))
            self._changed.notify_all()

    @property
    def last(self) -> int:
        """The number of the newest event."""
        with self._changed:
            return self._last

    def name(self, number: int) -> str:
        """The name of an event of this process, as :meth:`seen` takes it."""
        return f"{self._process}-{number}"

    def seen(self, name: str) -> int:
        """The number of the last event that a listener saw; 0 if that was of a process before this one.

        :raises ValueError: for what is no name of an event.
        """
        process, dash, number = name.partition("-")
        if not (dash and number.isdecimal() and number.isascii() and len(number) <= 15):
            raise ValueError(f"{name[:40]!r} is no name of an event")
        return min(int(number), self.last) if process == self._process else 0

    def after(self, number: int, timeout: float) -> list[Happened]:
        """The events after this one; waits for one to come, at most so long."""
        with self._changed:
            self._changed.wait_for(lambda: self._last > number or self._closed, timeout)
            return [event for event in self._ring if event.number > number]

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    def close(self) -> None:
        """Send every listener home."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def enter(self) -> bool:
        """Take a listener's place; False if all are taken."""
        return self._listeners.acquire(blocking=False)

    def leave(self) -> None:
        """Give the place back."""
        self._listeners.release()
