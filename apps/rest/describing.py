"""The API's description (OpenAPI 3.1), completed with what holds for every operation alike.

The views say what is their own: parameters, bodies, answers.  Here is added what the gate, the checks in
front of them and the answers' form bring to all: who may, conditions, repeated requests, and the failures
that these can end in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from flask_openapi3.openapi import OpenAPI
from werkzeug.routing import Rule

from adon.access.policy import ANONYMOUS, Action
from adon.units import EXAMPLES, HELD_IN
from apps.rest import repeating
from apps.rest.api.common import problem_responses
from apps.rest.examples import EXAMPLES as BODIES
from apps.rest.guard import action_of

Json = dict[str, Any]

TEXT = """\
Application-driven transit and compute selection for data-intensive science.

Send an access token as `Authorization: Bearer <token>`. Quantities that are sent have units (`25 GB`); those
that are answered have the unit in their name (`size_bytes`) or beside them. Times are RFC 3339. Failures are
problem documents (RFC 9457). Lists answer `items` and `next`: what the following page is asked with."""

_UNTAGGED = frozenset({"metrics", "events"})
"""GETs whose answer is never the same twice: they have no entity tag."""


def text(description: str, kind: str = "string", **more: Any) -> Json:
    """A header, as a response or a parameter has it."""
    return {"description": description, "schema": {"type": kind, **more}}


ETAG = text("of this very answer; for If-None-Match, and If-Match of what changes it")
ANSWER_HEADERS: Mapping[str, Json] = {
    "Retry-After": text("seconds after which it may be tried again", "integer"),
    "WWW-Authenticate": text("Bearer"),
    "Location": text("where what was made is"),
    "Link": text('the following page, rel="next"; not on the last'),
    repeating.REPLAYED: text("true: answered before, and not carried out again", enum=["true"]),
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    **text("the ETag of an earlier answer; 304 if it would be the same"),
}
IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    **text("the ETag that the object was seen with; 412 if it has changed since"),
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    **text(
        "the same key and body are carried out once; kept for a day",
        minLength=1,
        maxLength=repeating.MAX_KEY,
        pattern="^[!-~]([ -~]*[!-~])?$",
    ),
}


def described(app: OpenAPI) -> Json:
    """The whole description, for an application with all its views."""
    document: Json = app.api_doc
    document["openapi"] = "3.1.0"
    document["info"] |= {"description": TEXT, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}}
    document["servers"] = [{"url": "/", "description": "where this description was read"}]
    _write_defaults(document["components"]["schemas"])
    for rule, method, operation in _operations(app, document):
        _complete(operation, rule.endpoint.rpartition(".")[2], method, action_of(app, rule.endpoint))
    return document


def bodiless(app: OpenAPI, document: Json) -> frozenset[str]:
    """The endpoints of operations that are described without a body."""
    return frozenset(
        rule.endpoint for rule, _, operation in _operations(app, document) if "requestBody" not in operation
    )


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
        part["examples"] = [EXAMPLES[part["format"]]]
    for one in part.values():
        _write_defaults(one)


def _operations(app: OpenAPI, document: Json) -> Iterator[tuple[Rule, str, Json]]:
    rules = {
        (method, rule.rule.replace("<", "{").replace(">", "}")): rule
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
    }
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield rules[method.upper(), path], method, operation


def _complete(operation: Json, name: str, method: str, action: Action | None) -> None:
    open_ = action in ANONYMOUS
    operation["operationId"] = name
    operation["security"] = [] if open_ or action is None else [{"token": [action.value]}]
    parameters: list[Json] = operation.setdefault("parameters", [])
    responses: Json = operation["responses"]
    parameters += _headers(name, method)
    for status in _failures(operation, name, method, open_=open_):
        responses.setdefault(str(status), problem_responses(status)[str(status)])
    if method != "delete" and not _may_miss(operation):
        responses.pop("404", None)
    if method == "get" and name not in _UNTAGGED:
        responses["304"] = {"description": "As it was", "headers": {"ETag": ETAG}}
    cursors = any(one["name"] in ("before", "after") for one in parameters)
    for number, response in responses.items():
        response.setdefault("description", HTTPStatus(int(number)).phrase)
        _tell_headers(response, int(number), name, method, cursors=cursors)
    if "requestBody" in operation and name in BODIES:
        operation["requestBody"]["content"]["application/json"]["example"] = BODIES[name]
    operation["responses"] = dict(sorted(responses.items()))


def _headers(name: str, method: str) -> list[Json]:
    match method:
        case "get":
            return [] if name in _UNTAGGED else [IF_NONE_MATCH, IF_MATCH]
        case "post":
            return [IDEMPOTENCY_KEY]
        case _:
            return [IF_MATCH]


def _failures(operation: Json, name: str, method: str, *, open_: bool) -> set[int]:
    """The statuses that an operation can end in by what stands around its view."""
    found = {422, 429, 503} if open_ else {401, 403, 404, 422, 429, 503}
    if "requestBody" in operation or method == "post":
        found |= {400, 413, 415}
    if method == "post":
        found.add(409)  # the same Idempotency-Key is being carried out
    if method in ("delete", "patch") or (method == "get" and name not in _UNTAGGED):
        found.add(412)
    return found


def _may_miss(operation: Json) -> bool:
    """Whether an operation is about something that may not be there."""
    names = any(one["in"] == "path" for one in operation["parameters"])
    asked = {"flow", "before", "of", "name", "path"}
    return names or "requestBody" in operation or any(one["name"] in asked for one in operation["parameters"])


def _tell_headers(response: Json, status: int, name: str, method: str, *, cursors: bool) -> None:
    headers: Json = response.setdefault("headers", {})
    if status < 300 and name not in _UNTAGGED:
        headers["ETag"] = ETAG
    if status == 200 and cursors:
        headers["Link"] = ANSWER_HEADERS["Link"]
    if status in (201, 202):
        headers["Location"] = ANSWER_HEADERS["Location"]
    if status < 300 and method == "post":
        headers[repeating.REPLAYED] = ANSWER_HEADERS[repeating.REPLAYED]
    if status == 401:
        headers["WWW-Authenticate"] = ANSWER_HEADERS["WWW-Authenticate"]
    if status in (429, 503):
        headers["Retry-After"] = ANSWER_HEADERS["Retry-After"]
    if not headers:
        del response["headers"]
