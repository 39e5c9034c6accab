"""Rate limits of requests to the API, by user or by address (:mod:`apps.rest.rate_windows`)."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Flask, Response, g, request

from adon.errors import TooManyRequests
from apps.rest.authentication import inside_actor
from apps.rest.problem_answers import answer_ours
from apps.rest.rate_windows import Kind, Rates, Standing
from apps.rest.request_origin import network_of
from apps.rest.services import services

SAFE = ("GET", "HEAD", "OPTIONS")


def install(app: Flask) -> None:
    """Write the state of the limit into each answer, and limit failed credentials."""
    app.after_request(_write_state)


def limit_request() -> None:
    """Limit a request to the API whose actor is known.

    :raises TooManyRequests: above the limit.
    """
    rates = _rates()
    if rates is None:
        return
    if g.actor is None:
        limit_anonymous()
        return
    if inside_actor(request.environ) is not None:
        kind, who = "inside", g.actor.name
    else:
        kind, who = ("reads" if request.method in SAFE else "writes"), g.actor.name
    _take(rates, kind, who)  # type: ignore[arg-type]


def limit_anonymous() -> None:
    """Limit requests without an identity by their address.

    :raises TooManyRequests: above the limit.
    """
    rates = _rates()
    if rates is not None:
        _take(rates, "anonymous", network_of(request.remote_addr or ""))


def limit_attempts() -> None:
    """Limit attempts to sign in by their address.

    :raises TooManyRequests: above the limit.
    """
    rates = _rates()
    if rates is not None:
        _take(rates, "sign_in", network_of(request.remote_addr or ""))


def _take(rates: Rates, kind: Kind, who: str) -> None:
    g.standing = rates.take(kind, who)
    if not g.standing.allowed:
        raise TooManyRequests(_WORDS[kind], g.standing.wait_s)


_WORDS: Mapping[Kind, str] = {
    "reads": "too many requests of this user",
    "writes": "too many changes by this user",
    "inside": "too many requests of this user's pages",
    "anonymous": "too many requests without an identity from this address",
    "sign_in": "too many attempts to sign in from this address",
}


def _rates() -> Rates | None:
    return services().rates


def _write_state(response: Response) -> Response:
    if response.status_code == 401 and "Authorization" in request.headers:
        # A valid token is never refused for others' guesses, from whatever address they all come.
        try:
            limit_attempts()
        except TooManyRequests as error:
            response = answer_ours(error)
    standing: Standing | None = g.get("standing")
    if standing is not None:
        response.headers.update(standing.headers)
    return response
