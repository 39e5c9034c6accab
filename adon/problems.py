"""Errors as they travel between processes: RFC 9457 problem documents, to and from :mod:`adon.errors`.

One form serves the link between our processes, the REST API's ``application/problem+json`` and the
command line, which turns an answer back into the exception it began as.  A document names every
problem with its field, cause and code; it never carries a stack trace, nor the text of a foreign exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.errors import (
    INVALID,
    AdonError,
    Conflict,
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    Problem,
    TooManyRequests,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"
_PREFIX = "urn:adon:problem:"
HTTP_CODES = {
    400: "bad-request",
    405: "method-not-allowed",
    408: "request-timeout",
    412: "precondition-failed",
    413: "body-too-large",
    415: "unsupported-media-type",
}
"""The codes of statuses of HTTP for which :mod:`adon.errors` has no class; of others the class has one."""


def to_document(error: AdonError) -> dict[str, Any]:
    """The problem document of one of our errors."""
    document: dict[str, Any] = {
        "type": _PREFIX + type(error).__name__,
        "title": error.title,
        "status": error.status,
        "code": error.code,
        "detail": str(error) or error.title,
    }
    match error:
        case InvalidInput(problems=problems):
            document["problems"] = [_problem_body(problem) for problem in problems]
        case Conflict(field=field, cause=cause):
            document["problems"] = [{"field": field, "cause": cause, "code": error.code}]
        case NotFound(kind=kind, name=name):
            document |= {"kind": kind, "name": name}
    return document


def http_document(status: int, title: str, detail: str | None) -> dict[str, Any]:
    """The problem document of a status of HTTP that is no error of ours (405, 408)."""
    code = HTTP_CODES.get(status) or of_status(status, "").code
    return {"type": "about:blank", "title": title, "status": int(status), "code": code, "detail": detail}


def from_document(document: Mapping[str, Any]) -> AdonError:
    """The exception a problem document tells of; a type that we do not know becomes the nearest one.

    An answer of a proxy in between has no type of ours: its HTTP status then decides.
    """
    kind = str(document.get("type", "")).removeprefix(_PREFIX)
    error = _build(_CLASSES.get(kind) or _by_status(document.get("status")), document)
    if isinstance(code := document.get("code"), str) and code not in ("", error.code):
        error.code = code
    return error


def of_status(status: int, detail: str) -> AdonError:
    """The error of ours that an HTTP status without a document of ours stands for."""
    return _build(_by_status(status), {"detail": detail})


def _problem_body(problem: Problem) -> dict[str, Any]:
    place = {"file": problem.file, "line": problem.line, "column": problem.column}
    known = {name: value for name, value in place.items() if value is not None}
    return {"field": problem.field, "cause": problem.cause, "code": problem.code, **known}


def _detail(document: Mapping[str, Any]) -> str:
    return str(document.get("detail") or document.get("title") or "no reason was given")


def _problems(document: Mapping[str, Any]) -> list[Problem]:
    found = document.get("problems")
    bodies = [body for body in found if isinstance(body, Mapping)] if isinstance(found, list) else []
    return [
        Problem(
            str(body.get("field", "")),
            str(body.get("cause", "")),
            body.get("file"),
            body.get("line"),
            body.get("column"),
            str(body.get("code", INVALID)),
        )
        for body in bodies
    ]


_CLASSES: Mapping[str, type[AdonError]] = {
    one.__name__: one
    for one in (
        AdonError,
        InvalidInput,
        NotFound,
        Conflict,
        NotAuthenticated,
        Forbidden,
        TooManyRequests,
        Unavailable,
    )
}


def _build(kind: type[AdonError], document: Mapping[str, Any]) -> AdonError:
    problems = _problems(document) or [Problem("", _detail(document))]
    if kind is InvalidInput:
        return InvalidInput(problems)
    if kind is Conflict:
        return Conflict(problems[0].field, problems[0].cause)
    if kind is NotFound and "name" not in document:
        return NotFound("page", _detail(document))
    if kind is NotFound:
        return NotFound(str(document.get("kind", "thing")), str(document["name"]))
    return kind(_detail(document))


_BY_STATUS: Mapping[int, type[AdonError]] = {
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: TooManyRequests,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def _by_status(status: object) -> type[AdonError]:
    if not isinstance(status, int):
        return AdonError
    return _BY_STATUS.get(status, InvalidInput if 400 <= status < 500 else AdonError)
