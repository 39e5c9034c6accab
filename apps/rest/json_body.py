"""JSON as we read it from strangers, and as we write it (RFC 8259, I-JSON's RFC 7493).

Stricter than Python's ``json``: ``NaN`` and ``Infinity`` are not JSON, and a name that is given twice is
a mistake, not a wish for the second value.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from flask import Request, current_app, request
from flask.json.provider import JSONProvider
from werkzeug.exceptions import RequestEntityTooLarge

from adon.api.base import MAX_BODY
from adon.errors import InvalidInput

BODILESS = "adon_bodiless"
"""Of an application: the endpoints that take no body, so that none need be sent."""


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


def check_body() -> None:
    """Before each request that may have a body: it is a JSON object, or the request ends here.

    Where none is taken none need be sent; one that is sent is held against the same rules.

    :raises UnsupportedMediaType, BodyTooLarge, BadRequest: if there is none.
    """
    if request.method in ("POST", "PUT", "PATCH") and not (
        request.endpoint in current_app.extensions[BODILESS] and _empty(request)
    ):
        _check(request)


def _empty(sent: Request) -> bool:
    return not sent.mimetype and sent.content_length in (None, 0) and not sent.get_data()


def _check(sent: Request) -> None:
    if not sent.is_json:
        kind = sent.mimetype or "of no content type"
        raise UnsupportedMediaType.of("body", f"is {kind[:80]}; send application/json")
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
        raise BadRequest.of("body", f"is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest.of("body", "is not a JSON object")


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:80]!r} is given twice")
        found[name] = value
    return found
