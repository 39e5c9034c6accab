"""The dashboard as a WSGI application: Dash on a Flask server, for signed-in users.

It has no data and uses no database: pages request the API by :class:`apps.dashboard.visit.Visit`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from dash import Dash
from dash.exceptions import DependencyException
from flask import Flask, Response, g, request
from werkzeug.wrappers import Response as AnyResponse

from adon.access.identity import Actor
from adon.errors import Forbidden, TooManyRequests
from apps.dashboard import frame, router
from apps.dashboard.page import Page
from apps.dashboard.visit import CLOCK, CONNECT, Connect
from apps.rest.request_origin import is_foreign

OPEN = ("/_dash-component-suites/", "/assets/", "/_favicon.ico")
"""Code and colours, which a client without identity may load."""
HEADERS = {
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def create_dashboard(
    pages: Sequence[Page],
    signed_in: Callable[[], Actor | None],
    to_sign_in: Callable[[], AnyResponse],
    connect: Connect,
    limit_anonymous: Callable[[], None],
    clock: Callable[[], float] = time.time,
    refused: Callable[[Actor, str], None] = lambda _actor, _why: None,
) -> Flask:
    """Return the dashboard.

    :param signed_in: returns the user of the request; None without a session.
    :param to_sign_in: returns the redirection to the sign-in, and back to the requested address.
    :param connect: returns the API with the permissions of an actor.
    :param limit_anonymous: counts a request without identity; raises TooManyRequests above the limit.
    :param refused: called for a request of an actor from another site, with the reason of the refusal.
    """
    server = Flask("apps.dashboard", static_folder=None)
    server.extensions[CONNECT] = connect
    server.extensions[CLOCK] = clock

    @server.before_request
    def require_session() -> AnyResponse | None:
        g.actor = signed_in()
        if g.actor is not None:
            _refuse_foreign()
            return None
        limit_anonymous()
        if request.path.startswith(OPEN):
            return None
        if request.method == "GET" and not request.path.startswith("/_"):
            return to_sign_in()
        return Response("sign in", 401, mimetype="text/plain")

    _add_error_handlers(server, refused)
    app = Dash(
        "apps.dashboard",
        server=server,
        assets_folder="assets",
        serve_locally=True,
        suppress_callback_exceptions=True,
        title="ADON",
        update_title="",
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        index_string=frame.INDEX,
    )
    app.layout = frame.layout(pages, lambda: g.actor)
    router.install(app, pages)
    frame.install(app)
    _add_headers(server, _content_policy(app))
    return server


def _add_error_handlers(server: Flask, refused: Callable[[Actor, str], None]) -> None:
    @server.errorhandler(Forbidden)
    def refuse(error: Forbidden) -> AnyResponse:
        refused(g.actor, str(error))
        return Response(str(error), 403, mimetype="text/plain")

    @server.errorhandler(TooManyRequests)
    def delay(error: TooManyRequests) -> AnyResponse:
        headers = {"Retry-After": str(math.ceil(error.wait_s))}
        return Response(str(error), 429, headers, mimetype="text/plain")

    @server.errorhandler(DependencyException)
    def refuse_unknown_file(_: DependencyException) -> AnyResponse:
        return Response("There is no such file.", 404, mimetype="text/plain")


def _add_headers(server: Flask, content_policy: str) -> None:
    @server.after_request
    def harden(response: Response) -> Response:
        for name, value in {"Content-Security-Policy": content_policy, **HEADERS}.items():
            response.headers.setdefault(name, value)
        if not request.path.startswith(OPEN):
            response.headers["Cache-Control"] = "no-store"
        elif request.path.startswith("/assets/") and "m" in request.args and response.status_code < 300:
            # Dash adds the time of the file to the address, so a changed file has another address.
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _refuse_foreign() -> None:
    """Refuse a change that is not requested by a page of the dashboard.

    The body is JSON, which no form can send, the cookie of the session is SameSite, and the browser names the
    site of the request (:mod:`apps.rest.request_origin`).

    :raises Forbidden: for another site, and for a body that a form can send.
    """
    if request.method in ("GET", "HEAD"):
        return
    named = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if is_foreign(*named, request.host):
        raise Forbidden("this request came from another site")
    if not request.is_json:
        raise Forbidden("this request is not one of our pages'")


def _content_policy(app: Dash) -> str:
    """Return the Content-Security-Policy: scripts by address or hash; inline styles, which plotly needs."""
    hashes = " ".join(f"'{found}'" if not found.startswith("'") else found for found in app.csp_hashes())
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
