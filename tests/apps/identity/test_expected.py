"""Somebody whom an administrator named before they signed in for the first time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adon.access.user_names import PRINCIPALS, UserIdentity
from tests.apps.identity.site import Clocks, give_ways
from tests.support.web_world import NOW, World

ANN = "ann@missouri.edu"
SECRET = "correct horse"  # noqa: S105
PARTY = "https://login.example.edu"


@pytest.fixture
def shibboleth(world: World, tmp_path: Path) -> World:
    """A world in which somebody signs in over a web server with mod_shib."""
    (tmp_path / "secret").write_text(SECRET)
    proxy = {"proxies": ["127.0.0.1"], "secret_file": str(tmp_path / "secret")}
    settings = {"shibboleth": proxy, "default_roles": ["researcher"], "public_url": "http://127.0.0.1"}
    give_ways(world, settings, "", Clocks())
    return world


def sign_in(world: World, principal: str = ANN) -> Any:
    headers = {"Adon-Proxy-Secret": SECRET, "Shib-Identity-Provider": "https://idp", "eppn": principal}
    answer = world.app.test_client().get("/sign-in/shibboleth", headers=headers)
    assert answer.status_code == 303, answer.text
    return answer


def test_the_first_sign_in_is_the_user_who_was_named(shibboleth: World) -> None:
    body = {"name": ANN, "granted": ["operator"], "identity": {"subject": "Ann@Missouri.EDU"}}
    made = shibboleth.ask("POST", "/users", json=body)
    assert (made.status_code, made.json["issuer"], made.json["subject"]) == (201, PRINCIPALS, ANN)
    assert made.json["last_seen"] is None
    sign_in(shibboleth)
    user = shibboleth.ask("GET", f"/users/{ANN}").json
    assert user["last_seen"] is not None
    assert set(user["roles"]) == {"operator", "researcher"}
    assert [one.name for one in shibboleth.access.users.list() if "ann" in one.name] == [ANN]
    again = shibboleth.ask("POST", "/users", json={**body, "name": "annie"})
    assert (again.status_code, again.json["problems"][0]["field"]) == (409, "identity")
    assert ANN in again.json["detail"]
    shibboleth.audit.flush()
    said = [line.entry.detail for line in shibboleth.access.audit.all()]
    assert any(line.startswith(f"{ANN}: ") and line.endswith(PRINCIPALS) for line in said)


def test_without_an_identity_the_name_is_somebody_else_s(shibboleth: World) -> None:
    shibboleth.ask("POST", "/users", json={"name": ANN, "granted": ["operator"]})
    sign_in(shibboleth)
    assert shibboleth.access.users.get(ANN).last_seen is None
    assert shibboleth.access.users.get(f"{ANN}-2").roles == {"researcher"}


def test_a_party_s_own_identifier(world: World) -> None:
    identity = {"issuer": PARTY, "subject": "248289"}
    assert world.ask("POST", "/users", json={"name": "ann", "identity": identity}).status_code == 201
    actor = world.access.users.sign_in(UserIdentity("x", PARTY, "248289"), ["auditor"], NOW)
    assert (actor.name, actor.roles) == ("ann", {"auditor"})


@pytest.mark.parametrize(
    ("identity", "field"),
    [
        ({}, "identity.subject"),
        ({"subject": ""}, "identity.subject"),
        ({"subject": "ann"}, "identity.subject"),
        ({"subject": "ann@missouri.edu\n"}, "identity.subject"),
        ({"subject": "ann@missouri.edu", "issuer": "local"}, "identity.issuer"),
        ({"subject": "7", "issuer": "https:// x"}, "identity.issuer"),
        ({"subject": "a b", "issuer": PARTY}, "identity.subject"),
        ({"subject": "7", "issuer": PARTY, "name": "x"}, "identity.name"),
    ],
)
def test_an_identity_that_no_sign_in_can_present(world: World, identity: dict[str, str], field: str) -> None:
    answer = world.ask("POST", "/users", json={"name": "ann", "identity": identity})
    assert answer.status_code == 422, answer.text
    assert answer.json["problems"][0]["field"] == field
