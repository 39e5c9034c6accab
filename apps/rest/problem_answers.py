"""Every failure as RFC 9457 ``application/problem+json``, or as a page for a browser outside the API.

Nothing of the program shows: no stack trace, no text of a foreign exception.  What was not foreseen is
logged with its trace and answered as a bare 500.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, Response, current_app, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import HTTPException

from adon import problems, yamlfile
from adon.errors import AdonError, InvalidInput, NotAuthenticated, Unavailable
from apps.rest import request_audit
from apps.rest.authentication import current_route

log = logging.getLogger(__name__)

_PAGE = "adon_failure_page"


def install(app: Flask) -> None:
    """Answer every failure of this application in our form."""
    app.register_error_handler(AdonError, answer_ours)
    app.register_error_handler(HTTPException, _answer_http)
    app.register_error_handler(Exception, _answer_unforeseen)


def show_browsers(app: Flask, page: Callable[[Mapping[str, Any]], Response]) -> None:
    """Answer browsers outside the API with a page.

    :param page: from a problem document (RFC 9457) to the page, its status left to us.
    """
    app.extensions[_PAGE] = page


def refuse_invalid(error: ValidationError) -> Response:
    """The answer to a path, query or body that a model refuses, with every problem it found."""
    found = yamlfile.list_model_problems(error, _sent(), model=_model(error.title))
    return answer_ours(InvalidInput(found))


def _model(name: str) -> type[BaseModel] | None:
    """Return the model of this request's path, query or body that has this name."""
    route = current_route()
    if route is None:
        return None
    models = (route.body, route.query, None if route.subject is None else route.subject.ids)
    return next((model for model in models if model is not None and model.__name__ == name), None)


def answer_ours(error: AdonError) -> Response:
    """The answer to an error of ours."""
    if error.status >= 500:
        log.warning("event=rest.failed path=%r error=%r", request.path, str(error))
    request_audit.problem(error)
    response = _response(problems.to_document(error))
    if isinstance(error, NotAuthenticated):
        response.headers["WWW-Authenticate"] = 'Bearer realm="adon"'
    if isinstance(error, Unavailable):
        response.headers["Retry-After"] = "5"
    return response


def _answer_http(error: HTTPException) -> Response:
    status = error.code or 500
    document = problems.http_document(status, error.name, error.description)
    response = _response(document)
    if "Allow" in (headers := dict(error.get_headers())):
        response.headers["Allow"] = headers["Allow"]
    if status == 413:
        # The rest of the body is not read: the connection cannot be used again.
        response.headers["Connection"] = "close"
    return response


def _answer_unforeseen(error: Exception) -> Response:
    log.error("event=rest.unforeseen path=%r", request.path, exc_info=error)
    return _response(problems.to_document(AdonError("something went wrong here; the log says what")))


def _response(document: Mapping[str, Any]) -> Response:
    status = int(document["status"])
    page = current_app.extensions.get(_PAGE)
    if page is not None and _wants_page():
        shown: Response = page(document)
        shown.status_code = status
        return shown
    content = current_app.json.dumps(document) + "\n"
    response = Response(content, status, mimetype=problems.MEDIA_TYPE)
    response.cache_control.no_store = True
    return response


def _wants_page() -> bool:
    return not request.path.startswith("/api/") and request.accept_mimetypes.accept_html


def _sent() -> Any:
    body = request.get_json(silent=True) if request.is_json else None
    if isinstance(body, dict):
        return body
    return {**request.args.to_dict(), **(request.view_args or {})}
