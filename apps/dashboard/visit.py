"""One visit of a page: who looks, at what, in which time zone, and the API as they may use it.

Everything a page shows comes through :attr:`Visit.client`, which asks the REST API as the actor who is
signed in: a page can show and do what that actor may by the API, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import current_app, g, request

from adon.access.identity import Actor
from adon.access.policy import Action, OwnedObject, Policy
from adon.client import Client, Transport

ZONE_COOKIE = "adon_zone"
"""Set by the page itself (assets/first.js) to the browser's IANA time zone."""
CONNECT = "adon_dashboard_connect"
CLOCK = "adon_dashboard_clock"

Connect = Callable[[Actor], Transport]
"""The API as an actor may use it."""


@dataclass(frozen=True, slots=True)
class Visit:
    """See the module.

    :param now: seconds since the epoch.
    :param parts: the parts of the page's address (``id`` of ``/flows/<id>``).
    :param query: the address's query, the first value of each name.
    """

    client: Client
    actor: Actor
    now: float
    zone: ZoneInfo
    parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def may(self, action: Action, owner: str | None = None) -> bool:
        """Whether the roles of the actor allow this on an object of that owner."""
        return Policy().decide(self.actor, action, OwnedObject(owner)).allowed


def visit(parts: Mapping[str, str] | None = None, query: Mapping[str, str] | None = None) -> Visit:
    """Return the visit that the present request is part of; for callbacks, too."""
    clock = cast(Callable[[], float], current_app.extensions[CLOCK])
    zone = zone_named(request.cookies.get(ZONE_COOKIE))
    actor = cast(Actor, g.actor)
    client = Client(cast(Connect, current_app.extensions[CONNECT])(actor))
    return Visit(client, actor, clock(), zone, parts or {}, query or {})


def zone_named(name: str | None) -> ZoneInfo:
    """The time zone of this name; UTC for what is none."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # A cookie says it, so it may be anything, a path included.
        return ZoneInfo("UTC")
