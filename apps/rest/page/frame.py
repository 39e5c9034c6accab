"""What all pages share: who is signed in, whether a form is ours, and the values of every template.

Signed in with a token; every form carries the session's CSRF token, the cookie is HttpOnly and
SameSite=Strict.  No script runs here: pages that show something moving ask to be loaded again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from flask import Blueprint, Flask, current_app, g, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.errors import Forbidden, NotAuthenticated
from apps.rest import guard
from apps.rest.guard import admit
from apps.rest.page import words
from apps.rest.page.sessions import Sessions
from apps.rest.services import services

COOKIE = "adon_session"


def blueprint(name: str, static_folder: str | None = None) -> Blueprint:
    """A part of the page: the gate stands before it."""
    made = Blueprint(name, "apps.rest", template_folder="templates", static_folder=static_folder)
    made.before_request(_gate)
    made.context_processor(_common)
    return made


def install(app: Flask, parts: Iterable[Blueprint]) -> None:
    """Add the page to an application, with nobody signed in."""
    app.extensions["adon_sessions"] = Sessions()
    app.jinja_env.filters.update(words.FILTERS)
    for part in parts:
        app.register_blueprint(part)


def sessions() -> Sessions:
    """Who is signed in at this application."""
    return cast(Sessions, current_app.extensions["adon_sessions"])


def _gate() -> AnyResponse | None:
    """Who is signed in, whether the form is ours, and the first check of the policy."""
    g.actor, g.session = None, sessions().get(request.cookies.get(COOKIE), services().clock())
    endpoint = str(request.endpoint)
    if endpoint in ("page.static", "page.sign_in", "page.enter"):
        return None
    if g.session is None:
        return redirect(url_for("page.sign_in"))
    try:
        g.actor = guard.actor_of(g.session.token)
    except NotAuthenticated:
        return redirect(url_for("page.sign_in"))
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
