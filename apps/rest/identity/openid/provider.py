"""What a provider says of itself (OpenID Connect Discovery 1.0), and its keys, fetched when needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from adon.config.types import is_loopback
from adon.errors import Unavailable
from apps.rest.identity.openid.bounded import Line
from apps.rest.identity.openid.id_token import ALGORITHMS, Key, usable_keys

FRESH = 3600.0
"""Seconds that what was fetched is used."""
KEYS_AGAIN = 10.0
"""Seconds between two fetches of keys for the sake of a key that was not among them."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """A provider's endpoints and abilities.

    :param tells_issuer: whether its answers name it (RFC 9207).
    :param secret_in_body: whether it takes the client secret in the body only.
    """

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str | None
    end_session: str | None
    tells_issuer: bool
    secret_in_body: bool


def read_metadata(document: Mapping[str, Any], issuer: str, title: str) -> Metadata:
    """A discovery document that is the issuer's own, and that we can work with.

    :raises Unavailable: if it is not, with what is wrong.
    """
    if document.get("issuer") != issuer:
        raise Unavailable(f"{title} says it is another issuer than the configured {issuer}")
    signing = document.get("id_token_signing_alg_values_supported")
    if isinstance(signing, list) and not any(name in signing for name in ALGORITHMS):
        raise Unavailable(f"{title} signs neither with RS256 nor with ES256")
    methods = document.get("token_endpoint_auth_methods_supported")
    return Metadata(
        issuer,
        _needed(document, "authorization_endpoint", title),
        _needed(document, "token_endpoint", title),
        _needed(document, "jwks_uri", title),
        _endpoint(document, "userinfo_endpoint"),
        _endpoint(document, "end_session_endpoint"),
        document.get("authorization_response_iss_parameter_supported") is True,
        isinstance(methods, list)
        and "client_secret_basic" not in methods
        and "client_secret_post" in methods,
    )


def _needed(document: Mapping[str, Any], name: str, title: str) -> str:
    found = _endpoint(document, name)
    if found is None:
        raise Unavailable(f"{title} names no {name} that can be used safely")
    return found


def _endpoint(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if not isinstance(value, str):
        return None
    try:
        url = urlsplit(value)
        host = url.hostname
    except ValueError:
        return None
    safe = host and (url.scheme == "https" or (url.scheme == "http" and is_loopback(host)))
    return value if safe and not url.fragment else None


class Provider:
    """A provider as it presented itself, for many threads.

    :param clock: seconds that never go back.
    """

    def __init__(self, issuer: str, line: Line, clock: Callable[[], float]) -> None:
        self._issuer = issuer
        self._line = line
        self._clock = clock
        self._lock = threading.Lock()
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, list[Key]] | None = None

    def metadata(self) -> Metadata:
        """Its endpoints.

        :raises Unavailable: if it does not tell them.
        """
        with self._lock:
            held, now = self._metadata, self._clock()
        if held is None or now - held[0] >= FRESH:
            document = self._line.get(self._issuer.rstrip("/") + "/.well-known/openid-configuration")
            held = (now, read_metadata(document, self._issuer, self._line.title))
            with self._lock:
                self._metadata = held
        return held[1]

    def keys(self, unknown: bool = False) -> list[Key]:
        """Its public keys.

        :param unknown: that a key was asked for which is not among them: they are fetched again, if that was
            not done just now.
        :raises Unavailable: if it does not tell them.
        """
        with self._lock:
            held, now = self._keys, self._clock()
        if held is None or now - held[0] >= (KEYS_AGAIN if unknown else FRESH):
            documents = self._line.get(self.metadata().keys).get("keys")
            held = (now, usable_keys(documents if isinstance(documents, list) else ()))
            with self._lock:
                self._keys = held
        return held[1]
