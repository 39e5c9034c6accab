"""Whether an ID token is genuine, and meant for us (OpenID Connect Core 1.0, 3.1.3.7).

Signed by one of the provider's keys with RS256 or ES256 and nothing else; from the issuer, for our client
id, for this sign-in (nonce), not expired.  Pure: time and keys are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import (
    BadSignatureError,
    ExpiredTokenError,
    InvalidClaimError,
    JoseError,
    MissingClaimError,
)
from joserfc.jwk import ECKey, RSAKey

from adon.errors import NotAuthenticated

ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}
"""What is accepted, and the type of key for each."""
Key = RSAKey | ECKey


class UnknownKey(NotAuthenticated):
    """Signed by a key that is not among those at hand; the provider may have a new one."""

    code = "unknown-signing-key"


@dataclass(frozen=True, slots=True)
class Expected:
    """What an ID token must say.

    :param leeway: seconds by which clocks may differ.
    """

    issuer: str
    client_id: str
    nonce: str
    access_token: str
    leeway: float


def usable_keys(documents: Sequence[object]) -> list[Key]:
    """Of a JWKS's keys, those that can sign what we accept; what is malformed counts as absent."""
    found: list[Key] = []
    for document in documents[:100]:
        if not isinstance(document, dict) or document.get("use", "sig") != "sig":
            continue
        try:
            if document.get("kty") == "RSA":
                found.append(RSAKey.import_key(document))
            elif document.get("kty") == "EC" and document.get("crv") == "P-256":
                found.append(ECKey.import_key(document))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return found


def verified(token: str, keys: Sequence[Key], expected: Expected, now: float) -> dict[str, Any]:
    """The claims of an ID token.

    :raises UnknownKey: if none of the keys is the one that it names.
    :raises NotAuthenticated: if it is not genuine, or not for this sign-in.
    """
    found = _signed(token, keys)
    claims = CodeIDToken(
        found.claims,
        found.header,
        {
            "iss": {"essential": True, "value": expected.issuer},
            "aud": {"essential": True, "value": expected.client_id},
        },
        {"nonce": expected.nonce, "client_id": expected.client_id, "access_token": expected.access_token},
    )
    try:
        claims.validate(int(now), int(expected.leeway))
    except ExpiredTokenError as error:
        raise NotAuthenticated("its ID token has expired; check the clocks") from error
    except (InvalidClaimError, MissingClaimError) as error:
        raise NotAuthenticated(f"its ID token is not for this sign-in ({error.claim})") from error
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise NotAuthenticated("its ID token cannot be read") from error
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise NotAuthenticated("its ID token names no user")
    return dict(claims)


def _signed(token: str, keys: Sequence[Key]) -> jwt.Token:
    header = _header(token)
    kind = ALGORITHMS.get(str(header.get("alg")))
    if kind is None:
        raise NotAuthenticated("its ID token is not signed with RS256 or ES256")
    named = header.get("kid")
    fitting = [key for key in keys if key.key_type == kind and (named is None or key.kid == named)]
    if not fitting:
        raise UnknownKey("its ID token is signed with a key that it does not publish")
    for key in fitting:
        try:
            return jwt.decode(token, key, algorithms=list(ALGORITHMS))
        except BadSignatureError:
            continue
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise NotAuthenticated("its ID token cannot be read") from error
    raise NotAuthenticated("its ID token has a wrong signature")


def _header(token: str) -> Mapping[str, Any]:
    try:
        return jws.extract_compact(token.encode("ascii")).headers()
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise NotAuthenticated("its ID token cannot be read") from error
