"""Sessions: who is signed in at a browser, whatever becomes of the web process.

::

    cookie = sessions.begin(actor, "oidc", now)      # the cookie's value, known to the browser only
    session = sessions.get(cookie, now)              # None: sign in (again)
    session.actor                                    # with the roles and groups of now
    session.proves(form["csrf"])                     # whether a form came from a page of this session
    sessions.end(cookie)                             # signed out: the cookie is worth nothing from now on

What is kept is the cookie's SHA-256: who reads the database cannot use it.  A session ends when it was not
used for a while, when it has lasted long enough, when one signs out, when its user is disabled, and when
the token is revoked or expires that it began with.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from adon.access.identity import Actor, digest_of
from adon.access.users import User
from adon.errors import NotAuthenticated, NotFound
from adon.store.access.access_tables import sessions
from adon.store.access.database import AccessStore
from adon.store.access.tokens import read_token
from adon.store.access.users import read_user, read_users, seen_now

IDLE_S = 2 * 3600.0
LIFETIME_S = 12 * 3600.0
MOST_OF_A_USER = 100
"""Sessions of one user; the oldest go first."""
TOUCH_S = 60.0
"""A session that is in use is written down so often, not at each request."""

_BATCH = 500
"""Rows whose owners are read at one go."""


@dataclass(frozen=True, slots=True)
class Session:
    """One browser that signed in; times in seconds since the epoch.

    :param id: to list and end it by; it proves nothing.
    :param how: the way of signing in (``token``, ``oidc``, ``shibboleth``).
    :param extra: what the way of signing in wants to know when it ends; ``address`` and ``browser``.
    :param csrf: goes into every form and must come back with it.
    :param seen: when it was last used, to the minute.
    """

    id: str
    actor: Actor
    how: str
    began: float
    seen: float
    extra: Mapping[str, str] = field(default_factory=dict)
    csrf: str = field(default="", repr=False)

    def proves(self, presented: str) -> bool:
        """Whether a form came from a page of this session."""
        return hmac.compare_digest(self.csrf.encode(), presented.encode(errors="replace"))


class Sessions:
    """All sessions.

    :param idle: seconds without a request after which one must sign in again.
    :param lifetime: seconds after which one must in any case.
    """

    def __init__(self, store: AccessStore, idle: float = IDLE_S, lifetime: float = LIFETIME_S) -> None:
        self._store = store
        self.idle = idle
        self.lifetime = lifetime

    def begin(self, actor: Actor, how: str, now: float, extra: Mapping[str, str] | None = None) -> str:
        """A new session of a known user; the value for its cookie.

        :param actor: if a token proved it (``via`` is ``token``), the session ends with that token.
        :param extra: to be had again in :attr:`Session.extra`; no secrets.
        :raises NotFound: for an actor who is no user.
        """
        cookie = secrets.token_urlsafe(32)
        digest = digest_of(cookie)
        row = {
            "digest": digest,
            "id": digest[:12],
            "owner": actor.name,
            "how": how,
            "token": actor.proof if actor.via == "token" else None,
            "extra": dict(extra or {}),
            "began": now,
            "seen": now,
        }
        with self._store.writing() as connection:
            read_user(connection, actor.name)
            self._tidy(connection, actor.name, now)
            connection.execute(insert(sessions).values(**row))
        return cookie

    def get(self, cookie: str | None, now: float) -> Session | None:
        """The session of a cookie; None if it has none, or not any more."""
        if not cookie:
            return None
        digest = digest_of(cookie)
        with self._store.reading() as connection:
            row = connection.execute(select(sessions).where(sessions.c.digest == digest)).one_or_none()
            found = None if row is None or self._over(row, now) else _owned(connection, row, cookie, now)
        if found is not None and now - found.seen >= TOUCH_S:
            self._store.touch(
                update(sessions).where(sessions.c.digest == digest).values(seen=now),
                seen_now(found.actor.name, now),
            )
        return found

    def end(self, cookie: str | None) -> None:
        """End the session of a cookie, if it has one."""
        if cookie:
            with self._store.writing() as connection:
                connection.execute(delete(sessions).where(sessions.c.digest == digest_of(cookie)))

    def end_of(self, owner: str, identifier: str | None = None, but: str | None = None) -> int:
        """End a user's sessions, or one of them; how many there were.

        :param but: the id of one that goes on.
        """
        which = sessions.c.owner == owner
        if identifier is not None:
            which &= sessions.c.id == identifier
        if but is not None:
            which &= sessions.c.id != but
        with self._store.writing() as connection:
            return connection.execute(delete(sessions).where(which)).rowcount

    def one(self, identifier: str, now: float) -> Session:
        """The session of this id, if it is good now.

        :raises NotFound: if there is none.
        """
        found = None
        with self._store.reading() as connection:
            if (
                identifier.isascii() and identifier.isprintable()
            ):  # what is not, PostgreSQL may take for an error
                query = select(sessions).where(sessions.c.id == identifier)
                row = connection.execute(query).one_or_none()
                if row is not None and not self._over(row, now):
                    found = _owned(connection, row, None, now)
        if found is None:
            raise NotFound("session", identifier)
        return found

    def list(
        self, now: float, owner: str | None = None, before: Session | None = None, limit: int | None = None
    ) -> tuple[Session, ...]:
        """Sessions that are good now, the newest first.

        :param owner: only those of this user.
        :param before: only those that come after this one in the list.
        """
        query = select(sessions).order_by(sessions.c.began.desc(), sessions.c.id.desc())
        query = query.where(sessions.c.began > now - self.lifetime, sessions.c.seen > now - self.idle)
        if owner is not None:
            query = query.where(sessions.c.owner == owner)
        if before is not None:
            older = (sessions.c.began == before.began) & (sessions.c.id < before.id)
            query = query.where((sessions.c.began < before.began) | older)
        with self._store.reading() as connection:
            rows = connection.execute(query).all()
            good = (
                one
                for start in range(0, len(rows), _BATCH)
                for one in _sessions(connection, rows[start : start + _BATCH], now)
            )
            return tuple(islice(good, limit))

    def _over(self, row: Row[Any], now: float) -> bool:
        return bool(now - row.began >= self.lifetime or now - row.seen >= self.idle)

    def _tidy(self, connection: Connection, owner: str, now: float) -> None:
        """Drop what is over, and of this user what is too much."""
        over = (sessions.c.began <= now - self.lifetime) | (sessions.c.seen <= now - self.idle)
        connection.execute(delete(sessions).where(over))
        kept = select(sessions.c.digest).where(sessions.c.owner == owner).order_by(sessions.c.began.desc())
        much = list(connection.execute(kept.offset(MOST_OF_A_USER - 1)).scalars())
        if much:
            connection.execute(delete(sessions).where(sessions.c.digest.in_(much)))


def _sessions(connection: Connection, rows: Sequence[Row[Any]], now: float) -> Iterator[Session]:
    """Those that are good."""
    people = read_users(connection, {row.owner for row in rows})
    found = (_session(connection, people[row.owner], row, None, now) for row in rows)
    return (one for one in found if one is not None)


def _session(
    connection: Connection, user: User, row: Row[Any], cookie: str | None, now: float
) -> Session | None:
    if user.disabled is not None:
        return None
    token = None if row.token is None else read_token(connection, row.token)
    try:
        if token is not None:
            token.check(now)
    except NotAuthenticated:
        return None
    csrf = "" if cookie is None else csrf_of(cookie)
    actor = user.actor(f"session:{row.how}", row.id, token)
    return Session(row.id, actor, row.how, row.began, row.seen, dict(row.extra), csrf)


def csrf_of(cookie: str) -> str:
    """What forms of a session carry: only the cookie's holder can know it; it does not tell the cookie."""
    return hmac.new(cookie.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def _owned(connection: Connection, row: Row[Any], cookie: str | None, now: float) -> Session | None:
    return _session(connection, read_user(connection, row.owner), row, cookie, now)
