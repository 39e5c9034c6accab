"""The pages of signing in and out, for any Flask application that has our services.

Plain HTML, no script.  Whatever goes wrong is told on the sign-in page itself, beside the other ways in: a
provider that is down keeps nobody from using a token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Flask, Response, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.assertion import Assertion
from adon.access.identity import Actor
from adon.config.access import SHIBBOLETH, Access
from adon.errors import (
    AdonError,
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    TooManyRequests,
)
from apps.rest import authentication, problem_answers, rate_limits, request_audit
from apps.rest.identity import sessions
from apps.rest.identity.openid.pending import LIFETIME, Pending
from apps.rest.identity.ways import HOME, NAME, How, local_path, open_ways, public_url, ways
from apps.rest.request_origin import is_foreign
from apps.rest.services import services

log = logging.getLogger(__name__)

SIGN_IN = "/sign-in"
PENDING = "adon_sign_in"
"""The cookie of a sign-in that has begun."""
pages = Blueprint(
    "identity",
    "apps.rest.identity",
    template_folder="templates",
    static_folder="static",
    static_url_path="/sign-in/static",
)


def install(app: Flask, settings: Access, clock: Callable[[], float]) -> None:
    """Add signing in and out to an application that has :class:`~apps.rest.services.Services`.

    :param clock: seconds since the epoch.
    :raises InvalidInput: if a secret is not where the configuration says.
    """
    app.extensions[NAME] = open_ways(settings, clock)
    app.register_blueprint(pages)


def current_actor() -> Actor | None:
    """Return the signed-in user of the requesting browser; None without one."""
    session = sessions.current()
    return None if session is None else session.actor


def to_sign_in() -> AnyResponse:
    """To the sign-in page, and back to what was asked for afterwards; also for an application beside ours."""
    target = local_path(request.full_path.removesuffix("?")) if request.method == "GET" else HOME
    back = "" if target == HOME else f"?{urlencode({'next': target}, safe='/')}"
    return redirect(f"{SIGN_IN}{back}")


@pages.before_app_request
def _look() -> None:
    sender = ways().attempts.look(request.environ)
    if sender is not None:
        request_audit.attempt("identity.spoof", f"headers of a web server that it is not, from {sender}")


@pages.after_request
def _forbid_storage(response: Response) -> Response:
    if request.endpoint != "identity.static":
        response.headers["Cache-Control"] = "no-store"
    return response


@pages.errorhandler(AdonError)
def _tell(error: AdonError) -> AnyResponse:
    if isinstance(error, NotAuthenticated):
        # Failures count, by address; who has a valid token is not kept out by others' guesses.
        try:
            rate_limits.limit_attempts()
        except TooManyRequests as many:
            error = many
    problem = (
        "; ".join(each.cause for each in error.problems) if isinstance(error, InvalidInput) else str(error)
    )
    log.info("event=signin.refused path=%r error=%r", request.path, str(error))
    response = problem_answers.answer_ours(error)
    response.set_data(_page(problem).get_data())
    response.mimetype = "text/html"
    if request.endpoint == "identity.finish":
        response.delete_cookie(PENDING, path="/sign-in")
    return response


def failure(problem: Mapping[str, Any]) -> Response:
    """What went wrong, for a browser.

    :param problem: a problem document (RFC 9457).
    """
    return make_response(render_template("identity/failure.html", problem=problem, home=HOME))


def _page(problem: str = "", status: int = 200) -> Response:
    text = render_template(
        "identity/sign_in.html",
        problem=problem,
        ways=ways().titles,
        target=local_path(request.values.get("next")),
        home=HOME,
        actor=current_actor(),
    )
    return make_response(text, status)


@pages.get(SIGN_IN)
def sign_in() -> AnyResponse:
    """The ways in."""
    return _page()


@pages.post(SIGN_IN)
def enter() -> AnyResponse:
    """Begin a session with a token."""
    said = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if is_foreign(*said, request.host, typed=True):
        raise Forbidden("sign in from this page only")
    actor = authentication.actor_of(request.form.get("token", "").strip())
    response = redirect(local_path(request.form.get("next")), 303)
    sessions.begin(response, actor, "token")
    return response


@pages.get("/sign-in/<name>")
def begin(name: str) -> AnyResponse:
    """To the provider; with Shibboleth, from it already."""
    target = local_path(request.args.get("next"))
    if name == SHIBBOLETH and ways().shibboleth is not None:
        return _from_proxy(target)
    party = ways().openid.get(name)
    if party is None:
        raise NotFound("way to sign in", name[:80])
    rate_limits.limit_attempts()  # each may need a request to the provider
    pending = Pending(name, target)
    response = redirect(party.address(pending), 303)
    response.set_cookie(
        PENDING,
        ways().pending.seal(pending, ways().clock()),
        max_age=LIFETIME,
        path="/sign-in",
        httponly=True,
        samesite="Lax",  # the provider sends the browser back by a link
        secure=sessions.over_https(),
    )
    return response


@pages.get("/sign-in/<name>/callback")
def finish(name: str) -> AnyResponse:
    """Back from the provider."""
    party = ways().openid.get(name)
    if party is None:
        raise NotFound("way to sign in", name[:80])
    answer = {key: values[0] for key, values in request.args.lists() if len(values) == 1}
    cookie = request.cookies.get(PENDING)
    pending = ways().pending.finish(cookie, name, answer.get("state"), ways().clock())
    response = _let_in(name, party.assertion(pending, answer), "oidc", pending.target)
    response.delete_cookie(PENDING, path="/sign-in")
    return response


@pages.get("/sign-out")
def before_leaving() -> AnyResponse:
    """Ask whether to sign out: a link may be somebody else's, the form is ours."""
    session = sessions.current()
    if session is None:
        return redirect(url_for("identity.sign_in"))
    return make_response(
        render_template("identity/sign_out.html", name=session.actor.name, csrf=session.csrf, home=HOME)
    )


@pages.post("/sign-out")
def leave() -> AnyResponse:
    """End the session, and offer to end the one at the provider too."""
    session = sessions.current()
    if session is not None and not session.proves(request.form.get("csrf", "")):
        raise Forbidden("this form is not from a page of yours that is still open; load it again")
    way = "" if session is None else session.extra.get("way", "")
    response = make_response(render_template("identity/signed_out.html", **_elsewhere(way)))
    sessions.end(response)
    return response


def _from_proxy(target: str) -> AnyResponse:
    proxy = ways().shibboleth
    if proxy is None:
        raise NotFound("way to sign in", SHIBBOLETH)
    return _let_in(SHIBBOLETH, proxy.assertion(request.environ), "shibboleth", target)


def _let_in(name: str, assertion: Assertion, how: How, target: str) -> AnyResponse:
    admitted = ways().admit(name, assertion)
    actor = services().access.users.sign_in(
        admitted.named,
        admitted.roles,
        ways().clock(),
        groups=admitted.groups,
        display=assertion.display,
        via=how,
    )
    log.info("event=signin.done user=%r way=%s rules=%s", actor.name, name, list(admitted.rules))
    response = redirect(target, 303)
    sessions.begin(response, actor, how, {"way": name})
    return response


def _elsewhere(way: str) -> dict[str, str | None]:
    """Title and address of signing out where one signed in; no address if there is no such place."""
    title = dict(ways().titles).get(way)
    if title is None:
        return {"title": None, "address": None}
    back = f"{public_url(ways().settings)}{url_for('identity.sign_in')}"
    if way == SHIBBOLETH:
        return {"title": title, "address": "/Shibboleth.sso/Logout"}
    return {"title": title, "address": ways().openid[way].sign_out_address(back)}
