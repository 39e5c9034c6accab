from __future__ import annotations

import pytest
import sqlalchemy

from adon.access.identity import Actor, create_token
from adon.access.user_names import UserIdentity
from adon.errors import NotFound
from adon.store.access import access_tables as tables
from adon.store.access.access import Access
from adon.store.access.sessions import MOST_OF_A_USER

NOW = 2000.0


def signed_in(access: Access, name: str = "bob", role: str = "operator") -> Actor:
    identity = UserIdentity(name, "https://idp.example.edu", name)
    return access.users.sign_in(identity, [role], NOW, groups=frozenset("g"))


def with_token(access: Access, lifetime: float | None = None, **more: object) -> Actor:
    text, token = create_token("ann", NOW, lifetime, **more)  # type: ignore[arg-type]
    access.tokens.save(token)
    return access.tokens.authenticate(text, NOW)


def test_it_is_there_after_a_restart_with_roles_and_groups(access: Access, access_url: str) -> None:
    cookie = access.sessions.start(signed_in(access), "oidc", NOW, {"sid": "7"})
    access.close()
    with Access.open(access_url) as again:
        session = again.sessions.get(cookie, NOW + 1)
        assert session is not None
        assert (session.actor.name, session.actor.roles, session.actor.groups) == ("bob", {"operator"}, {"g"})
        assert (session.how, session.extra, session.actor.via) == ("oidc", {"sid": "7"}, "session:oidc")


def test_only_the_digest_is_in_the_database(access: Access, access_url: str) -> None:
    cookie = access.sessions.start(signed_in(access), "oidc", NOW)
    engine = sqlalchemy.create_engine(access_url)
    with engine.connect() as connection:
        kept = str(connection.execute(sqlalchemy.select(tables.sessions)).all())
    engine.dispose()
    session = access.sessions.get(cookie, NOW)
    assert session is not None
    assert cookie not in kept
    assert session.csrf not in kept
    assert cookie not in repr(session)
    assert session.csrf not in repr(session)
    assert len(cookie) >= 43  # 256 bits


@pytest.mark.parametrize("cookie", [None, "", "x", "ä" * 5000, "\ud800"])
def test_what_is_no_cookie_of_ours(access: Access, cookie: str | None) -> None:
    assert access.sessions.get(cookie, NOW) is None
    access.sessions.end(cookie)


def test_it_ends_when_it_is_not_used(access: Access) -> None:
    cookie = access.sessions.start(signed_in(access), "oidc", NOW)
    assert access.sessions.get(cookie, NOW + 599) is not None
    assert access.sessions.get(cookie, NOW + 599 + 599) is not None
    assert access.sessions.get(cookie, NOW + 599 + 599 + 600) is None


def test_who_uses_it_has_been_seen(access: Access) -> None:
    actor = signed_in(access)
    cookie = access.sessions.start(actor, "oidc", NOW)
    access.sessions.get(cookie, NOW + 70)
    assert access.users.get(actor.name).last_seen == NOW + 70


def test_it_ends_however_much_it_is_used(access: Access) -> None:
    cookie = access.sessions.start(signed_in(access), "oidc", NOW)
    for later in range(0, 3600, 300):
        assert access.sessions.get(cookie, NOW + later) is not None
    assert access.sessions.get(cookie, NOW + 3600) is None


def test_signing_out_ends_it_and_the_cookie_replayed_opens_nothing(access: Access) -> None:
    actor = signed_in(access)
    cookie, other = (access.sessions.start(actor, "oidc", NOW) for _ in range(2))
    access.sessions.end(cookie)
    assert access.sessions.get(cookie, NOW) is None
    assert access.sessions.get(other, NOW) is not None


def test_disabling_the_user_ends_it(access: Access) -> None:
    cookie = access.sessions.start(signed_in(access), "oidc", NOW)
    access.users.change("bob", NOW, disabled=True)
    assert access.sessions.get(cookie, NOW) is None


def test_roles_taken_away_are_gone_at_once(access: Access) -> None:
    cookie = access.sessions.start(signed_in(access), "oidc", NOW)
    access.users.change("bob", NOW, removed=["operator"])
    session = access.sessions.get(cookie, NOW)
    assert session is not None
    assert session.actor.roles == frozenset()


def test_it_ends_with_the_token_that_it_began_with(access: Access) -> None:
    actor = with_token(access)
    cookie = access.sessions.start(actor, "token", NOW)
    assert access.sessions.get(cookie, NOW) is not None
    access.tokens.revoke(actor.proof, NOW)
    assert access.sessions.get(cookie, NOW) is None
    cookie = access.sessions.start(with_token(access, 60.0), "token", NOW)
    assert access.sessions.get(cookie, NOW + 59) is not None
    assert access.sessions.get(cookie, NOW + 60) is None


def test_it_is_good_for_no_more_than_its_token(access: Access) -> None:
    cookie = access.sessions.start(with_token(access, scope=["report"], roles=["admin"]), "token", NOW)
    session = access.sessions.get(cookie, NOW)
    assert session is not None
    assert session.actor.roles == frozenset()
    assert session.actor.scope is not None
    assert "flow.report" in session.actor.scope
    assert "flow.submit" not in session.actor.scope


def test_a_form_of_another_session_is_not_this_ones(access: Access) -> None:
    actor = signed_in(access)
    first, second = (access.sessions.get(access.sessions.start(actor, "oidc", NOW), NOW) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.proves(first.csrf)
    assert not first.proves(second.csrf)
    assert not first.proves("")
    assert not first.proves("\ud800")


def test_somebody_who_is_no_user_gets_none(access: Access) -> None:
    with pytest.raises(NotFound):
        access.sessions.start(Actor("nobody", frozenset({"admin"})), "oidc", NOW)


def test_listed_and_ended_by_id(access: Access) -> None:
    actor = signed_in(access)
    first, second = (access.sessions.start(actor, "oidc", NOW + n) for n in range(2))
    newest, oldest = access.sessions.list(NOW + 1, "bob")
    assert (newest.began, oldest.began) == (NOW + 1, NOW)
    assert newest.csrf == ""
    assert access.sessions.end_all("ann", newest.id) == 0
    assert access.sessions.end_all("bob", newest.id) == 1
    assert access.sessions.get(second, NOW + 1) is None
    assert access.sessions.get(first, NOW + 1) is not None
    assert access.sessions.end_all("bob") == 1


def test_a_user_has_so_many_at_most(access: Access) -> None:
    actor = signed_in(access)
    cookies = [access.sessions.start(actor, "oidc", NOW + n / 10) for n in range(MOST_OF_A_USER + 2)]
    at = NOW + 100
    assert [access.sessions.get(cookie, at) is not None for cookie in cookies[:3]] == [False, False, True]
    assert len(access.sessions.list(at, "bob")) == MOST_OF_A_USER
