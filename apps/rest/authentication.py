"""Identity of a request's caller: by a bearer token, or by the transport within this process.

A caller within the process is named in the WSGI environment under :data:`ACTOR`, which no header can set: a
header ``X`` arrives as ``HTTP_X``.  All other steps are the same as over HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, cast

from flask import Flask, g, request
from werkzeug.test import EnvironBuilder, run_wsgi_app

from adon.access.identity import Actor
from adon.api.base import PREFIX
from adon.api.route import Route
from adon.api.routes import ROUTES
from adon.client import Answer
from adon.errors import NotAuthenticated
from apps.rest.services import services

ACTOR = "adon.actor"
"""The key of the WSGI environment."""


class InsideTransport:
    """A transport (:class:`adon.client.Transport`) for one actor who has been authenticated already.

    :param address: where they ask from, for the audit log.
    """

    base = PREFIX

    def __init__(self, app: Flask, actor: Actor, address: str = "") -> None:
        self._app = app
        self._actor = actor
        self._address = address

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """See :meth:`adon.client.Transport.send`."""
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        builder = EnvironBuilder(
            PREFIX + path, method=method, query_string=asked, json=body, headers=list((headers or {}).items())
        )
        try:
            environ = builder.get_environ()
        finally:
            builder.close()
        environ[ACTOR] = self._actor
        environ["REMOTE_ADDR"] = self._address
        content, status, answered = run_wsgi_app(self._app.wsgi_app, environ, buffered=True)
        return Answer(
            int(status.partition(" ")[0]),
            b"".join(content),
            {name.lower(): value for name, value in answered.items()},
        )

    def lines(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> NoReturn:
        """Nobody in this process reads a stream over itself.

        :raises NotImplementedError: always; what happens is at ``Services.stream``.
        """
        raise NotImplementedError(path)


def inside_actor(environ: Mapping[str, Any]) -> Actor | None:
    """Return the actor of a request from this process; None for a request from outside."""
    actor = environ.get(ACTOR)
    return actor if isinstance(actor, Actor) else None


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
