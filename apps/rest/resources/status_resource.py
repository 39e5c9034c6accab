"""State of ADON: parts, version, controllers, events, readiness, metrics and the API's description."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Response, current_app, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

import adon
from adon.api import routes
from adon.api.base import InOrder
from adon.api.status import ControllerList, ControllerView, EventQuery, Health, StatusView, VersionOfAdon
from adon.code_version import code_version
from adon.errors import InvalidInput, Unavailable
from adon.store.lease import CONTROLLER
from adon.store.tables import STATE
from apps.rest.dispatch import handles
from apps.rest.listeners import HANDOVER, Handover, Ticket
from apps.rest.pagination import cut
from apps.rest.part_states import standing
from apps.rest.responses import answer, content_of
from apps.rest.services import DESCRIPTION, WRITTEN, Services, services
from apps.rest.web_metrics import MeasurementMetrics, StateMetrics

log = logging.getLogger(__name__)


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
    leased = services().has_standby
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


@handles(routes.HEALTHZ)
def healthz() -> Health:
    """Answer if the web process is alive."""
    return Health(status="ok")


@handles(routes.READYZ)
def readyz() -> Health:
    """Answer if web process, database and controller are ready; flows need no collector.

    The answer needs no identity, so a failure names only the part that is not ready; the log has the reason.
    """
    parts = services()
    with _named("store"):
        parts.store.flows(limit=1)
    with _named("controller"):
        if not parts.controller.connected:
            raise Unavailable("the controller is not running")
        parts.controller.call("tally", {}, timeout=5.0)  # a standby refuses
    collector = "ok" if parts.collector.connected else "not running: no tests run now"
    checks = {"store": "ok", "controller": "ok", "collector": collector}
    return Health(status="ok", checks=checks)


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Keep the reason of an error from a client without an identity.

    :raises Unavailable: code ``not-ready``, with the name of the part.
    """
    try:
        yield
    except Unavailable as error:
        log.warning("event=rest.not-ready part=%s error=%r", part, str(error))
        raise Unavailable(f"the {part} is not ready", code="not-ready") from None


@handles(routes.OPENAPI)
def openapi() -> Response:
    """Return this description (OpenAPI 3.1)."""
    known = current_app.extensions
    if WRITTEN not in known:
        known[WRITTEN] = content_of(known[DESCRIPTION])
    return answer(known[WRITTEN])


@handles(routes.METRICS)
def metrics() -> Response:
    """Return the metrics of flows, rules, switches, alarms and measurements for Prometheus."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StateMetrics(services()))
    registry.register(MeasurementMetrics(services(), g.actor))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
