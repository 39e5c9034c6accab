"""``/tests`` and ``/tools``: what this point can measure, and whether a specification is right."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from measurement.point import views
from measurement.point.api.request_answers import (
    an_object,
    argument,
    as_json,
    base,
    list_items,
    participants,
    spec_of,
    test_named,
)
from measurement.point.model import TESTS
from measurement.point.specs import LOCAL, parse_spec


def routes() -> Blueprint:
    """The resources."""
    found = Blueprint("tests", __name__)

    @found.get("/tests")
    def tests() -> Response:
        return as_json(list_items([views.test_view(test, base()) for test in TESTS.values()]))

    @found.get("/tests/<name>")
    def test(name: str) -> Response:
        return as_json(views.test_view(test_named(name), base()))

    @found.get("/tests/<name>/tools")
    def test_tools(name: str) -> Response:
        return as_json([views.tool_view(test_named(name), base())])

    @found.get("/tests/<name>/spec/is-valid")
    def is_valid(name: str) -> Response:
        test_named(name)
        try:
            parse_spec(name, argument("spec"))
        except ValueError as error:
            return as_json({"valid": False, "error": str(error)})
        return as_json({"valid": True})

    @found.get("/tests/<name>/participants")
    def taking_part(name: str) -> Response:
        named = participants(test_named(name), spec_of(name, argument("spec")))
        answer: dict[str, Any] = {"participants": [found or None for found in named]}
        if named[0] == LOCAL:
            answer["null-reason"] = "No source specified"
        return as_json(answer)

    @found.get("/tools")
    def tools() -> Response:
        if "test" not in request.args:
            return as_json(list_items([views.tool_view(test, base()) for test in TESTS.values()]))
        wanted = an_object(argument("test"))
        known = test_named(str(wanted.get("type")))
        spec_of(known.name, wanted.get("spec"))
        return as_json([views.tool_view(known, base())])

    return found
