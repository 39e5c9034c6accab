"""Who somebody is elsewhere: what an identity provider said about them, before it means anything here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """Somebody whom an identity provider has authenticated.

    ``issuer`` and ``subject`` together are the identity, for ever; everything else may change at the next
    sign-in and proves nothing.

    :param issuer: OpenID Connect's ``iss``, or the entityID of a SAML provider.
    :param subject: OpenID Connect's ``sub``, or the lasting name that a SAML provider gives.
    :param name: what the provider suggests to call them (``preferred_username``, the principal name).
    :param display: their name, for people.
    :param mail: where they read mail; shown, never compared.
    :param groups: what they belong to (AARC-G069 values, or the provider's own).
    :param entitlements: what they may do according to the provider (eduPersonEntitlement, AARC-G069).
    :param attributes: what else was said, by its name there; for rules.
    :param via: how it was proven, as it goes into the audit log (``oidc``, ``shibboleth``).
    """

    issuer: str
    subject: str
    name: str | None = None
    display: str | None = None
    mail: str | None = None
    groups: frozenset[str] = frozenset()
    entitlements: frozenset[str] = frozenset()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    via: str = "oidc"
