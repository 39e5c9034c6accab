"""The API for a program in the same process: the application itself, called without a socket.

Who asks is told beside the request, in the WSGI environment under :data:`ACTOR`, where nothing that comes
over the network can put it (a header ``X`` arrives as ``HTTP_X``).  Everything else is as over HTTP: the
same gate, the same checks, the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

from adon.access.identity import Actor
from adon.api.base import PREFIX
from adon.client import Answer

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
