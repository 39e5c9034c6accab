"""Where links lead: to pages that there are."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from apps.dashboard.page import find
from apps.dashboard.pages import PAGES
from apps.dashboard.router import query_of
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import links
from tests.studies.documents import several
from tests.support.fake_collector import FELL
from tests.support.page_paths import PATHS
from tests.support.web_world import World


@pytest.fixture
def filled(world: World) -> World:
    world.submit()
    world.stage.alarm(FELL)
    for kind, document in several():
        world.ask("POST", "/studies", json={"kind": kind.value, "document": document})
    return world


def test_every_link_of_every_page_leads_to_a_page(filled: World, visiting: Visiting) -> None:
    nowhere = set()
    for address in PATHS:
        asked = urlsplit(address)
        page, parts = find(PAGES, asked.path) or pytest.fail(f"no page at {address}")
        here = visiting(parts=dict(parts), query=dict(query_of(asked.query)))
        drawn = [part(here) for part in (page.show, page.live, page.below) if part]
        nowhere |= {
            (address, link)
            for link in links(drawn)
            if link.startswith("/") and find(PAGES, urlsplit(link).path) is None
        }
    assert nowhere == set()
