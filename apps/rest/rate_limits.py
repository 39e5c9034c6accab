"""Rate limits of requests to the API, by user or by address (:mod:`apps.rest.rate_windows`)."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Flask, Response, g, request

from adon.errors import TooManyRequests
from apps.rest.in_process_transport import inside_actor
from apps.rest.problem_answers import answer_ours
from apps.rest.rate_windows import Kind, Rates, Standing, network_of
from apps.rest.services import services

SAFE = ("GET", "HEAD", "OPTIONS")


def install(app: Flask) -> None:
    """Tell each answer's standing in its headers, and let failed credentials be tried only so often."""
    app.after_request(_told)


def gate() -> None:
    """Before each request to the API, once it is known who asks.

    :raises TooManyRequests: if they have asked too often.
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
    """Count a request without an identity, to the API or to the dashboard, by the address that it comes from.

    :raises TooManyRequests: if there were too many.
    """
    rates = _rates()
    if rates is not None:
        _take(rates, "anonymous", network_of(request.remote_addr or ""))


def attempt() -> None:
    """Count an attempt to sign in, by the address that it comes from.

    :raises TooManyRequests: if there were too many.
    """
    rates = _rates()
    if rates is not None:
        _take(rates, "sign_in", network_of(request.remote_addr or ""))


def _take(rates: Rates, kind: Kind, who: str) -> None:
    g.standing = rates.take(kind, who)
    if not g.standing.allowed:
        raise TooManyRequests(_WORDS[kind], g.standing.wait_s)


_WORDS: Mapping[Kind, str] = {
    "reads": "you ask too often",
    "writes": "you change too much at once",
    "inside": "these pages ask too often",
    "anonymous": "too many requests without an identity from this address",
    "sign_in": "too many attempts to sign in from this address",
    "addresses": "too many requests from this address",
}


def _rates() -> Rates | None:
    return services().rates


def _told(response: Response) -> Response:
    if response.status_code == 401 and "Authorization" in request.headers:
        # A valid token is never refused for others' guesses, from whatever address they all come.
        try:
            attempt()
        except TooManyRequests as error:
            response = answer_ours(error)
    standing: Standing | None = g.get("standing")
    if standing is not None:
        response.headers.update(standing.headers)
    return response
