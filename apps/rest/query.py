"""What may stand in a query: the names that an operation documents, each once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from flask import current_app, request
from pydantic import BaseModel, ConfigDict

from adon.errors import InvalidInput, Problem

MAX_QUERY = 8000
"""Characters of a query; longer than any that has a meaning here."""


class Query(BaseModel):
    """Base of all queries: a name that we do not know is a mistake."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:
        """The model's schema; made once in its plain form, which the framework asks for in every request."""
        if arguments or options:
            return super().model_json_schema(*arguments, **options)
        return _plain_schema(cls)


@cache
def _plain_schema(model: type[Query]) -> dict[str, Any]:
    return super(Query, model).model_json_schema()


def check_query() -> None:
    """Before each request: its query is one that the operation can have, or the request ends here.

    :raises InvalidInput: naming what is not known, or is given twice.
    """
    if request.endpoint is None:
        return
    if len(request.query_string) > MAX_QUERY:
        raise InvalidInput.of("query", f"is longer than {MAX_QUERY} characters")
    found = list(_problems(_names(current_app.view_functions[request.endpoint])))
    if found:
        raise InvalidInput(found)


def _problems(known: frozenset[str]) -> Iterator[Problem]:
    for name, values in request.args.lists():
        if not known:  # else its model says so, with everything else that is wrong
            yield Problem(name[:80], "is not known: this address has no parameters")
        elif len(values) > 1:
            yield Problem(name[:80], "is given twice", code="duplicate")


@cache
def _names(view: Callable[..., object]) -> frozenset[str]:
    """The parameters of a view's query model; none if it has no query."""
    model = inspect.get_annotations(inspect.unwrap(view), eval_str=True).get("query")
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return frozenset()
    return frozenset(field.alias or name for name, field in model.model_fields.items())
