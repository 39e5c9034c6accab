"""What the web process serves: the API below ``/api/``, signing in, the dashboard everywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask, has_request_context, request

from adon.access.identity import Actor
from apps.dashboard.app import create_dashboard
from apps.dashboard.pages import PAGES
from apps.rest import request_audit
from apps.rest.app import create_app, with_sign_in
from apps.rest.identity.views import current_actor, to_sign_in
from apps.rest.in_process_transport import InsideTransport
from apps.rest.rate_limits import limit_anonymous
from apps.rest.services import NAME, Services


class Site:
    """The WSGI application over these services.

    :param api: the API with the sign-in over them, if it is made already.
    """

    def __init__(self, parts: Services, api: Flask | None = None) -> None:
        self.api = with_sign_in(create_app(parts), parts) if api is None else api
        self.dashboard = create_dashboard(
            PAGES, current_actor, to_sign_in, self._connect, limit_anonymous, parts.clock, _refused
        )
        self.dashboard.extensions[NAME] = parts  # sessions are theirs

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """One request."""
        inner: Flask = (
            self.api if environ.get("PATH_INFO", "").startswith(("/api/", "/sign-")) else self.dashboard
        )
        return inner(environ, start_response)

    def _connect(self, actor: Actor) -> InsideTransport:
        address = request.remote_addr if has_request_context() else None
        return InsideTransport(self.api, actor, address or "")


def _refused(actor: Actor, why: str) -> None:
    request_audit.attempt("page.forged", why, actor)
