"""A sign-in that has begun: bound to the browser that began it, finished once, within ten minutes.

Everything about it is in a cookie of that browser, encrypted with a key that only this process knows; what
is kept here is which ones were used.  Nobody can fill our memory by beginning sign-ins.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass, field

from cryptography.fernet import Fernet, InvalidToken

from adon.errors import NotAuthenticated

LIFETIME = 600
"""Seconds until a sign-in must be finished."""
MOST_USED = 100_000
"""Finished sign-ins remembered; far more than ten minutes of them."""
_AGAIN = (
    "this sign-in did not start in this browser, is complete, or took longer than ten minutes; start again"
)


@dataclass(frozen=True, slots=True)
class Pending:
    """What must come back, and where to go then.

    :param verifier: PKCE's code verifier (RFC 7636).
    :param target: the local path to show afterwards.
    """

    provider: str
    target: str
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))


class PendingSignIns:
    """Seals and opens the cookies of pending sign-ins; times in seconds since the epoch."""

    def __init__(self) -> None:
        self._box = Fernet(Fernet.generate_key())
        self._used: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def seal(self, pending: Pending, now: float) -> str:
        """The cookie of a pending sign-in."""
        return self._box.encrypt_at_time(json.dumps(asdict(pending)).encode(), int(now)).decode()

    def finish(self, cookie: str | None, provider: str, state: str | None, now: float) -> Pending:
        """The sign-in that the provider's answer belongs to; from now on it is used up.

        :raises NotAuthenticated: if there is none.
        """
        if cookie is None or state is None:
            raise NotAuthenticated(_AGAIN)
        try:
            pending = Pending(**json.loads(self._box.decrypt_at_time(cookie.encode(), LIFETIME, int(now))))
        except InvalidToken as error:
            raise NotAuthenticated(_AGAIN) from error
        same = hmac.compare_digest(pending.state.encode(), state.encode(errors="replace"))
        if pending.provider != provider or not same or not self._first(pending):
            raise NotAuthenticated(_AGAIN)
        return pending

    def _first(self, pending: Pending) -> bool:
        digest = hashlib.sha256(pending.state.encode()).digest()
        with self._lock:
            if digest in self._used:
                return False
            self._used[digest] = None
            while len(self._used) > MOST_USED:
                self._used.popitem(last=False)
            return True
