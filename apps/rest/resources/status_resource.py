"""State of ADON: its parts, version and controllers, and the stream of events."""

from __future__ import annotations

import platform

from flask import Response, g, request

import adon
from adon.api import routes
from adon.api.base import InOrder
from adon.api.status import ControllerList, ControllerView, EventQuery, StatusView, VersionOfAdon
from adon.code_version import code_version
from adon.errors import InvalidInput, Unavailable
from adon.store.lease import CONTROLLER
from adon.store.tables import STATE
from apps.rest.dispatch import handles
from apps.rest.listeners import HANDOVER, Handover, Ticket
from apps.rest.pagination import cut
from apps.rest.part_states import standing
from apps.rest.services import Services, services


@handles(routes.GET_HEALTH)
def get_health() -> StatusView:
    """Return the state of each part and the age of its data; 200 even if parts are missing."""
    return standing(services())


@handles(routes.GET_VERSION)
def get_version() -> VersionOfAdon:
    """Return the version of ADON."""
    return VersionOfAdon(
        version=adon.__version__,
        code=code_version(),
        api="v1",
        schema_revision=STATE.revision,
        python=platform.python_version(),
    )


@handles(routes.LIST_CONTROLLERS)
def list_controllers(query: InOrder) -> ControllerList:
    """Return the active controller as the database knows it; a standby answers, too."""
    return cut(ControllerList(items=_controllers()), query, lambda one: str(one.name))


def _controllers() -> list[ControllerView]:
    held = services().store.lease(CONTROLLER)
    if held is None:
        return []
    leased = services().leased
    one = ControllerView(
        name=held.holder,
        active=held.seconds > 0 if leased else services().controller.connected,
        generation=held.generation,
        lease_s=max(0.0, held.seconds) if leased else None,
    )
    return [one]


@handles(routes.EVENTS)
def events(query: EventQuery) -> Response:
    """Stream the events that the caller may see.

    ``alarm``: an alarm is raised, changed or cleared.  ``announce``: an announcement of the controller.
    ``flow``: state, path or quality of a flow has changed.  ``decision``: a new decision.
    ``path``: a new value of a metric of a path.
    ``notice``: alarms of a subscription of the caller with channel ``stream``, collected as for a mail.

    A client that sends ``Last-Event-ID`` receives the events since then that are stored.
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
            raise Unavailable("too many event streams are open; poll /alarms instead")
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
