"""Events for listeners: the last ones in a ring, numbered, encoded, each with its audience.

Events come from the links: alarms from the collector, announcements from the controller.  A listener that
was away names the last event it saw and gets the later ones, as far as the ring goes back; a gap is
reported.  Numbers start again with the process, so the id of an event contains the process.

The ring is the only buffer.  A listener is a position in it (:mod:`apps.rest.listeners`), so a slow one
costs no memory.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adon.access.identity import Actor
from adon.access.policy import Action, OwnedObject, Policy
from adon.api.alarms import AlarmView
from measurement.anomaly.alarm import Alarm
from measurement.model import Series, from_json


@dataclass(frozen=True, slots=True)
class Audience:
    """Receivers of an event: the readers of a series, or who may do an action on an owner's object.

    :param only: the only user who may receive it, whatever the roles.
    """

    series: Series | None = None
    action: Action = Action.FLOW_READ
    owner: str | None = None
    only: str | None = None

    def admits(self, actor: Actor | None, policy: Policy) -> bool:
        """Return whether this actor may receive the event."""
        if self.only is not None:
            return actor is not None and actor.name == self.only
        if self.series is not None:
            return policy.decide(actor, Action.MEASUREMENT_READ, self.series).allowed
        return policy.decide(actor, self.action, OwnedObject(self.owner)).allowed


@dataclass(frozen=True, slots=True)
class Message:
    """Content of an event.

    :param text: JSON on one line.
    """

    kind: str
    text: str
    audience: Audience


def read_message(kind: str, payload: Mapping[str, Any], owner_of: Callable[[str], str | None]) -> Message:
    """Return the content and audience of a message from another process.

    :param owner_of: returns the requester of a flow (``f-17``); None for an unknown flow.
    :raises ValueError, KeyError: for another message.
    """
    match kind:
        case "alarm":
            alarm = from_json(Alarm, payload)
            return Message(kind, json.dumps(AlarmView.of(alarm).body()), Audience(series=alarm.series))
        case "notice":
            alarms = [AlarmView.of(from_json(Alarm, alarm)).body() for alarm in payload["alarms"]]
            body = {"subscription": payload["subscription"], "alarms": alarms}
            return Message(kind, json.dumps(body), Audience(only=str(payload["owner"])))
        case "path":
            series = from_json(Series, payload)
            return Message(kind, json.dumps(dict(payload)), Audience(series=series))
        case "announce" | "flow" | "decision":
            flow = payload.get("flow")
            owner = owner_of(flow) if isinstance(flow, str) else None
            action = Action.DECISION_READ if kind == "decision" else Action.FLOW_READ
            return Message(kind, json.dumps(dict(payload)), Audience(action=action, owner=owner))
    raise ValueError(f"{kind!r} is no kind of event")


KEPT = 1000
OWNERS_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    :param number: counted from 1 since the start of this process.
    :param frame: encoded event (server-sent events, WHATWG HTML 9.2.6).
    """

    number: int
    kind: str
    frame: bytes
    audience: Audience


def _unknown_owner(_flow: str) -> str | None:
    return None


class Stream:
    """Ring of events and count of listeners, for any thread.

    :param owner_of: returns the requester of a flow (``f-17``), None for an unknown flow.
    :param most: listeners at once.
    :param most_each: listeners of one name at once.
    """

    def __init__(
        self, owner_of: Callable[[str], str | None] = _unknown_owner, most: int = 1000, most_each: int = 50
    ) -> None:
        self._process = secrets.token_hex(4)
        self._ring: deque[Event] = deque(maxlen=KEPT)
        self._last = 0
        self._closed = False
        self._lock = threading.Lock()
        self._owner_of, self._owners = owner_of, OrderedDict[str, str]()
        self._most, self._most_each = most, most_each
        self._listeners: Counter[str] = Counter()
        self._waking: Callable[[], None] = lambda: None

    def adder(self, kind: str) -> Callable[[Mapping[str, Any]], None]:
        """Return the handler of a link's messages of this kind."""
        return lambda payload: self.add(kind, payload)

    def add(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Add an event.

        :raises ValueError, KeyError: for an unknown message.
        """
        message = read_message(kind, payload, self._owner)
        with self._lock:
            self._last += 1
            frame = f"id: {self._process}-{self._last}\nevent: {kind}\ndata: {message.text}\n\n".encode()
            self._ring.append(Event(self._last, kind, frame, message.audience))
        self._waking()

    def changed(self, payload: Mapping[str, Any]) -> None:
        """Add the changed flows and the decisions of one event of the controller."""
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
        self._owners[flow] = owner
        while len(self._owners) > OWNERS_KNOWN:
            self._owners.popitem(last=False)

    @property
    def last(self) -> int:
        """Number of the newest event."""
        with self._lock:
            return self._last

    def name(self, number: int) -> str:
        """Return the id of an event of this process, for :meth:`seen`."""
        return f"{self._process}-{number}"

    def seen(self, name: str) -> int:
        """Return the number of the last event that a listener received; 0 for one of an earlier process.

        :raises ValueError: for text that is no id of an event.
        """
        process, dash, number = name.partition("-")
        if not (dash and number.isdecimal() and number.isascii() and len(number) <= 15):
            raise ValueError(f"{name[:40]!r} is no id of an event; expected for example 1a2b3c4d-17")
        return min(int(number), self.last) if process == self._process else 0

    def after(self, number: int) -> list[Event]:
        """Return the stored events after a number."""
        with self._lock:
            missed = self._last - number
            return [] if missed <= 0 else list(self._ring)[-missed:]

    def wake(self, waking: Callable[[], None]) -> None:
        """Set the function that any thread calls after each event and at the end; it must not block."""
        self._waking = waking

    @property
    def closed(self) -> bool:
        """Whether the stream has ended."""
        return self._closed

    def close(self) -> None:
        """End the stream for every listener."""
        self._closed = True
        self._waking()

    def enter(self, who: str) -> bool:
        """Count a listener; False if there are too many in all, or of one name."""
        with self._lock:
            if self._listeners.total() >= self._most or self._listeners[who] >= self._most_each:
                return False
            self._listeners[who] += 1
            return True

    def leave(self, who: str) -> None:
        """Count a listener less."""
        with self._lock:
            self._listeners[who] -= 1
            if self._listeners[who] <= 0:
                del self._listeners[who]

    @property
    def listening(self) -> int:
        """Number of listeners."""
        with self._lock:
            return self._listeners.total()
