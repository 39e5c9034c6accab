"""Description of the API (OpenAPI 3.1), made from the table of routes.

The web framework describes the models of parameters, bodies and answers.  This module adds permissions,
conditions, repeated requests, and the failures in which a request of a route's form can end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask_openapi3.openapi import OpenAPI

from adon.api.base import PREFIX
from adon.api.route import DELETE, GET, POST, Route
from adon.api.routes import ROUTES
from adon.units import EXAMPLES as QUANTITIES
from adon.units import HELD_IN
from apps.rest import request_input
from apps.rest.examples import EXAMPLES

Json = dict[str, Any]

TEXT = """\
Application-driven transit and compute selection for data-intensive science.

Send an access token as `Authorization: Bearer <token>`. Quantities in requests have units (`25 GB`).
Quantities in answers have the unit in their name (`size_bytes`) or in the field `unit`. Times are RFC 3339.
Failures are problem documents (RFC 9457). Lists answer `items` and `next`, the cursor of the next page."""

SCHEMA = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
CAUSES = {
    400: "Not JSON",
    401: "No valid token",
    403: "Not allowed",
    404: "Not found",
    406: "Not available in this form",
    409: "Conflicts with the present state",
    412: "Changed since it was read",
    413: "Too large",
    415: "Not application/json",
    422: "An input is wrong",
    429: "Too many requests",
    503: "A part of ADON does not answer",
}


def text(description: str, kind: str = "string", **more: Any) -> Json:
    """Return a header as a response or a parameter describes it."""
    return {"description": description, "schema": {"type": kind, **more}}


ANSWER_HEADERS: Mapping[str, Json] = {
    "ETag": text("of this answer; for If-None-Match, and for If-Match of a change"),
    "Retry-After": text("seconds until the next attempt", "integer"),
    "WWW-Authenticate": text("Bearer"),
    "Location": text("address of the created object"),
    "Link": text('the following page, rel="next"; missing on the last page'),
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    **text("ETag of an earlier answer; 304 if the answer is the same"),
}
IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    **text("ETag with which the object was read; 412 if it has changed"),
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    **text(
        "requests with the same key and body are carried out once within a day",
        minLength=1,
        maxLength=request_input.MAX_KEY,
        pattern="^[!-~]([ -~]*[!-~])?$",
    ),
}


def responses(route: Route[Any]) -> dict[str | int, Any]:
    """Return the success of a route and the problem documents that it can answer (RFC 9457)."""
    success: Any = route.answer
    if success in (str, dict):
        kind = "object" if success is dict else "string"
        success = {"content": {route.media: {"schema": {"type": kind}}}}
    failures: dict[str | int, Any] = {
        str(status): {"description": CAUSES[status], "content": {"application/problem+json": SCHEMA}}
        for status in sorted(_failures(route))
    }
    return {str(route.status): success, **failures}


def _failures(route: Route[Any]) -> set[int]:
    found = {422, 429, 503, *route.failures}
    if not route.anonymous:
        found |= {401, 403}
    if _may_miss(route):
        found.add(404)
    if route.method == POST or route.body is not None:
        found |= {400, 413, 415}
    if route.method == POST:
        found.add(409)
    elif not route.live:
        found.add(412)
    if route.conditional:
        found.add(409)  # the object has ended or is in use
    return found


def _may_miss(route: Route[Any]) -> bool:
    """Whether a route is about an object that may be missing."""
    asked = set() if route.query is None else set(route.query.model_fields)
    named = asked & {"flow", "before", "of", "name", "path"}
    return bool(route.subject or route.body or named or route.method == DELETE) and not route.anonymous


def described(app: OpenAPI) -> Json:
    """Return the whole description, for an application with all its views."""
    document: Json = app.api_doc
    document["openapi"] = "3.1.0"
    document["info"] |= {"description": TEXT, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}}
    document["servers"] = [{"url": "/", "description": "the server of this description"}]
    _write_defaults(document["components"]["schemas"])
    for route in ROUTES.values():
        _complete(document["paths"][PREFIX + route.path][route.method.lower()], route)
    return document


def _write_defaults(part: Any) -> None:
    """Defaults of quantities as they would be sent, with their unit: pydantic gives the number it holds.

    And their examples, which the framework leaves out.
    """
    if isinstance(part, list):
        for one in part:
            _write_defaults(one)
    if not isinstance(part, dict):
        return
    kinds = [one.get("format") for one in (part, *part.get("anyOf", ()))]
    kind = next((one for one in kinds if one in HELD_IN), None)
    default = part.get("default")
    if kind is not None and isinstance(default, int | float) and not isinstance(default, bool):
        part["default"] = f"{default:g} {HELD_IN[kind]}"
    if part.get("format") in HELD_IN:
        part["examples"] = [QUANTITIES[part["format"]]]
    for one in part.values():
        _write_defaults(one)


def _complete(operation: Json, route: Route[Any]) -> None:
    """Add the permission, the headers and the example, which the framework leaves out."""
    operation["security"] = [] if route.anonymous else [{"token": [route.action.value]}]
    operation.setdefault("parameters", []).extend(_request_headers(route))
    found: Json = operation["responses"]
    if route.method == GET and not route.live:
        found["304"] = {"description": "As it was"}
    for status, response in found.items():
        if headers := _answer_headers(route, int(status)):
            response["headers"] = headers
    if route.body is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = EXAMPLES[route.name]


def _request_headers(route: Route[Any]) -> list[Json]:
    match route.method:
        case "GET":
            return [] if route.live else [IF_NONE_MATCH, IF_MATCH]
        case "POST":
            return [IDEMPOTENCY_KEY] if route.keyed else []
        case _:
            return [IF_MATCH]


def _answer_headers(route: Route[Any], status: int) -> Json:
    success = status == route.status
    present = {
        "ETag": (success and not route.live) or status == 304,
        "Link": success and route.next_parameter is not None,
        "Location": status in (201, 202),
        "WWW-Authenticate": status == 401,
        "Retry-After": status in (429, 503),
    }
    return {name: ANSWER_HEADERS[name] for name, here in present.items() if here}
