"""Web application: the API below ``/api/``, sign-in pages, and the dashboard at every other address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask, Response, has_request_context, request
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI

import adon
from adon.access.identity import Actor
from adon.api.base import MAX_BODY, ProblemDocument
from apps.dashboard.app import create_dashboard
from apps.dashboard.pages import PAGES
from apps.rest import dispatch, openapi, problem_answers, rate_limits, request_audit
from apps.rest.authentication import InsideTransport
from apps.rest.identity import views as identity
from apps.rest.request_input import StrictJson
from apps.rest.resources import (  # noqa: F401 - each registers its handlers
    access_resource,
    advice_resource,
    alarm_resource,
    flow_resource,
    measurement_resource,
    network_resource,
    rule_resource,
    site_resource,
    status_resource,
    study_resource,
    template_resource,
)
from apps.rest.services import DESCRIPTION, NAME, Services

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "private, no-store",
}


class Site:
    """WSGI application over the services.

    :param api: the API with sign-in, if it exists already.
    """

    def __init__(self, parts: Services, api: Flask | None = None) -> None:
        self.api = with_sign_in(create_app(parts), parts) if api is None else api
        self.dashboard = create_dashboard(
            PAGES,
            identity.current_actor,
            identity.to_sign_in,
            self._connect,
            rate_limits.limit_anonymous,
            parts.clock,
            _refused,
        )
        self.dashboard.extensions[NAME] = parts

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        is_api = environ.get("PATH_INFO", "").startswith(("/api/", "/sign-"))
        return (self.api if is_api else self.dashboard)(environ, start_response)

    def _connect(self, actor: Actor) -> InsideTransport:
        address = request.remote_addr if has_request_context() else None
        return InsideTransport(self.api, actor, address or "")


def _refused(actor: Actor, why: str) -> None:
    request_audit.attempt("page.forged", why, actor)


def with_sign_in(app: OpenAPI, parts: Services) -> OpenAPI:
    """Add the sign-in pages to the API."""
    identity.install(app, parts.configuration.access, parts.clock)
    problem_answers.show_browsers(app, identity.failure)
    return app


def create_app(parts: Services) -> OpenAPI:
    """Return the API over the services.

    :raises AdonError: if a route has no handler, or a handler no route.
    """
    app = OpenAPI(
        "apps.rest",
        info=Info(title="ADON", version=adon.__version__),
        security_schemes={"token": {"type": "http", "scheme": "bearer"}},
        validation_error_model=ProblemDocument,
        validation_error_callback=problem_answers.refuse_invalid,
        doc_ui=False,
        static_folder=None,
    )
    app.json = StrictJson(app)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY
    app.extensions[NAME] = parts
    problem_answers.install(app)
    rate_limits.install(app)
    dispatch.bind_routes(app)
    request_audit.install(app)
    app.after_request(_harden)
    app.extensions[DESCRIPTION] = openapi.described(app)
    return app


def _harden(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
