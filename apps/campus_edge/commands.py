"""Messages of the other processes become events; answers find their way back.

A command is checked here for its *form* (a request that is not one never becomes an event); whether it
can be granted is the broker's business.  A submission with an idempotency key is answered from the
store when it comes again, so that a client may repeat a request whose answer was lost.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from adon.broker.effects import Answer
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    DifferenceAsked,
    Event,
    FlowCancelled,
    FlowSubmitted,
    JobAsked,
    JobCancelled,
    JobTold,
    MaintenanceAsked,
    MaintenanceCancelled,
    MeasurementArrived,
    ObservationArrived,
    PreviewAsked,
    ReservationAsked,
    ReservationReleased,
    SiteReported,
    SnapshotAsked,
    SyncAsked,
    TemplateSaved,
    TransferReported,
    WaitingAsked,
    WhatIfAsked,
)
from adon.broker.flow import Flow, FlowRequest
from adon.broker.maintenance import WindowRequest
from adon.broker.resources.reservation import ReservationRequest
from adon.broker.scenario import Failure, Scenario
from adon.broker.sites.jobs import JobRequest
from adon.errors import AdonError, Conflict, InvalidInput, Unavailable
from adon.store.store import Store
from adon.templates_catalog.model import Template
from adon.yamlfile import check_model
from apps.campus_edge.turns import Turns
from apps.link import Peer
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, Observation, from_json, to_json
from measurement.sites.model import JobNews, SiteReport

log = logging.getLogger(__name__)
T = TypeVar("T")

SNAPSHOT_AGE_S = 0.5
"""A read-out this young is given again rather than prepared anew, however many ask."""


WAITING_AGE_S = 2.0
"""So long what a flow waits for is told again as it was: open pages ask every few seconds."""
MOST_TOLD = 1_000
QUESTIONS = frozenset({"flow.preview", "flow.waiting", "rules.diff", "snapshot", "what-if"})
"""What changes nothing has its turn (:mod:`apps.campus_edge.turns`)."""
MOST_UNDER_WAY = 1_000
"""Commands without an answer, of all peers; what is beyond is refused, whatever ails who sends it."""
MOST_ASKED = 64
"""So many of one kind wait for their turn; a page asks again when its form is changed."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A command under way: whom to answer, and how to recognise it when it comes again."""

    peer: Peer
    kind: str
    actor: str = ""
    key: str | None = None
    request_hash: str = ""


class Commands:
    """The border between the link and the decision thread; called from the link's reader threads.

    :param put: hands an event to the decision thread.
    :param readable: a store for reading, safe to use from these threads.
    :param clock: monotonic seconds, for the age of answers that are given again.
    """

    def __init__(
        self,
        put: Callable[[Event], None],
        readable: Store,
        stamps: Callable[[], tuple[str, float]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._put = put
        self._store = readable
        self._stamps = stamps
        self._asked: dict[str, _Asked] = {}
        self._authors: dict[str, str] = {}
        self._lock = threading.Lock()
        self._snapshot: tuple[float, dict[str, Any]] | None = None
        self._waiting: dict[str, tuple[float, dict[str, Any]]] = {}
        self._turns = Turns(put, MOST_ASKED)
        self._kinds: Mapping[str, Callable[[str, dict[str, Any]], Event]] = {
            "flow.submit": self._submit,
            "flow.preview": self._preview,
            "flow.cancel": self._cancel,
            "flow.report": self._report,
            "template.add": self._template,
            "maintenance.add": self._maintenance,
            "maintenance.cancel": lambda command, payload: MaintenanceCancelled(
                *self._stamps(), command, _number(payload, "number"), _text(payload, "requester")
            ),
            "reservation.add": lambda command, payload: ReservationAsked(
                *self._stamps(),
                command,
                check_model(payload.get("request"), ReservationRequest),
                _text(payload, "requester"),
            ),
            "reservation.release": lambda command, payload: ReservationReleased(
                *self._stamps(), command, _number(payload, "number"), _text(payload, "requester")
            ),
            "job.submit": self._job,
            "job.cancel": lambda command, payload: JobCancelled(
                *self._stamps(), command, _number(payload, "number"), _text(payload, "requester")
            ),
            "what-if": lambda command, payload: WhatIfAsked(*self._stamps(), command, _scenario(payload)),
            "flow.waiting": lambda command, payload: WaitingAsked(
                *self._stamps(), command, _number(payload, "flow")
            ),
            "snapshot": lambda command, _: SnapshotAsked(*self._stamps(), command),
            "rules.diff": lambda command, _: DifferenceAsked(*self._stamps(), command),
            "rules.sync": lambda command, _: SyncAsked(*self._stamps(), command),
        }

    def receive(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        """Take one message of another process.

        :raises InvalidInput: for one whose form is wrong; the link answers with it.
        """
        if kind == "measurement":
            self._put(MeasurementArrived(*self._stamps(), _read(Measurement, payload, kind)))
        elif kind == "observation":
            self._put(ObservationArrived(*self._stamps(), _read(Observation, payload, kind)))
        elif kind == "alarm":
            self._put(self._news_of(_read(Alarm, payload, kind)))
        elif kind == "site":
            self._put(SiteReported(*self._stamps(), _read(SiteReport, payload, kind)))
        elif kind == "job":
            self._put(JobTold(*self._stamps(), _read(JobNews, payload, kind)))
        elif kind == "measurement_failed":
            log.info("event=measurement.failed key=%s cause=%r", payload.get("key"), payload.get("cause"))
        elif kind in self._kinds:
            self._command(peer, kind, payload)
        elif kind != "hello":
            raise InvalidInput.of("kind", f"{kind!r} is not a command")

    def _command(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        command = _text(payload, "command")
        if kind == "snapshot" and self._fresh_snapshot(peer, command):
            return
        if kind == "flow.waiting" and self._told_before(peer, command, payload):
            return
        asked = self._asked_by(peer, kind, payload)
        event = self._kinds[kind](command, payload)
        with self._lock:
            # Noted before the store is asked: of two requests with one key, the second finds the first.
            if any(asked.key and (o.actor, o.key) == (asked.actor, asked.key) for o in self._asked.values()):
                raise Conflict("Idempotency-Key", "a request with this key is being carried out")
            if len(self._asked) >= MOST_UNDER_WAY:
                raise Unavailable("too many commands are under way; ask again in a moment", code="too-busy")
            self._asked[command] = asked
        if kind in QUESTIONS:
            self._in_turn(kind, command, event)
        elif not self._answered_before(command, asked):
            self._put(event)

    def _in_turn(self, kind: str, command: str, event: Event) -> None:
        if not self._turns.ask(kind, event):
            self._forget(command)
            raise Unavailable(
                f"{MOST_ASKED} such questions are waiting already; ask again in a moment", code="too-busy"
            )

    def _fresh_snapshot(self, peer: Peer, command: str) -> bool:
        known = self._snapshot
        if known is None or self._clock() - known[0] > SNAPSHOT_AGE_S:
            return False
        peer.answer(command, known[1])
        return True

    def _told_before(self, peer: Peer, command: str, payload: dict[str, Any]) -> bool:
        known = self._waiting.get(f"f-{_number(payload, 'flow')}")
        if known is None or self._clock() - known[0] > WAITING_AGE_S:
            return False
        peer.answer(command, known[1])
        return True

    def _asked_by(self, peer: Peer, kind: str, payload: dict[str, Any]) -> _Asked:
        if payload.get("idempotency_key") is None:
            return _Asked(peer, kind)
        key, actor = _text(payload, "idempotency_key"), _text(payload, "requester")
        return _Asked(peer, kind, actor, key, _digest([kind, payload.get("sent", payload.get("request"))]))

    def _answered_before(self, command: str, asked: _Asked) -> bool:
        """Answer a request that came before with what it was answered then."""
        if asked.key is None:
            return False
        try:
            earlier = self._store.answer(asked.actor, asked.key)
        except AdonError:
            self._forget(command)
            raise
        if earlier is None:
            return False
        self._forget(command)
        if earlier.request_hash != asked.request_hash:
            raise Conflict("Idempotency-Key", "was used with another request")
        asked.peer.answer(command, earlier.answer)
        return True

    def _forget(self, command: str) -> _Asked | None:
        with self._lock:
            return self._asked.pop(command, None)

    # -- events --------------------------------------------------------------------------------------

    def _news_of(self, alarm: Alarm) -> Event:
        kind = AlarmRaised if alarm.open else AlarmCleared
        return kind(*self._stamps(), alarm)

    def _submit(self, command: str, payload: dict[str, Any]) -> Event:
        request = check_model(payload.get("request"), FlowRequest)
        roles, groups = _names(payload, "roles"), _names(payload, "groups")
        name = _text(payload, "requester")
        return FlowSubmitted(*self._stamps(), command, request, name, roles, groups)

    def _preview(self, command: str, payload: dict[str, Any]) -> Event:
        request = check_model(payload.get("request"), FlowRequest)
        roles, groups = _names(payload, "roles"), _names(payload, "groups")
        return PreviewAsked(*self._stamps(), command, request, _text(payload, "requester"), roles, groups)

    def _cancel(self, command: str, payload: dict[str, Any]) -> Event:
        return FlowCancelled(*self._stamps(), command, _number(payload, "flow"), _text(payload, "requester"))

    def _report(self, command: str, payload: dict[str, Any]) -> Event:
        status = payload.get("status")
        if status not in ("started", "progress", "finished", "failed"):
            raise InvalidInput.of("status", f"{status!r} is not started, progress, finished or failed")
        detail = str(payload.get("detail", ""))[:500]
        return TransferReported(
            *self._stamps(), command, _number(payload, "flow"), status, _number(payload, "bytes"), detail
        )

    def _template(self, command: str, payload: dict[str, Any]) -> Event:
        template = check_model(payload.get("template"), Template)
        author = _text(payload, "author")
        event = TemplateSaved(*self._stamps(), command, template)
        with self._lock:
            self._authors[event.id] = author
        return event

    def _maintenance(self, command: str, payload: dict[str, Any]) -> Event:
        request = check_model(payload.get("request"), WindowRequest)
        return MaintenanceAsked(*self._stamps(), command, request, _text(payload, "requester"))

    def _job(self, command: str, payload: dict[str, Any]) -> Event:
        request = check_model(payload.get("request"), JobRequest)
        return JobAsked(*self._stamps(), command, request, _text(payload, "requester"))

    # -- answers (decision thread) ------------------------------------------------------------------------

    def author(self, cause: str) -> str:
        """Who saved the template that this event brought."""
        with self._lock:
            return self._authors[cause]

    def remember(self, answer: Answer, store: Store, at: float) -> None:
        """Keep an answer beside what it tells of, in the same transaction, if it may be asked for again."""
        with self._lock:
            asked = self._asked.get(answer.command)
        if asked is not None and asked.key is not None and not isinstance(answer.value, AdonError):
            store.save_answer(asked.actor, asked.key, asked.request_hash, _plain(answer), at)

    def answer(self, effect: Answer) -> None:
        """Send an answer to whoever asked."""
        asked = self._forget(effect.command)
        with self._lock:
            self._authors.pop(effect.cause, None)
        if asked is None:
            return
        if asked.kind in QUESTIONS:
            self._turns.end_turn(asked.kind)
        if isinstance(effect.value, AdonError):
            asked.peer.answer(effect.command, effect.value)
            return
        body = _plain(effect)
        if asked.kind == "snapshot":
            self._snapshot = (self._clock(), body)
        if asked.kind == "flow.waiting":
            if len(self._waiting) >= MOST_TOLD:
                self._waiting = {}
            self._waiting[str(body["id"])] = (self._clock(), body)
        asked.peer.answer(effect.command, body)


def _plain(effect: Answer) -> dict[str, Any]:
    match effect.value:
        case Flow() | Template() as value:
            body: dict[str, Any] = to_json(value)
            return body
        case Mapping() as answer:
            return dict(answer)
        case _:
            raise TypeError(f"cannot answer with {type(effect.value).__name__}")


def _read(value_type: type[T], payload: Mapping[str, Any], field: str) -> T:
    try:
        return from_json(value_type, payload)
    except ValueError as error:
        raise InvalidInput.of(field, f"is not understood: {error}"[:500]) from error


def _scenario(payload: Mapping[str, Any]) -> Scenario | None:
    if payload.get("failure") is None:
        return None
    failure = _text(payload, "failure")
    if failure not in list(Failure):
        raise InvalidInput.of("failure", f"{failure[:40]!r} is not one of {', '.join(Failure)}")
    return Scenario(Failure(failure), _text(payload, "name"))


def _text(payload: Mapping[str, Any], field: str) -> str:
    value = payload.get(field)
    if not isinstance(value, str) or not value or len(value) > 200:
        raise InvalidInput.of(field, "must be a short text")
    return value


def _names(payload: Mapping[str, Any], field: str) -> frozenset[str]:
    found = payload.get(field, [])
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise InvalidInput.of(field, "must be a list of names")
    return frozenset(found)


def _number(payload: Mapping[str, Any], field: str) -> int:
    value = payload.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise InvalidInput.of(field, f"{str(value)[:40]!r} is not a whole number, zero or more")
    return value


def _digest(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
