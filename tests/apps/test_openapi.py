"""The API's description: valid, complete, and true in what can be read off the application itself."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from flask_openapi3.openapi import OpenAPI
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from adon.api.base import PREFIX, ListView
from adon.api.routes import ROUTES
from apps.rest import openapi
from apps.rest.examples import EXAMPLES
from apps.rest.services import DESCRIPTION
from apps.rest.web_app import create_app

DOCS = Path(__file__).parents[2] / "docs" / "rest-api.md"
SECURED = {"401", "403", "422", "429", "503"}
POSTED = {"400", "409", "413", "415"}


@pytest.fixture(scope="module")
def app() -> OpenAPI:
    return create_app(cast(Any, None))


@pytest.fixture(scope="module")
def document(app) -> dict[str, Any]:
    return cast(dict[str, Any], app.extensions[DESCRIPTION])


@pytest.fixture(scope="module")
def operations(document) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def test_it_is_openapi_3_1(document):
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []
    assert document["openapi"].startswith("3.1")


def test_every_operation_says_what_it_is(operations, document):
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    for method, path, operation in operations:
        assert operation["summary"].endswith((".", ")")) or operation["summary"], path
        assert operation["tags"], path
        assert set(operation["tags"]) <= set(tags), path
        for parameter in operation["parameters"]:
            assert parameter["schema"], (method, path, parameter["name"])
    assert all(tags.values())


def test_operation_ids_are_names_that_no_other_has(operations):
    counts = Counter(operation["operationId"] for _, _, operation in operations)
    assert [name for name, count in counts.items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z][a-z_]*", name) for name in counts)


def test_every_operation_names_the_failures_that_can_occur(operations):
    for method, path, operation in operations:
        told = set(operation["responses"])
        if operation["security"]:
            assert told >= SECURED, path
            assert operation["security"][0]["token"], path
        else:
            assert told >= SECURED - {"401", "403"}, path
        if method == "post":
            assert told >= POSTED, path
        if method == "delete":
            assert told >= {"404", "412"}, path
        if "{" in path:
            assert "404" in told, path
        if method == "get" and operation["operationId"] not in ("metrics", "events"):
            assert "304" in told, path


def test_every_failure_is_a_problem_document(operations):
    for _, path, operation in operations:
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                assert int(status) in openapi.CAUSES, status
                assert list(response["content"]) == ["application/problem+json"], (path, status)


def test_every_success_has_a_body_that_is_described(operations):
    for _, path, operation in operations:
        for status, response in operation["responses"].items():
            if int(status) < 300:
                assert response["content"], (path, status)
                for content in response["content"].values():
                    assert content["schema"], (path, status)


def test_each_route_is_an_operation_with_its_permission_and_a_summary(operations):
    described = {
        operation["operationId"]: (method, path, operation) for method, path, operation in operations
    }
    assert set(described) == set(ROUTES)
    for name, route in ROUTES.items():
        method, path, operation = described[name]
        assert (method.upper(), path) == (route.method, PREFIX + route.path)
        assert operation["security"] == ([] if route.anonymous else [{"token": [route.action.value]}])
        assert operation["summary"], name


def test_every_body_has_an_example_that_is_accepted(app, operations, document):
    for _, path, operation in operations:
        if "requestBody" not in operation:
            continue
        content = operation["requestBody"]["content"]["application/json"]
        assert "example" in content, path
        model = _model(content["schema"]["$ref"].rpartition("/")[2], path)
        model.model_validate(content["example"])
    named = {operation["operationId"] for _, _, operation in operations}
    assert set(EXAMPLES) <= named


def _model(name: str, path: str) -> type[BaseModel]:
    named = [one for one in _subclasses(BaseModel) if one.__name__ == name]
    ours = [one for one in named if one.__module__.startswith(("adon.api", "apps.rest"))]
    assert len(ours) == 1, (name, path)
    return ours[0]


def _subclasses(of: type[BaseModel]) -> list[type[BaseModel]]:
    return [one for each in of.__subclasses__() for one in (each, *_subclasses(each))]


def test_no_two_models_have_one_name(document):
    """A description has one schema per name: of two models the second would silently be the first."""
    schemas = document["components"]["schemas"]
    wrong = set()
    for model in _subclasses(BaseModel):
        if not model.__module__.startswith(("adon.api", "apps.rest")):
            continue
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        for name, found in {**schema.pop("$defs", {}), model.__name__: schema}.items():
            known = schemas.get(name)
            if known is not None and _shape(known) != _shape(found):
                wrong.add((name, model.__module__))
    assert wrong == set()


def _shape(schema: dict[str, Any]) -> tuple[Any, ...]:
    return set(schema.get("properties", ())), schema.get("enum"), schema.get("type")


def test_every_list_can_be_paged(operations):
    described = {operation["operationId"]: operation for _, _, operation in operations}
    lists = [route for route in ROUTES.values() if issubclass(route.answer, ListView)]
    assert len(lists) > 30
    for route in lists:
        operation = described[route.name]
        parameters = {one["name"] for one in operation["parameters"]}
        assert {"limit", route.next_parameter} <= parameters, route.name
        assert "Link" in operation["responses"]["200"]["headers"], route.name


def test_every_get_of_a_list_is_a_list_with_next(operations, document):
    """Whatever answers ``items`` has ``next``, but for reports that are always whole."""
    whole = {
        "plot",
        "what_if",
        "get_calibration",
        "explain_rules",
        "get_mesh",
        "get_advice",
        "list_roles",
        "get_overlaps",
    }
    for method, path, operation in operations:
        content = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        properties = document["components"]["schemas"].get(name, {}).get("properties", {})
        if method == "get" and "items" in properties:
            assert ("next" in properties) is not (operation["operationId"] in whole), path


def test_defaults_are_of_their_own_type(document):
    def check(part: Any, where: str) -> None:
        if isinstance(part, dict):
            if part.get("type") == "string" and "default" in part:
                assert isinstance(part["default"], str), where
            for name, one in part.items():
                check(one, f"{where}.{name}")

    check(document["components"]["schemas"], "")


def test_the_documentation_names_no_operation_that_is_not_there(operations):
    known = {(method.upper(), path.removeprefix(PREFIX)) for method, path, _ in operations}
    named = set(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`?\s]*)", DOCS.read_text()))
    assert named - known == set()


def test_a_default_with_a_unit_is_one_that_could_be_sent():
    schema = {"p": {"type": "string", "format": "time-span", "default": 30.0}}
    openapi._write_defaults(schema)
    assert schema["p"] == {"type": "string", "format": "time-span", "default": "30 s", "examples": ["20 ms"]}
