"""Sessions of browsers, which outlive the web process.

::

    cookie = sessions.start(actor, "oidc", now)      # the cookie's value, known to the browser only
    session = sessions.get(cookie, now)              # None: sign in (again)
    session.actor                                    # with the roles and groups of now
    session.proves(form["csrf"])                     # whether a form came from a page of this session
    sessions.end(cookie)                             # signed out: the cookie proves nothing from now on

The database has the SHA-256 of the cookie: a reader of the database cannot use it.  A session ends when it
was not used for a while, at the end of its lifetime, at sign-out, when its user is disabled, and when the
token that it began with is revoked or expires.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, tuple_, update

from adon.access.identity import Actor, Token, digest_of
from adon.access.users import User
from adon.errors import NotFound
from adon.store.access.access_tables import sessions, tokens, users
from adon.store.access.database import AccessStore
from adon.store.access.tokens import is_valid
from adon.store.access.users import read_user, seen_now
from adon.store.documents import read_row

IDLE_S = 2 * 3600.0
LIFETIME_S = 12 * 3600.0
MOST_OF_A_USER = 100
"""Sessions of one user; the oldest go first."""
TOUCH_S = 60.0
"""Period of records of the use of a session, instead of one at each request."""

_TOKEN = "token_"  # noqa: S105
_QUERY = (
    select(sessions, users, *(column.label(_TOKEN + column.name) for column in tokens.c))
    .join(users, users.c.name == sessions.c.owner)
    .outerjoin(tokens, tokens.c.id == sessions.c.token)
    .order_by(sessions.c.began.desc(), sessions.c.id.desc())
)


@dataclass(frozen=True, slots=True)
class Session:
    """One browser that signed in; times in seconds since the epoch.

    :param id: to list and end it by; it proves nothing.
    :param how: the way of signing in (``token``, ``oidc``, ``shibboleth``).
    :param extra: what the way of signing in needs at the sign-out; ``address`` and ``browser``.
    :param csrf: goes into every form and must come back with it.
    :param seen: time of the last use, to the minute.
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

    :param idle: seconds without a request after which a session ends.
    :param lifetime: seconds after which every session ends.
    """

    def __init__(self, store: AccessStore, idle: float = IDLE_S, lifetime: float = LIFETIME_S) -> None:
        self._store = store
        self.idle = idle
        self.lifetime = lifetime

    def start(self, actor: Actor, how: str, now: float, extra: Mapping[str, str] | None = None) -> str:
        """Add a session of a known user; return the value for its cookie.

        :param actor: if a token proved it (``via`` is ``token``), the session ends with that token.
        :param extra: see :attr:`Session.extra`; no secrets.
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
            self._delete_old(connection, actor.name, now)
            connection.execute(insert(sessions), row)
        return cookie

    def get(self, cookie: str | None, now: float) -> Session | None:
        """Return the session of a cookie; None without a valid one."""
        if not cookie:
            return None
        same = sessions.c.digest == digest_of(cookie)
        found = next(iter(self._find(now, same, csrf=csrf_of(cookie))), None)
        if found is not None and now - found.seen >= TOUCH_S:
            used = update(sessions).where(same).values(seen=now)
            self._store.touch(used, seen_now(found.actor.name, now))
        return found

    def find(self, identifier: str, now: float) -> Session:
        """Return the valid session of this id.

        :raises NotFound: if there is none.
        """
        if identifier.isascii() and identifier.isprintable():  # PostgreSQL refuses some other texts
            for session in self._find(now, sessions.c.id == identifier):
                return session
        raise NotFound("session", identifier)

    def list(
        self, now: float, owner: str | None = None, before: Session | None = None, limit: int | None = None
    ) -> tuple[Session, ...]:
        """Return the valid sessions, newest first.

        :param owner: only those of this user.
        :param before: the last session of the previous page.
        """
        conditions = [] if owner is None else [sessions.c.owner == owner]
        if before is not None:
            conditions.append(tuple_(sessions.c.began, sessions.c.id) < (before.began, before.id))
        return self._find(now, *conditions, limit=limit)

    def end(self, cookie: str | None) -> None:
        """End the session of a cookie, if it has one."""
        if cookie:
            with self._store.writing() as connection:
                connection.execute(delete(sessions).where(sessions.c.digest == digest_of(cookie)))

    def end_all(self, owner: str, identifier: str | None = None, but: str | None = None) -> int:
        """End a user's sessions, or one of them; return their number.

        :param but: the id of one that continues.
        """
        which = sessions.c.owner == owner
        if identifier is not None:
            which &= sessions.c.id == identifier
        if but is not None:
            which &= sessions.c.id != but
        with self._store.writing() as connection:
            return connection.execute(delete(sessions).where(which)).rowcount

    def _find(
        self, now: float, *conditions: ColumnElement[bool], csrf: str = "", limit: int | None = None
    ) -> tuple[Session, ...]:
        """Return the valid sessions under some conditions, newest first."""
        current = (sessions.c.began > now - self.lifetime, sessions.c.seen > now - self.idle)
        with self._store.reading() as connection:
            rows = connection.execute(_QUERY.where(*current, *conditions))
            found = (_session_of(row, csrf, now) for row in rows)
            return tuple(islice((one for one in found if one is not None), limit))

    def _delete_old(self, connection: Connection, owner: str, now: float) -> None:
        """Delete the sessions that ended, and the oldest of this user if there are too many."""
        ended = (sessions.c.began <= now - self.lifetime) | (sessions.c.seen <= now - self.idle)
        connection.execute(delete(sessions).where(ended))
        newest = select(sessions.c.digest).where(sessions.c.owner == owner).order_by(sessions.c.began.desc())
        surplus = list(connection.execute(newest.offset(MOST_OF_A_USER - 1)).scalars())
        connection.execute(delete(sessions).where(sessions.c.digest.in_(surplus)))


def csrf_of(cookie: str) -> str:
    """Return the secret of a session's forms, which follows from the cookie and does not reveal it."""
    return hmac.new(cookie.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def _session_of(row: Row[Any], csrf: str, now: float) -> Session | None:
    """Return the session of a row; None if its user is disabled or its token is invalid."""
    owner, token = read_row(User, row._mapping), None
    if row.token is not None:
        token = read_row(Token, {one.name: row._mapping[_TOKEN + one.name] for one in tokens.c})
    if owner.disabled is not None or (token is not None and not is_valid(token, now)):
        return None
    actor = owner.actor(f"session:{row.how}", row.id, token)
    return Session(row.id, actor, row.how, row.began, row.seen, dict(row.extra), csrf)
