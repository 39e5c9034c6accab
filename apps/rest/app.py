"""The web application: the API, and signing in beside it."""

from __future__ import annotations

from flask import Response
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI

import adon
from adon.api.base import MAX_BODY, ProblemDocument
from apps.rest import auditing, describing, failures, guard, throttling
from apps.rest.api import (
    advice,
    alarms,
    audit,
    backtests,
    configured,
    controllers,
    decisions,
    events,
    flows,
    forecasts,
    health,
    hosts,
    measuring,
    mesh,
    network,
    operations,
    outcomes,
    overlaps,
    previews,
    reservations,
    rules,
    schedule,
    sessions,
    sites,
    standing,
    studies,
    templates,
    tokens,
    users,
    versions,
    workflows,
)
from apps.rest.identity import views as identity
from apps.rest.json_body import BODILESS, StrictJson
from apps.rest.services import DESCRIPTION, NAME, Services

PARTS = (
    templates.api,
    versions.api,
    backtests.api,
    flows.api,
    previews.api,
    forecasts.api,
    decisions.api,
    outcomes.api,
    overlaps.api,
    network.api,
    hosts.api,
    rules.api,
    controllers.api,
    measuring.api,
    mesh.api,
    workflows.api,
    schedule.api,
    schedule.open_api,
    alarms.api,
    sites.api,
    operations.api,
    advice.api,
    reservations.api,
    users.api,
    tokens.api,
    sessions.api,
    audit.api,
    events.api,
    configured.api,
    standing.api,
    studies.api,
    health.api,
    health.open_api,
)

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
    failures.show_browsers(app, identity.failure)
    return app


def create_app(parts: Services) -> OpenAPI:
    """The API over these services.

    :raises AdonError: if a view of the API has no rule that says who may use it.
    """
    app = OpenAPI(
        "apps.rest",
        info=Info(title="ADON", version=adon.__version__),
        security_schemes={"token": {"type": "http", "scheme": "bearer"}},
        validation_error_model=ProblemDocument,
        validation_error_callback=failures.refuse_invalid,
        doc_ui=False,
        static_folder=None,
    )
    app.json = StrictJson(app)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY
    app.extensions[NAME] = parts
    failures.install(app)
    throttling.install(app)
    for api in PARTS:
        app.register_api(api)
    auditing.install(app)
    app.after_request(_harden)
    guard.require_actions(app)
    app.extensions[DESCRIPTION] = describing.described(app)
    app.extensions[BODILESS] = describing.bodiless(app, app.extensions[DESCRIPTION])
    return app


def _harden(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
