"""Whatever is sent that the API's description allows, or forbids: what comes back is as it is described.

Every operation, as every role, with and without an object that is there; seeded, so that a failure comes
again.  ``ADON_SCHEMATHESIS_EXAMPLES`` says how often each is tried, a few times without it.
"""

from __future__ import annotations

import os
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.openapi import from_wsgi

from apps.rest.services import DESCRIPTION
from apps.rest.web_app import create_app
from tests.apps.peopled import PREFIX, Peopled, peopled
from tests.support.schema_checks import CHECKS
from tests.support.web_world import ROLES

EXAMPLES = int(os.environ.get("ADON_SCHEMATHESIS_EXAMPLES", "12"))
WHO = (*["admin"] * 6, *ROLES, "rival", "unknown", None)
"""Mostly somebody who is not refused at the gate."""
SLOW = frozenset({"what_if"})
"""Every single failure is rehearsed: tried less often."""


def _operations() -> list[tuple[str, str, str]]:
    document = create_app(cast(Any, None)).extensions[DESCRIPTION]
    return [
        (method.upper(), path, operation["operationId"])
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


OPERATIONS = _operations()


@pytest.fixture(scope="module")
def crowd(tmp_path_factory, empty_state):
    with peopled(tmp_path_factory.mktemp("crowd"), empty_state) as built:
        yield built


@pytest.fixture(scope="module")
def schema(crowd):
    return from_wsgi(f"{PREFIX}/openapi.json", crowd.world.app)


@pytest.mark.parametrize(("method", "path", "name"), OPERATIONS, ids=[name for *_, name in OPERATIONS])
def test_what_comes_back_is_as_described(crowd, schema, method, path, name):
    operation = schema[path][method]
    modes = st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    cases = modes.flatmap(lambda mode: operation.as_strategy(generation_mode=mode))

    @seed(6)
    @settings(
        max_examples=min(EXAMPLES, 4) if name in SLOW else EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, who=st.sampled_from(WHO), there=st.booleans())
    def holds(case, who, there):
        _aim(crowd, case, path.removeprefix(PREFIX), who, there=there)
        headers = {} if who is None else {"Authorization": f"Bearer {crowd.world.tokens[who]}"}
        case.call_and_validate(headers=headers, checks=CHECKS)

    holds()


def _aim(crowd: Peopled, case: schemathesis.Case, path: str, who: str | None, *, there: bool) -> None:
    """Have a case ask about something that is there, as its owner; and end streams at once."""
    if there and case.path_parameters:
        known = crowd.address(path, who if who in crowd.ids else "rival").split("/")
        for wanted, given_ in zip(path.split("/"), known, strict=True):
            if wanted.startswith("{"):
                case.path_parameters[wanted.strip("{}")] = given_
    if path == "/events":
        case.query = {"seconds": "0.01"}


def test_a_method_that_is_not_described_is_refused(crowd, schema):
    for method, path, _ in OPERATIONS:
        case = schema[path][method].Case(
            method="TRACE", path_parameters={"id": "x", "name": "x", "version": 1, "network": "x"}
        )
        answer = case.call(headers={"Authorization": f"Bearer {crowd.world.tokens['admin']}"})
        assert answer.status_code == 405, (path, answer.text)
        assert answer.headers["allow"], path
