"""How somebody proves who they are; what each may do then is in test_authorisation_matrix.py."""

from __future__ import annotations

import pytest

from adon.errors import AdonError
from apps.rest import guard
from tests.support.web_world import signed_in


@pytest.mark.parametrize("header", ["Basic YWRtaW46eA==", "Bearer", "Bearer ", "adon_x", "Bearer \xff"])
def test_another_way_to_prove_who_one_is_is_refused(world, header):
    answer = world.client.get("/api/v1/flows", headers={"Authorization": header})
    assert answer.status_code == 401


def test_the_dashboard_s_cookie_opens_nothing_here(world):
    world.client.post("/sign-in", data={"token": world.tokens["admin"]})
    assert signed_in(world.client)
    assert world.ask("GET", "/flows", None).status_code == 401


def test_a_view_that_no_rule_covers_does_not_start(world):
    view = world.app.view_functions["flows.list_flows"]
    bare = lambda **_: ""  # noqa: E731
    world.app.view_functions["flows.list_flows"] = bare
    with pytest.raises(AdonError, match=r"flows\.list_flows"):
        guard.require_actions(world.app)
    world.app.view_functions["flows.list_flows"] = view
    guard.require_actions(world.app)
