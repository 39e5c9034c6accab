"""The web application: the API, and signing in beside it."""

from __future__ import annotations

from flask import Response
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI

import adon
from adon.api.base import MAX_BODY, ProblemDocument
from apps.rest import dispatch, openapi, problem_answers, rate_limits, request_audit
from apps.rest.identity import views as identity
from apps.rest.request_input import StrictJson
from apps.rest.resources import (  # noqa: F401 - each registers its handlers
    access_resource,
    advice_resource,
    alarm_resource,
    flow_resource,
    health_resource,
    maintenance_resource,
    measurement_resource,
    network_resource,
    rule_resource,
    schedule_resource,
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
    "Cross-Origin-Opener-Policy": "same-origin",  # whoever opened the sign-in page keeps no hold of it
    "Cache-Control": "private, no-store",  # of what says nothing else itself
}


def with_sign_in(app: OpenAPI, parts: Services) -> OpenAPI:
    """The API with the pages of signing in and out beside it."""
    identity.install(app, parts.sign_in, parts.clock)
    problem_answers.show_browsers(app, identity.failure)
    return app


def create_app(parts: Services) -> OpenAPI:
    """The API over these services.

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
