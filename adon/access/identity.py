"""Actors, and the tokens that prove their identity.

A token is ``adon_`` and 256 random bits.  ADON stores its SHA-256 (without salt or slow hash: 256 bits cannot
be guessed).  Other proofs of identity (OIDC, Shibboleth) yield the same :class:`Actor` with another ``via``;
no other module depends on the method of the sign-in.

The module reads no clock: ``now`` is an argument, in seconds since the epoch.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from adon.errors import InvalidInput, NotAuthenticated

PREFIX = "adon_"
"""Prefix of every token, by which scanners recognise a leaked token in a log or a repository."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Requester of an action.

    :param roles: names of roles; unknown roles grant nothing.
    :param groups: groups that an identity provider asserted (AARC-G069 values).
    :param via: the method of proof.
    :param scope: the actions that the proof allows; None for all that the roles allow.
    :param proof: the id of the token or session; not secret, may be logged.
    :param until: expiry of the token; None for never, or no token.
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
    """Stored values of a token; times in seconds since the epoch, None for never.

    :param id: a short name to list and revoke the token; not secret.
    :param owner: the name of its user.
    :param digest: SHA-256 of the token, in hexadecimal.
    :param label: a text of its owner.
    :param scope: the allowed actions (:mod:`adon.access.scopes`).
    :param roles: the roles that it is limited to; None for all roles of its owner.
    :param used: time of the last use, to the minute.
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
        """Return the revoked token; the first revocation counts."""
        return self if self.revoked is not None else replace(self, revoked=now)

    def check(self, now: float) -> None:
        """Check that the token is valid now.

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
    """Create a token: return its secret text, which is shown once, and the values to store.

    :param lifetime: seconds until it expires; None for never.
    :raises InvalidInput: for an owner without name, or a lifetime that is not above zero.
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
    """Return the digest by which a token or cookie is stored and found.

    A search by digest leaks nothing through its duration: a client that does not know the text cannot choose
    its digest.
    """
    # A header can have bytes that are not text; they match no token.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
