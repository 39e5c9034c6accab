"""Identity of the caller of a route: by a bearer token, or by the transport within this process."""

from __future__ import annotations

from typing import Any, cast

from flask import g, request

from adon.access.identity import Actor
from adon.api.route import Route
from adon.api.routes import ROUTES
from adon.errors import NotAuthenticated
from apps.rest.in_process_transport import inside_actor
from apps.rest.services import services

BLUEPRINT = "api"
"""Name of the blueprint that holds the views of all routes."""


def current_route() -> Route[Any] | None:
    """Return the route of this request; None for an address that is no route."""
    blueprint, _, name = (request.endpoint or "").partition(".")
    return ROUTES.get(name) if blueprint == BLUEPRINT else None


def identify() -> None:
    """Set ``g.actor`` before each request: the actor of the bearer token, or of an in-process request.

    :raises NotAuthenticated: for a token that is not valid.
    """
    g.actor = inside_actor(request.environ) or bearer()


def bearer() -> Actor | None:
    """Return the actor of the request's bearer token (RFC 6750); None without an Authorization header.

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
    """Return the actor of a token.

    :raises NotAuthenticated: for an unknown, revoked or expired token, or a disabled owner.
    """
    parts = services()
    return parts.access.tokens.authenticate(token, parts.clock())


def requester() -> Actor:
    """Return the actor of this request.

    :raises NotAuthenticated: without an identity.
    """
    if g.actor is None:
        raise NotAuthenticated("this needs an identity")
    return cast(Actor, g.actor)
