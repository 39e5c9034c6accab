"""Tokens as rows: made, shown, used, revoked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from adon.access.identity import Actor, Token, digest_of
from adon.access.users import User
from adon.errors import Conflict, NotAuthenticated, NotFound
from adon.store.access.access_tables import tokens, users
from adon.store.access.database import AccessStore
from adon.store.access.users import read_user, seen_now, user_of

TOUCH_S = 60.0
"""That a token is in use is written down so often, not at each request."""


class Tokens:
    """All tokens."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def save(self, token: Token) -> None:
        """Keep a new token of a known user.

        :raises NotFound: for an owner who is no user.
        :raises Conflict: if its id is taken.
        """
        with self._store.writing() as connection:
            read_user(connection, token.owner)
            insert_token(connection, token)

    def authenticate(self, presented: str, now: float) -> Actor:
        """The actor that a presented token proves: its owner, with the roles of now, within its limits.

        :raises NotAuthenticated: for a token that is unknown, revoked or expired, or whose owner is disabled.
        """
        with self._store.reading() as connection:
            row = connection.execute(
                select(tokens).where(tokens.c.digest == digest_of(presented))
            ).one_or_none()
            if row is None:
                raise NotAuthenticated("the token is not known here")
            token = token_of(row)
            token.check(now)
            owner = read_user(connection, token.owner)
        if owner.disabled is not None:
            raise NotAuthenticated(f"{owner.name} has been disabled here", code="disabled")
        if token.used is None or now - token.used >= TOUCH_S:
            self._store.touch(
                update(tokens).where(tokens.c.id == token.id).values(used=now), seen_now(owner.name, now)
            )
        return _actor(owner, token)

    def standing(self, identifiers: Collection[str], now: float) -> dict[str, Actor]:
        """Whom tokens of these ids prove now, all read at once; what proves nothing any more is left out."""
        query = select(tokens, users).join(users, users.c.name == tokens.c.owner)
        with self._store.reading() as connection:
            rows = connection.execute(query.where(tokens.c.id.in_(identifiers))).all()
        found = {}
        for row in rows:
            token, owner = token_of(row), user_of(row)
            try:
                token.check(now)
            except NotAuthenticated:
                continue
            if owner.disabled is None:
                found[token.id] = _actor(owner, token)
        return found

    def get(self, identifier: str) -> Token:
        """One token.

        :raises NotFound: if there is none of this id.
        """
        with self._store.reading() as connection:
            return read_token(connection, identifier)

    def list(
        self, owner: str | None = None, before: Token | None = None, limit: int | None = None
    ) -> tuple[Token, ...]:
        """Tokens, revoked and expired ones too, the newest first.

        :param owner: only those of this user.
        :param before: only those that come after this one in the list.
        """
        query = select(tokens).order_by(tokens.c.created.desc(), tokens.c.id.desc()).limit(limit)
        if owner is not None:
            query = query.where(tokens.c.owner == owner)
        if before is not None:
            older = (tokens.c.created == before.created) & (tokens.c.id < before.id)
            query = query.where((tokens.c.created < before.created) | older)
        with self._store.reading() as connection:
            return tuple(token_of(row) for row in connection.execute(query))

    def count(self) -> int:
        """How many there ever were."""
        with self._store.reading() as connection:
            return connection.execute(select(func.count()).select_from(tokens)).scalar_one()

    def revoke(self, identifier: str, now: float) -> Token:
        """Make a token worthless from now on; the first time it is done counts.

        :raises NotFound: if there is none of this id.
        """
        with self._store.writing() as connection:
            after = read_token(connection, identifier).revoke(now)
            changed = update(tokens).where(tokens.c.id == identifier).values(revoked=after.revoked)
            connection.execute(changed)
            return after


def _actor(owner: User, token: Token) -> Actor:
    return owner.actor("token", token.id, token)


def token_of(row: Row[Any]) -> Token:
    """A row of the table as a token."""
    return Token(
        row.id,
        row.owner,
        row.digest,
        row.created,
        row.expires,
        row.revoked,
        row.label,
        tuple(row.scope),
        None if row.roles is None else frozenset(row.roles),
        row.used,
    )


def insert_token(connection: Connection, token: Token) -> None:
    """Keep a new token.

    :raises Conflict: if its id is taken.
    """
    if connection.execute(select(tokens.c.id).where(tokens.c.id == token.id)).one_or_none() is not None:
        raise Conflict("id", f"there is a token {token.id} already")
    connection.execute(insert(tokens).values(**_row_of(token)))


def read_token(connection: Connection, identifier: str) -> Token:
    """One token.

    :raises NotFound: if there is none of this id.
    """
    row = None
    if identifier.isalnum():  # what is not, PostgreSQL may take for an error
        row = connection.execute(select(tokens).where(tokens.c.id == identifier)).one_or_none()
    if row is None:
        raise NotFound("token", identifier)
    return token_of(row)


def _row_of(token: Token) -> Mapping[str, Any]:
    return {
        "id": token.id,
        "owner": token.owner,
        "digest": token.digest,
        "label": token.label,
        "scope": list(token.scope),
        "roles": None if token.roles is None else sorted(token.roles),
        "created": token.created,
        "expires": token.expires,
        "revoked": token.revoked,
        "used": token.used,
    }
