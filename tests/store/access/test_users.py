from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

from adon.access.audit import AuditEntry, Outcome
from adon.access.identity import create_token
from adon.access.user_names import UserIdentity
from adon.errors import Conflict, Forbidden, InvalidInput, NotAuthenticated, NotFound, Unavailable
from adon.store.access.access import Access
from adon.store.access.audit import AuditFilter
from tests.support.refusals import refused

NOW = 2000.0
IDP = "https://idp.example.edu"
ENTRY = AuditEntry(
    NOW, "ann", "token:1", "10.0.0.1", "flow.read", "GET", "/flows", Outcome.REFUSED, 403, "no"
)


def execute(url: str, *statements: str) -> None:
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


# -- users ----------------------------------------------------------------------------------------------


def test_who_signs_in_again_is_the_same_whatever_they_are_called_now(access: Access) -> None:
    first = access.users.sign_in(UserIdentity("bob", IDP, "7"), ["researcher"], NOW)
    second = access.users.sign_in(
        UserIdentity("robert", IDP, "7"), ["operator"], NOW + 1, groups=frozenset("g"), display="Robert"
    )
    assert (first.name, second.name) == ("bob", "bob")
    assert (second.roles, second.groups) == ({"operator"}, {"g"})
    user = access.users.get("bob")
    assert (user.display, user.first_seen, user.last_seen) == ("Robert", NOW, NOW + 1)


def test_two_who_are_called_alike_are_two(access: Access) -> None:
    one = access.users.sign_in(UserIdentity("Ann", IDP, "7"), ["admin"], NOW)
    assert one.name == "Ann-2"
    assert access.users.get("ann").roles == {"researcher"}
    other = access.users.sign_in(UserIdentity("bob", "https://other.edu", "7"), [], NOW)
    assert other.name == "bob"


def test_who_is_disabled_does_not_come_in(access: Access) -> None:
    identity = UserIdentity("bob", IDP, "7")
    access.users.sign_in(identity, ["researcher"], NOW)
    access.users.change("bob", NOW, disabled=True)
    with pytest.raises(Forbidden):
        access.users.sign_in(identity, ["admin"], NOW)


def test_no_issuer_is_this_machine(access: Access) -> None:
    with pytest.raises(Forbidden, match="local"):
        access.users.sign_in(UserIdentity("ann", "local", "ann"), ["admin"], NOW)
    assert access.users.get("ann").roles == {"researcher"}


def test_what_is_shown_of_somebody_plays_no_tricks(access: Access) -> None:
    access.users.sign_in(UserIdentity("bob", IDP, "7"), [], NOW, display="Bob\u202e\nx")
    assert access.users.get("bob").display == "Bob\\u202e\\u000ax"


def test_many_at_once_get_names_of_their_own(access: Access) -> None:
    names: list[str] = []

    def come(number: int) -> None:
        identity = UserIdentity("bob", IDP, str(number))
        names.append(access.users.sign_in(identity, [], NOW).name)

    threads = [threading.Thread(target=come, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 6


def test_names_that_cannot_be(access: Access) -> None:
    with refused(Conflict, field="name"):
        access.users.ensure("ANN", [], NOW)
    with pytest.raises(InvalidInput):
        access.users.ensure("a\u200bb", [], NOW)
    for name in ("nobody", "a\x00b"):
        with pytest.raises(NotFound):
            access.users.get(name)


def test_a_row_that_cannot_be_read_is_refused(access: Access, access_url: str) -> None:
    execute(access_url, "UPDATE access_users SET groups = '17'")
    with refused("unavailable"):
        access.users.get("ann")


# -- tokens ---------------------------------------------------------------------------------------------


def test_a_token_proves_its_owner_with_the_roles_of_now(access: Access) -> None:
    text, token = create_token("ann", NOW, scope=["report"])
    access.tokens.save(token)
    actor = access.tokens.authenticate(text, NOW)
    assert (actor.name, actor.roles, actor.via, actor.proof) == ("ann", {"researcher"}, "token", token.id)
    access.users.change("ann", NOW, granted=["auditor"])
    assert access.tokens.authenticate(text, NOW).roles == {"auditor"}
    with pytest.raises(Conflict):
        access.tokens.save(token)
    with pytest.raises(NotFound):
        access.tokens.save(create_token("nobody", NOW)[1])


@pytest.mark.parametrize("presented", ["", "adon_", "adon_x", "\ud800", "ä" * 1000, "' OR 1=1 --", "a\x00"])
def test_what_is_no_token(access: Access, presented: str) -> None:
    with pytest.raises(NotAuthenticated):
        access.tokens.authenticate(presented, NOW)


def test_the_first_revocation_counts(access: Access) -> None:
    text, token = create_token("ann", NOW)
    access.tokens.save(token)
    access.tokens.revoke(token.id, NOW + 1)
    assert access.tokens.revoke(token.id, NOW + 2).revoked == NOW + 1
    with pytest.raises(NotAuthenticated, match="revoked"):
        access.tokens.authenticate(text, NOW + 3)
    for name in ("nobody", "a\x00b", ""):
        with pytest.raises(NotFound):
            access.tokens.revoke(name, NOW)


def test_when_it_was_last_used_is_kept_to_the_minute(access: Access) -> None:
    text, token = create_token("ann", NOW)
    access.tokens.save(token)
    for later in (0, 30, 59):
        access.tokens.authenticate(text, NOW + later)
    assert access.tokens.get(token.id).used == NOW
    access.tokens.authenticate(text, NOW + 60)
    assert access.tokens.get(token.id).used == NOW + 60


def test_who_only_has_a_token_has_been_seen(access: Access) -> None:
    text, token = create_token("ann", NOW)
    access.tokens.save(token)
    access.users.ensure("ben", [], NOW)
    access.tokens.authenticate(text, NOW + 5)
    assert access.users.get("ann").last_seen == NOW + 5
    assert access.users.get("ben").last_seen is None


def test_that_its_use_cannot_be_written_down_keeps_nobody_out(access: Access, access_url: str) -> None:
    text, token = create_token("ann", NOW)
    access.tokens.save(token)
    with Access.open(access_url, read_only=True) as reader:
        assert reader.tokens.authenticate(text, NOW).name == "ann"
    assert access.tokens.get(token.id).used is None


# -- the audit log --------------------------------------------------------------------------------------


def test_it_only_grows(access: Access, access_url: str) -> None:
    access.audit.append([ENTRY, ENTRY])
    replaced = (
        ["INSERT OR REPLACE INTO access_audit SELECT * FROM access_audit WHERE number = 1"]
        if access_url.startswith("sqlite")
        else ["TRUNCATE access_audit"]
    )
    for statement in ("UPDATE access_audit SET actor = 'bob'", "DELETE FROM access_audit", *replaced):
        with pytest.raises(DBAPIError):
            execute(access_url, statement)
    assert access.audit.verify().problem is None


def test_what_somebody_with_the_database_does_is_found(access: Access, access_url: str) -> None:
    for number in range(5):
        access.audit.append([ENTRY] * (number + 1))
    away = (
        ("DROP TRIGGER access_audit_no_update", "DROP TRIGGER access_audit_no_delete")
        if access_url.startswith("sqlite")
        else ("DROP TRIGGER access_audit_never_change ON access_audit",)
    )
    execute(access_url, *away, "DELETE FROM access_audit WHERE number = 15")
    found = access.audit.verify()
    assert (found.lines, found.problem is None) == (14, False)
    execute(access_url, "UPDATE access_audit SET status = 200 WHERE number = 3")
    assert "line 3" in str(access.audit.verify().problem)
    execute(access_url, "DELETE FROM access_audit WHERE number = 2")
    assert "line 2" in str(access.audit.verify().problem)
    access.audit.append([ENTRY])
    assert access.audit.verify().lines == 1


def test_many_writers_make_one_chain(access: Access, access_url: str) -> None:
    def write() -> None:
        with Access.open(access_url) as other:
            for _ in range(10):
                other.audit.append([ENTRY])

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = access.audit.verify()
    assert (found.lines, found.problem) == (40, None)
    assert access.audit.count() == 40
    assert len(list(access.audit.all())) == 40


def test_lines_are_found_as_they_were_written(access: Access) -> None:
    odd = ENTRY.sanitise()
    access.audit.append([odd])
    access.audit.append([AuditEntry(NOW + 0.1, "b\x00b", "", "", "x", "", "", Outcome.DONE, 0, "\ud800")])
    newest, oldest = access.audit.lines(AuditFilter(), 10)
    assert oldest.entry == odd
    assert access.audit.lines(AuditFilter(actor="b\x00b"), 10) == (newest,)
    assert access.audit.lines(AuditFilter(until=NOW + 0.1), 10) == (oldest,)
    assert access.audit.verify().problem is None


def test_a_database_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        Access.open(f"sqlite:///{tmp_path}/access.db")
