"""Who is signed in at the page.

A cookie holds a random number and nothing else; the token stays in this process's memory.  It is checked
against the store at every request, so that a revoked token ends its sessions.  A restart ends them all.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

LIFETIME = 12 * 3600.0
"""Seconds until one must sign in again."""
MOST = 1000
"""Sessions kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Session:
    """One browser that signed in; ``csrf`` goes into every form and must come back with it."""

    token: str = field(repr=False)
    began: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def proves(self, presented: str) -> bool:
        """Whether a form came from a page of this session."""
        return hmac.compare_digest(self.csrf.encode(), presented.encode(errors="replace"))


class Sessions:
    """All sessions of this process; times in seconds since the epoch."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, token: str, now: float) -> str:
        """A new session; the number for its cookie."""
        number = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[number] = Session(token, now)
            while len(self._sessions) > MOST:
                self._sessions.popitem(last=False)
        return number

    def get(self, number: str | None, now: float) -> Session | None:
        """The session of a cookie, if there is one that has not run out."""
        with self._lock:
            session = None if number is None else self._sessions.get(number)
            if session is None or number is None:
                return None
            if now - session.began >= LIFETIME:
                del self._sessions[number]
                return None
            return session

    def end(self, number: str | None) -> None:
        """Forget a session."""
        if number is not None:
            with self._lock:
                self._sessions.pop(number, None)
