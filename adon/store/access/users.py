"""Users as rows, whose columns have the names of the fields of :class:`~adon.access.users.User`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, delete, insert, select, update

from adon.access.audit import clean_text
from adon.access.identity import Actor
from adon.access.user_names import UserIdentity
from adon.access.users import LOCAL, User, check_name, name_key, unique_name
from adon.errors import Conflict, Forbidden, NotFound, Unavailable
from adon.store.access.access_tables import sessions, users
from adon.store.access.database import AccessStore, is_clash
from adon.store.documents import read_row
from measurement.model import to_json

_ATTEMPTS = 5
"""Two users who sign in for the first time at once may be given one name; the later one is tried again."""


class Users:
    """The users who signed in, or whom an administrator named."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def sign_in(
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
        :param via: the method of proof, for the audit log.
        :raises InvalidInput: for a name that looks like another one (:mod:`adon.access.users`).
        :raises Forbidden: for a disabled user, or an issuer with the name of this machine.
        """
        if identity.issuer == LOCAL:
            raise Forbidden(f"an issuer cannot be called {LOCAL!r}: users of this machine are")
        shown = None if display is None else clean_text(display, 200)
        news = {"display": shown, "groups": groups, "by_rules": frozenset(roles), "last_seen": now}
        for attempt in range(_ATTEMPTS):
            try:
                user = self._record_sign_in(identity, now, news)
                break
            except Unavailable as error:
                if attempt == _ATTEMPTS - 1 or not is_clash(error):
                    raise
        if user.disabled is not None:
            raise Forbidden(f"{user.name} has been disabled here", code="disabled")
        return user.actor(via)

    def _record_sign_in(self, identity: UserIdentity, now: float, news: dict[str, Any]) -> User:
        with self._store.writing() as connection:
            known = _find_user(connection, *_has_identity(identity.issuer, identity.subject))
            if known is not None:
                return _update_user(connection, replace(known, **news))
            keys = frozenset(connection.execute(select(users.c.key)).scalars())
            name = unique_name(identity.name, keys)
            return _add_user(
                connection, User(name, identity.issuer, identity.subject, first_seen=now, **news)
            )

    def ensure(self, name: str, granted: Collection[str], now: float) -> User:
        """Return the user of this name; create it with these roles if it is missing.

        :raises InvalidInput: for an invalid name.
        :raises Conflict: for a name that looks like another one.
        """
        with self._store.writing() as connection:
            alike = _find_user(connection, users.c.key == name_key(check_name(name)))
            if alike is None:
                return _add_user(
                    connection, User(name, LOCAL, name, granted=frozenset(granted), first_seen=now)
                )
            if alike.name != name:
                raise Conflict("name", f"{name} would be mistaken for {alike.name}")
            return alike

    def add(
        self, name: str, granted: Collection[str], now: float, identity: UserIdentity | None = None
    ) -> User:
        """Create a user of this name with these roles.

        :param identity: the user's identity at a provider.  Without it the user has tokens only, and a person
            who signs in under this name gets another name.
        :raises InvalidInput: for an invalid name.
        :raises Conflict: for a name that a user has or that looks like another one, or a user's identity.
        """
        issuer, subject = (LOCAL, name) if identity is None else (identity.issuer, identity.subject)
        with self._store.writing() as connection:
            alike = _find_user(connection, users.c.key == name_key(check_name(name)))
            if alike is not None:
                raise Conflict("name", f"there is a user {alike.name} already")
            known = _find_user(connection, *_has_identity(issuer, subject))
            if known is not None:
                raise Conflict("identity", f"belongs to the user {known.name}")
            return _add_user(
                connection, User(name, issuer, subject, granted=frozenset(granted), first_seen=now)
            )

    def get(self, name: str) -> User:
        """Return one user.

        :raises NotFound: if no user has this name.
        """
        with self._store.reading() as connection:
            return read_user(connection, name)

    def list(self, after: str = "", limit: int | None = None) -> tuple[User, ...]:
        """Return users by name.

        :param after: only those whose names come after this one.
        """
        query = select(users).where(users.c.name > after).order_by(users.c.name).limit(limit)
        with self._store.reading() as connection:
            return tuple(read_row(User, row._mapping) for row in connection.execute(query))

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

        To disable a user ends their sessions, also for the time when they are enabled again.

        :raises NotFound: if no user has this name.
        """
        with self._store.writing() as connection:
            user = read_user(connection, name)
            if granted is not None:
                user = replace(user, granted=frozenset(granted))
            if removed is not None:
                user = replace(user, removed=frozenset(removed))
            if disabled is not None and disabled != (user.disabled is not None):
                user = replace(user, disabled=now if disabled else None)
            if user.disabled is not None:
                connection.execute(delete(sessions).where(sessions.c.owner == name))
            return _update_user(connection, user)


def read_user(connection: Connection, name: str) -> User:
    """Return one user.

    :raises NotFound: if no user has this name.
    """
    # PostgreSQL refuses NUL in a text.
    user = None if "\0" in name else _find_user(connection, users.c.name == name)
    if user is None:
        raise NotFound("user", name)
    return user


def seen_now(name: str, now: float) -> Update:
    """Return the statement that records the presence of a user; for :meth:`AccessStore.touch`."""
    return update(users).where(users.c.name == name).values(last_seen=now)


def _has_identity(issuer: str, subject: str) -> tuple[ColumnElement[bool], ...]:
    return users.c.issuer == issuer, users.c.subject == subject


def _find_user(connection: Connection, *conditions: ColumnElement[bool]) -> User | None:
    row = connection.execute(select(users).where(*conditions)).one_or_none()
    return None if row is None else read_row(User, row._mapping)


def _add_user(connection: Connection, user: User) -> User:
    connection.execute(insert(users), {**to_json(user), "key": name_key(user.name)})
    return user


def _update_user(connection: Connection, user: User) -> User:
    connection.execute(update(users).where(users.c.name == user.name).values(**to_json(user)))
    return user
