"""Identity and permission of the caller of a route.

The check before each request refuses a caller who may not use the route even on an object of their own.  The
owner of the object is checked when the object has been read (:mod:`apps.rest.owned`).  All answers come from
:mod:`adon.access.policy`.
"""

from __future__ import annotations

from typing import Any, cast

from flask import g, request

from adon.access.identity import Actor
from adon.access.policy import Action, Owned
from adon.api.route import Route
from adon.api.routes import ROUTES
from adon.broker.use_access import barred_place
from adon.errors import Forbidden, NotAuthenticated
from adon.flowvisor.rules.slices import Who
from apps.rest.inside import told_inside
from apps.rest.services import services

BLUEPRINT = "api"
"""Name of the blueprint that holds the views of all routes."""


def current_route() -> Route[Any] | None:
    """Return the route of this request; None for an address that is no route."""
    blueprint, _, name = (request.endpoint or "").partition(".")
    return ROUTES.get(name) if blueprint == BLUEPRINT else None


def identify() -> None:
    """Before each request to the API: who asks.

    By the bearer token alone, unless the request came from inside this process (:mod:`apps.rest.inside`).

    :raises NotAuthenticated: for a token that is not valid.
    """
    g.actor = told_inside(request.environ) or bearer()


def authorise_request() -> None:
    """Refuse a caller who may not use the route, even on an object of their own.

    Where the configuration says who may measure, the handler asks about each series.

    :raises NotAuthenticated, Forbidden: with the policy's reason.
    """
    route = current_route()
    if route is not None:
        own = Owned(None if g.actor is None else g.actor.name)
        services().policy.authorise(g.actor, route.action, own)


def bearer() -> Actor | None:
    """The actor of the request's bearer token (RFC 6750); None without an Authorization header.

    :raises NotAuthenticated: for a token that is not valid, or another scheme.
    """
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAuthenticated("send the token as: Authorization: Bearer <token>")
    return actor_of(token.strip())


def actor_of(token: str) -> Actor:
    """The actor that a token proves.

    :raises NotAuthenticated: for a token that is unknown, revoked or expired, or whose owner is disabled.
    """
    parts = services()
    return parts.access.tokens.authenticate(token, parts.clock())


def requester() -> Actor:
    """The actor of this request, who has an identity.

    :raises NotAuthenticated: if not.
    """
    if g.actor is None:
        raise NotAuthenticated("this needs an identity")
    return cast(Actor, g.actor)


def check(wanted: Action, owner: str | None) -> None:
    """Refuse if this actor may not do this to an object of that owner.

    :raises Forbidden: with the policy's reason.
    """
    services().policy.authorise(g.actor, wanted, Owned(owner))


def check_place(path: str | None = None, compute: str | None = None) -> None:
    """Refuse if the configuration does not let this actor have a path, or a compute site, for itself.

    What a flow uses the controller asks itself.

    :raises Forbidden: with the reason.
    """
    actor = requester()
    why = barred_place(Who(actor.name, actor.roles, actor.groups), services().use_access, path, compute)
    if why:
        raise Forbidden(why)


def wished(request: object) -> dict[str, object]:
    """The command about a transfer that somebody wishes for: as it was given, and who they are."""
    actor = requester()
    return {
        "request": request,
        "requester": actor.name,
        "roles": sorted(actor.roles),
        "groups": sorted(actor.groups),
    }


def only_own(wanted: Action) -> str | None:
    """The name a list must be limited to; None for an actor who may see everybody's."""
    return None if services().policy.decide(g.actor, wanted).allowed else requester().name
