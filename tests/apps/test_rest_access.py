"""How somebody proves who they are; what each may do then is in test_authorisation_matrix.py."""

from __future__ import annotations

import pytest
from flask_openapi3.openapi import OpenAPI

from adon.api import routes
from adon.errors import AdonError
from apps.rest.dispatch import HANDLERS, bind_routes, handles
from tests.support.web_world import signed_in


@pytest.mark.parametrize("header", ["Basic YWRtaW46eA==", "Bearer", "Bearer ", "adon_x", "Bearer \xff"])
def test_another_way_to_prove_who_one_is_is_refused(world, header):
    answer = world.client.get("/api/v1/flows", headers={"Authorization": header})
    assert answer.status_code == 401


def test_the_dashboard_s_cookie_opens_nothing_here(world):
    world.client.post("/sign-in", data={"token": world.tokens["admin"]})
    assert signed_in(world.client)
    assert world.ask("GET", "/flows", None).status_code == 401


def test_an_application_without_a_handler_for_each_route_does_not_start():
    missing = {name: handler for name, handler in HANDLERS.items() if name != "list_flows"}
    with pytest.raises(AdonError, match="list_flows"):
        bind_routes(OpenAPI("x"), missing)
    with pytest.raises(AdonError, match="fly"):
        bind_routes(OpenAPI("x"), {**HANDLERS, "fly": HANDLERS["list_flows"]})


def test_a_route_has_one_handler():
    with pytest.raises(AdonError, match="list_flows"):
        handles(routes.LIST_FLOWS)(dict)
