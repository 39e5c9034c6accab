"""A page asks for nothing that its reader is refused: that is audited, and a page asks every few seconds."""

from __future__ import annotations

from contextlib import suppress

import pytest

from adon.access.identity import Actor
from adon.errors import AdonError
from adon.values import Role
from apps.dashboard.pages import PAGES
from tests.dashboard.conftest import Visiting
from tests.support.rest_answers import audit_entries
from tests.support.web_world import World


@pytest.mark.parametrize("role", list(Role))
def test_no_page_asks_for_what_its_reader_is_refused(world: World, visiting: Visiting, role: Role) -> None:
    made = world.submit()
    parts = {"/flows/<id>": {"id": made}, "/users/<name>": {"name": role.value}}
    for page in PAGES:
        if "<" in page.path and page.path not in parts:
            continue
        actor = Actor(role.value, frozenset({role.value}))
        if not page.offered_to(actor):
            continue
        here = visiting(role.value, parts=parts.get(page.path, {}), query={})
        for part in filter(None, (page.show, page.live, page.below)):
            with suppress(AdonError):  # told on the page, in place of the part
                part(here)
    refused = {(one["method"], one["object"]) for one in audit_entries(world) if one["outcome"] == "refused"}
    assert refused == set()
