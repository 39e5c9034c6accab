"""Answers: JSON with an entity tag, and requests that depend on one (RFC 9110 section 13).

The tag is a hash of the answer, so it changes exactly when the answer does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from flask import Response, current_app, request

from adon.api.base import View
from adon.errors import Conflict


class PreconditionFailed(Conflict):
    """The thing has changed since the client saw it."""

    code = "precondition-failed"
    status = 412
    title = "Precondition failed"


def entity_tag(content: bytes) -> str:
    """The tag of an answer with this content, without the quotes."""
    return hashlib.sha256(content).hexdigest()[:32]


def content_of(body: View | Mapping[str, Any]) -> bytes:
    """The bytes of a JSON answer; equal values have equal bytes."""
    text = body.model_dump_json() if isinstance(body, View) else current_app.json.dumps(body)
    return f"{text}\n".encode()


def answer(content: bytes, mimetype: str = "application/json") -> Response:
    """What a GET answers with: the content, or 304 if the client has it already.

    :raises PreconditionFailed: if ``If-Match`` is given and names another state.
    """
    response = Response(content, mimetype=mimetype)
    response.set_etag(entity_tag(content))
    response.vary.update(("Accept", "Authorization"))
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.make_conditional(request)
    response.headers.remove("Date")  # The server sends one; a second one is malformed (RFC 9110 5.3).
    if response.status_code == PreconditionFailed.status:
        raise PreconditionFailed("If-Match", "it has changed since")
    return response


def json_answer(body: View | Mapping[str, Any]) -> Response:
    """What a GET answers with, as JSON."""
    return answer(content_of(body))


def done(body: View | Mapping[str, Any], status: HTTPStatus, location: str | None = None) -> Response:
    """What a POST or a DELETE answers with."""
    content = content_of(body)
    response = Response(content, status=status, mimetype="application/json")
    response.set_etag(entity_tag(content))
    response.cache_control.no_store = True
    if location is not None:
        response.headers["Location"] = location
    return response


def check_if_match(body: View | Mapping[str, Any]) -> None:
    """Refuse to change an object that has changed since the client read it.

    :raises PreconditionFailed: if the request's ``If-Match`` names another state.
    """
    if "If-Match" in request.headers and not request.if_match.contains(entity_tag(content_of(body))):
        raise PreconditionFailed("If-Match", "it has changed since; read it again")
