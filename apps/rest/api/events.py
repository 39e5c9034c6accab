"""The event stream: alarms and announcements as they come (server-sent events, WHATWG HTML 9.2)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from flask import Response, g, request
from pydantic import Field

from adon.access.identity import Actor
from adon.access.measurement import may_measure
from adon.access.policy import Action, Object, may
from adon.errors import InvalidInput, NotFound, Unavailable
from apps.rest.api.common import Query, answers, blueprint, flow_number
from apps.rest.guard import action
from apps.rest.measuring_models import AlarmView
from apps.rest.services import Services, services
from apps.rest.stream import Happened
from measurement.anomaly.alarm import from_json as alarm_from_json

api = blueprint("events", "What happens, as it happens")

LONGEST_S = 300.0
"""A stream ends after so long; clients open it again by themselves, where they left off."""
HEARTBEAT_S = 10.0
STREAM = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}


class EventQuery(Query):
    """From where on."""

    seconds: float = Field(default=LONGEST_S, gt=0, le=LONGEST_S, description="end after so long")


@api.get("/events", responses=answers(200, STREAM))
@action(Action.ALARM_READ)
def events(query: EventQuery) -> Response:
    """Alarms (``alarm``) and announcements (``announce``) that this actor may see, as they come.

    ``notice``: what the actor has subscribed to on this stream (channel ``stream``), gathered as for a mail.

    A client that names ``Last-Event-ID`` gets what it missed, as far back as is kept.
    """
    parts = services()
    start = _last_seen(parts)
    if not parts.stream.enter():
        raise Unavailable("too many listen already; ask for /alarms from time to time instead")
    response = Response(_lines(parts, g.actor, start, query.seconds), mimetype="text/event-stream")
    response.call_on_close(parts.stream.leave)
    response.headers["Cache-Control"] = "no-store"
    return response


def _last_seen(parts: Services) -> int:
    name = request.headers.get("Last-Event-ID")
    if name is None:
        return parts.stream.last
    try:
        return parts.stream.seen(name)
    except ValueError as error:
        raise InvalidInput.of("Last-Event-ID", str(error)) from None


def _lines(parts: Services, actor: Actor | None, number: int, seconds: float) -> Iterator[str]:
    stream, end = parts.stream, time.monotonic() + seconds
    yield ": listening\n\n"
    while (left := end - time.monotonic()) > 0 and not stream.closed:
        found = stream.after(number, min(HEARTBEAT_S, left))
        if found and found[0].number > number + 1:
            yield f": {found[0].number - number - 1} events are no longer kept\n\n"
        shown = [(event, _shown(parts, actor, event)) for event in found]
        for event, text in shown:
            number = event.number
            if text is not None:
                yield f"id: {stream.name(number)}\nevent: {event.kind}\ndata: {text}\n\n"
        if all(text is None for _, text in shown):
            yield ": still here\n\n"


def _shown(parts: Services, actor: Actor | None, event: Happened) -> str | None:
    """The event as this actor may see it; None if not at all."""
    if event.kind == "alarm":
        alarm = alarm_from_json(event.payload)
        if not may_measure(actor, "read", alarm.series, parts.grants).allowed:
            return None
        return json.dumps(AlarmView.of(alarm).body())
    if event.kind == "notice":
        mine = actor is not None and actor.name == event.payload.get("owner")
        return json.dumps(_notice(event.payload)) if mine else None
    owner = _owner(parts, event.payload.get("flow"))
    allowed = may(actor, Action.FLOW_READ, Object("flow", owner)).allowed
    return json.dumps(dict(event.payload)) if allowed else None


def _notice(payload: Mapping[str, Any]) -> dict[str, Any]:
    alarms = [AlarmView.of(alarm_from_json(alarm)).body() for alarm in payload["alarms"]]
    return {"subscription": payload["subscription"], "alarms": alarms}


def _owner(parts: Services, flow: object) -> str | None:
    if not isinstance(flow, str):
        return None
    try:
        return parts.store.flow(flow_number(flow)).requester
    except NotFound:
        return None
