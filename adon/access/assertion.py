"""Assertions of an identity provider about a user, parsed into one value.

OpenID Connect providers send claims, SAML identity providers attributes.  The same fact has several names,
and is a list or one text.  :mod:`adon.access.user_names` checks whether the party may assert a name, and
:mod:`adon.access.admission` derives roles and groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MOST_VALUES, LONGEST = 1000, 1000
"""Maximum values of one attribute, and characters of one value; the rest is ignored."""

PRINCIPAL = ("eduperson_principal_name", "eduPersonPrincipalName", "eppn")
ENTITLEMENTS = (
    "eduperson_entitlement",
    "eduPersonEntitlement",
    "entitlements",
    "entitlement",
    "urn:oid:1.3.6.1.4.1.5923.1.1.1.7",
)
AFFILIATIONS = (
    "eduperson_scoped_affiliation",
    "eduPersonScopedAffiliation",
    "affiliation",
    "urn:oid:1.3.6.1.4.1.5923.1.1.1.9",
)
GROUPS = ("groups", "isMemberOf", "is_member_of", "urn:oid:1.3.6.1.4.1.5923.1.5.1.1")
_SEPARATOR = re.compile(r"(?<!\\);")


@dataclass(frozen=True, slots=True)
class Assertion:
    """Assertion of one party.

    :param issuer: the party: an OpenID issuer, or a SAML entity ID.
    :param subject: its permanent identifier of the user; empty if absent.
    :param principal: eduPersonPrincipalName.
    :param home: the home institution that a hub names.
    :param display: the preferred name, for display only.
    """

    issuer: str
    subject: str
    principal: str | None = None
    home: str | None = None
    display: str | None = None
    entitlements: frozenset[str] = frozenset()
    affiliations: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


def from_claims(claims: Mapping[str, object]) -> Assertion:
    """Return the assertion from the claims of a verified ID token and of userinfo.

    A claim of the wrong type counts as absent.
    """
    return Assertion(
        _text(claims, ("iss",)) or "",
        _text(claims, ("sub",)) or "",
        _text(claims, (*PRINCIPAL, "urn:oid:1.3.6.1.4.1.5923.1.1.1.6")),
        _text(claims, ("idp",)),
        _text(claims, ("name", "preferred_username", "email")),
        _values(claims, ENTITLEMENTS),
        _values(claims, AFFILIATIONS),
        _values(claims, GROUPS),
    )


def is_incomplete(claims: Mapping[str, object]) -> bool:
    """Return whether an ID token lacks claims that userinfo may have."""
    return not all(
        any(name in claims for name in names) for names in (PRINCIPAL, ENTITLEMENTS, AFFILIATIONS, GROUPS)
    )


def from_attributes(attributes: Mapping[str, str]) -> Assertion:
    """Return the assertion from the attributes of mod_shib: ``;`` separates values of one attribute.

    :param attributes: ``issuer``, ``principal``, ``subject`` (subject-id), ``persistent``, ``entitlement``,
        ``affiliation``, ``groups``, ``name``; an empty value counts as absent.
    """
    issuer = attributes.get("issuer", "")
    return Assertion(
        issuer,
        _persistent(attributes.get("persistent", ""), issuer) or "",
        _first(attributes.get("principal", "")) or _first(attributes.get("subject", "")),
        None,
        _first(attributes.get("name", "")),
        frozenset(_split(attributes.get("entitlement", ""))),
        frozenset(_split(attributes.get("affiliation", ""))),
        frozenset(_split(attributes.get("groups", ""))),
    )


def _text(claims: Mapping[str, object], names: Iterable[str]) -> str | None:
    for name in names:
        value = claims.get(name)
        if isinstance(value, str) and value and len(value) <= LONGEST:
            return value
    return None


def _values(claims: Mapping[str, object], names: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        value = claims.get(name)
        # CILogon writes several values into one text, as mod_shib does.
        many = _split(value) if isinstance(value, str) else value if isinstance(value, list) else ()
        found |= {one for one in many[:MOST_VALUES] if isinstance(one, str) and 0 < len(one) <= LONGEST}
    return frozenset(found)


def _split(text: str) -> tuple[str, ...]:
    parts = (part.replace("\\;", ";").strip() for part in _SEPARATOR.split(text)[:MOST_VALUES])
    return tuple(part for part in parts if 0 < len(part) <= LONGEST)


def _first(text: str) -> str | None:
    values = _split(text)
    return values[0] if len(values) == 1 else None


def _persistent(text: str, issuer: str) -> str | None:
    # A persistent NameID as mod_shib writes it: identity provider!service provider!identifier.
    party, *rest = (_first(text) or "").split("!")
    return rest[-1] if len(rest) == 2 and party == issuer and issuer else None
