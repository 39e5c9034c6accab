"""The event stream: who may listen, and to what (server-sent events, WHATWG HTML 9.2).

The stream itself needs no thread of the application's: what is decided here is left as a ticket for the
server (:mod:`apps.rest.serving`), which does the rest.
"""

from __future__ import annotations

from flask import Response, g, request
from pydantic import Field, field_validator

from adon.access.policy import Action
from adon.errors import InvalidInput, Unavailable
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.guard import action
from apps.rest.listeners import Handover, Ticket
from apps.rest.services import Services, services
from apps.rest.telling import KINDS

api = blueprint("events", "What happens, as it happens")

LONGEST_S = 300.0
"""A stream ends after so long; clients open it again by themselves, where they left off."""
HANDOVER = "adon.handover"
"""The key of the WSGI environment under which the server offers to do the streaming."""
STREAM = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}


class EventQuery(Query):
    """From where on, and of what."""

    seconds: float = Field(default=LONGEST_S, gt=0, le=LONGEST_S, description="end after so long")
    kinds: str | None = Field(
        default=None, max_length=200, description=f"these only, with commas between: {', '.join(KINDS)}"
    )

    @field_validator("kinds")
    @classmethod
    def _known(cls, text: str | None) -> str | None:
        for kind in [] if text is None else text.split(","):
            if kind not in KINDS:
                raise ValueError(f"{kind[:40]!r} is not one of {', '.join(KINDS)}")
        return text


@api.get("/events", responses=answers(200, STREAM))
@action(Action.ALARM_READ)
def events(query: EventQuery) -> Response:
    """What happens, as far as this actor may see it, as it happens.

    ``alarm``: an alarm, each time it is raised, changed or cleared.  ``announce``: what the controller says.
    ``flow``: a flow's state, path or quality has changed.  ``decision``: a decision was made.
    ``path``: a new value of a metric of a path.
    ``notice``: what the actor has subscribed to on this stream (channel ``stream``), gathered as for a mail.

    A client that names ``Last-Event-ID`` gets what it missed, as far back as is kept.
    """
    parts = services()
    kinds = None if query.kinds is None else frozenset(query.kinds.split(","))
    who = "" if g.actor is None else g.actor.name
    ticket = Ticket(who, g.actor, parts.policy, _last_seen(parts), query.seconds, kinds)
    handover = request.environ.get(HANDOVER)
    response = Response(mimetype="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # nginx would keep events back
    if isinstance(handover, Handover):
        if not parts.stream.enter(who):
            raise Unavailable("too many listen already; ask for /alarms from time to time instead")
        handover.ticket = ticket
    else:
        response.data = _missed(parts, ticket)
    return response


def _missed(parts: Services, ticket: Ticket) -> bytes:
    """What there is, for who is not served by the server: the client comes again, as after any end."""
    frames = [
        event.frame
        for event in parts.stream.after(ticket.seen)
        if (ticket.kinds is None or event.kind in ticket.kinds)
        and event.audience.admits(ticket.actor, ticket.policy)
    ]
    return b": listening\n\n" + b"".join(frames)


def _last_seen(parts: Services) -> int:
    name = request.headers.get("Last-Event-ID")
    if name is None:
        return parts.stream.last
    try:
        return parts.stream.seen(name)
    except ValueError as error:
        raise InvalidInput.of("Last-Event-ID", error) from None
