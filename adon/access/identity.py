"""Who asks: actors, and the tokens that prove it.

A token is ``adon_`` and 256 random bits; what is kept of it is its SHA-256 (no salt and no slow hash:
there is nothing to guess in 256 bits).  Other ways to prove an identity (OIDC, Shibboleth) will yield
the same :class:`Actor` with another ``via``; nothing behind this module asks how somebody logged in.

No clock here: ``now`` is an argument, in seconds since the epoch.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from adon.errors import InvalidInput, NotAuthenticated

PREFIX = "adon_"
"""What every token begins with, so that a leaked one is recognised in a log or a repository."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who asks for something.

    :param roles: the roles' names; one that this version does not know grants nothing.
    :param groups: what an identity provider says the actor belongs to (AARC-G069 values).
    :param via: how the identity was proven.
    """

    name: str
    roles: frozenset[str]
    groups: frozenset[str] = frozenset()
    via: str = "token"


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token; times in seconds since the epoch, None for never.

    :param id: a short name to list and revoke it by; it proves nothing.
    :param digest: SHA-256 of the token, in hexadecimal.
    """

    id: str
    actor: str
    roles: frozenset[str]
    digest: str
    created: float
    expires: float | None = None
    revoked: float | None = None

    def revoke(self, now: float) -> Token:
        """The token after it was revoked; the first time counts."""
        return self if self.revoked is not None else replace(self, revoked=now)


def create_token(
    actor: str,
    roles: Iterable[str],
    now: float,
    lifetime: float | None = None,
    secret: Callable[[int], str] = secrets.token_urlsafe,
) -> tuple[str, Token]:
    """A new token: the text to hand over, once, and what to keep.

    :param lifetime: seconds until it expires; None for never.
    :param secret: makes URL-safe text of so many random bytes.
    :raises InvalidInput: for an actor without name, or a lifetime that is over at once.
    """
    if not actor.strip():
        raise InvalidInput.of("actor", "has no name")
    if lifetime is not None and not lifetime > 0:
        raise InvalidInput.of("lifetime", "must be above zero")
    text = PREFIX + secret(32)
    digest = _digest(text)
    expires = None if lifetime is None else now + lifetime
    return text, Token(digest[:12], actor, frozenset(roles), digest, now, expires)


def authenticate(presented: str, tokens: Iterable[Token], now: float) -> Actor:
    """The actor that a presented token proves.

    Every kept token is compared, each in constant time: the time taken tells nothing about any of them.

    :raises NotAuthenticated: for a token that is unknown, revoked or expired.
    """
    digest = _digest(presented)
    found = [token for token in tokens if hmac.compare_digest(token.digest, digest)]
    if not found:
        raise NotAuthenticated("the token is not known here")
    token = found[0]
    if token.revoked is not None:
        raise NotAuthenticated("the token has been revoked")
    if token.expires is not None and now >= token.expires:
        raise NotAuthenticated("the token has expired")
    return Actor(token.actor, token.roles)


def _digest(text: str) -> str:
    # A header can carry bytes that are no text; they are simply not a token of ours.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
