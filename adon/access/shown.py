"""Users and tokens as plain values to be shown; of a token never what proves it.  Times as they are kept."""

from __future__ import annotations

from typing import Any

from adon.access.identity import Token
from adon.access.user import User


def user_values(user: User) -> dict[str, Any]:
    """A user, with the roles in force and where they come from."""
    return {
        "name": user.name,
        "issuer": user.issuer,
        "subject": user.subject,
        "display": user.display,
        "mail": user.mail,
        "groups": sorted(user.groups),
        "roles": sorted(user.roles),
        "by_rules": sorted(user.by_rules),
        "granted": sorted(user.granted),
        "removed": sorted(user.removed),
        "disabled_since": user.disabled,
        "first_seen": user.first_seen,
        "last_seen": user.last_seen,
    }


def token_values(token: Token) -> dict[str, Any]:
    """A token without its digest."""
    return {
        "id": token.id,
        "owner": token.owner,
        "label": token.label,
        "scope": list(token.scope),
        "roles": None if token.roles is None else sorted(token.roles),
        "created": token.created,
        "expires": token.expires,
        "revoked": token.revoked,
        "last_used": token.used,
    }
