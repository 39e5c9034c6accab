"""Users as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, Update, delete, insert, select, update

from adon.access.audit import clean_text
from adon.access.identity import Actor
from adon.access.user_names import UserIdentity
from adon.access.users import LOCAL, User, check_name, name_key, unique_name
from adon.errors import Conflict, Forbidden, NotFound, Unavailable
from adon.store.access.access_tables import sessions, users
from adon.store.access.database import AccessStore, clashed

_AGAIN = 5
"""Two who sign in for the first time at once may be given one name; the later one is tried again."""


def user_of(row: Row[Any]) -> User:
    """A row of the table as a user."""
    return User(
        row.name,
        row.issuer,
        row.subject,
        row.display,
        row.mail,
        frozenset(row.groups),
        frozenset(row.roles_by_rules),
        frozenset(row.roles_granted),
        frozenset(row.roles_removed),
        row.disabled,
        row.first_seen,
        row.last_seen,
    )


def row_of(user: User) -> dict[str, Any]:
    """A user as the columns of a row."""
    return {
        "name": user.name,
        "key": name_key(user.name),
        "issuer": user.issuer,
        "subject": user.subject,
        "display": user.display,
        "mail": user.mail,
        "groups": sorted(user.groups),
        "roles_by_rules": sorted(user.by_rules),
        "roles_granted": sorted(user.granted),
        "roles_removed": sorted(user.removed),
        "disabled": user.disabled,
        "first_seen": user.first_seen,
        "last_seen": user.last_seen,
    }


class Users:
    """Everybody who has been here, or whom an administrator named."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def signed_in(
        self,
        identity: UserIdentity,
        roles: Iterable[str],
        now: float,
        *,
        groups: frozenset[str] = frozenset(),
        display: str | None = None,
        via: str = "oidc",
    ) -> Actor:
        """Record a sign-in at an identity provider, and return the user.

        The first time the user gets a name, which never changes.

        :param roles: those that the rules give now.
        :param display: the user's name for people.
        :param via: how the identity was proven, for the audit log.
        :raises InvalidInput: for a name that cannot be told from another (:mod:`adon.access.users`).
        :raises Forbidden: for somebody who has been disabled, or an issuer that is called like this machine.
        """
        if identity.issuer == LOCAL:
            raise Forbidden(f"an issuer cannot be called {LOCAL!r}: users of this machine are")
        for attempt in range(_AGAIN):
            try:
                user = self._signed_in(identity, now, frozenset(roles), groups, display)
                break
            except Unavailable as error:
                if attempt == _AGAIN - 1 or not clashed(error):
                    raise
        if user.disabled is not None:
            raise Forbidden(f"{user.name} has been disabled here", code="disabled")
        return user.actor(via)

    def _signed_in(
        self,
        identity: UserIdentity,
        now: float,
        roles: frozenset[str],
        groups: frozenset[str],
        display: str | None,
    ) -> User:
        with self._store.writing() as connection:
            known = _by_identity(connection, identity.issuer, identity.subject)
            present = known or User(
                unique_name(identity.name, _keys(connection)),
                identity.issuer,
                identity.subject,
                first_seen=now,
            )
            user = replace(
                present,
                display=None if display is None else clean_text(display, 200),
                groups=groups,
                by_rules=roles,
                last_seen=now,
            )
            if known is None:
                connection.execute(insert(users).values(**row_of(user)))
            else:
                connection.execute(update(users).where(users.c.name == user.name).values(**row_of(user)))
            return user

    def named(self, name: str, granted: Collection[str], now: float) -> User:
        """Return the user of this name; create it with these roles if it is missing.

        :raises InvalidInput: for what cannot be a name.
        :raises Conflict: for a name that would be mistaken for another.
        """
        with self._store.writing() as connection:
            return make_named(connection, check_name(name), granted, now)

    def add(
        self, name: str, granted: Collection[str], now: float, identity: UserIdentity | None = None
    ) -> User:
        """A new user of this name, with these roles.

        :param identity: the user's identity at a provider.  Without it the user has tokens only, and a person
            who signs in under this name gets another name.
        :raises InvalidInput: for what cannot be a name.
        :raises Conflict: for a name that somebody has, or that would be mistaken for another, or an
            identity that is a user's already.
        """
        with self._store.writing() as connection:
            taken = connection.execute(select(users).where(users.c.key == name_key(check_name(name))))
            if (alike := taken.one_or_none()) is not None:
                raise Conflict("name", f"there is a user {alike.name} already")
            if identity is None:
                return make_named(connection, name, granted, now)
            known = _by_identity(connection, identity.issuer, identity.subject)
            if known is not None:
                raise Conflict("identity", f"who signs in so is {known.name} here")
            made = User(name, identity.issuer, identity.subject, granted=frozenset(granted), first_seen=now)
            connection.execute(insert(users).values(**row_of(made)))
            return made

    def get(self, name: str) -> User:
        """One user.

        :raises NotFound: if no user has this name.
        """
        with self._store.reading() as connection:
            return read_user(connection, name)

    def list(self, after: str = "", limit: int | None = None) -> tuple[User, ...]:
        """Users by name.

        :param after: only those whose names come after this one.
        """
        query = select(users).where(users.c.name > after).order_by(users.c.name).limit(limit)
        with self._store.reading() as connection:
            return tuple(user_of(row) for row in connection.execute(query))

    def change(
        self,
        name: str,
        now: float,
        *,
        granted: Collection[str] | None = None,
        removed: Collection[str] | None = None,
        disabled: bool | None = None,
    ) -> User:
        """Set what a local administrator decides; None leaves it as it is.

        To disable somebody ends their sessions, also for when they are enabled again.

        :raises NotFound: if no user has this name.
        """
        with self._store.writing() as connection:
            user = read_user(connection, name)
            after = replace(
                user,
                granted=user.granted if granted is None else frozenset(granted),
                removed=user.removed if removed is None else frozenset(removed),
                disabled=_disabled(user, disabled, now),
            )
            connection.execute(update(users).where(users.c.name == name).values(**row_of(after)))
            if after.disabled is not None:
                connection.execute(delete(sessions).where(sessions.c.owner == name))
            return after


def _disabled(user: User, wanted: bool | None, now: float) -> float | None:
    if wanted is None or (wanted and user.disabled is not None):
        return user.disabled
    return now if wanted else None


def read_user(connection: Connection, name: str) -> User:
    """One user.

    :raises NotFound: if no user has this name.
    """
    row = None
    if "\0" not in name:  # PostgreSQL refuses NUL in a text.
        row = connection.execute(select(users).where(users.c.name == name)).one_or_none()
    if row is None:
        raise NotFound("user", name)
    return user_of(row)


def read_users(connection: Connection, names: Collection[str]) -> dict[str, User]:
    """Users by name, of those that somebody has."""
    rows = connection.execute(select(users).where(users.c.name.in_(names)))
    return {row.name: user_of(row) for row in rows}


def seen_now(name: str, now: float) -> Update:
    """What writes down that a user is here, by whichever way; for :meth:`AccessStore.touch`."""
    return update(users).where(users.c.name == name).values(last_seen=now)


def make_named(connection: Connection, name: str, granted: Collection[str], now: float) -> User:
    """Return the user of this name; create it with these roles if it is missing.

    :raises Conflict: for a name that would be mistaken for another.
    """
    alike = connection.execute(select(users).where(users.c.key == name_key(name))).one_or_none()
    if alike is not None and alike.name != name:
        raise Conflict("name", f"{name} would be mistaken for {alike.name}")
    if alike is not None:
        return user_of(alike)
    made = User(name, LOCAL, name, granted=frozenset(granted), first_seen=now)
    connection.execute(insert(users).values(**row_of(made)))
    return made


def _by_identity(connection: Connection, issuer: str, subject: str) -> User | None:
    same = (users.c.issuer == issuer) & (users.c.subject == subject)
    row = connection.execute(select(users).where(same)).one_or_none()
    return None if row is None else user_of(row)


def _keys(connection: Connection) -> frozenset[str]:
    return frozenset(connection.execute(select(users.c.key)).scalars())
