"""How what moves on a page is fetched again (:data:`apps.dashboard.router.POLL`)."""

from __future__ import annotations

import re

import pytest
from werkzeug.test import Client

from apps.dashboard.router import POLL
from apps.rest.services import NAME
from apps.rest.web_app import Site
from tests.support.web_world import World


@pytest.fixture
def site(world: World) -> Site:
    return Site(world.app.extensions[NAME], world.app)


def signed_in(site: Site, world: World, role: str = "researcher") -> Client:
    client = Client(site)
    assert client.post("/sign-in", data={"token": world.tokens[role]}).status_code == 303
    return client


def test_each_is_sent_their_own(site: Site, world: World) -> None:
    first, second = (signed_in(site, world, role) for role in ("researcher", "admin"))
    account = {"path": "/account"}
    found = [one.get(POLL, query_string=account).text for one in (first, second, first)]
    assert found[0] == found[2] != found[1]


def test_nobody_fetches_anything_before_signing_in(site: Site) -> None:
    answer = Client(site).get(POLL, query_string={"path": "/flows"})
    assert (answer.status_code, answer.text) == (401, "sign in")


def test_who_has_signed_out_fetches_nothing_any_more(site: Site, world: World) -> None:
    client = signed_in(site, world)
    assert client.get(POLL, query_string={"path": "/flows"}).status_code == 200
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/sign-out").text)
    assert csrf is not None
    cookie = client.get_cookie("adon_session")
    assert cookie is not None
    assert client.post("/sign-out", data={"csrf": csrf[1]}).status_code in (200, 303)
    client.set_cookie("adon_session", cookie.value)
    assert client.get(POLL, query_string={"path": "/flows"}).status_code == 401
