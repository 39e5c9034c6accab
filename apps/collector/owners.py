"""Whom a subscription belongs to, as they are now: they may be disabled, or without a role that they had.

The access database says so; the web side writes it, here it is read only, and not at each alarm.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from adon.access.identity import Actor
from adon.access.users import User
from adon.errors import AdonError, NotFound
from adon.store.access.access import Access

log = logging.getLogger(__name__)

KNOWN_S = 2.0
"""For so long what was read of a user counts."""


class Owners:
    """Users, read again after :data:`KNOWN_S`; any thread may ask.

    While the database cannot be read, what was read last counts: an alarm must not go nowhere because of it.

    :param url: of the access database.
    :param steady: seconds that never go back.
    """

    def __init__(self, url: str, steady: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._steady = steady
        self._store: Access | None = None
        self._known: dict[str, tuple[float, User | None]] = {}
        self._away_since: float | None = None
        self._lock = threading.Lock()

    def now(self, actor: Actor) -> Actor | None:
        """The owner of a subscription with what they have still of the roles and groups they had; None: out.

        :param actor: the owner as of subscribing; as such they count while nothing can be known.
        """
        with self._lock:
            known = self._known.get(actor.name)
            if known is None or self._steady() - known[0] >= KNOWN_S:
                known = self._read(actor.name) or known
        if known is None:
            return actor
        user = known[1]
        if user is None or user.disabled is not None:
            return None
        return replace(actor, roles=actor.roles & user.roles, groups=actor.groups & user.groups)

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _read(self, name: str) -> tuple[float, User | None] | None:
        user, now = None, self._steady()
        if self._away_since is not None and now - self._away_since < KNOWN_S:
            return None
        try:
            if self._store is None:
                self._store = Access.open(self._url, read_only=True)
            user = self._store.users.get(name)
        except NotFound:
            log.debug("event=owner_unknown name=%r", name)
        except AdonError as error:
            if self._away_since is None:
                log.warning("event=owners_unreadable cause=%r", str(error))
            self._away_since = now
            return None
        self._away_since = None
        self._known[name] = found = (now, user)
        return found
