"""Dispatch of a request to the handler of its route.

A handler names its route with :func:`handles`.  It takes the object that the path names, or the ids in the
path, and ``query`` and ``body`` where the route has them; it returns the answer's document.  All else is the
same for every route and is done here by the table :mod:`adon.api.routes`: identity, rate limit, permission,
checks of what was sent, conditions, repeated requests, and the form of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from flask import Response, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from flask_openapi3.openapi import OpenAPI
from pydantic import BaseModel

from adon.api.base import PREFIX, ListView, View
from adon.api.route import GET, Route
from adon.api.routes import ROUTES
from adon.errors import AdonError
from apps.rest import authentication, authorisation, rate_limits, request_input
from apps.rest.authorisation import read_subject
from apps.rest.openapi import responses
from apps.rest.responses import check_if_match, done, json_answer

Document = View | Mapping[str, Any]
Answer = Document | Response
Handler = Callable[..., Answer]
H = TypeVar("H", bound=Handler)
HANDLERS: dict[str, Handler] = {}
"""Handlers by the name of their route."""


def handles(route: Route[Any]) -> Callable[[H], H]:
    """Make a function the handler of a route.

    :raises AdonError: if the route has a handler already.
    """

    def register(handler: H) -> H:
        if HANDLERS.setdefault(route.name, handler) is not handler:
            raise AdonError(f"{route.name} has two handlers")
        return handler

    return register


def bind_routes(app: OpenAPI, handlers: Mapping[str, Handler] = HANDLERS) -> None:
    """Give the application a view for each route.

    :raises AdonError: for routes without a handler, and handlers without a route.
    """
    if unmatched := ROUTES.keys() ^ handlers.keys():
        raise AdonError(f"no handler or no route: {', '.join(sorted(unmatched))}")
    api = APIBlueprint(authentication.BLUEPRINT, __name__, url_prefix=PREFIX)
    for step in (
        authentication.identify,
        rate_limits.limit_request,  # a refusal counts like an answer
        authorisation.authorise_request,
        request_input.check_query,
        request_input.check_body,
        request_input.check_key,
    ):
        api.before_request(step)
    for route in ROUTES.values():
        bind = getattr(api, route.method.lower())
        described = bind(
            route.path.replace("{", "<").replace("}", ">"),
            tags=[Tag(name=route.tag.name, description=route.tag.description)],
            operation_id=route.name,
            responses=responses(route),
        )
        described(_view(route, handlers))
    app.register_api(api)


def _view(route: Route[Any], handlers: Mapping[str, Handler]) -> Callable[..., Response]:
    handler, subject = handlers[route.name], route.subject
    reader = _READERS.get(route.path) if route.conditional else None

    def view(path: BaseModel | None = None, **given: BaseModel) -> Response:
        about: list[Any] = [] if path is None else list(dict(path).values())
        if subject is not None and subject.owned:
            about = [read_subject(subject.kind, about[0], route.action)]
        if reader is not None and "If-Match" in request.headers:
            check_if_match(cast(Document, handlers[reader.name](*about)))
        return _response(route, handler(*about, **given))

    ids = None if subject is None else subject.ids
    models = {"path": ids, "query": route.query, "body": route.body}
    # flask-openapi3 reads the models from the annotations, and the summary from the docstring.
    view.__name__, view.__doc__ = route.name, handler.__doc__
    view.__annotations__ = {name: model for name, model in models.items() if model is not None}
    return view


_READERS: Mapping[str, Route[Any]] = {route.path: route for route in ROUTES.values() if route.method == GET}
"""Routes that read an object, by their path."""


def _response(route: Route[Any], answer: Answer) -> Response:
    if isinstance(answer, Response):
        return answer
    if route.method != GET:
        return done(answer, HTTPStatus(route.status), _location(route, answer))
    response = json_answer(answer)
    parameter = "after" if "after" in request.args else route.next_parameter
    if parameter is not None and isinstance(answer, ListView) and answer.next is not None:
        query = {**request.args.to_dict(), parameter: answer.next}
        response.headers["Link"] = f'<{request.path}?{urlencode(query)}>; rel="next"'
    return response


def _location(route: Route[Any], answer: Document) -> str | None:
    """Return the address of what was created."""
    if route.created is None or route.created.subject is None:
        return None
    fields = answer if isinstance(answer, Mapping) else dict(answer)
    ids = {name: fields[name] for name in route.created.subject.ids.model_fields}
    return PREFIX + route.created.address(**ids)
