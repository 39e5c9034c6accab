"""Who asks: actors, and the tokens that prove it.

A token is ``adon_`` and 256 random bits; what is kept of it is its SHA-256 (no salt and no slow hash:
there is nothing to guess in 256 bits).  Other ways to prove an identity (OIDC, Shibboleth) will yield
the same :class:`Actor` with another ``via``; nothing behind this module asks how somebody logged in.

No clock here: ``now`` is an argument, in seconds since the epoch.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from adon.errors import InvalidInput, NotAuthenticated

PREFIX = "adon_"
"""What every token begins with, so that a leaked one is recognised in a log or a repository."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who asks for something.

    :param roles: the roles' names; one that this version does not know grants nothing.
    :param groups: what an identity provider says the actor belongs to (AARC-G069 values).
    :param via: how the identity was proven.
    :param scope: the actions that the proof is good for; None for all that the roles allow.
    :param proof: the id of the token or session; it proves nothing and may be logged.
    :param until: when the token expires that proves it; None for never, or no token.
    """

    name: str
    roles: frozenset[str]
    groups: frozenset[str] = frozenset()
    via: str = "token"
    scope: frozenset[str] | None = None
    proof: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token; times in seconds since the epoch, None for never.

    :param id: a short name to list and revoke it by; it proves nothing.
    :param owner: the name of the user that it speaks for.
    :param digest: SHA-256 of the token, in hexadecimal.
    :param label: what its owner calls it.
    :param scope: what it is good for (:mod:`adon.access.scopes`).
    :param roles: the roles that it is limited to; None for all that its owner has.
    :param used: when it was last used, to the minute.
    """

    id: str
    owner: str
    digest: str
    created: float
    expires: float | None = None
    revoked: float | None = None
    label: str = ""
    scope: tuple[str, ...] = ("all",)
    roles: frozenset[str] | None = None
    used: float | None = None

    def revoke(self, now: float) -> Token:
        """The token after it was revoked; the first time counts."""
        return self if self.revoked is not None else replace(self, revoked=now)

    def check(self, now: float) -> None:
        """Nothing, if the token is good now.

        :raises NotAuthenticated: if it is revoked or expired.
        """
        if self.revoked is not None:
            raise NotAuthenticated("the token has been revoked", code="revoked")
        if self.expires is not None and now >= self.expires:
            raise NotAuthenticated("the token has expired", code="expired")


def token_values(token: Token) -> dict[str, Any]:
    """Return a token as plain values, without its digest."""
    values = {**asdict(token), "scope": list(token.scope), "last_used": token.used}
    values["roles"] = None if token.roles is None else sorted(token.roles)
    del values["digest"], values["used"]
    return values


def create_token(
    owner: str,
    now: float,
    lifetime: float | None = None,
    *,
    label: str = "",
    scope: Iterable[str] = ("all",),
    roles: Iterable[str] | None = None,
) -> tuple[str, Token]:
    """A new token: the text to hand over, once, and what to keep.

    :param lifetime: seconds until it expires; None for never.
    :raises InvalidInput: for an owner without name, or a lifetime that is over at once.
    """
    if not owner.strip():
        raise InvalidInput.of("owner", "has no name")
    if lifetime is not None and not lifetime > 0:
        raise InvalidInput.of("lifetime", "must be above zero")
    text = PREFIX + secrets.token_urlsafe(32)
    digest = digest_of(text)
    return text, Token(
        id=digest[:12],
        owner=owner,
        digest=digest,
        created=now,
        expires=None if lifetime is None else now + lifetime,
        label=label,
        scope=tuple(scope),
        roles=None if roles is None else frozenset(roles),
    )


def digest_of(text: str) -> str:
    """What is kept of a token or cookie, and looked up by.

    To look up by the digest tells nothing by the time it takes: who does not know the text cannot choose
    where its digest lies.
    """
    # A header can carry bytes that are no text; they are simply not a token of ours.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
