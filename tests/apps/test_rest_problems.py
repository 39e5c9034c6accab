"""Problems of a request name the field, the cause and a valid example."""

from __future__ import annotations

import re

import pytest

from adon.api.routes import ROUTES
from apps.rest.examples import EXAMPLES
from tests.apps.peopled import peopled

VALUES = (17.5, -1, "x y!", "", None, True, [], {})
"""Values that most fields refuse."""
EXPECTATION = re.compile(r"for example|such as|expected|known are|did you mean|[Ww]rite |must be ('|one of)")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory, empty_state):
    with peopled(tmp_path_factory.mktemp("problems"), empty_state) as built:
        yield built


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_problem_of_a_body_s_field_has_an_example(crowd, name):
    route, body = ROUTES[name], EXAMPLES[name]
    address = route.address(id="f-1", name="ann")
    for field in route.body.model_fields:
        for value in VALUES:
            answer = crowd.world.ask(route.method, address, json={**body, field: value})
            problems = answer.json["problems"] if answer.status_code == 422 else []
            for problem in problems:
                if problem["field"] == field:
                    assert EXPECTATION.search(problem["cause"]), problem


def test_reported_size_has_a_unit_or_counts_bytes(crowd):
    address = "/flows/f-1/reports"
    for size in ("25 gigabytes per second", "25", True, -1, 1.5):
        answer = crowd.world.ask("POST", address, json={"status": "progress", "bytes": size})
        assert answer.status_code == 422
        assert [problem["field"] for problem in answer.json["problems"]] == ["bytes"]
