"""The dashboard as a WSGI application: Dash on a Flask server, behind a sign-in.

It holds no data and asks no database: pages go through :class:`apps.dashboard.visit.Visit` to the API.
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
"""What everybody may load: code and colours, no data."""


def create_dashboard(
    pages: Sequence[Page],
    signed_in: Callable[[], Actor | None],
    to_sign_in: Callable[[], AnyResponse],
    connect: Connect,
    limit_anonymous: Callable[[], None],
    clock: Callable[[], float] = time.time,
    refused: Callable[[Actor, str], None] = lambda _actor, _why: None,
) -> Flask:
    """The dashboard.

    :param signed_in: the user of the request; None without a session.
    :param to_sign_in: the way to sign in, and back to what the present request asks for.
    :param connect: the API as an actor may use it.
    :param limit_anonymous: counts a request without an identity; raises TooManyRequests above the limit.
    :param refused: is told of a request in somebody's name that was not sent by a page of ours, and why.
    """
    server = Flask("apps.dashboard", static_folder=None)
    server.extensions[CONNECT] = connect
    server.extensions[CLOCK] = clock

    @server.before_request
    def gate() -> AnyResponse | None:
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
    policy = _policy(app)

    @server.after_request
    def harden(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("Referrer-Policy", "same-origin")
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        if not request.path.startswith(OPEN):
            response.headers["Cache-Control"] = "no-store"
        elif request.path.startswith("/assets/") and "m" in request.args and response.status_code < 300:
            # Dash names the file's time there, so a changed file has another address.
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    return server


def _refuse_foreign() -> None:
    """A request that changes something comes from a page of ours.

    Its body is JSON, which no form can send, the session's cookie is SameSite, and the browser says where
    the request comes from (:mod:`apps.rest.request_origin`).

    :raises Forbidden: if that is another site, or the body is what a form can send.
    """
    if request.method in ("GET", "HEAD"):
        return
    said = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if is_foreign(*said, request.host):
        raise Forbidden("this request came from another site")
    if not request.is_json:
        raise Forbidden("this request is not one of our pages'")


def _policy(app: Dash) -> str:
    """Content-Security-Policy: only our scripts, by address or hash; styles inline, for plotly needs them."""
    hashes = " ".join(f"'{found}'" if not found.startswith("'") else found for found in app.csp_hashes())
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
