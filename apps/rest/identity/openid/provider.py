"""Provider of identities: its metadata (OpenID Connect Discovery 1.0) and keys, fetched when needed.

A provider may be slow, down or hostile: each answer has a maximum time and size.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from adon.config.types import is_loopback
from adon.errors import Unavailable
from apps.rest.identity.openid.id_token import ALGORITHMS, Key, usable_keys

SECONDS = 8.0
"""Seconds for a whole answer."""
MOST_BYTES = 500_000
AT_ONCE = 4
"""Requests to one provider at once, because other requests need the threads of the web process, too."""
FRESH_S = 3600.0
"""Seconds for which fetched metadata and keys are used."""
KEYS_AGAIN_S = 10.0
"""Minimum seconds between two fetches of keys for the sake of an unknown key."""
ENDPOINTS = {
    "authorization_endpoint": True,
    "token_endpoint": True,
    "jwks_uri": True,
    "userinfo_endpoint": False,
    "end_session_endpoint": False,
}
"""Endpoints that are used, and whether they are required."""

Metadata = Mapping[str, Any]
T = TypeVar("T")


class BoundedAdapter(HTTPAdapter):
    """HTTP adapter that reads a whole answer of at most :data:`MOST_BYTES` within :data:`SECONDS`."""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002
        timeout: object = None,  # noqa: ARG002
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """See :meth:`HTTPAdapter.send`.

        :raises requests.RequestException: also for an answer that is too large or too slow.
        """
        until = time.monotonic() + SECONDS
        response = super().send(request, True, (SECONDS / 2, SECONDS / 2), verify, cert, proxies)
        content = bytearray()
        for piece in response.iter_content(16_384):
            content += piece
            if len(content) > MOST_BYTES or time.monotonic() > until:
                response.close()
                raise requests.RequestException("the answer is too large or too slow")
        response._content = bytes(content)
        return response


class Provider:
    """A provider, for many threads.

    :param title: name of the provider in messages.
    :param verify: ``system``, or a PEM file.
    :param clock: seconds that never go back.
    """

    def __init__(self, issuer: str, title: str, verify: str, clock: Callable[[], float]) -> None:
        self.title = title
        self._issuer = issuer
        self._verify: bool | str = True if verify == "system" else verify
        self._clock = clock
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._fetched: dict[str, tuple[float, Any]] = {}

    def metadata(self) -> Metadata:
        """Return the provider's metadata, with safe endpoints.

        :raises Unavailable: if it does not give them.
        """
        return self._recent("metadata", FRESH_S, self._fetch_metadata)

    def keys(self, unknown: bool = False) -> list[Key]:
        """Return the provider's public keys.

        :param unknown: whether a token names a key that is not among them.
        :raises Unavailable: if it does not give them.
        """
        return self._recent("keys", KEYS_AGAIN_S if unknown else FRESH_S, self._fetch_keys)

    def _recent(self, name: str, fresh_s: float, fetch: Callable[[], T]) -> T:
        with self._lock:
            held, now = self._fetched.get(name), self._clock()
        if held is None or now - held[0] >= fresh_s:
            held = (now, fetch())
            with self._lock:
                self._fetched[name] = held
        return cast(T, held[1])

    def _fetch_metadata(self) -> Metadata:
        document = self.get(self._issuer.rstrip("/") + "/.well-known/openid-configuration")
        return check_metadata(document, self._issuer, self.title)

    def _fetch_keys(self) -> list[Key]:
        documents = self.get(self.metadata()["jwks_uri"]).get("keys")
        return usable_keys(documents if isinstance(documents, list) else ())

    def prepare(self, session: requests.Session) -> None:
        """Bound the answers of a session; it uses neither a proxy nor ``.netrc``."""
        session.trust_env = False
        session.verify = self._verify
        for scheme in ("https://", "http://"):
            session.mount(scheme, BoundedAdapter())

    @contextmanager
    def connection(self) -> Iterator[None]:
        """Wait for a free connection to the provider.

        :raises Unavailable: if it does not answer, or too many requests wait.
        """
        if not self._places.acquire(timeout=1.0):
            raise Unavailable(f"{self.title} is slow to answer just now; try again, or use an access token")
        try:
            yield
        except requests.RequestException as error:
            raise Unavailable(
                f"{self.title} does not answer; try again later, or use an access token"
            ) from error
        finally:
            self._places.release()

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return a JSON object.

        :raises Unavailable: for any other answer.
        """
        with self.connection(), requests.Session() as session:
            self.prepare(session)
            accepted = {"Accept": "application/json", **(headers or {})}
            answer = session.get(url, headers=accepted, allow_redirects=False)
        try:
            found = answer.json() if answer.status_code == 200 else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unavailable(f"{self.title} sent no JSON object ({answer.status_code})")
        return found


def check_metadata(document: Metadata, issuer: str, title: str) -> Metadata:
    """Return the issuer's metadata, without endpoints that are not safe.

    :raises Unavailable: if it is of another issuer, or ADON cannot use it.
    """
    if document.get("issuer") != issuer:
        raise Unavailable(f"{title} says it is another issuer than the configured {issuer}")
    signing = document.get("id_token_signing_alg_values_supported")
    if isinstance(signing, list) and not any(name in signing for name in ALGORITHMS):
        raise Unavailable(f"{title} signs neither with RS256 nor with ES256")
    safe = {name: document.get(name) for name in ENDPOINTS if is_safe(document.get(name))}
    for name, is_required in ENDPOINTS.items():
        if is_required and name not in safe:
            raise Unavailable(f"{title} names no {name} that can be used safely")
    others = {name: value for name, value in document.items() if name not in ENDPOINTS}
    return {**others, **safe}


def is_safe(url: object) -> bool:
    """Return whether a URL is of HTTPS, or of a loopback address, without a fragment."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        host = None if parts is None else parts.hostname
    except ValueError:
        return False
    if parts is None or not host or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def wants_secret_in_body(metadata: Metadata) -> bool:
    """Return whether the token endpoint accepts the client secret in the body only."""
    methods = metadata.get("token_endpoint_auth_methods_supported")
    known = methods if isinstance(methods, list) else ()
    return "client_secret_basic" not in known and "client_secret_post" in known
