"""What all pages share: who is signed in, whether a form is ours, and the values of every template.

Signed in with a session (:mod:`apps.rest.identity.sessions`), whose CSRF token every form carries.  No
script runs here: pages that show something moving ask to be loaded again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Blueprint, Flask, current_app, g, request
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.errors import Forbidden
from apps.rest import guard
from apps.rest.guard import admit
from apps.rest.identity import sessions
from apps.rest.identity.views import to_sign_in
from apps.rest.page import words


def blueprint(name: str, static_folder: str | None = None) -> Blueprint:
    """A part of the page: the gate stands before it."""
    made = Blueprint(name, "apps.rest", template_folder="templates", static_folder=static_folder)
    made.before_request(_gate)
    made.context_processor(_common)
    return made


def install(app: Flask, parts: Iterable[Blueprint]) -> None:
    """Add the page to an application, with nobody signed in."""
    app.jinja_env.filters.update(words.FILTERS)
    for part in parts:
        app.register_blueprint(part)


def _gate() -> AnyResponse | None:
    """Who is signed in, whether the form is ours, and the first check of the policy."""
    g.actor, g.session = None, sessions.current()
    endpoint = str(request.endpoint)
    if endpoint == "page.static":
        return None
    if g.session is None:
        return to_sign_in()
    g.actor = g.session.actor
    if request.method == "POST" and not g.session.proves(request.form.get("csrf", "")):
        raise Forbidden("this form is not from a page of yours that is still open; load it again")
    wanted = guard.action_of(current_app, endpoint)
    if wanted is not None:
        admit(wanted)
    return None


def _common() -> dict[str, Any]:
    session, actor = g.get("session"), g.get("actor")
    return {
        "actor": actor,
        "csrf": session.csrf if session else "",
        "metrics": words.METRICS,
        "engineer": may(actor, Action.NETWORK_READ, Object("network")).allowed,
    }
