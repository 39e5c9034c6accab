"""Names of users of identity providers: permanent and unique.

- eduPersonPrincipalName (``ann@missouri.edu``), if the party may assert it: its scope must be one of the
  domains that the configuration allows the party.  It is case-insensitive.
- Otherwise the party's own identifier of the user at the party's address:
  ``248289761001@login.example.edu``, with the issuer's path where it has one.

The two kinds cannot collide: the part after the last ``@`` is a scope of the configuration, or the address of
a party.  No hub (``*``) may assert a scope that is the address of a configured party.  Names of local users
have no ``@``, unless an administrator writes one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from adon.access.assertion import Assertion
from adon.errors import Forbidden, InvalidInput

PRINCIPALS = "eduPersonPrincipalName"
"""Issuer of all principal names: the domain identifies the user, independent of the asserting party."""
_PRINCIPAL = re.compile(r"[!-?A-~]{1,120}@[A-Za-z0-9.-]{1,120}")
_PARTY = re.compile(r"[!-?A-~]{1,255}")
_SUBJECT = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class UserIdentity:
    """Name of a user with its source: the same issuer and subject are the same user."""

    name: str
    issuer: str
    subject: str


def user_name(
    assertion: Assertion, may_assert: Collection[str], parties: Collection[str] = frozenset()
) -> UserIdentity:
    """Return the name of an asserted user.

    :param may_assert: domains that the party speaks for; ``*`` for all.
    :param parties: the issuers of all parties that are configured.
    :raises Forbidden: if the party may not assert the name, or asserts no name.
    """
    if assertion.principal is not None and may_assert:
        name = _read_principal(assertion.principal)
        if name is None:
            cause = f"{assertion.issuer} asserts an invalid name: {assertion.principal[:80]!a}"
            raise Forbidden(cause, code="malformed")
        scope = name.partition("@")[2]
        if not _is_allowed(scope, may_assert) or scope in {party_address(party) for party in parties}:
            raise Forbidden(f"{assertion.issuer} may not assert names of {scope}")
        return UserIdentity(name, PRINCIPALS, name)
    if not _SUBJECT.fullmatch(assertion.subject) or not _PARTY.fullmatch(party_address(assertion.issuer)):
        raise Forbidden(
            f"{assertion.issuer} does not identify the user: expected "
            "eduPersonPrincipalName or a permanent identifier",
            code="missing",
        )
    name = f"{assertion.subject}@{party_address(assertion.issuer)}"
    return UserIdentity(name, assertion.issuer, assertion.subject)


def derive_name(issuer: str, subject: str) -> UserIdentity:
    """Return the name that the first sign-in of a user will have.

    :param issuer: :data:`PRINCIPALS`, or the identifier of the party (OpenID's ``iss``, SAML's entity ID).
    :param subject: the principal name, or the party's identifier of the user.
    :raises InvalidInput: for values that no sign-in can have.
    """
    if issuer == PRINCIPALS:
        name = _read_principal(subject)
        if name is None:
            raise InvalidInput.of("identity.subject", "is not a principal name such as ann@missouri.edu")
        return UserIdentity(name, PRINCIPALS, name)
    if ":" not in issuer or not _PARTY.fullmatch(party_address(issuer)):
        raise InvalidInput.of(
            "identity.issuer", f"is neither {PRINCIPALS} nor the URL or URN of an identity provider"
        )
    if not _SUBJECT.fullmatch(subject):
        raise InvalidInput.of("identity.subject", "is not 1 to 255 visible ASCII characters")
    return UserIdentity(f"{subject}@{party_address(issuer)}", issuer, subject)


def _read_principal(text: str) -> str | None:
    return text.lower() if _PRINCIPAL.fullmatch(text) else None


def party_address(issuer: str) -> str:
    """Return the address of a party in names: its URL without scheme and closing slash, or its URN."""
    rest = issuer.partition("://")[2]
    host, slash, path = rest.rstrip("/").partition("/")
    return host.lower() + slash + path if host else issuer


def own_affiliations(assertion: Assertion, may_assert: Collection[str]) -> frozenset[str]:
    """Return the scoped affiliations that the party may assert, in lower case."""
    lower = {value.lower() for value in assertion.affiliations if value.count("@") == 1}
    return frozenset(value for value in lower if _is_allowed(value.partition("@")[2], may_assert))


def _is_allowed(scope: str, may_assert: Collection[str]) -> bool:
    return "*" in may_assert or scope in may_assert
