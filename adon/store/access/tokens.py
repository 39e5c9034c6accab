"""Tokens as rows, whose columns have the names of the fields of :class:`~adon.access.identity.Token`."""

from __future__ import annotations

from collections.abc import Collection
from operator import eq, lt

from sqlalchemy import Connection, func, insert, select, tuple_, update

from adon.access.identity import Actor, Token, digest_of
from adon.access.users import User
from adon.errors import Conflict, NotAuthenticated, NotFound
from adon.store.access.access_tables import tokens, users
from adon.store.access.database import AccessStore
from adon.store.access.users import read_user, seen_now
from adon.store.documents import read_row, where
from measurement.model import to_json

TOUCH_S = 60.0
"""Period of records of the use of a token, instead of one at each request."""


class Tokens:
    """All tokens."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def save(self, token: Token) -> None:
        """Add a token of a known user.

        :raises NotFound: for an owner who is no user.
        :raises Conflict: if its id is taken.
        """
        with self._store.writing() as connection:
            read_user(connection, token.owner)
            if connection.execute(select(tokens.c.id).where(tokens.c.id == token.id)).first() is not None:
                raise Conflict("id", f"there is a token {token.id} already")
            connection.execute(insert(tokens), to_json(token))

    def authenticate(self, presented: str, now: float) -> Actor:
        """Return the actor that a presented token proves: its owner with the roles of now, within its limits.

        :raises NotAuthenticated: for a token that is unknown, revoked or expired, or whose owner is disabled.
        """
        query = select(tokens).where(tokens.c.digest == digest_of(presented))
        with self._store.reading() as connection:
            row = connection.execute(query).one_or_none()
            if row is None:
                raise NotAuthenticated("the token is not known here")
            token = read_row(Token, row._mapping)
            token.check(now)
            owner = read_user(connection, token.owner)
        if owner.disabled is not None:
            raise NotAuthenticated(f"{owner.name} has been disabled here", code="disabled")
        if token.used is None or now - token.used >= TOUCH_S:
            used = update(tokens).where(tokens.c.id == token.id).values(used=now)
            self._store.touch(used, seen_now(owner.name, now))
        return owner.actor("token", token.id, token)

    def list_actors(self, identifiers: Collection[str], now: float) -> dict[str, Actor]:
        """Return the actors that tokens of these ids prove now; invalid tokens are left out."""
        query = select(tokens, users).join(users, users.c.name == tokens.c.owner)
        with self._store.reading() as connection:
            rows = connection.execute(query.where(tokens.c.id.in_(identifiers))).all()
        found = {}
        for row in rows:
            token, owner = read_row(Token, row._mapping), read_row(User, row._mapping)
            if owner.disabled is None and is_valid(token, now):
                found[token.id] = owner.actor("token", token.id, token)
        return found

    def get(self, identifier: str) -> Token:
        """Return one token.

        :raises NotFound: if there is none of this id.
        """
        with self._store.reading() as connection:
            return _read_token(connection, identifier)

    def list(
        self, owner: str | None = None, before: Token | None = None, limit: int | None = None
    ) -> tuple[Token, ...]:
        """Return tokens, revoked and expired ones too, newest first.

        :param owner: only those of this user.
        :param before: the last token of the previous page.
        """
        page = before and (before.created, before.id)
        conditions = where((tokens.c.owner, eq, owner), (tuple_(tokens.c.created, tokens.c.id), lt, page))
        query = select(tokens).where(*conditions).order_by(tokens.c.created.desc(), tokens.c.id.desc())
        with self._store.reading() as connection:
            return tuple(read_row(Token, row._mapping) for row in connection.execute(query.limit(limit)))

    def count(self) -> int:
        """Return the number of tokens, revoked and expired ones too."""
        with self._store.reading() as connection:
            return connection.execute(select(func.count()).select_from(tokens)).scalar_one()

    def revoke(self, identifier: str, now: float) -> Token:
        """Revoke a token; the first revocation counts.

        :raises NotFound: if there is none of this id.
        """
        with self._store.writing() as connection:
            after = _read_token(connection, identifier).revoke(now)
            connection.execute(update(tokens).where(tokens.c.id == identifier).values(revoked=after.revoked))
            return after


def is_valid(token: Token, now: float) -> bool:
    """Whether a token is neither revoked nor expired."""
    try:
        token.check(now)
    except NotAuthenticated:
        return False
    return True


def _read_token(connection: Connection, identifier: str) -> Token:
    row = None
    if identifier.isalnum():  # PostgreSQL refuses some other texts
        row = connection.execute(select(tokens).where(tokens.c.id == identifier)).one_or_none()
    if row is None:
        raise NotFound("token", identifier)
    return read_row(Token, row._mapping)
