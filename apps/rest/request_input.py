"""Input of a request: its query, JSON body and Idempotency-Key, checked before a model reads them.

JSON is read as RFC 8259 and I-JSON (RFC 7493) define it.  This is stricter than Python's ``json``: ``NaN``
and ``Infinity`` are no JSON, and a duplicate name is an error.

The controller carries a command with an Idempotency-Key out once, and keeps the answer for a day in the
transaction of the change (:mod:`apps.campus_edge.commands`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from flask import Request, request
from flask.json.provider import JSONProvider
from werkzeug.exceptions import RequestEntityTooLarge

from adon.api.base import MAX_BODY
from adon.errors import InvalidInput, Problem
from apps.rest.authentication import current_route

MAX_QUERY = 8000
"""Characters of a query."""


class BadRequest(InvalidInput):
    """What was sent is not even JSON."""

    code = "bad-request"
    status = 400
    title = "Bad request"


class BodyTooLarge(InvalidInput):
    """The body is above :data:`MAX_BODY`."""

    code = "body-too-large"
    status = 413
    title = "Content too large"


class UnsupportedMediaType(InvalidInput):
    """The body is something other than JSON."""

    code = "unsupported-media-type"
    status = 415
    title = "Unsupported media type"


class StrictJson(JSONProvider):
    """Flask's JSON, strict in both directions."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        """JSON text with sorted keys, so that equal values have equal ETags."""
        return json.dumps(obj, allow_nan=False, sort_keys=True, ensure_ascii=False, **kwargs)

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a JSON text.

        :raises ValueError: if it is not one, or uses what this module's docstring refuses.
        """
        try:
            return json.loads(s, parse_constant=_constant, object_pairs_hook=_object, **kwargs)
        except RecursionError:
            raise ValueError("is nested too deeply") from None


def check_query() -> None:
    """Refuse a query that the route cannot have, before the request is carried out.

    :raises InvalidInput: with the parameters that are unknown or duplicate.
    """
    route = current_route()
    if route is None:
        return
    if len(request.query_string) > MAX_QUERY:
        raise InvalidInput.of(
            "query", f"is longer than {MAX_QUERY} characters; expected a shorter one, for example limit=50"
        )
    found = list(_problems(route.query is not None))
    if found:
        raise InvalidInput(found)


def _problems(has_query: bool) -> Iterator[Problem]:
    for name, values in request.args.lists():
        if not has_query:  # else the query's model reports unknown parameters, with all other problems
            yield Problem(name[:80], "is unknown; expected no parameters at this address")
        elif len(values) > 1:
            yield Problem(name[:80], "is given twice; expected one value", code="duplicate")


def check_body() -> None:
    """Refuse a body that is no JSON object, before the request is carried out.

    A route without a body accepts a request without one.

    :raises UnsupportedMediaType, BodyTooLarge, BadRequest: if the body is something else.
    """
    route = current_route()
    needs_none = route is not None and route.body is None
    if request.method in ("POST", "PUT", "PATCH") and not (needs_none and _empty(request)):
        _check(request)


def _empty(sent: Request) -> bool:
    return not sent.mimetype and sent.content_length in (None, 0) and not sent.get_data()


def _check(sent: Request) -> None:
    if not sent.is_json:
        kind = sent.mimetype or "of no content type"
        raise UnsupportedMediaType.of("body", f"is {kind[:80]}; expected application/json")
    try:
        text = sent.get_data()
    except RequestEntityTooLarge as error:
        raise BodyTooLarge.of("body", f"is above {MAX_BODY} bytes") from error
    if sent.content_length is None and len(text) >= MAX_BODY:
        # A body in chunks is cut off at the limit, silently.
        raise BodyTooLarge.of("body", f"is above {MAX_BODY} bytes")
    try:
        body = sent.json_module.loads(text)
    except ValueError as error:
        raise BadRequest.of(
            "body", f"is not JSON: {error}; expected a JSON object, for example {{}}"
        ) from error
    if not isinstance(body, dict):
        raise BadRequest.of("body", "is not a JSON object; expected for example {}")


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:80]!r} is given twice")
        found[name] = value
    return found


KEY_FIELD = "Idempotency-Key"
MAX_KEY = 200


def check_key() -> None:
    """Refuse a key that cannot be one, and a key for a route without keys.

    :raises InvalidInput: with what is expected.
    """
    key = request.headers.get(KEY_FIELD)
    if key is None:
        return
    route = current_route()
    if route is None or not route.keyed:
        cause = "is not accepted here; expected no key, or a request for a flow, job, reservation or window"
        raise InvalidInput.of(KEY_FIELD, cause)
    if not 1 <= len(key) <= MAX_KEY or not key.isascii() or not key.isprintable() or key != key.strip():
        cause = f"must be 1 to {MAX_KEY} printable ASCII characters; for example transfer-17"
        raise InvalidInput.of(KEY_FIELD, cause)


def keyed_command(**command: Any) -> dict[str, Any]:
    """Return a command with the key of this request and the body that belongs to the key."""
    key = request.headers.get(KEY_FIELD)
    return command if key is None else {**command, "idempotency_key": key, "sent": request.get_json()}
