"""Problem documents of RFC 9457, to and from the exceptions of :mod:`adon.errors`.

One form serves the link between our processes, the REST API's ``application/problem+json`` and the
command line, which turns an answer back into the exception it began as.  A document names every
problem with its field, cause and code; it never has a stack trace, nor the text of a foreign exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from adon.errors import BY_STATUS, AdonError, Conflict, InvalidInput, NotFound, Problem

MEDIA_TYPE = "application/problem+json"
_PREFIX = "urn:adon:problem:"
_FIELDS = frozenset(one.name for one in fields(Problem))
HTTP_CODES = {
    400: "bad-request",
    405: "method-not-allowed",
    406: "not-acceptable",
    408: "request-timeout",
    412: "precondition-failed",
    413: "body-too-large",
    415: "unsupported-media-type",
    431: "headers-too-large",
}
"""Codes of HTTP statuses without a class in :mod:`adon.errors`; other codes are in the class."""


def to_document(error: AdonError) -> dict[str, Any]:
    """Return the problem document of an error of ADON."""
    document: dict[str, Any] = {
        "type": _PREFIX + type(error).__name__,
        "title": error.title,
        "status": error.status,
        "code": error.code,
        "detail": str(error) or error.title,
    }
    match error:
        case InvalidInput(problems=problems):
            bodies = map(asdict, problems)
            document["problems"] = [
                {name: part for name, part in body.items() if part is not None} for body in bodies
            ]
        case Conflict(field=field, cause=cause):
            document["problems"] = [{"field": field, "cause": cause, "code": error.code}]
        case NotFound(kind=kind, name=name):
            document |= {"kind": kind, "name": name}
    return document


def http_document(status: int, title: str, detail: str | None) -> dict[str, Any]:
    """Return the problem document of an HTTP status without an error of ADON (405, 408)."""
    code = HTTP_CODES.get(status) or _class_of(status).code
    return {"type": "about:blank", "title": title, "status": int(status), "code": code, "detail": detail}


def from_document(document: Mapping[str, Any]) -> AdonError:
    """Return the exception of a problem document; its HTTP status decides the class.

    An answer of a proxy in between is such a document too.
    """
    kind = _class_of(document.get("status"))
    detail = str(document.get("detail") or document.get("title") or "no reason was given")
    code = str(document.get("code") or "") or None
    problems = _problems(document) or [Problem("", detail)]
    if kind is InvalidInput:
        return InvalidInput(problems, code=code)
    if kind is Conflict:
        return Conflict(problems[0].field, problems[0].cause, code=code)
    if kind is NotFound:
        return NotFound(str(document.get("kind", "page")), str(document.get("name", detail)), code=code)
    return kind(detail, code=code)


def _problems(document: Mapping[str, Any]) -> list[Problem]:
    found = document.get("problems")
    bodies = [body for body in found if isinstance(body, Mapping)] if isinstance(found, list) else []
    known = [{name: value for name, value in body.items() if name in _FIELDS} for body in bodies]
    return [Problem(**{"field": "", "cause": "", **body}) for body in known]


def _class_of(status: object) -> type[AdonError]:
    is_of_client = isinstance(status, int) and 400 <= status < 500
    return BY_STATUS.get(status, InvalidInput if is_of_client else AdonError)
