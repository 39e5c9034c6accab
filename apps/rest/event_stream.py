"""What has just happened, for those who listen: the last events in a ring, numbered and ready to be sent.

Events come from the links (alarms from the collector, announcements from the controller).  A listener that
was away names the last event it saw and gets what it missed, as far as the ring goes back; a gap is told.
Numbers begin anew with the process, so an event's name holds the process too.

The ring is the only buffer there is: a listener is a place in it (:mod:`apps.rest.listeners`), so one that
reads slowly costs no memory.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.rest.event_audience import Audience, tell

KEPT = 1000
OWNERS_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Happened:
    """One event.

    :param number: counts from 1 since this process started.
    :param frame: what is sent (server-sent events, WHATWG HTML 9.2.6).
    """

    number: int
    kind: str
    frame: bytes
    audience: Audience


def _nobody(_flow: str) -> str | None:
    return None


class Stream:
    """See the module; any thread may use it.

    :param owner_of: the requester of a flow (``f-17``), None for one that is not known.
    :param most: listeners there may be at once.
    :param most_each: listeners one name may have at once.
    """

    def __init__(
        self, owner_of: Callable[[str], str | None] = _nobody, most: int = 1000, most_each: int = 50
    ) -> None:
        self._process = secrets.token_hex(4)
        self._ring: deque[Happened] = deque(maxlen=KEPT)
        self._last = 0
        self._closed = False
        self._lock = threading.Lock()
        self._owner_of, self._owners = owner_of, OrderedDict[str, str]()
        self._most, self._most_each = most, most_each
        self._listeners: Counter[str] = Counter()
        self._waking: Callable[[], None] = lambda: None

    def adder(self, kind: str) -> Callable[[Mapping[str, Any]], None]:
        """What a link calls with each message of this kind."""
        return lambda payload: self.add(kind, payload)

    def add(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Something has happened.

        :raises ValueError, KeyError: for a message that is none of ours.
        """
        told = tell(kind, payload, self._owner)
        with self._lock:
            self._last += 1
            frame = f"id: {self._process}-{self._last}\nevent: {kind}\ndata: {told.text}\n\n".encode()
            self._ring.append(Happened(self._last, kind, frame, told.audience))
        self._waking()

    def changed(self, payload: Mapping[str, Any]) -> None:
        """What the controller tells of flows that changed and of decisions, those of one event together."""
        common = {"at": payload["at"], "cause": payload["cause"]}
        for flow in payload["flows"]:
            self._know(flow["flow"], flow["requester"])
            self.add("flow", common | flow)
        for decision in payload["decisions"]:
            self.add("decision", common | decision)

    def _owner(self, flow: str) -> str | None:
        known = self._owners.get(flow)
        if known is None:
            known = self._owner_of(flow)
            if known is not None:
                self._know(flow, known)
        return known

    def _know(self, flow: str, owner: str) -> None:
        self._owners[flow] = owner  # it never changes
        while len(self._owners) > OWNERS_KNOWN:
            self._owners.popitem(last=False)

    @property
    def last(self) -> int:
        """The number of the newest event."""
        with self._lock:
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

    def after(self, number: int) -> list[Happened]:
        """The events after this one, as far as they are kept."""
        with self._lock:
            missed = self._last - number
            return [] if missed <= 0 else list(self._ring)[-missed:]

    def wake(self, waking: Callable[[], None]) -> None:
        """Have this called after each event and at the end, by whichever thread; it must be quick."""
        self._waking = waking

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    def close(self) -> None:
        """Send every listener home."""
        self._closed = True
        self._waking()

    def enter(self, who: str) -> bool:
        """Take a listener's place; False if all are taken, or all that one name may have."""
        with self._lock:
            if self._listeners.total() >= self._most or self._listeners[who] >= self._most_each:
                return False
            self._listeners[who] += 1
            return True

    def leave(self, who: str) -> None:
        """Give the place back."""
        with self._lock:
            self._listeners[who] -= 1
            if self._listeners[who] <= 0:
                del self._listeners[who]

    @property
    def listening(self) -> int:
        """How many listen."""
        with self._lock:
            return self._listeners.total()
