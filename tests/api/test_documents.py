"""Documents made of values, and routes as values."""

from __future__ import annotations

from http import HTTPStatus
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from adon.api import routes
from adon.api.base import Seconds, View


class Leg(View):
    name: str
    rtt_seconds: float | None


class Trip(View):
    id: str
    size_bytes: int
    took_seconds: Seconds
    legs: list[Leg]


LEGS = ({"name": "a", "rtt": 0.5}, SimpleNamespace(name="b", rtt=None))
BODY = {
    "id": "t",
    "size_bytes": 3,
    "took_seconds": "inf",
    "legs": [{"name": "a", "rtt_seconds": 0.5}, {"name": "b", "rtt_seconds": None}],
}


@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_field_with_a_unit_shows_the_value_without_the_unit(kind):
    value = kind(id="t", size=3, took=float("inf"), legs=LEGS)
    assert Trip.of(value).body() == BODY


def test_named_fields_replace_those_of_the_value():
    value = SimpleNamespace(id="x", size=3, took=float("inf"))
    assert Trip.of(value, id="t", legs=LEGS).body() == BODY


def test_document_reads_its_own_json_again():
    assert Trip.model_validate(BODY).body() == BODY


def test_value_without_a_field_is_refused():
    with pytest.raises(ValidationError, match="legs"):
        Trip.of(SimpleNamespace(id="t", size=3, took=1.0))


@pytest.mark.parametrize(("name", "part"), [("a/b?c", "a%2Fb%3Fc"), ("..", "-"), ("é", "%C3%A9")])
def test_id_is_one_part_of_an_address(name, part):
    assert routes.GET_USER.address(name=name) == f"/users/{part}"


def test_route_of_each_created_object_reads_it():
    for route in routes.ROUTES.values():
        if route.created is not None:
            assert route.created.method == "GET"
            assert route.created.subject is not None
            assert route.created.subject.ids.model_fields.keys() <= route.answer.model_fields.keys()


def test_route_that_answers_created_names_the_route_that_reads_the_object():
    created = [route for route in routes.ROUTES.values() if route.status == HTTPStatus.CREATED]
    assert created
    assert [route.name for route in created if route.created is None] == []


def test_route_that_changes_one_object_has_a_route_that_reads_it():
    paths = {route.path for route in routes.ROUTES.values() if route.method == "GET"}
    assert {route.path for route in routes.ROUTES.values() if route.conditional} <= paths
